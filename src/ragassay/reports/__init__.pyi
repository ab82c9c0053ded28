from . import folder as folder
from .folder import write_comparison as write_comparison
