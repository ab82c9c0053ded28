from .comparison_footnotes import (
    cluster_notes as cluster_notes,
    comparison_notes as comparison_notes,
    empty_rows as empty_rows,
    gate_notes as gate_notes,
    interval_levels as interval_levels,
    standing_notes as standing_notes,
    verdict_line as verdict_line,
)
from .summary_footnotes import (
    judged_by as judged_by,
    label_notes as label_notes,
    spent_on as spent_on,
    summary_notes as summary_notes,
    unscored_notes as unscored_notes,
)
