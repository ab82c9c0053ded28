from . import shapes as shapes
from .client_errors import (
    JobFailed as JobFailed,
    JobIncomplete as JobIncomplete,
    JobTimeout as JobTimeout,
    NotFound as NotFound,
    RequestRefused as RequestRefused,
    Unauthorised as Unauthorised,
    Unreachable as Unreachable,
)
from .clients import AsyncClient as AsyncClient, Client as Client
from .shapes import (
    FilePreview as FilePreview,
    Ingested as Ingested,
    Job as Job,
    Line as Line,
    Name as Name,
    PreviewRange as PreviewRange,
    Progress as Progress,
    Project as Project,
    Report as Report,
    ReportPreview as ReportPreview,
    Started as Started,
    Status as Status,
    Task as Task,
    TaskOptions as TaskOptions,
    Upload as Upload,
    named as named,
)
