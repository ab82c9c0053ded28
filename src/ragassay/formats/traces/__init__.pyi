from . import said as said
from .span_rows import rows as rows
