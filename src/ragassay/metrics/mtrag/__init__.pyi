from .mtrag_aggregate import ranking_score as ranking_score
from .mtrag_conditioning import Conditioned as Conditioned
from .mtrag_given import (
    explained as explained,
    given_value as given_value,
    values_of as values_of,
)
from .mtrag_idk_table import idk_condition as idk_condition
from .mtrag_judged import (
    IdkEval as IdkEval,
    ReferenceJudge as ReferenceJudge,
    ReferencelessFaithfulness as ReferencelessFaithfulness,
    UnderspecifiedEval as UnderspecifiedEval,
)
from .mtrag_overlap import no_contexts as no_contexts
