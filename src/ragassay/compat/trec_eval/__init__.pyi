from . import trec_evaluation as trec_evaluation, trec_printing as trec_printing
from .trec_evaluation import TrecScores as TrecScores
