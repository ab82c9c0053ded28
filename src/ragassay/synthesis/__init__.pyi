from .mix import Mix as Mix
from .synthesizing import (
    Outcome as Outcome,
    Planned as Planned,
    Synthesis as Synthesis,
    Wish as Wish,
)
