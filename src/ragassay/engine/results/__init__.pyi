from .folders.run_folder import ReportFormat as ReportFormat, open_run as open_run
from .result import Result as Result
