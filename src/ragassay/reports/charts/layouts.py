"""The evaluators whose result files are drawn, ours and Open RAG Eval's: a row each, with its
columns (of the tool's files with any prefix) and the words of its pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, get_args

from ragassay import suites
from ragassay.engine.results.summary import MetricSummary, describe
from ragassay.metrics.core import naming
from ragassay.reports.tables.ore_values import COLUMNS, NUMBERS

Evaluator = Literal["trec", "consistency", "golden_answer"]
EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)

INDEX = "consistency_adjusted_index"
"""What a file calls the statistic that is drawn, mean / (1 + sd) over the runs of a query."""

_INDEX_TITLE = "consistency-adjusted index, mean / (1 + sd)"

LEVEL = 0.95
"""Level of the intervals of files that come without any."""

BY_FILE = "known from a CSV only"
"""What the signature of a metric begins with whose file does not say how it was computed."""

UNKNOWN = "judge=unknown"
"""What the signature of a judged metric has where the file names no judge."""

PAGE, TOOL = "formula=Open RAG Eval's page", "formula=Open RAG Eval itself"
"""By what formula the scores of `by_two_formulas` were computed, as their signatures have it."""

OF_PAGE = ("unscored", "judge")
"""Columns of ours that Open RAG Eval's own files do not have."""

RUN_COLUMN = re.compile(r"(?:run_(\d+)_)?(.+)", re.S)
"""A column's name: the number of the run (where there is one), and the name without it."""

TITLES = {
    "umbrela": "Relevance of passages (UMBRELA)",
    "nuggets.all": "Nuggets in the answer",
    "nuggets.vital": "Vital nuggets in the answer",
    "hhem": "Factual consistency (HHEM)",
    "citation.f1": "Citations (F1)",
    "answered": "Questions answered",
    "answer_similarity": "Semantic similarity",
    "factual_correctness.precision": "Factual precision",
    "factual_correctness.recall": "Factual recall",
    "factual_correctness.f1": "Factual F1",
}
"""What pictures call the metrics of a run."""

CONSISTENCY_TITLES = {
    "mean_umbrela_score": "Retrieval",
    "umbrela": "Retrieval",
    "vital_nuggetizer_score": "Groundedness",
    "mean_nugget_assignment_score": "Groundedness (all nuggets)",
    "hallucination_score": "Factuality",
    "citation_f1_score": "Citation",
    "bert_score": "BERTScore",
    "rouge_score": "ROUGE-L",
}
"""What Open RAG Eval's pictures call a metric, by its column."""

_GRADED = ("mean_umbrela_score", "umbrela")
HIGHEST_GRADE = 3.0

_PREFIX = re.compile("(consistency_)?(retrieval_score_)?(generation_score_)?")
_CONSISTENCY = "consistency_"
_INNER = ("all", "all_strict", "vital_strict", "weighted", "weighted_strict")
_FLAG = ("no_answer", "no_answer_score", "generation_score_no_answer_score")
_CUT_OFF = re.compile(r"(.*@)(\d+)")
_GOLDEN = ("answer_similarity",
           *(f"factual_correctness.{part}" for part in ("precision", "recall", "f1")))  # fmt: skip

Paths = Mapping[str, str]
"""The metrics of a column, by their place in its JSON: empty for the whole of it, ``a.*`` for each
entry of an object, which completes the name."""

_TREC: Mapping[str, Paths] = {column: {"": name} for name, column in NUMBERS.items()} | {
    "generation_score_no_answer_score": {"query_answered": "answered"},
    "retrieval_score_precision_metrics": {
        "precision@.*": "umbrela_P@",
        "AP@.*": "umbrela_AP@",
        "MRR": "umbrela_MRR",
    },
    "generation_score_autonugget_scores": {"nuggetizer_scores.*": "nuggets."},
    "generation_score_citation_scores": {
        "weighted_precision": "citation.precision",
        "weighted_recall": "citation.recall",
    },
    "retrieval_score_umbrela_scores": {},
}


def plain(name: str) -> str:
    """A metric's name without the evaluators' prefixes; titles are listed by it."""
    return _PREFIX.sub("", name, count=1)


def by_two_formulas(name: str) -> bool:
    """Whether Open RAG Eval's page and the tool itself compute a metric differently."""
    return plain(name).startswith(
        ("citation.", "nuggets.weighted", "citation_f1_score", "rouge_score")
    )


@cache
def in_trecrag(name: str) -> bool:
    """Whether a metric of that name, at whatever cut-off, belongs to the suite trecrag."""
    own = suites.get("trecrag").metrics
    return name in own or _CUT_OFF.sub(r"\g<1>1", name) in own


