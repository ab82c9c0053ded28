from .endpoint import (
    CONNECT_S as CONNECT_S,
    SAMPLING as SAMPLING,
    SYSTEM as SYSTEM,
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
    causes as causes,
    from_status as from_status,
    hide_replies as hide_replies,
    redirected as redirected,
    retry_after as retry_after,
    unreached as unreached,
)
from .http_endpoint import parsed as parsed
from .openai_embeddings import OpenAIEmbeddings as OpenAIEmbeddings, VectorReply as VectorReply
from .python_chat import PythonChat as PythonChat
