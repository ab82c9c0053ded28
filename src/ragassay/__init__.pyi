from . import (
    client as client,
    compat as compat,
    engine as engine,
    examples as examples,
    formats as formats,
    golden as golden,
    judges as judges,
    mcp as mcp,
    metrics as metrics,
    models as models,
    reports as reports,
    stats as stats,
    suites as suites,
    targets as targets,
    testing as testing,
    transport as transport,
)
from .base.errors import (
    InputError as InputError,
    RagassayError as RagassayError,
    UsageError as UsageError,
)
from .base.sample import (
    Answer as Answer,
    Answerability as Answerability,
    GoldPassage as GoldPassage,
    Passage as Passage,
    Sample as Sample,
    Statement as Statement,
    Turn as Turn,
)
from .base.score import (
    Outcome as Outcome,
    Reason as Reason,
    Score as Score,
    Unscored as Unscored,
)
from .client.clients import AsyncClient as AsyncClient, Client as Client
from .compat.open_rag_eval.evaluators import (
    AutoNuggetizer as AutoNuggetizer,
    AutoNuggetMetric as AutoNuggetMetric,
    CitationMetric as CitationMetric,
    ConsistencyEvaluator as ConsistencyEvaluator,
    HallucinationMetric as HallucinationMetric,
    NoAnswerMetric as NoAnswerMetric,
    TRECEvaluator as TRECEvaluator,
    UMBRELAMetric as UMBRELAMetric,
)
from .compat.open_rag_eval.judge_models import (
    AnthropicModel as AnthropicModel,
    GeminiModel as GeminiModel,
    LLMJudgeModel as LLMJudgeModel,
    OpenAIModel as OpenAIModel,
    TogetherModel as TogetherModel,
)
from .compat.ultrarag import pipelines as pipelines
from .engine.comparison.compare_runs import compare as compare
from .engine.diagnosis.moved_classes import diagnose as diagnose
from .engine.results.comparison_result import Comparison as Comparison
from .engine.results.folders.run_folder import open_run as open_run, save_run as save_run
from .engine.results.result import Result as Result
from .engine.run.data_preview import plan as plan
from .engine.run.ranked_runs import evaluate_run as evaluate_run
from .formats.reading import load as load
from .metrics.core.function_metrics import metric as metric
from .targets.ask_run import ask as ask, evaluate as evaluate
from .targets.asking.ask_summary import Answers as Answers

__version__: str
