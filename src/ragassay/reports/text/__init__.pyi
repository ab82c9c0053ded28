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
from .answer_spans import Span as Span, spans as spans
from .evidence_text import explained as explained, labels_to_give as labels_to_give
from .markdown import escape as escape, table as table
from .preview_text import preview_table as preview_table
from .responsive import responsive as responsive
from .terminal import comparison_table as comparison_table
