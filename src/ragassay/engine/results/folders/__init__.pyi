from .folder_reading import open_run as open_run
from .result_sink import ResultSink as ResultSink
from .run_folder import (
    NUGGETS as NUGGETS,
    ORE as ORE,
    RUBRICS as RUBRICS,
    RUN as RUN,
    SAMPLES as SAMPLES,
    SCORES as SCORES,
    SUMMARY as SUMMARY,
    VERDICTS as VERDICTS,
    FolderWriter as FolderWriter,
    ReportFormat as ReportFormat,
    check_consistency as check_consistency,
    holds_consistency as holds_consistency,
    report_files as report_files,
    save_run as save_run,
)
