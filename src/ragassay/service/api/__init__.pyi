from . import (
    health_routes as health_routes,
    job_routes as job_routes,
    mcp_route as mcp_route,
    project_routes as project_routes,
    record_routes as record_routes,
    report_routes as report_routes,
    upload_routes as upload_routes,
    whoami_route as whoami_route,
)
from .access import (
    EXPIRED as EXPIRED,
    LOOPBACK as LOOPBACK,
    SESSION as SESSION,
    Access as Access,
    Guard as Guard,
    access_of as access_of,
    is_loopback as is_loopback,
)
from .job_routes import job_events as job_events
from .paging import decoded as decoded, encoded as encoded
from .problems import (
    RETRY_S as RETRY_S,
    TITLES as TITLES,
    Problem as Problem,
    answer_with_problems as answer_with_problems,
    problem as problem,
    problem_of as problem_of,
    sentence_of as sentence_of,
)
from .report_routes import download as download, report_file as report_file
from .route_parts import (
    BINARY as BINARY,
    Allowed as Allowed,
    InStore as InStore,
    ProjectToRead as ProjectToRead,
    ProjectToWrite as ProjectToWrite,
    ReportToRead as ReportToRead,
    ReportToWrite as ReportToWrite,
    TaskToRead as TaskToRead,
    TaskToWrite as TaskToWrite,
    report_for as report_for,
    task_for as task_for,
)
