from .golden_checks import (
    METRICS as METRICS,
    Checked as Checked,
    CheckOptions as CheckOptions,
    Finding as Finding,
    check as check,
)
from .isolated_run import CLASSES as CLASSES, Isolated as Isolated, isolated as isolated
