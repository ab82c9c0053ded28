from .decision_table import (
    CLASSES as CLASSES,
    UNEXPLAINED as UNEXPLAINED,
    FaultClass as FaultClass,
    Thresholds as Thresholds,
    class_of as class_of,
)
from .diagnosing import diagnose as diagnose, headline_of as headline_of
from .diagnosis_result import (
    ClassFound as ClassFound,
    Diagnosis as Diagnosis,
    Example as Example,
)
from .judged_signals import Judged as Judged, NotTelling as NotTelling
from .missing_signals import NotLookedAt as NotLookedAt
from .moved_classes import (
    FINE as FINE,
    Moved as Moved,
    MovedClass as MovedClass,
    moved as moved,
)
