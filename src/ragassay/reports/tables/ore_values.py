"""The values in Open RAG Eval's result files, from a run's scores: as its page has them, and as the
tool computes them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.engine.results import Result
from ragassay.engine.results.judge_answers import Record
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.metrics.answer.answer_match import Answered, NoAnswer
from ragassay.metrics.citation import citation_parser
from ragassay.metrics.citation.citable import Citable, passage_keys
from ragassay.metrics.citation.citation_support import Citation, CitationOre
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.grounding.hallucination import Hhem
from ragassay.metrics.nuggets.nugget_recall import (
    LENIENT,
    Nuggets,
    NuggetScore,
    NuggetsOre,
    published_nugget_score,
)
from ragassay.metrics.relevance.umbrela import (
    Umbrela,
    UmbrelaAP,
    UmbrelaMRR,
    UmbrelaPrecision,
    average_precision,
    precision_at,
    reciprocal_rank,
)

_OURS = (
    Umbrela, UmbrelaPrecision, UmbrelaAP, UmbrelaMRR, Nuggets, NuggetsOre, Citation, CitationOre,
    NoAnswer, Answered, Hhem,
)  # fmt: skip
_TITLES: Mapping[NuggetScore, str] = {
    "all": "All",
    "all_strict": "All Strict",
    "vital": "Vital",
    "vital_strict": "Vital Strict",
    "weighted": "Weighted",
    "weighted_strict": "Weighted Strict",
}
_MEAN = "retrieval_score_mean_umbrela_score"
_GRADES = "retrieval_score_umbrela_scores"
_RANKING = "retrieval_score_precision_metrics"
_NUGGETS = "generation_score_autonugget_scores"
_ALL = "generation_score_mean_nugget_assignment_score"
_VITAL = "generation_score_vital_nuggetizer_score"
_HHEM = "generation_score_hallucination_score"
_CITATIONS = "generation_score_citation_scores"
_F1 = "generation_score_citation_f1_score"
_NO_ANSWER = "generation_score_no_answer_score"

COLUMNS = (
    "retrieved_passages",
    "generated_answer",
    _GRADES,
    _RANKING,
    _MEAN,
    _NUGGETS,
    _ALL,
    _VITAL,
    _HHEM,
    _CITATIONS,
    _F1,
    _NO_ANSWER,
)
"""The columns of one run of a query, in their order; docs/open-rag-eval.md says what they hold."""


NUMBERS = {
    "umbrela": _MEAN,
    "nuggets.all": _ALL,
    "nuggets.vital": _VITAL,
    "hhem": _HHEM,
    "citation.f1": _F1,
}
"""The columns that hold one number, by the metric that it is of."""


def judged_rows(result: Result) -> dict[str, Metric]:
    """The metrics of a result that these files speak of, by the names under which it shows them."""
    ours = {kind.name for kind in _OURS}
    return {
        name: naming.parse(entry.metric)
        for name, entry in result.summary.metrics.items()
        if re.split(r"[(.@]", entry.metric, maxsplit=1)[0] in ours
    }


def demand(result: Result) -> None:
    """Raises `UsageError` where a result holds nothing that these files speak of."""
    if not judged_rows(result):
        raise UsageError(
            "The run has none of the metrics of 'trecrag': run it with --suite trecrag."
        )


class SpecValues:
    """The columns of one run of a query as Open RAG Eval's page has them, with our scores."""

    def __init__(self, result: Result) -> None:
        self.metrics = judged_rows(result)

    def scored(self, rows: Rows, *kinds: type[Metric]) -> Iterator[tuple[Any, ScoreRow]]:
        """The scores of metrics of some types."""
        for name, metric in self.metrics.items():
            row = rows.get(name)
            if isinstance(metric, kinds) and row is not None and row.value is not None:
                yield metric, row

    def first(self, rows: Rows, kind: type[Metric]) -> ScoreRow | None:
        """The first score of a metric of that type."""
        return next((row for _, row in self.scored(rows, kind)), None)

    def shared(self, rows: Rows) -> dict[str, Any]:
        """The columns that both forms fill in the same way."""
        umbrela, hhem = self.first(rows, Umbrela), self.first(rows, Hhem)
        label, flag = self.first(rows, NoAnswer), self.first(rows, Answered)
        answered = label.value if label else None if flag is None else "yes" if flag.value else "no"
        return {
            _GRADES: dict(umbrela.parts["grades"]) if umbrela else None,
            _MEAN: umbrela.value if umbrela else None,
            _HHEM: hhem.value if hhem else None,
            _NO_ANSWER: None if answered is None else {"query_answered": answered},
        }

    def answer(self, answer: Answer, passages: Sequence[Passage]) -> list[dict[str, Any]]:
        """The parts of an answer that ``citation`` judges, each as ``{text, citations}``; citations
        by the passages' own names."""
        citable, keys = Citable(passages), passage_keys(passages)

        def key_of(citation: str) -> str:
            index = citable.find(citation)
            return citation if index is None else keys[index]

        parts = answer.statements or citation_parser.parts(answer.text, passages)
        return [{"text": one.text, "citations": [*map(key_of, one.citations)]} for one in parts]

    def of(self, rows: Rows) -> Mapping[str, Any]:
        """Our scores by column; ``None``, or nothing, where there is none. One that is unscored in
        an object is null."""
        ranking: dict[str, Any] = {}
        at: dict[type[Metric], str] = {UmbrelaPrecision: "precision@", UmbrelaAP: "AP@"}
        for metric, row in self.scored(rows, *at, UmbrelaMRR):
            if type(metric) in at:
                ranking.setdefault(at[type(metric)], {}).setdefault(str(metric.k), row.value)
            else:
                ranking.setdefault("MRR", row.value)
        nuggets = {metric.part: row for metric, row in self.scored(rows, Nuggets)}
        values = {part: nuggets[part].value if part in nuggets else None for part in _TITLES}
        cited = {metric.part: row for metric, row in self.scored(rows, Citation)}
        nugget, citation = next(iter(nuggets.values()), None), self.first(rows, Citation)
        return self.shared(rows) | {
            _RANKING: ranking or None,
            _NUGGETS: None if nugget is None else _nugget_object(values, nugget.parts),
            _ALL: values["all"],
            _VITAL: values["vital"],
            _CITATIONS: None if citation is None else _citation_object(citation.parts),
            _F1: cited["f1"].value if "f1" in cited else None,
        }


