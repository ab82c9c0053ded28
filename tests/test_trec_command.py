from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from ragassay.cli import call

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\n"
NEW = "q1 Q0 a 1 9 new\nq1 Q0 b 2 8 new\nq2 Q0 c 1 7 new\nq3 Q0 d 1 1 new\n"
OLD = "q1 Q0 b 1 9 old\nq1 Q0 a 2 8 old\nq2 Q0 c 1 7 old\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels": QRELS, "new.run": NEW, "old.run": OLD}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert call(["trec", *words, "--json"]) == 0
    found: dict[str, Any] = orjson.loads(capsys.readouterr().out)
    return found


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert call(["trec", *words]) == 2
    captured = capsys.readouterr()
    assert not captured.out and "Traceback" not in captured.err
    return captured.err.strip()


def test_the_mean_runs_over_common_queries_and_the_missing_ones_are_told(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["trec", "qrels", "old.run", "-m", "map"]) == 0
    captured = capsys.readouterr()
    assert "0.7500" in captured.out
    assert "2 queries in both files, of 3 judged" in captured.out
    assert "1 of 3 judged queries are not in the run" in captured.err.replace("\n", " ")


def test_c_averages_over_all_judged_queries(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "old.run", "-c", "-m", "map", "-m", "num_rel,num_q", "-q")
    assert found["averaged_over"] == "judged queries"
    assert found["measures"]["map"]["all"] == pytest.approx(1.5 / 3)
    assert found["measures"]["map"]["queries"] == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert found["measures"]["num_rel"]["all"] == 3
    assert found["measures"]["num_q"]["all"] == 3


def test_a_missing_query_scores_0_even_where_the_formula_says_otherwise(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "old.run", "-c", "-q", "-m", "utility.0,0,-1,0")
    assert found["measures"]["utility_0,0,-1,0"]["queries"]["q3"] == 0.0


def test_queries_without_judgements_are_told(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new.run").write_text(NEW + "q9 Q0 a 1 1 new\n")
    assert call(["trec", "qrels", "new.run"]) == 0
    assert "1 queries of the run have no judgements" in capsys.readouterr().err


def test_trec_eval_names_win_over_ours_and_both_work(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "new.run", "-m", "nDCG@10", "-m", "P.5", "-m", "AP,mrr")
    assert list(found["measures"]) == ["P_5", "nDCG@10", "AP", "mrr"]
    plain = as_json(capsys, "qrels", "new.run", "-m", "recall")
    assert list(plain["measures"])[:2] == ["recall_5", "recall_10"]
    ours = as_json(capsys, "qrels", "new.run", "-m", "recall,precision", "--ks", "1,3")
    assert list(ours["measures"]) == ["recall@1", "recall@3", "precision@1", "precision@3"]


def test_parameters_win_over_the_defaults_of_a_nickname(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "new.run", "-m", "official", "-m", "P.7,3", "-m", "P.4")
    assert [name for name in found["measures"] if name.startswith("P_")] == ["P_3", "P_4", "P_7"]


def test_the_level_and_the_depth_are_honoured(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "old.run", "-l", "2", "-M", "1", "-m", "num_rel,num_ret")
    assert found["measures"]["num_rel"]["all"] == 1
    assert found["measures"]["num_ret"]["all"] == 2


def test_several_runs_are_compared_with_the_last_one_over_all_judged_queries(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_json(capsys, "qrels", "new.run", "old.run", "-m", "map,num_q", "-m", "RR")
    (comparison,) = found["comparisons"]
    assert (comparison["a"], comparison["b"]) == ("new", "old")
    assert [d["name"] for d in comparison["differences"]] == ["map", "RR"]
    difference = comparison["differences"][0]
    assert difference["A_mean"] == pytest.approx(1.0)
    assert difference["B_mean"] == pytest.approx(0.5)
    assert difference["n"] == 3
    # Two of three differences are positive, one is 0: 2 of 4 sign patterns are as extreme.
    assert difference["p_value"] == pytest.approx(0.5)


def test_three_runs_make_two_comparisons(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("third.run").write_text(OLD.replace(" old", " third"))
    assert call(["trec", "qrels", "third.run", "new.run", "old.run", "-m", "map"]) == 0
    out = capsys.readouterr().out
    assert "third (new) against old (old)" in out
    assert "new (new) against old (old)" in out


def test_runs_with_the_same_tag_are_called_by_their_files(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old.run").write_text(OLD.replace(" old", " new"))
    found = as_json(capsys, "qrels", "new.run", "old.run", "-m", "map")
    assert found["comparisons"][0]["b"] == "old.run"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("qrels new.run -m mpa", ["Unknown metric 'mpa'", "MAP"]),
        ("qrels new.run -m ndgc_cut.10", ["ndcg_cut"]),
        ("qrels new.run -m P.0", ["at least 1"]),
        ("qrels new.run -m P.x", ["'x' is not a number"]),
        ("qrels new.run -m bpref.3", ["takes no parameters"]),
        ("qrels new.run -m utility.1,2", ["four numbers"]),
        ("qrels new.run -m f1", ["f1 is no measure of a ranking"]),
        ("qrels new.run -m iprec_at_recall.2", ["between 0 and 1"]),
        ("qrels new.run -l 0", ["at least 1"]),
        ("qrels new.run -M 0", ["at least 1"]),
        ("qrels new.run --ks 0 -m recall", ["at least 1"]),
        ("qrels new.run old.run -q", ["take one run"]),
        ("qrels new.run old.run -m num_q", ["None of these", "mean"]),
        ("qrels nwe.run", ["there is no such file", "new.run"]),
        ("qrels .", ["this is a folder"]),
        ("new.run new.run", ["this is a run, not qrels"]),
        ("qrels qrels", ["qrels, line 1", "4 columns", "6"]),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    files: Path, capsys: pytest.CaptureFixture[str], words: str, parts: list[str]
) -> None:
    said = complaint(capsys, *words.split())
    assert all(part in said for part in parts), said
    assert said.count("\n") == 0
