from .allowed_folders import AllowedFolders as AllowedFolders
from .mcp_server import McpOptions as McpOptions, create_server as create_server
from .pipeline_server import (
    PipelineServer as PipelineServer,
    evaluation_server as evaluation_server,
)
