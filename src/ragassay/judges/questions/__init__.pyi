from .answering import (
    AnswerAttempted as AnswerAttempted,
    AnswerContent as AnswerContent,
    Attempt as Attempt,
    Content as Content,
    Idk as Idk,
    SaysIdk as SaysIdk,
)
from .checklists import (
    AssignNuggets as AssignNuggets,
    CitationSupport as CitationSupport,
    Claims as Claims,
    ClaimsSupported as ClaimsSupported,
    ClaimSupport as ClaimSupport,
    ExtractClaims as ExtractClaims,
    ExtractNuggets as ExtractNuggets,
    NuggetAssignments as NuggetAssignments,
    NuggetImportance as NuggetImportance,
    NuggetImportances as NuggetImportances,
    NuggetList as NuggetList,
    Support as Support,
)
from .grading import (
    AnswerMatch as AnswerMatch,
    ContextReport as ContextReport,
    Match as Match,
    Rating as Rating,
    ReferenceRating as ReferenceRating,
    Relevance as Relevance,
    RelevanceGrade as RelevanceGrade,
    ReportOnContext as ReportOnContext,
    RubricGrade as RubricGrade,
)
