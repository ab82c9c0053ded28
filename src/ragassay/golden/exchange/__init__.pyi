from .gold_placing import Placing as Placing
from .golden_export import (
    EXPORTS as EXPORTS,
    export_format as export_format,
    exported as exported,
    left_out as left_out,
    without_records as without_records,
)
from .golden_import import imported as imported
