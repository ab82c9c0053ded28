"""Every metric with each of its parameters over samples of many kinds, as it was approved.

``approved/samples.jsonl`` holds the samples, ``approved/names.txt`` names of metrics, right and
wrong. See `approved`.
"""

import dataclasses
import textwrap
import typing
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragassay
from approved import check, number, result
from ragassay.base.sample import Sample
from ragassay.base.score import Score
from ragassay.judges.offline.offline_judge import offline_asker
from ragassay.metrics.citation import citation_parser
from ragassay.metrics.citation.citable import marks
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, Window, parameter_types
from ragassay.metrics.retrieval import preferences, ranking_sources, trec_names
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.models.weights.weight_files import BY_MODEL
from ragassay.texts import sentences as sentence_spans

APPROVED = Path(__file__).parent / "approved"
PLACES = Path(ragassay.__file__).parent / "metrics" / "modules_of_names.txt"
LEVELS = {"levels": ["0.5;1"], "gains": ["1:3;2:9"], "of": ["em"], "tokens": ["ascii", "unicode"]}
"""Values of the parameters that are texts."""


def samples() -> list[Sample]:
    return list(ragassay.load(APPROVED / "samples.jsonl"))


def of_package() -> dict[str, type[Metric]]:
    """The metrics of the package, without those that other tests made."""
    known = naming.metric_classes().items()
    return {name: cls for name, cls in known if name not in naming._OWN and "ragassay." in str(cls)}


def other_values(metric: type[Metric], spec: dataclasses.Field[Any]) -> Sequence[object]:
    """Values of a parameter beside its default."""
    hint = parameter_types(metric)[spec.name]
    kinds = typing.get_args(hint) or (hint,)
    literal = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    given = [one for one in literal if one != spec.default]
    if spec.name in LEVELS:
        given += LEVELS[spec.name]
    elif spec.metadata.get("role") == "cutoff":
        given += [1, 2, 3]
    elif bool in kinds:
        given.append(not spec.default)
    elif int in kinds:
        given.append((spec.default or 0) + 1)
    elif float in kinds:
        given += [0.25, 1.0, 2.5]
    return [*spec.metadata.get("choices", ()), *given]


def variants(names: Sequence[str]) -> Iterator[Metric]:
    """The metrics of these names, and each with one parameter changed."""
    for name in names:
        cls = naming.metric_classes()[name]
        plain = next((one for one in (name, f"{name}@2", f"{name}(of=em)") if made(one)), None)
        if plain is None:
            continue
        metric = naming.parse(plain)
        yield metric
        for spec in dataclasses.fields(cls):
            for value in other_values(cls, spec):
                try:
                    other = dataclasses.replace(metric, **{spec.name: value})
                except ragassay.UsageError:
                    continue
                if other != metric:
                    yield other


def made(name: str) -> bool:
    return not result(naming.parse, name).startswith(("UsageError", "UnknownMetric"))


def parsed_names() -> Iterator[str]:
    """What names stand for, or what is wrong with them."""
    for line in (APPROVED / "names.txt").read_text(encoding="utf-8").split("\n")[:-1]:
        found = result(
            lambda line=line: {key: repr(one) for key, one in naming.metrics_by_name(line).items()}
        )
        takes = naming.takes_cutoffs(line), naming.lacks_cutoff(line), bool(naming.known(line))
        stands_for = result(
            lambda line=line: [(cls.name, shown) for cls, shown in naming.find(line)]
        )
        yield f"{line} = {found} {takes} {stands_for}"
        yield f"  {result(naming.metrics_by_name, line, ks=[3], local={'x': 'em', 'P': 'P@2'})}"
    for texts in ("a,b(c,d),,e", ["a, b", "c(d", "e)f,g"]):
        yield f"{texts}: {naming.split(texts)}"
    yield result(naming.metrics_by_name, [])
    for name, values in (
        ("P@5", {"rel": "2"}),
        ("P@5", {"rel": 0}),
        ("P@5", {"depth": 1}),
        ("rougeL.p", {"stem": False}),
        ("rougeL.p", {"stem": "x"}),
    ):
        changed = result(naming.with_parameters, naming.parse(name), values)
        yield f"{name} {values}: {changed}"


