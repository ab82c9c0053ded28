from .runs import (
    SCORES as SCORES,
    UNSCORED as UNSCORED,
    AnswersMetric as AnswersMetric,
    answer_text as answer_text,
)
from .runs_bertscore import RunsBertScore as RunsBertScore
from .runs_retrieval import RunsOverlap as RunsOverlap, RunsRbo as RunsRbo
from .runs_rouge import RunsRouge1 as RunsRouge1, RunsRouge2 as RunsRouge2, RunsRougeL as RunsRougeL
from .runs_rouge_ore import RunsRougeOre as RunsRougeOre
from .runs_spread import (
    OfMetric as OfMetric,
    RunsFlip as RunsFlip,
    RunsMean as RunsMean,
    RunsMedian as RunsMedian,
)
