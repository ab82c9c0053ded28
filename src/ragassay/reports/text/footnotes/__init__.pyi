from .comparison_footnotes import (
    MOST_LINES as MOST_LINES,
    Lines as Lines,
    comparison_lines as comparison_lines,
    every_line as every_line,
    every_note as every_note,
    gate_notes as gate_notes,
    method_lines as method_lines,
    verdict_line as verdict_line,
)
from .summary_footnotes import (
    judged_by as judged_by,
    label_notes as label_notes,
    spent_on as spent_on,
    summary_notes as summary_notes,
    unscored_notes as unscored_notes,
)