class OreValues(SpecValues):
    """The same as the tool computes them."""

    def answer(self, answer: Answer, passages: Sequence[Passage]) -> list[dict[str, Any]]:
        """The parts that the tool's loader makes."""
        parts = answer.statements or citation_parser.published_parts(answer.text)
        return [{"text": one.text, "citations": list(one.citations)} for one in parts]

    def of(self, rows: Rows) -> Mapping[str, Any]:
        """The tool's scores, computed from the judge's answers."""
        shared = self.shared(rows)
        nuggets = self.first(rows, NuggetsOre) or self.first(rows, Nuggets)
        citations = self.first(rows, CitationOre)
        published = None
        if nuggets is not None:
            held = nuggets.parts["labels"], nuggets.parts["assignments"]
            values = {part: published_nugget_score(part, *held) for part in _TITLES}
            published = _nugget_object(values, nuggets.parts)
        cited = None if citations is None else _citation_object(citations.parts, published=True)
        return shared | {
            _RANKING: self._ranking(shared[_GRADES]),
            _NUGGETS: published,
            _ALL: None if published is None else _mean(published["assignment_scores"]),
            _VITAL: None if published is None else published["nuggetizer_scores"]["Vital"],
            _CITATIONS: cited,
            _F1: None if cited is None else cited["f1"],
        }

    def _ranking(self, grades: Mapping[str, int] | None) -> dict[str, Any] | None:
        """P@k and AP@k for each k that the list reaches, and MRR."""
        if not grades:
            return None
        at = [m for m in self.metrics.values() if isinstance(m, UmbrelaPrecision | UmbrelaAP)]
        rel = next((m.rel for m in at), 2)
        relevant = [grade >= rel for grade in grades.values()]
        ranking: dict[str, Any] = {}
        for k in dict.fromkeys(m.k for m in at):
            if k <= len(relevant):
                precision = average_precision(relevant, k, sum(relevant[:k]))
                ranking.setdefault("precision@", {})[str(k)] = precision_at(relevant, k)
                ranking.setdefault("AP@", {})[str(k)] = precision
        return ranking | {"MRR": reciprocal_rank(relevant)}


