from . import (
    catalogue as catalogue,
    footnotes as footnotes,
    grouping as grouping,
    markdown as markdown,
    model_table as model_table,
    terminal as terminal,
    verdict_text as verdict_text,
    wording as wording,
)
from .evidence_text import explained as explained, labels_to_give as labels_to_give
from .fitting import fitted as fitted, responsive as responsive
from .markdown import escape as escape, table as table
from .preview_text import preview_table as preview_table
from .terminal import comparison_table as comparison_table
from .verdict_text import AnswerPiece as AnswerPiece, spans as spans
