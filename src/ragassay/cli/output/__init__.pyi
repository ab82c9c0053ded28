from . import (
    github_output as github_output,
    interrupt as interrupt,
    manners as manners,
    show as show,
)
from .command_progress import ProgressBar as ProgressBar
from .manners import LOG as LOG, MANNERS as MANNERS