def cell(value: Any) -> Any:
    """Numbers and texts as they are, objects as strict JSON that is readable in any script."""
    if isinstance(value, int | float | str):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def texts(sample: Sample | None, values: SpecValues) -> dict[str, Any]:
    """The columns that hold texts: passages by their names, and the parts of the answer."""
    columns: dict[str, Any] = {}
    passages = sample.passages if sample is not None else None
    if passages is not None:
        names, contents = passage_keys(passages), (one.text for one in passages)
        columns["retrieved_passages"] = dict(zip(names, contents, strict=True))
    if sample is not None and sample.answer is not None:
        columns["generated_answer"] = values.answer(sample.answer, passages or ())
    return columns


def _nugget_object(values: Mapping[NuggetScore, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "nuggetizer_scores": {_TITLES[part]: value for part, value in values.items()},
        "nuggets": list(parts["nuggets"]),
        "labels": list(parts["labels"]),
        "assignments": list(parts["assignments"]),
        "assignment_scores": [LENIENT[held] for held in parts["assignments"]],
    }


def _citation_object(parts: Mapping[str, Any], *, published: bool = False) -> dict[str, Any]:
    """Mean worth of each cited passage and of each part (from 1), then the three scores.

    In the published form what was not retrieved is left out, and a part that cites nothing else.
    """
    by_passage: dict[str, list[float]] = defaultdict(list)
    by_part: dict[str, float] = {}
    for at, statement in enumerate(parts["statements"], start=1):
        cited = statement["citations"]
        counted = [one for one in cited if one["passage"] is not None or not published]
        for one in counted:
            name = one["citation"] if one["passage"] is None else one["passage"]
            by_passage[f"citation_score_{name}"].append(one["score"])
        if counted or not cited:
            by_part[f"part_score_{at}"] = _mean([one["score"] for one in counted])
    return {
        **{name: _mean(values) for name, values in by_passage.items()},
        **by_part,
        "weighted_precision": parts["precision"],
        "weighted_recall": parts["recall"],
        "f1": parts["f1"],
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


STEPS = {
    "relevance_grade": "umbrela_tokens",
    "extract_nuggets": "autonugget_tokens",
    "nugget_importance": "autonugget_tokens",
    "assign_nuggets": "autonugget_tokens",
    "citation_support": "citation_tokens",
    "answer_attempted": "no_answer_tokens",
}
"""The tool's counter of tokens for each kind of question."""

_ASKING = (Umbrela, NuggetsOre, Nuggets, CitationOre, NoAnswer, Answered)
"""The metrics whose questions the tool asks, too."""

_USAGE = ("input_tokens", "output_tokens", "total_tokens")

RETRIEVAL, GENERATION = "retrieval_score_token_usage", "generation_score_token_usage"
TOTALS = ("total_input_tokens", "total_output_tokens", "total_tokens")
"""The columns of one run that hold tokens."""


def tokens_of(rows: Rows, values: OreValues, result: Result) -> dict[str, Any]:
    """The tokens that the answers of a sample's scores took when they were first given; 0 for
    judges without tokens (rules, people).
    """
    steps = {name: dict.fromkeys(_USAGE, 0) for name in dict.fromkeys(STEPS.values())}
    asked = dict.fromkeys(
        name
        for shown, metric in values.metrics.items()
        if isinstance(metric, _ASKING) and shown in rows
        for name in rows[shown].evidence
    )
    for record in filter(None, map(result.judge_answers.get, asked)):
        if step := STEPS.get(record["question"]):
            for key, n in zip(_USAGE, _counted(record), strict=True):
                steps[step][key] += n
    totals = {
        total: sum(step[key] for step in steps.values())
        for total, key in zip(TOTALS, _USAGE, strict=True)
    }
    return {RETRIEVAL: steps["umbrela_tokens"], GENERATION: steps | totals, **totals}


def _counted(record: Record) -> tuple[int, int, int]:
    """Input, output and all tokens of a judge's answer, of a panel's those of its votes."""
    answers = record.get("votes") or [record]
    inputs, outputs = (sum(one.get(key, 0) for one in answers) for key in _USAGE[:2])
    return inputs, outputs, inputs + outputs
