from .apart import made_apart as made_apart
from .report_view import (
    RUN as RUN,
    TEXT_OF_ONE as TEXT_OF_ONE,
    ReportView as ReportView,
    RowQuery as RowQuery,
    build_view as build_view,
)
from .view_folders import Views as Views
