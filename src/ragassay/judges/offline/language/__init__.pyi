from . import lists as lists
from .hostile import evidence_sentences as evidence_sentences, is_hostile as is_hostile
from .numbers import MONTHS as MONTHS, is_number as is_number
from .support_of_text import (
    LENS as LENS,
    UNIT_STEMS as UNIT_STEMS,
    Lens as Lens,
    Piece as Piece,
    PreparedPassages as PreparedPassages,
    Window as Window,
    denials as denials,
    names as names,
    negated as negated,
    piece as piece,
    share_of as share_of,
    stems_of as stems_of,
)
from .texts import phrases as phrases, plain as plain, sentences as sentences
from .verbs import (
    BASES as BASES,
    IRREGULAR as IRREGULAR,
    is_participle as is_participle,
    root as root,
)
from .version_numbers import Version as Version, differ as differ, versions as versions
from .wanted import (
    KINDS as KINDS,
    NAME_WORD as NAME_WORD,
    Kind as Kind,
    answers_by_name as answers_by_name,
    asked_thing as asked_thing,
    asking as asking,
    asks_place as asks_place,
    holds as holds,
    kind_of as kind_of,
    subject as subject,
)
from .word_weights import (
    LITTLE as LITTLE,
    LONGEST as LONGEST,
    WHOLE as WHOLE,
    content as content,
    n_words as n_words,
    spaced as spaced,
    stem as stem,
    tokens as tokens,
    visible as visible,
    weigh as weigh,
    weight as weight,
)