def scores(family: str) -> Iterator[str]:
    """A line a metric of a family, but of those that need a model: each value with the samples that
    have it; of a variant what differs from the plain metric."""
    given = samples()
    window = Window(given, offline_asker())
    plain: dict[tuple[str, str], str] = {}
    for metric in variants([one for one, cls in of_package().items() if cls.family == family]):
        if metric.weights or (metric.embeds and metric.kind == "model"):
            continue
        found: dict[str, list[str]] = {}
        for sample, outcome in zip(given, window.outcomes(metric), strict=True):
            if isinstance(outcome, Score):
                shown = number(outcome.value)
            else:
                shown = "" if outcome.reason in BY_MODEL else str(outcome.reason)
            usual = plain.setdefault((metric.name, sample.id), shown)
            if str(metric) == str(metric).partition("(")[0] or usual != shown:
                found.setdefault(shown, []).append(sample.id)
        lacking = found.pop("not_applicable", []) + found.pop("missing_input", [])
        values = [f"{shown}: {', '.join(ids)}" for shown, ids in found.items()]
        yield f"{metric} | {' | '.join([*values, f'{len(lacking)} lack something'])}"


def citations() -> Iterator[str]:
    """How answers are split and what their parts cite."""
    for sample in samples():
        if not sample.id.startswith("c-") or sample.answer is None:
            continue
        text, passages = sample.answer.text, sample.passages or ()
        yield f"{sample.id}: {' / '.join(text.split())}"
        for split in (citation_parser.parts, citation_parser.sentences):
            for part in split(text, passages):
                yield f"  {split.__name__}: {part.text} {part.citations}"
        for part in citation_parser.published_parts(text):
            yield f"  published: {part.text} {part.citations}"
        yield f"  {citation_parser.text_for_models(sample.answer)}"
        yield f"  {citation_parser.without_citations(text, passages)!r}"
        yield f"  {[tuple(mark) for mark in marks(text, {'p1', 'p2'}, 3)]}"
        yield f"  {sentence_spans(text)}"


QRELS = """q1 a 0, q1 b 1, q1 c 2, q1 d -1, q1 e 3, q2 a 1, q2 b 0, q3 x 1, q4 a 0, q5 k 1,
q5 l 1"""
RUN = """q1 a 5, q1 c 4, q1 b 4, q1 z 3, q1 e 1, q1 d 0.5, q2 b 2, q2 a 1, q2 zz 1, q4 a 1, q5 m 1,
q5 l 1, q5 k 1, q9 a 1, q9 b 1"""
PREFERENCES = """q1 1 1 a 3, q1 1 1 b 2, q1 1 1 c 0, q1 1 2 c 0, q1 1 2 e 1, q1 2 1 a 1, q1 2 1 b 2,
q1 2 1 f 0, q2 1 1 a 1, q2 1 1 b 0, q2 1 1 x 0, q2 1 1 y 0, q3 1 1 x 1, q5 1 1 k 0, q5 1 1 l 0"""


def table(text: str, names: str) -> pl.DataFrame:
    """A frame of strings, the last column numbers."""
    *columns, last = names.split()
    rows = [line.split() for line in text.split(",")]
    frame = pl.DataFrame(rows, schema=[*columns, last], orient="row")
    kind = pl.Int64 if last == "grade" else pl.Float64
    return frame.with_columns(pl.col(last).cast(kind))


