from .mcp_servers import (
    McpServer as McpServer,
    first_of as first_of,
    needs_mcp as needs_mcp,
    started as started,
)
from .parameter_file import Built as Built
from .pipeline_file import Pipeline as Pipeline, is_pipeline as is_pipeline, read as read
from .pipeline_run import Finished as Finished, Observer as Observer, Options as Options
from .pipeline_tools import REQUIRED as REQUIRED, ServerError as ServerError, Tool as Tool
from .pipelines import build as build, run as run, steps as steps
from .server_address import ServerAddress as ServerAddress, of_command as of_command
