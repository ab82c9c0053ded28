from .answering import (
    AnswerAttempted as AnswerAttempted,
    AnswerContent as AnswerContent,
    Attempt as Attempt,
    Clarification as Clarification,
    Content as Content,
    Idk as Idk,
    SaysIdk as SaysIdk,
    SaysUnderspecified as SaysUnderspecified,
)
from .context_report import (
    ContextReport as ContextReport,
    Contradiction as Contradiction,
    ReportOnContext as ReportOnContext,
    Satisfaction as Satisfaction,
    Stars as Stars,
)
from .matching import AnswerMatch as AnswerMatch, Match as Match
from .nuggets import (
    Assignment as Assignment,
    AssignNuggets as AssignNuggets,
    ExtractNuggets as ExtractNuggets,
    Importance as Importance,
    NuggetAssignments as NuggetAssignments,
    NuggetImportance as NuggetImportance,
    NuggetImportances as NuggetImportances,
    NuggetList as NuggetList,
)
from .question_kinds import kinds as kinds
from .rating import Rating as Rating, ReferenceRating as ReferenceRating
from .relevance import Relevance as Relevance, RelevanceGrade as RelevanceGrade
from .rubrics import Parts as Parts, RubricGrade as RubricGrade
from .support import (
    CitationSupport as CitationSupport,
    Claims as Claims,
    ClaimSupport as ClaimSupport,
    ClaimVerdicts as ClaimVerdicts,
    ExtractClaims as ExtractClaims,
    Support as Support,
)
from .writing import (
    AnswerFromPassages as AnswerFromPassages,
    FoundAnswer as FoundAnswer,
    WriteAnswer as WriteAnswer,
    WriteQuery as WriteQuery,
    WrittenAnswer as WrittenAnswer,
    WrittenQuery as WrittenQuery,
)
