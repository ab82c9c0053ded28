from .agreement import (
    LEAST as LEAST,
    Agreement as Agreement,
    rows as rows,
    rows_of as rows_of,
)
from .offline_judge import (
    LABEL as LABEL,
    VERSION as VERSION,
    OfflineJudge as OfflineJudge,
    offline_asker as offline_asker,
    too_long as too_long,
)
from .questions import (
    ANSWERS as ANSWERS,
    answer_to as answer_to,
    contradicted as contradicted,
    supported_share as supported_share,
)
from .refusal import (
    is_small_talk as is_small_talk,
    parts as parts,
    says_idk as says_idk,
)
from .relevance import grade as grade, score as score
