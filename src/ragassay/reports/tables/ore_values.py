"""The values in Open RAG Eval's result files, by its page and by the tool itself."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.engine.results import Result
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.metrics.answer.answer_match import Answered, NoAnswer
from ragassay.metrics.citation import citation_parser
from ragassay.metrics.citation.citable import Citable
from ragassay.metrics.citation.citation_support import Citation, CitationOre
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, passage_keys
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
    part: part.replace("_", " ").title() for part in get_args(NuggetScore)
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
    "retrieved_passages", "generated_answer", _GRADES, _RANKING, _MEAN, _NUGGETS, _ALL, _VITAL,
    _HHEM, _CITATIONS, _F1, _NO_ANSWER,
)  # fmt: skip
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


class RunColumns:
    """The columns of one run of a query: as Open RAG Eval's page has them, with our scores, or as
    the tool computes them from the judge's answers."""

    def __init__(self, result: Result, *, by_tool: bool = False) -> None:
        self.metrics, self._by_tool = judged_rows(result), by_tool
        self._judge_answers = result.judge_answers

    def _scored(self, rows: Rows, *kinds: type[Metric]) -> Iterator[tuple[Any, ScoreRow]]:
        """The scores of metrics of some types."""
        for name, metric in self.metrics.items():
            if isinstance(metric, kinds) and (row := rows[name]).value is not None:
                yield metric, row

    def of(self, rows: Rows) -> Mapping[str, Any]:
        """The scores by column; ``None`` where there is none, also in an object."""
        first = {
            kind: next((row for _, row in self._scored(rows, kind)), None)
            for kind in (Umbrela, Hhem, NoAnswer, Answered, Nuggets, NuggetsOre)
        }
        umbrela, hhem, flag = first[Umbrela], first[Hhem], first[Answered]
        answered = flag and ("yes" if flag.value else "no")
        if label := first[NoAnswer]:
            answered = label.value  # type: ignore[assignment]
        of_citation = CitationOre if self._by_tool else Citation
        cited = {metric.part: row for metric, row in self._scored(rows, of_citation)}
        citation = next(iter(cited.values()), None)
        f1, by_part = cited.get("f1"), {m.part: row for m, row in self._scored(rows, Nuggets)}
        nuggets = first[Nuggets]
        values: dict[NuggetScore, Any]
        values = {part: by_part[part].value if part in by_part else None for part in _TITLES}
        if self._by_tool and (nuggets := first[NuggetsOre] or nuggets) is not None:
            held = nuggets.parts["labels"], nuggets.parts["assignments"]
            values = {part: published_nugget_score(part, *held) for part in _TITLES}
        found = nuggets and _nugget_object(values, nuggets.parts)
        objects = citation and _citation_object(citation.parts, published=self._by_tool)
        tools_f1, tools_mean = (
            objects and objects["f1"],
            found and _mean(found["assignment_scores"]),
        )
        grades = dict(umbrela.parts["grades"]) if umbrela else None
        return {
            _GRADES: grades,
            _MEAN: umbrela.value if umbrela else None,
            _HHEM: hhem.value if hhem else None,
            _NO_ANSWER: None if answered is None else {"query_answered": answered},
            _RANKING: self._tools_ranking(grades) if self._by_tool else self._ranking(rows),
            _NUGGETS: found,
            _ALL: tools_mean if self._by_tool else values["all"],
            _VITAL: values["vital"],
            _CITATIONS: objects,
            _F1: tools_f1 if self._by_tool else f1 and f1.value,
        }

    def _ranking(self, rows: Rows) -> dict[str, Any] | None:
        """Our P@k, AP@k and MRR."""
        ranking: dict[str, Any] = {}
        at: dict[type[Metric], str] = {UmbrelaPrecision: "precision@", UmbrelaAP: "AP@"}
        for metric, row in self._scored(rows, *at, UmbrelaMRR):
            if type(metric) in at:
                ranking.setdefault(at[type(metric)], {}).setdefault(str(metric.k), row.value)
            else:
                ranking.setdefault("MRR", row.value)
        return ranking or None

    def _tools_ranking(self, grades: Mapping[str, int] | None) -> dict[str, Any] | None:
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

    def texts(self, sample: Sample) -> dict[str, Any]:
        """The columns that hold texts: passages by their names, and the parts of the answer, each
        as ``{text, citations}``: those that ``citation`` judges, with citations by the passages'
        own names, or those that the tool's loader makes."""
        columns: dict[str, Any] = {}
        passages = sample.passages
        keys = passage_keys(passages or ())
        if passages is not None:
            columns["retrieved_passages"] = {
                key: passage.text for key, passage in zip(keys, passages, strict=True)
            }
        if sample.answer is None:
            return columns
        citable, parts = Citable(passages or ()), sample.answer.statements
        if not parts and self._by_tool:
            parts = citation_parser.published_parts(sample.answer.text)
        elif not parts:
            parts = citation_parser.parts(sample.answer.text, passages or ())

        def key_of(citation: str) -> str:
            index = None if self._by_tool else citable.find(citation)
            return citation if index is None else keys[index]

        columns["generated_answer"] = [
            {"text": part.text, "citations": [*map(key_of, part.citations)]} for part in parts
        ]
        return columns

    def tokens(self, rows: Rows) -> dict[str, Any]:
        """The tokens that the answers of a sample's scores took; 0 for rules and people."""
        steps = {name: dict.fromkeys(_USAGE, 0) for name in dict.fromkeys(STEPS.values())}
        asked = dict.fromkeys(
            name
            for shown, metric in self.metrics.items()
            if isinstance(metric, _ASKING)
            for name in rows[shown].evidence
        )
        for record in filter(None, map(self._judge_answers.get, asked)):
            if step := STEPS.get(record["question"]):
                answers = record.get("votes") or [record]  # a panel's are those of its votes
                inputs, outputs = (
                    sum(answer.get(key, 0) for answer in answers) for key in _USAGE[:2]
                )
                for key, n in zip(_USAGE, (inputs, outputs, inputs + outputs), strict=True):
                    steps[step][key] += n
        totals = {
            total: sum(step[key] for step in steps.values())
            for total, key in zip(TOTALS, _USAGE, strict=True)
        }
        return {RETRIEVAL: steps["umbrela_tokens"], GENERATION: steps | totals, **totals}


def cell(value: Any) -> Any:
    """Numbers and texts as they are, objects as strict JSON that is readable in any script."""
    if isinstance(value, int | float | str):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


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
        counted = [item for item in cited if item["passage"] is not None or not published]
        for value in counted:
            name = value["citation"] if value["passage"] is None else value["passage"]
            by_passage[f"citation_score_{name}"].append(value["score"])
        if counted or not cited:
            by_part[f"part_score_{at}"] = _mean([item["score"] for item in counted])
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
