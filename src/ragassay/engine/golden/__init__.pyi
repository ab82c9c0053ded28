from .document_checks import Alike as Alike, nearly_alike as nearly_alike
from .golden_checks import Checked as Checked, check as check
from .golden_findings import (
    METRICS as METRICS,
    CheckOptions as CheckOptions,
    Finding as Finding,
)
from .golden_groups import groups as groups
from .isolated_run import CLASSES as CLASSES, Isolated as Isolated, isolated as isolated
from .label_questions import LABELLED as LABELLED, AnswersToLabel as AnswersToLabel
