from .report_view import (
    RUN as RUN,
    TEXT_OF_ONE as TEXT_OF_ONE,
    ReportView as ReportView,
    RowQuery as RowQuery,
    build_view as build_view,
)
from .separate_process import make_file as make_file, repacked_apart as repacked_apart
from .view_folders import Views as Views
