from .backup_command import backup as backup
from .mcp_command import mcp as mcp
from .serve_commands import (
    listening as listening,
    needs_service as needs_service,
    run_server as run_server,
    serve as serve,
    worker as worker,
)
from .token_command import token as token
