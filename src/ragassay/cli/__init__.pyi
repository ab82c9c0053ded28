from .command_line import EXIT_CODES as EXIT_CODES, HELP as HELP, call as call
from .start import main as main
