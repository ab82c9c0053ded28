from .backup import back_up as back_up
from .prometheus import METRICS_TYPE as METRICS_TYPE, metrics_text as metrics_text
from .requests_seen import (
    RequestCounts as RequestCounts,
    RequestsSeen as RequestsSeen,
    log_problem as log_problem,
)
from .retention import DAY_S as DAY_S, delete_old as delete_old
from .service_log import (
    LogForm as LogForm,
    log_event as log_event,
    start_log as start_log,
)
