from .golden_command import golden as golden
from .synthesize_command import synthesize as synthesize
