from .pipeline_server import (
    PipelineServer as PipelineServer,
    evaluation_server as evaluation_server,
)
