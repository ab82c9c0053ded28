from .answering import (
    AnswerAttempted as AnswerAttempted,
    AnswerContent as AnswerContent,
    Attempt as Attempt,
    Content as Content,
    Idk as Idk,
    SaysIdk as SaysIdk,
)
from .context_report import ContextReport as ContextReport, ReportOnContext as ReportOnContext
from .matching import AnswerMatch as AnswerMatch, Match as Match
from .nuggets import (
    AssignNuggets as AssignNuggets,
    ExtractNuggets as ExtractNuggets,
    NuggetAssignments as NuggetAssignments,
    NuggetImportance as NuggetImportance,
    NuggetImportances as NuggetImportances,
    NuggetList as NuggetList,
)
from .rating import Rating as Rating, ReferenceRating as ReferenceRating
from .relevance import Relevance as Relevance, RelevanceGrade as RelevanceGrade
from .rubrics import RubricGrade as RubricGrade
from .support import (
    CitationSupport as CitationSupport,
    Claims as Claims,
    ClaimSupport as ClaimSupport,
    ClaimVerdicts as ClaimVerdicts,
    ExtractClaims as ExtractClaims,
    Support as Support,
)
