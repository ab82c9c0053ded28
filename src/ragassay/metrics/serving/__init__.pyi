from .serving_metrics import (
    Cost as Cost,
    ErrorRate as ErrorRate,
    FirstToken as FirstToken,
    Latency as Latency,
    Tokens as Tokens,
)
