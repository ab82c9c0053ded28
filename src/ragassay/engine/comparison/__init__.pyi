from . import drops as drops, gates as gates
from .agreement import Agreement as Agreement, rows as rows, rows_of as rows_of
from .comparability import (
    OWN_NUGGETS as OWN_NUGGETS,
    differing_queries as differing_queries,
    incomparable_metrics as incomparable_metrics,
)
from .compare_runs import FORCE as FORCE, UNPAIRED as UNPAIRED, compare as compare
from .compared_arrays import compare_arrays as compare_arrays
from .derived_runs import (
    aligned as aligned,
    by_system as by_system,
    of_queries as of_queries,
    subset_of as subset_of,
)
from .gated_comparison import GatedComparison as GatedComparison
from .pairs import (
    query_differences as query_differences,
    query_matrix as query_matrix,
    rows_by_query as rows_by_query,
)
from .standing import (
    OFFLINE as OFFLINE,
    JudgeAgreement as JudgeAgreement,
    agreements as agreements,
    judge_agreement as judge_agreement,
    trusted as trusted,
)
