from .offline_judge import (
    LABEL as LABEL,
    OfflineJudge as OfflineJudge,
    offline_asker as offline_asker,
    too_long as too_long,
)
from .query_match import grade as grade, score as score
from .questions import (
    answer_to as answer_to,
    contradicted as contradicted,
    supported_share as supported_share,
    unread as unread,
)
from .refusal import (
    TURN as TURN,
    features as features,
    parts as parts,
    says_idk as says_idk,
)
from .words import (
    LISTS as LISTS,
    LONGEST as LONGEST,
    WHOLE as WHOLE,
    content as content,
    n_words as n_words,
    sentences as sentences,
    spaced as spaced,
    stem as stem,
    tokens as tokens,
    weight as weight,
)
