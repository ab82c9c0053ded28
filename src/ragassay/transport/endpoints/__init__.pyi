from .endpoint import (
    ApiProtocol as ApiProtocol,
    Completion as Completion,
    Endpoint as Endpoint,
    EndpointError as EndpointError,
    Prompt as Prompt,
)
from .endpoint_errors import from_status as from_status
