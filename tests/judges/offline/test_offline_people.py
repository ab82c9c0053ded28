"""The offline judge keeps its marks against people, on MT-RAG's human labels."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))

from benchmarks import fit_refusals, offline_judge as benchmark, perturbations

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def records(shared: Path) -> list[benchmark.Record]:
    assert (shared / "data" / "mtrag" / "human_evaluations_half.json").is_file()
    return benchmark.read()


@pytest.fixture(scope="module")
def llm(records: list[benchmark.Record]) -> list[benchmark.Record]:
    return [record for record in records if record.sample.system != "reference"]


def rho(records: list[benchmark.Record], value: benchmark.Value, aspect: str) -> float:
    scores = np.array([value(record) for record in records], dtype=float)
    people = np.array([record.people[aspect] for record in records])
    return float(benchmark.correlations(scores, people, np.ones((len(records), 1)))[0][0])


def test_the_data_is_what_the_marks_are_about(llm: list[benchmark.Record]) -> None:
    assert len(llm) == 186
    assert rho(llm, benchmark.published("rl_f"), "faithfulness") == pytest.approx(0.646, abs=0.001)
    assert rho(llm, benchmark.raw("plain"), "faithfulness") == pytest.approx(0.65, abs=0.01)


def test_faithfulness_is_never_worse_than_plain_precision(llm: list[benchmark.Record]) -> None:
    scored = [record for record in llm if record.scores["rl_f"] is not None]
    assert len(scored) >= 165
    own = rho(scored, benchmark.raw("rl_f"), "faithfulness")
    conditioned = rho(llm, benchmark.conditioned("rl_f"), "faithfulness")
    assert round(own, 2) >= 0.70
    for other in (benchmark.raw("plain"), benchmark.published("rl_f")):
        assert own >= rho(scored, other, "faithfulness")
        assert conditioned >= rho(llm, other, "faithfulness")
    assert conditioned >= rho(llm, benchmark.conditioned("plain"), "faithfulness")


def test_the_rating_is_no_worse_than_the_published_judges(llm: list[benchmark.Record]) -> None:
    own = rho(llm, benchmark.conditioned("rb_llm"), "overall")
    assert own >= rho(llm, benchmark.published("rb_llm"), "overall")


def test_i_dont_know_is_told_apart(records: list[benchmark.Record]) -> None:
    small = benchmark.Answerability.CONVERSATIONAL
    # The paper's file has 1 for three replies to "Thank you!", which its prompt labels as none
    # (all 13 such replies in idk_585.jsonl are 0).
    asked = [one for one in records if one.sample.answerability is not small]
    assert sum(record.declined for record in asked) == 12
    assert benchmark.balanced_accuracy(asked) >= 0.99


def test_the_weights_are_those_that_are_fitted(shared: Path) -> None:
    kept = json.loads(fit_refusals.FILE.read_text(encoding="utf-8"))["weights"]
    found = fit_refusals.trained(fit_refusals.rows(shared / "data" / "mtrag" / "idk_585.jsonl"))
    assert kept == pytest.approx(found, abs=0.002)


SUPPORTED_AT_MOST = {
    "not": 0.03, "n't": 0.03, "did not": 0.03, "not true that": 0.03, "number": 0.02, "unit": 0.02,
    "opposite": 0.06, "name": 0.25, "unknown name": 0.06, "exchanged names": 0.30,
}  # fmt: skip


@pytest.fixture(scope="module")
def shares(records: list[benchmark.Record]) -> dict[str, list[float]]:
    """The shares that are supported, by kind."""
    found: dict[str, list[float]] = {}
    for case in perturbations.cases([record.sample for record in records]):
        share = perturbations.share_supported(case)
        found.setdefault(case.kind, []).extend([] if share is None else [share])
    return found


@pytest.mark.parametrize("kind", SUPPORTED_AT_MOST)
def test_false_copies_of_true_sentences_are_not_supported(kind: str, shares) -> None:
    assert len(shares[kind]) >= 50
    wholly = sum(share == 1.0 for share in shares[kind]) / len(shares[kind])
    assert wholly <= SUPPORTED_AT_MOST[kind]


def test_true_sentences_stay_supported(shares: dict[str, list[float]]) -> None:
    for kind, whole, none in (("nothing", 0.985, 0.015), ("synonym (true)", 0.90, 0.02)):
        true = shares[kind]
        assert sum(share == 1.0 for share in true) / len(true) >= whole
        assert sum(share == 0.0 for share in true) / len(true) <= none