def rankings() -> Iterator[str]:
    """Measures of rankings of several queries, trec_eval's ones by their names."""
    run = table(RUN, "query document score")
    qrels = table(QRELS, "query document grade")
    preferred = table(PREFERENCES, "query group subgroup document level")
    grouped = preferred.select("query", "group", "document", grade=pl.col("level").cast(pl.Int64))
    grouped = grouped.unique(["query", "group", "document"], maintain_order=True, keep="first")
    judged: dict[str, Any] = {
        "qrels": ranking_sources.from_frames(qrels, run),
        "prefs": preferences.from_frames(preferred, run),
        "qrels_jg": preferences.grouped_from_frames(grouped, run),
    }
    for kind, made_rankings in judged.items():
        for cut in ("all", "limited", "judged only"):
            seen = made_rankings
            if cut == "limited":
                seen = seen.limited(2)
            elif cut == "judged only":
                seen = seen.judged_only()
            yield f"{kind}, {cut}: {seen.queries} {seen.in_run.tolist()} {seen.n_unjudged_queries}"
            names = {"qrels": "all_trec", "prefs": "all_prefs", "qrels_jg": "qrels_jg"}[kind]
            for measure in trec_names.resolve([names], judgements=kind):  # type: ignore[arg-type]
                if measure.metric is None:
                    continue
                by_group = kind == "qrels_jg" and measure.takes == kind
                given = (seen.values, measure.metric) if by_group else (measure.metric.values, seen)
                told = "" if not by_group and kind == "qrels_jg" else result(*given)
                yield f"  {measure.label}: {told}"
    for metric in variants(list(of_package())):
        if isinstance(metric, RankingMetric):
            told = result(lambda metric=metric: metric.values(judged["qrels"]).tolist())
            yield f"{metric}: {told}"
    asked: list[tuple[list[str], dict[str, Any]]] = [
        ([], {}), (["official"], {"rel": 2}), (["set"], {"n_docs": 100}), (["P.5,10", "map"], {}),
        (["P.5", "P.2"], {}), (["P.2.7,.5"], {}), (["P.x"], {}), (["P."], {}),
        (["ndcg.1=3,2=9", "G.1=3", "dcg.1=3", "ideal_dcg.1=3", "ndcg_rel.1=3", "Rndcg.1=3"], {}),
        (["utility.1,-1"], {}), (["utility.1,-1,0,0", "Utility(collection=5)"], {"n_docs": 9}),
        (["rbp.p=0.5", "rbp_resid"], {}), (["rbp.0.5"], {}), (["map.5"], {}),
        (["iprec_at_recall.0.25"], {}), (["nDCG@5,P@3", "nDCG@5"], {}),
        (["recall", "mrr", "map"], {"ks": [2, 3]}), (["recall"], {"ultrarag": True}),
        (["map"], {"ks": [2]}), (["mapp"], {}), (["em"], {}), ([""], {}), (["prefs_simp"], {}),
        (["prefs_simp"], {"judgements": "prefs"}), (["map"], {"judgements": "prefs"}),
        ([], {"judgements": "qrels_jg"}), ([], {"judgements": "qrels_prefs"}),
        (["11pt_avg.0.5,1", "relstring.5", "unj", "set_F.2", "P(rel=3)@5"], {"rel": 2}),
        (["GMAP", "RelString"], {}),
    ]  # fmt: skip
    for names, options in asked:
        told = result(
            lambda names=names, options=options: [
                (one.label, str(one.metric), one.per_query, one.summary)
                for one in trec_names.resolve(names, **options)
            ]
        )
        yield f"{names} {options}: {told}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made_by", [parsed_names, citations, rankings])
def test_metrics_are_as_they_were_approved(made_by: Callable[[], Iterator[str]], request) -> None:
    check(APPROVED / f"{made_by.__name__}.txt", made_by(), request.config.getoption("--approve"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", sorted({cls.family for cls in of_package().values()}))
def test_scores_are_as_they_were_approved(family: str, request: pytest.FixtureRequest) -> None:
    approve = request.config.getoption("--approve")
    check(APPROVED / f"scores_{family}.txt", scores(family), approve)


def test_each_name_is_listed_by_the_module_that_defines_it(request: pytest.FixtureRequest) -> None:
    names: dict[str, list[str]] = {}
    for name, cls in of_package().items():
        module = cls.__module__.removeprefix("ragassay.metrics.")
        names.setdefault(module, []).extend([name, *cls.aliases])
    lines = ["# Made by 'pytest tests/metrics/test_approved_metrics.py --approve'."]
    for module in sorted(names):
        lines += textwrap.wrap(
            f"{module}: {' '.join(sorted(names[module]))}", 100, subsequent_indent=" ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    check(PLACES, lines, request.config.getoption("--approve"))
