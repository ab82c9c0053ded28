from .agreement import (
    LEAST as LEAST,
    Agreement as Agreement,
    rows as rows,
    rows_of as rows_of,
)
from .claims import extract as extract, supported as supported
from .offline_judge import (
    LABEL as LABEL,
    VERSION as VERSION,
    OfflineJudge as OfflineJudge,
    offline_asker as offline_asker,
    too_long as too_long,
)
from .refusals import (
    asks_back as asks_back,
    is_small_talk as is_small_talk,
    says_idk as says_idk,
    shape as shape,
)
from .relevance_rules import look as look, relevance as relevance
from .rules import answer_to as answer_to
from .support_rules import contradicted as contradicted
