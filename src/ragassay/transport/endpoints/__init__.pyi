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
)
from .endpoint_errors import from_status as from_status
from .openai_embeddings import OpenAIEmbeddings as OpenAIEmbeddings, VectorReply as VectorReply
