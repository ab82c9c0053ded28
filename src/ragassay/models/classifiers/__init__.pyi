from .hhem import (
    FOUNDATION as FOUNDATION,
    HHEM as HHEM,
    HhemModel as HhemModel,
    tokenizer_of as tokenizer_of,
)
