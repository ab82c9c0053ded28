from .app import ServiceOptions as ServiceOptions, create_app as create_app
from .job_routes import job_events as job_events
from .route_parts import (
    Allowed as Allowed,
    InStore as InStore,
    task_for as task_for,
    task_of_report as task_of_report,
)
