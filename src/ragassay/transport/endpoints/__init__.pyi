from .endpoint import (
    SAMPLING as SAMPLING,
    TIMEOUT_S as TIMEOUT_S,
    ApiProtocol as ApiProtocol,
    Completion as Completion,
    Endpoint as Endpoint,
    EndpointError as EndpointError,
    Message as Message,
    Mode as Mode,
    Prompt as Prompt,
    counted as counted,
)
from .endpoint_errors import (
    from_status as from_status,
    retry_after as retry_after,
    unreached as unreached,
)
from .http_endpoint import http_client as http_client, needs_client as needs_client
from .openai_embeddings import OpenAIEmbeddings as OpenAIEmbeddings, VectorReply as VectorReply
