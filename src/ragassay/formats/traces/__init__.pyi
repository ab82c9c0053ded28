from . import served as served, step_contents as step_contents
from .span_rows import rows as rows
