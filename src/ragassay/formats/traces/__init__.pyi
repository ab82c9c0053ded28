from . import said as said, served as served
from .span_rows import rows as rows
