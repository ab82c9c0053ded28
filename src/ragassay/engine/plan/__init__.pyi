from .cost_estimate import Amount as Amount, CallPlan as CallPlan, Range as Range
from .data_preview import Preview as Preview, plan as plan, preview as preview
from .model_plan import EmbeddingPlan as EmbeddingPlan
