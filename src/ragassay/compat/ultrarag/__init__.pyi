from .ultrarag_benchmark import checked as checked, get_data as get_data, key_map_of as key_map_of
from .ultrarag_evaluation import (
    check_argument as check_argument,
    evaluate as evaluate,
    evaluate_trec as evaluate_trec,
    evaluate_trec_pvalue as evaluate_trec_pvalue,
)
