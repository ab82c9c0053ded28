from .draft import Rejection as Rejection
from .mix import Mix as Mix
from .query_generation import (
    PublishedWish as PublishedWish,
    read_query_generation as read_query_generation,
)
from .synthesizing import Synthesis as Synthesis
from .wish import Outcome as Outcome, Planned as Planned, Wish as Wish
