from .evaluators import (
    ConsistencyEvaluator as ConsistencyEvaluator,
    GoldenAnswerEvaluator as GoldenAnswerEvaluator,
    TRECEvaluator as TRECEvaluator,
)
from .judge_models import (
    AnthropicModel as AnthropicModel,
    GeminiModel as GeminiModel,
    LLMJudgeModel as LLMJudgeModel,
    OpenAIModel as OpenAIModel,
    TogetherModel as TogetherModel,
)
from .metric_classes import (
    AutoNuggetizer as AutoNuggetizer,
    AutoNuggetMetric as AutoNuggetMetric,
    CitationMetric as CitationMetric,
    HallucinationMetric as HallucinationMetric,
    NoAnswerMetric as NoAnswerMetric,
    UMBRELAMetric as UMBRELAMetric,
)
from .query_data import RAGResultsLoader as RAGResultsLoader
