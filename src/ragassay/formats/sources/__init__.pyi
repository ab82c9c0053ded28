from . import (
    delimited as delimited,
    encodings as encodings,
    json_files as json_files,
    nested_lists as nested_lists,
    opening as opening,
    standard_input as standard_input,
    unpacking as unpacking,
    workbooks as workbooks,
)
from .delimited import Row as Row
from .json_files import cleaned as cleaned, exact as exact, refuse_repeats as refuse_repeats
from .kinds import kind as kind, unexpected as unexpected
from .opening import (
    lines as lines,
    not_utf8 as not_utf8,
    opened as opened,
    placed as placed,
    read_all as read_all,
    shaped as shaped,
)
