from . import (
    github_output as github_output,
    global_options as global_options,
    interrupt as interrupt,
    show as show,
)
from .command_progress import ProgressBar as ProgressBar
from .global_options import GLOBAL_OPTIONS as GLOBAL_OPTIONS, LOG as LOG
