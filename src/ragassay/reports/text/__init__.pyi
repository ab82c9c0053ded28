from . import (
    catalogue as catalogue,
    diagnosis_text as diagnosis_text,
    footnotes as footnotes,
    grouping as grouping,
    headline as headline,
    markdown as markdown,
    model_table as model_table,
    preview_text as preview_text,
    terminal as terminal,
    verdict_text as verdict_text,
    wording as wording,
    worked_examples as worked_examples,
)
from .diagnosis_text import diagnosis_table as diagnosis_table, moved_table as moved_table
from .evidence_text import explained as explained, labels_to_give as labels_to_give
from .markdown import escape as escape, table as table
from .note_sentences import all_said as all_said, said as said
from .preview_text import (
    can_score as can_score,
    preview_table as preview_table,
)
from .responsive_table import fit_table as fit_table, responsive as responsive
from .terminal import (
    comparison_table as comparison_table,
    full_comparison as full_comparison,
    notes_below as notes_below,
)
from .verdict_text import AnswerPiece as AnswerPiece, answer_pieces as answer_pieces
