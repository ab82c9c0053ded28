from .mcp_servers import needs_mcp as needs_mcp
from .parameter_file import Built as Built
from .pipeline_file import Pipeline as Pipeline, is_pipeline as is_pipeline, read as read
from .pipeline_run import Finished as Finished, Observer as Observer, Options as Options
from .pipelines import build as build, run as run, steps as steps
