from . import (
    aliases as aliases,
    answer_values as answer_values,
    delimited as delimited,
    expected_answers as expected_answers,
    field_values as field_values,
    opening as opening,
    passages as passages,
    unpacking as unpacking,
)
from .aliases import FIELD_OF as FIELD_OF, FieldKeys as FieldKeys, folded as folded, pick as pick
from .delimited import Row as Row
from .expected_answers import joined as joined
from .field_values import (
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    timestamp as timestamp,
)
from .kinds import kind as kind
from .notes import Notes as Notes
from .opening import (
    cleaned as cleaned,
    lines as lines,
    not_utf8 as not_utf8,
    opened as opened,
    placed as placed,
    read_all as read_all,
)
from .option_words import OptionWords as OptionWords
from .sample_records import Mapper as Mapper, MapperOptions as MapperOptions, Record as Record
