from ragassay.client import (
    FilePreview as FilePreview,
    Ingested as Ingested,
    Line as Line,
    Progress as Progress,
    Project as Project,
    Report as Report,
    ReportPreview as ReportPreview,
    Started as Started,
    Status as Status,
)

from .database import Store as Store, has_store as has_store, new_id as new_id
from .imports import (
    import_upload as import_upload,
    preview_upload as preview_upload,
)
from .jobs import (
    BEAT_S as BEAT_S,
    CANCELLED as CANCELLED,
    LEASE_S as LEASE_S,
    Job as Job,
    Queue as Queue,
    StoreCounts as StoreCounts,
    add_done_job as add_done_job,
    add_job as add_job,
    cancel_job as cancel_job,
    count_store as count_store,
    get_job as get_job,
    list_jobs as list_jobs,
    retry_job as retry_job,
    worker_name as worker_name,
)
from .projects import (
    Model as Model,
    Task as Task,
    TaskOptions as TaskOptions,
    change_task as change_task,
    create_model as create_model,
    create_project as create_project,
    create_task as create_task,
    delete_project as delete_project,
    delete_task as delete_task,
    get_model as get_model,
    get_project as get_project,
    get_task as get_task,
    list_models as list_models,
    list_projects as list_projects,
    list_tasks as list_tasks,
)
from .records import (
    StoredRecord as StoredRecord,
    add_records as add_records,
    count_records as count_records,
    delete_records as delete_records,
    delete_records_before as delete_records_before,
    read_batch as read_batch,
    read_page as read_page,
    read_samples as read_samples,
    read_versions as read_versions,
    samples_of_task as samples_of_task,
    time_span as time_span,
)
from .report_files import (
    MEDIA_TYPES as MEDIA_TYPES,
    ComparisonForm as ComparisonForm,
    ReportForm as ReportForm,
    WrittenFile as WrittenFile,
    keep_uploaded_run as keep_uploaded_run,
    opened_report as opened_report,
    report_facts as report_facts,
    shown_time as shown_time,
    write_report as write_report,
    write_report_comparison as write_report_comparison,
)
from .report_preview import preview_report as preview_report
from .reports import (
    DEFAULT_SUITE as DEFAULT_SUITE,
    create_report as create_report,
    delete_report as delete_report,
    get_report as get_report,
    keep_run as keep_run,
    list_reports as list_reports,
    report_options as report_options,
    run_archive as run_archive,
    run_kept as run_kept,
    run_options as run_options,
    samples_where as samples_where,
)
from .request_keys import keyed_id as keyed_id
from .run_archives import (
    MOST_READ_WHOLE as MOST_READ_WHOLE,
    as_report as as_report,
    detach_run as detach_run,
    headline_of as headline_of,
    opened_archive as opened_archive,
    packed_folder as packed_folder,
    repacked_run as repacked_run,
    unpack_folder as unpack_folder,
)
from .store_errors import (
    Conflict as Conflict,
    NotThere as NotThere,
    StoreUnavailable as StoreUnavailable,
)
from .tokens import (
    Token as Token,
    TokenScope as TokenScope,
    create_token as create_token,
    find_token as find_token,
    is_closed as is_closed,
    list_tokens as list_tokens,
    revoke_token as revoke_token,
)
from .uploads import (
    Upload as Upload,
    create_upload as create_upload,
    delete_upload as delete_upload,
    fill_upload as fill_upload,
    get_upload as get_upload,
    upload_on_disk as upload_on_disk,
)
