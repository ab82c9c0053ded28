"""trec_eval's names for its measures, with their parameters (``P.5,10``), and the labels that it
prints, in trec_eval's order; metrics with our names follow, in the order named."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.retrieval.preferences import MEASURES as PREFERENCES, PreferenceMeasure
from ragassay.metrics.retrieval.ranking_metric import RankingMetric, RelevanceString

ULTRARAG = ("mrr", "map", "recall", "ndcg", "precision")
"""UltraRAG's measures of rankings, as its parameter file lists them."""

OFFICIAL = "official"
"""What trec_eval prints when no measure is named."""

Judgements = Literal["qrels", "qrels_prefs", "prefs", "qrels_jg"]
"""How trec_eval reads its first file: as qrels; as qrels that say what is preferred; as
preferences; as qrels of several groups."""

_DEFAULTS: dict[Judgements, str] = {
    "qrels": OFFICIAL,
    "qrels_prefs": "prefs",
    "prefs": "prefs",
    "qrels_jg": "qrels_jg",
}
_DEPTHS = "5,10,15,20,30,100,200,500,1000"
_TENTHS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"
_FIFTHS = "0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0"


@dataclass(frozen=True)
class TrecMeasure:
    """One line of trec_eval's output: what it prints, such as ``P_10``, the metric that computes it
    (``None`` for ``runid``), where it appears, and the judgements that it can be computed from
    (``prefs`` means both kinds of preferences; ``None`` for any)."""

    label: str
    metric: RankingMetric | PreferenceMeasure | None
    per_query: bool = True
    summary: bool = True
    takes: Judgements | None = "qrels"


@dataclass(frozen=True)
class _Entry:
    """How a measure's name and parameters become metrics. ``expression`` spells our metric, with
    ``{}`` for a parameter. With ``default`` each parameter is a measure (``integral``: a whole
    number); else all of them are one, which ``combine`` spells."""

    expression: str
    default: str = ""
    integral: bool = True
    combine: Callable[[str], str] | None = None
    per_query: bool = True
    summary: bool = True
    takes: Judgements | None = "qrels"


def _gains(text: str) -> str:
    return f"(gains={text.replace('=', ':').replace(',', ';')})"


def _utility(text: str) -> str:
    pieces = text.split(",")
    if len(pieces) != 4:
        raise UsageError(f"utility takes four numbers, as in utility.1,-1,0,0, not {text!r}.")
    pairs = zip(("found", "noise", "missed", "rest"), pieces, strict=True)
    return f"({','.join(f'{name}={value}' for name, value in pairs)})"


def _persistence(fixed: str) -> Callable[[str], str]:
    def combine(text: str) -> str:
        if text and not text.startswith("p="):
            raise UsageError(f"rbp takes p, as in rbp.p=0.8, not {text!r}.")
        return f"({text or 'p=0.9'},{fixed})"

    return combine


