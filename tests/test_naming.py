from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.metrics import naming
from ragassay.metrics.base import Metric
from ragassay.suites import known as known_suites


def built(cls: type[Metric]) -> Metric:
    """An instance with its required cut-off given."""
    required = [s.name for s in dataclasses.fields(cls) if s.default is dataclasses.MISSING]
    return cls(**dict.fromkeys(required, 1))


@pytest.mark.parametrize("cls", naming.known().values(), ids=str)
def test_every_metric_is_declared_in_full(cls: type[Metric]) -> None:
    assert cls.title and cls.source and cls.family
    assert not cls.title.endswith(".") and len(cls.title) < 120
    assert cls.low is None or cls.high is None or cls.low < cls.high
    assert all(spec.metadata.get("doc") for spec in dataclasses.fields(cls))


@pytest.mark.parametrize("cls", naming.known().values(), ids=str)
def test_a_printed_name_parses_back(cls: type[Metric]) -> None:
    metric = built(cls)
    assert naming.parse(str(metric)) == metric
    assert repr(metric) == str(metric)


@pytest.mark.parametrize("suite", known_suites().values(), ids=lambda suite: suite.name)
def test_every_name_in_a_suite_resolves(suite) -> None:
    metrics = suite.resolve()
    published = suite.resolve(published=True)
    assert len(metrics) == len(set(metrics)) and len(published) == len(metrics)
    for alias in suite.aliases:
        naming.find(alias, suite.aliases)
    for canonical in suite.columns:
        assert str(naming.parse(canonical)) == canonical


@pytest.mark.parametrize("alias", naming.aliases())
def test_every_alias_resolves(alias: str) -> None:
    cls, _ = naming.find(alias)
    assert issubclass(cls, Metric)


@given(k=st.integers(1, 10_000), gain=st.sampled_from(["linear", "exp"]), rel=st.integers(1, 5))
def test_parameters_round_trip(k: int, gain: str, rel: int) -> None:
    ndcg = naming.parse(f"nDCG(gain={gain})@{k}")
    assert naming.parse(str(ndcg)) == ndcg and ndcg.k == k and ndcg.gain == gain
    precision = naming.parse(f"P(rel={rel})@{k}")
    assert str(precision) == (f"P@{k}" if rel == 1 else f"P(rel={rel})@{k}")


def test_the_spellings_of_the_design_are_canonical() -> None:
    for name in ("nDCG@10", "P(rel=2)@5", "rougeL(stem=false).f"):
        assert str(naming.parse(name)) == name


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("nDGC@10", "Did you mean 'nDCG'"),
        ("P", "needs a cut-off, as in P@10"),
        ("P@0", "at least 1"),
        ("P@-3", "at least 1"),
        ("P@ten", "k must be int, not 'ten'"),
        ("nDCG(gain=steep)@5", "must be one of linear, exp"),
        ("nDCG(depth=3)@5", "has no parameter 'depth'"),
        ("nDCG.f@5", "has no parts"),
        ("f1@@3", "is not a metric name"),
        ("", "is not a metric name"),
    ],
)
def test_a_wrong_name_says_what_is_wrong(wrong: str, says: str) -> None:
    with pytest.raises(UsageError, match="(?s)" + says.replace("(", r"\(").replace(")", r"\)")):
        naming.parse(wrong)


def test_ultrarag_names_stand_for_one_metric_a_cutoff() -> None:
    found = naming.parse_all("mrr,map,recall,ndcg,precision", ks=[1, 5])
    assert [str(metric) for metric in found] == [
        "RR", "AP", "Recall@1", "Recall@5", "nDCG@1", "nDCG@5", "P@1", "P@5",
    ]  # fmt: skip
    assert len(naming.parse_all(["recall"])) == 6


def test_a_list_is_read_once_each_and_commas_inside_parentheses_do_not_split() -> None:
    assert [str(m) for m in naming.parse_all("AP, AP,MAP,RBP(p=0.5)")] == ["AP", "RBP(p=0.5)"]
    with pytest.raises(UsageError, match="No metric is named"):
        naming.parse_all(" , ")
