from . import (
    client as client,
    compat as compat,
    engine as engine,
    errors as errors,
    examples as examples,
    formats as formats,
    golden as golden,
    judges as judges,
    mcp as mcp,
    metrics as metrics,
    models as models,
    pipelines as pipelines,
    reports as reports,
    samples as samples,
    scores as scores,
    stats as stats,
    suites as suites,
    targets as targets,
    testing as testing,
    transport as transport,
)
from .compat.open_rag_eval import (
    AnthropicModel as AnthropicModel,
    AutoNuggetizer as AutoNuggetizer,
    AutoNuggetMetric as AutoNuggetMetric,
    CitationMetric as CitationMetric,
    ConsistencyEvaluator as ConsistencyEvaluator,
    GeminiModel as GeminiModel,
    GoldenAnswerEvaluator as GoldenAnswerEvaluator,
    HallucinationMetric as HallucinationMetric,
    LLMJudgeModel as LLMJudgeModel,
    NoAnswerMetric as NoAnswerMetric,
    OpenAIModel as OpenAIModel,
    RAGResultsLoader as RAGResultsLoader,
    TogetherModel as TogetherModel,
    TRECEvaluator as TRECEvaluator,
    UMBRELAMetric as UMBRELAMetric,
)
from .engine import (
    Comparison as Comparison,
    Result as Result,
    compare as compare,
    diagnose as diagnose,
    evaluate_run as evaluate_run,
    open_run as open_run,
    save_run as save_run,
)
from .engine.plan import plan as plan
from .errors import (
    InputError as InputError,
    RagassayError as RagassayError,
    UsageError as UsageError,
)
from .formats import load as load
from .metrics import metric as metric
from .samples import (
    Answer as Answer,
    Answerability as Answerability,
    GoldPassage as GoldPassage,
    Passage as Passage,
    Sample as Sample,
    Statement as Statement,
    Turn as Turn,
)
from .scores import Reason as Reason, Score as Score, Unscored as Unscored
from .targets import Answers as Answers, ask as ask, evaluate as evaluate

__version__: str
from .client import AsyncClient as AsyncClient, Client as Client