_MEASURES = {
    "runid": _Entry("", per_query=False, takes=None),
    "num_q": _Entry("NumQ", per_query=False, takes=None),
    "num_ret": _Entry("NumRet"),
    "num_rel": _Entry("NumRel"),
    "num_rel_ret": _Entry("NumRelRet"),
    "map": _Entry("AP"),
    "gm_map": _Entry("GMAP", per_query=False),
    "Rprec": _Entry("Rprec"),
    "bpref": _Entry("Bpref"),
    "recip_rank": _Entry("RR"),
    "iprec_at_recall": _Entry("IPrec@{}", _TENTHS, integral=False),
    "P": _Entry("P@{}", _DEPTHS),
    "relstring": _Entry("RelString", combine="@{}".format, summary=False),
    "recall": _Entry("Recall@{}", _DEPTHS),
    "infAP": _Entry("infAP"),
    "gm_bpref": _Entry("GMBpref", per_query=False),
    "Rprec_mult": _Entry("Rprec(mult={})", _FIFTHS, integral=False),
    "utility": _Entry("Utility", combine=_utility),
    "11pt_avg": _Entry("AP11", combine=lambda text: f"(levels={text.replace(',', ';')})"),
    "binG": _Entry("binG"),
    "G": _Entry("G", combine=_gains),
    "dcg": _Entry("DCG", combine=_gains),
    "ideal_dcg": _Entry("idealDCG", combine=_gains),
    "ndcg": _Entry("nDCG", combine=_gains),
    "ndcg_rel": _Entry("nDCGRel", combine=_gains),
    "Rndcg": _Entry("RnDCG", combine=_gains),
    "ndcg_cut": _Entry("nDCG@{}", _DEPTHS),
    "map_cut": _Entry("AP@{}", _DEPTHS),
    "relative_P": _Entry("RelP@{}", _DEPTHS),
    "success": _Entry("Success@{}", "1,5,10"),
    "set_P": _Entry("SetP"),
    "set_relative_P": _Entry("SetRelP"),
    "set_recall": _Entry("SetR"),
    "set_map": _Entry("SetAP"),
    "set_F": _Entry("SetF", combine="(x={})".format),
    "num_nonrel_judged_ret": _Entry("NumNonrelJudgedRet"),
    **{name: _Entry("", takes="prefs") for name in PREFERENCES},
    "map_avgjg": _Entry("AP", takes="qrels_jg"),
    "P_avgjg": _Entry("P@{}", _DEPTHS, takes="qrels_jg"),
    "Rprec_mult_avgjg": _Entry("Rprec(mult={})", _FIFTHS, integral=False, takes="qrels_jg"),
    "yaap": _Entry("YAAP"),
    "rbp": _Entry("RBP(p=0.9,graded=true)", combine=_persistence("graded=true")),
    "rbp_resid": _Entry("RBPResid(p=0.9,published=true)", combine=_persistence("published=true")),
    "unj": _Entry("Unjudged@{}", "5,10,20"),
}
_NAMES = list(_MEASURES)


def _upto(last: str, names: list[str]) -> list[str]:
    return names[: names.index(last) + 1]


