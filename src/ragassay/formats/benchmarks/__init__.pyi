from . import mlcube as mlcube
from .mtrag_records import (
    METRICS_RULE as METRICS_RULE,
    Record as Record,
    Tasks as Tasks,
    extended as extended,
)
