from .published_config import is_published as is_published, translate as translate
from .published_options import (
    SIMILARITIES as SIMILARITIES,
    ConsistencyOptions as ConsistencyOptions,
    Hallucination as Hallucination,
    TrecOptions as TrecOptions,
)
from .published_ultrarag import command_for as command_for
