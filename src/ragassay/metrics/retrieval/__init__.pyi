from . import (
    judgement_groups as judgement_groups,
    preferences as preferences,
    ranking_sources as ranking_sources,
    trec_names as trec_names,
)
from .judgement_groups import GroupedRankings as GroupedRankings
from .preferences import PreferenceMeasure as PreferenceMeasure, Preferences as Preferences
from .ranking_metric import RankingMetric as RankingMetric
from .rankings import Floats as Floats, Mask as Mask, Rankings as Rankings
from .retrieval_gains import RankBiasedResidual as RankBiasedResidual
from .retrieval_levels import RelevanceString as RelevanceString
from .retrieval_sets import NumQueries as NumQueries, Utility as Utility
from .trec_names import Judgements as Judgements, TrecMeasure as TrecMeasure