_ANY = ["runid", "num_q"]
_BASIC = [*_ANY, "num_ret", "num_rel", "num_rel_ret"]
_NOT_IN_ALL_TREC = {"dcg", "ideal_dcg", "yaap"}
NICKNAMES = {
    OFFICIAL: _upto("P", _NAMES),
    "set": [*_BASIC, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"],
    "all_trec": [
        name
        for name in _NAMES
        if _MEASURES[name].takes in (None, "qrels") and name not in _NOT_IN_ALL_TREC
    ],
    "all_prefs": [*_ANY, *PREFERENCES],
    "prefs": [*_ANY, *_upto("prefs_avgjg", [*PREFERENCES])],
    "qrels_jg": [*_ANY, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"],
}


def resolve(
    names: Sequence[str] = (),
    *,
    rel: int = 1,
    ks: Sequence[int] | None = None,
    judgements: Judgements = "qrels",
    n_docs: int = 0,
    ultrarag: bool = False,
) -> list[TrecMeasure]:
    """The measures that trec_eval's names with their parameters (``P.5,10``), its nicknames, or
    names of ours mean; without names the nickname that suits ``judgements``. trec_eval's
    meaning of a name holds, except of UltraRAG's names where ``ks`` or ``ultrarag`` is given.
    ``n_docs`` is the size of the collection, for utility."""
    pieces = [piece for name in names for piece in naming.split(name)]
    theirs = ULTRARAG if ultrarag else tuple(naming.ULTRARAG_RANKED) if ks else ()
    not_trec = [piece for piece in pieces if not _is_trec(piece, theirs)]
    if ks and not any(map(naming.takes_cutoffs, not_trec)):
        raise UsageError(
            "--ks applies to recall, ndcg, precision and other names without a cut-off, and none "
            "is named. Write cut-offs into the others, as in P.5,10 or nDCG@5."
        )
    measures = _resolved(names or [_DEFAULTS[judgements]], rel, ks, theirs)
    has = "prefs" if judgements == "qrels_prefs" else judgements
    for measure in measures:
        if measure.takes not in (None, has):
            formats = [default for default in _DEFAULTS if default.endswith(measure.takes)]
            raise UsageError(
                f"{measure.label} cannot be computed with -R {judgements}; it takes "
                f"-R {' or '.join(formats)}."
            )
    for at, measure in enumerate(measures):
        metric = measure.metric
        if n_docs and isinstance(metric, RankingMetric) and getattr(metric, "collection", 1) == 0:
            utility = naming.with_parameters(metric, {"collection": n_docs})
            measures[at] = dataclasses.replace(measure, metric=_ranking_metric(utility, 1))
    return measures


def _resolved(
    names: Sequence[str], rel: int, ks: Sequence[int] | None, theirs: Sequence[str]
) -> list[TrecMeasure]:
    asked: dict[str, list[str]] = {}
    own: dict[str, TrecMeasure] = {}
    for name in names:
        for piece in [name] if _is_trec(name, theirs) else naming.split(name):
            if _is_trec(piece, theirs):
                head, _, parameters = piece.strip().partition(".")
                for each in NICKNAMES.get(head, [head]):
                    asked.setdefault(each, []).append(parameters)
            else:
                own.update((measure.label, measure) for measure in ours(piece, rel=rel, ks=ks))
    if not asked and not own:
        raise UsageError("No measure is named.")
    by_label: dict[str, TrecMeasure] = {}
    for name in filter(asked.get, _NAMES):
        # As in trec_eval, parameters win over the defaults that a nickname brings.
        chosen = list(filter(None, asked[name])) or [""]
        measures = [pair for parameters in chosen for pair in _measures(name, parameters, rel)]
        by_label |= {measure.label: measure for _, measure in sorted(measures, key=itemgetter(0))}
    return [*by_label.values(), *own.values()]


def ours(
    names: str | Sequence[str], *, rel: int = 1, ks: Sequence[int] | None = None
) -> list[TrecMeasure]:
    """Metrics named in our own way, in order, each under the name that it was asked by."""
    try:
        metrics = naming.metrics_by_name(names, ks=ks)
    except UsageError as error:
        hint = ""
        if "Did you mean" not in str(error):
            hint = did_you_mean(str(names), [*_MEASURES, *NICKNAMES])
        raise UsageError(f"{error} {hint}".strip()) from None
    return [
        TrecMeasure(
            name,
            _ranking_metric(metric, rel),
            per_query=metric.aggregate != "geometric",
            summary=not isinstance(metric, RelevanceString),
        )
        for name, metric in metrics.items()
    ]


def _is_trec(name: str, theirs: Sequence[str]) -> bool:
    """Whether a name is trec_eval's and not in ``theirs``."""
    head = name.strip().partition(".")[0]
    if name.strip() in theirs:
        return False
    return head in _MEASURES or head in NICKNAMES


def _measures(name: str, parameters: str, rel: int) -> list[tuple[float, TrecMeasure]]:
    """The measures of one name, each with its sort key."""
    entry = _MEASURES[name]
    if entry.default:
        return [
            (value, _measure(entry, f"{name}_{shown}", entry.expression.format(exact), rel))
            for value, exact, shown in _cutoffs(name, parameters or entry.default, entry.integral)
        ]
    if not parameters:
        return [(0.0, _measure(entry, name, entry.expression, rel))]
    if entry.combine is None:
        raise UsageError(
            f"{name} takes no parameters: write {name} in place of {name}.{parameters}."
        )
    base = entry.expression.partition("(")[0]
    expression = base + entry.combine(parameters)
    return [(0.0, _measure(entry, f"{name}_{parameters}", expression, rel))]


def _measure(entry: _Entry, label: str, expression: str, rel: int) -> TrecMeasure:
    metric: RankingMetric | PreferenceMeasure | None = PREFERENCES.get(label)
    if expression:
        metric = _ranking_metric(naming.parse(expression), rel)
    return TrecMeasure(label, metric, entry.per_query, entry.summary, entry.takes)


def _cutoffs(name: str, text: str, integral: bool) -> list[tuple[float, str, str]]:
    """The cut-offs of a list: value, spelling, and trec_eval's way of printing it."""
    cutoffs = []
    for piece in text.split(","):
        # trec_eval reads 23.4 as 23 where it wants a whole number.
        match = re.fullmatch(r"\s*(\d*\.?\d*)\s*", piece)
        if match is None or match[1] in ("", "."):
            raise UsageError(f"{name}.{text}: {piece!r} is not a number.")
        value = float(match[1])
        exact = str(int(value)) if integral else repr(value)
        cutoffs.append((value, exact, exact if integral else f"{value:.2f}"))
    return cutoffs


def _ranking_metric(metric: Metric, rel: int) -> RankingMetric:
    if not isinstance(metric, RankingMetric):
        raise UsageError(f"{metric} is not a measure of a ranking with qrels.")
    if rel != 1 and getattr(metric, "rel", rel) == 1:
        changes: dict[str, Any] = {"rel": rel}
        return dataclasses.replace(metric, **changes)
    return metric
