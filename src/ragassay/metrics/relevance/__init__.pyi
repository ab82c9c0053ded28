from .umbrela import (
    SHOTS_DOC as SHOTS_DOC,
    Shots as Shots,
    Umbrela as Umbrela,
    earlier_queries as earlier_queries,
    grades as grades,
    textless as textless,
)
from .umbrela_ranking import (
    UmbrelaAP as UmbrelaAP,
    UmbrelaMRR as UmbrelaMRR,
    UmbrelaPrecision as UmbrelaPrecision,
    average_precision as average_precision,
    precision_at as precision_at,
    reciprocal_rank as reciprocal_rank,
)
