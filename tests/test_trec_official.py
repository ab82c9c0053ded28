"""trec_eval's own test files: `ragassay trec --format trec_eval` prints the very same lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.cli import call

OFFICIAL = {
    "out.test": "qrels.test results.test",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-mall_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -qc -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.meas_params": (
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
        "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
        "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test"
    ),
}


@pytest.mark.parametrize("output", OFFICIAL)
def test_every_line_of_the_official_output_is_printed(
    output: str, shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "data" / "trec_eval"
    monkeypatch.chdir(folder)
    assert call(["trec", "--format", "trec_eval", *OFFICIAL[output].split()]) == 0
    assert capsys.readouterr().out.splitlines() == (folder / output).read_text().splitlines()


def test_ultrarag_prints_the_same_values_for_its_sample(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """reference/ultrarag.md 2.2, the documentation's own sample."""
    monkeypatch.chdir(shared / "data" / "trec_eval")
    names = "mrr,ndcg,precision,recall"
    call(["trec", "qrels.test", "results.test", "-m", names, "--ks", "1,5,10,20,50,100", "--json"])
    import orjson

    measures = orjson.loads(capsys.readouterr().out)["measures"]
    found = {name: round(entry["all"], 6) for name, entry in measures.items()}
    published = {"mrr": 0.406433}
    published |= {
        f"{name}@{k}": value
        for name, values in {
            "ndcg": (0.333333, 0.276807, 0.301577, 0.352543, 0.379901, 0.391620),
            "precision": (0.333333, 0.266667, 0.3, 0.366667, 0.34, 0.246667),
            "recall": (0.004329, 0.017316, 0.031710, 0.106114, 0.322292, 0.497993),
        }.items()
        for k, value in zip((1, 5, 10, 20, 50, 100), values, strict=True)
    }
    assert found == published
