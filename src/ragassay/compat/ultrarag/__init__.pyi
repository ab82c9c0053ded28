from . import pipelines as pipelines
from .ultrarag_servers import (
    evaluate as evaluate,
    evaluate_trec as evaluate_trec,
    evaluate_trec_pvalue as evaluate_trec_pvalue,
    get_data as get_data,
)