def _golden(column: str) -> Paths | None:
    names = {name: name for name in _GOLDEN} | dict(suites.get("golden").aliases)
    for title, name in names.items():
        if column in (title, f"{title}_score") or column.endswith(f"_{title}"):
            return {"": name}
    return None


def _consistency(column: str) -> Paths | None:
    return {"": column[len(_CONSISTENCY) :]} if column.startswith(_CONSISTENCY) else None


@dataclass(frozen=True)
class Layout:
    """One evaluator: its name in messages, the suite of the same metrics, the metrics of a column
    (``paths``; ``None`` for other columns), those drawn by default, columns that are no scores
    (``facts``), titles by names without prefixes, and whether cells hold values of several runs."""

    evaluator: str
    suite: str
    paths: Callable[[str], Paths | None]
    default: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=lambda: TITLES)
    over_runs: bool = False

    def title(self, metrics: Iterable[str]) -> str:
        """What the numbers of a picture are."""
        if self.over_runs:
            return f"Consistency: {_INDEX_TITLE}"
        if self.suite == "golden":
            return "Golden answers"
        return "TREC RAG scores" if all(map(in_trecrag, metrics)) else "Scores"

    def columns_of(self, heads: Iterable[str]) -> dict[int, dict[str, Paths]]:
        """The columns with scores or facts of each run of a query, by the names in the file; runs
        are counted from 1 (1 where a file does not tell them apart), and have scores."""
        columns: dict[int, dict[str, Paths]] = {}
        for match in filter(None, map(RUN_COLUMN.fullmatch, heads)):
            paths = {} if match[2] in self.facts else self.paths(match[2])
            if paths is not None:
                columns.setdefault(int(match[1] or 1), {})[match[0]] = paths
        return {run: of for run in sorted(columns) if any((of := columns[run]).values())}

    def judged(self, name: str) -> bool:
        """Whether a metric takes a judge (or an embedder), who should be named."""
        if self.over_runs:
            return False
        return self.suite == "golden" or naming.parse(name).kind == "judge"

    def described(self, name: str) -> MetricSummary:
        """A metric without numbers."""
        if not self.over_runs:
            return describe(name, naming.parse(name), LEVEL)
        # BERTScore rescaled by its baseline may lie below 0.
        low = None if plain(name) == "bert_score" else 0.0
        bounds = (low, 1.0) if plain(name) in self.titles else (None, None)
        return MetricSummary(
            name=name, title=f"{self.titles.get(plain(name), name)}: {_INDEX_TITLE}",
            family="consistency", level=LEVEL, bounds=bounds, metric=f"{_CONSISTENCY}{name}.cai",
        )  # fmt: skip

    def is_scaled(self, name: str) -> bool:
        """Whether grades are divided by the highest one, as the tool does for its index."""
        return self.over_runs and plain(name) in _GRADED

    def main_metrics(self, available: Iterable[str]) -> tuple[str, ...]:
        """Of the available metrics those that its pictures show."""
        if not self.over_runs:
            return tuple(name for name in self.default if name in available)
        order, every = list(self.titles), tuple(available)
        titled = [name for name in every if plain(name) in order]
        return tuple(sorted(titled, key=lambda name: order.index(plain(name)))) or every

    def our_names(self, wanted: Sequence[str], available: Iterable[str]) -> list[str]:
        """The wanted names; ours in place of published ones that are no aliases of the suite."""
        if self.over_runs:
            spellings = {
                form.casefold(): name
                for name in available
                for form in (name, f"{_CONSISTENCY}{name}", plain(name))
            }
            return [spellings.get(text.casefold(), text) for text in naming.split(list(wanted))]
        names = []
        for word in wanted:
            name = re.sub(r"\Arun_\d+_(?=retrieval_score_|generation_score_)", "", word)
            part = name.casefold().replace(" ", "_")
            # The published column holds a label, and what is drawn is the share that it stands for.
            flag = "answered" in available and part in _FLAG
            names.append("answered" if flag else f"nuggets.{part}" if part in _INNER else name)
        return names


LAYOUTS: Mapping[Evaluator, Layout] = {
    "trec": Layout(
        "TREC", "trecrag", _TREC.get, (*NUMBERS, "answered"),
        facts=(*(column for column in COLUMNS if "_score_" not in column), *OF_PAGE),
    ),
    "golden_answer": Layout("golden-answer", "golden", _golden, _GOLDEN),
    "consistency": Layout("consistency", "consistency", _consistency, titles=CONSISTENCY_TITLES,
                          over_runs=True),
}  # fmt: skip
