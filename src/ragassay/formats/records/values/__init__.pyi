from . import (
    answer_values as answer_values,
    field_values as field_values,
    messages as messages,
    packed_lists as packed_lists,
    passages as passages,
    retrieved as retrieved,
)
from .field_values import (
    folded_text as folded_text,
    texts_of as texts_of,
)
from .joined_chunks import ContextSplitter as ContextSplitter
from .retrieved import LISTS as LISTS, are_names as are_names, unpacked as unpacked
from .times import (
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    in_zone as in_zone,
    lacks_zone as lacks_zone,
    timestamp as timestamp,
)
