from . import naming as naming, own as own
from .chunk_matching import (
    cosine_matrix as cosine_matrix,
    credited as credited,
    likeness as likeness,
    same_chunks as same_chunks,
    vectors as vectors,
)
from .function_metrics import (
    FunctionMetric as FunctionMetric,
    as_metric as as_metric,
    own_names as own_names,
)
from .judged import JudgedMetric as JudgedMetric, uses_of as uses_of
from .metric import (
    Aggregate as Aggregate,
    Metric as Metric,
    Need as Need,
    SampleMetric as SampleMetric,
    conversation as conversation,
    earlier_turns as earlier_turns,
    harmonic as harmonic,
    missing as missing,
    not_applicable as not_applicable,
    passage_texts as passage_texts,
    reached as reached,
    register as register,
    scored as scored,
    textless_passage as textless_passage,
)
from .metric_parameters import (
    choices_of as choices_of,
    cutoff as cutoff,
    param as param,
    part as part,
)
from .modelled import ModelMetric as ModelMetric
from .naming import parse as parse
from .window import AllSamples as AllSamples, Remembering as Remembering, Window as Window
