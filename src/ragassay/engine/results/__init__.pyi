from .folders.folder_reading import open_run as open_run
from .folders.run_folder import ReportFormat as ReportFormat
from .result import Result as Result
