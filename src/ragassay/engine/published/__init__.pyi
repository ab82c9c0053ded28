from .published_config import is_published as is_published, translate as translate
from .published_options import SIMILARITIES as SIMILARITIES
from .published_ultrarag import command_for as command_for
