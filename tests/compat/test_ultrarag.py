"""The tools of UltraRAG's servers as functions: the values of its own code, and its shapes."""

import json
from pathlib import Path

import pytest

from json_lines import jsonl
from ragassay.base.errors import ArgumentError, InputError, OptionError, RagassayWarning
from ragassay.compat import ultrarag
from ragassay.compat.ultrarag.ultrarag_servers import check_argument

MOON = ["14 December 1972 UTC", "December 1972"]
NAMES = ("acc", "em", "stringem", "coverem", "f1", "rouge-1", "rouge-2", "rouge-l")
WORKED = [
    ("December 14, 1973", (0, 0, 0, 0, 4 / 7, 4 / 7, 0, 0.4)),
    ("December 1972", (1, 1, 0.5, 1, 1, 1, 1, 1)),
    ("It was December 1972, i.e. 14 December 1972 UTC", (1, 0, 0, 1, 4 / 7, 4 / 7, 0.5, 4 / 7)),
]
"""What UltraRAG's code gives for these answers to `MOON`, in the order of `NAMES`."""

TREC = {
    "map": 0.178545, "mrr": 0.406433, "ndcg@1": 0.333333, "ndcg@5": 0.276807, "ndcg@10": 0.301577,
    "ndcg@20": 0.352543, "ndcg@50": 0.379901, "ndcg@100": 0.391620, "P@1": 0.333333,
    "P@5": 0.266667, "P@10": 0.3, "P@20": 0.366667, "P@50": 0.34, "P@100": 0.246667,
    "recall@1": 0.004329, "recall@5": 0.017316, "recall@10": 0.031710, "recall@20": 0.106114,
    "recall@50": 0.322292, "recall@100": 0.497993,
}  # fmt: skip
"""What UltraRAG's code gives for trec_eval's sample."""


def test_answers_have_the_values_of_its_code() -> None:
    golds = [MOON] * len(WORKED)
    found = ultrarag.evaluate([answer for answer, _ in WORKED], golds, NAMES)["eval_res"]
    for at, (answer, values) in enumerate(WORKED):
        assert [found[name][at] for name in NAMES] == pytest.approx(values), answer
    for name in NAMES:
        assert found[f"avg_{name}"] == pytest.approx(sum(found[name]) / len(WORKED))
    found = ultrarag.evaluate(["x"], [["x"]], ["Acc", "StringEM", "Rouge_1", "acc"])["eval_res"]
    assert list(found) == [
        *("acc", "avg_acc", "stringem", "avg_stringem", "rouge-1", "avg_rouge-1")
    ]


def test_no_answer_is_in_no_mean_and_no_gold_answer_counts_0_as_published() -> None:
    with pytest.warns(RagassayWarning) as told:
        found = ultrarag.evaluate(["a", None, "a"], [["a"], ["a"], []], ["em"])["eval_res"]
    assert found == {"em": [1.0, None, 0.0], "avg_em": 0.5}
    assert [str(one.message) for one in told] == [
        "1 row has no answer and is in no mean (counted from 0: 1).",
        "1 row has no gold answer and counts 0, as in UltraRAG (counted from 0: 2).",
    ]
    assert ultrarag.evaluate([], [], ["em"]) == {"eval_res": {"em": [], "avg_em": None}}


@pytest.mark.parametrize(("answers", "golds", "metrics", "complaint"), [
    (["a"], [["a"], ["b"], ["c"]], ["em"], "gt_ls 3: pred_ls ends before row 1"),
    (["a", "b"], [["a"]], ["em"], "gt_ls ends before row 1 (counted from 0)"),
    (["London is rainy"], ["Paris"], ["acc"], "gt_ls.0: must be a valid list, not 'Paris'"),
    (["a"], [[1]], ["acc"], "gt_ls.0.0: must be a valid string, not 1"),
    ([3], [["a"]], ["acc"], "pred_ls.0: must be a valid string, not 3"),
    ("a", [["a"]], ["acc"], "pred_ls must be a valid list, not 'a'"),
    (["a"], [["a"]], ["bogus"], "metrics names 'bogus', which is unknown"),
    (["a"], [["a"]], [], "metrics is empty"), (["a"], [["a"]], "acc", "metrics is a text, 'acc'"),
])  # fmt: skip
def test_what_cannot_be_scored_is_refused(answers, golds, metrics, complaint) -> None:
    with pytest.raises(ArgumentError) as error:
        ultrarag.evaluate(answers, golds, metrics)
    assert complaint in str(error.value)


def test_a_run_has_the_values_of_its_code(shared: Path) -> None:
    folder = shared / "data" / "trec_eval"
    found = ultrarag.evaluate_trec(str(folder / "results.test"), str(folder / "qrels.test"))
    assert found["eval_res"] == pytest.approx(TREC, abs=5e-7)


def test_only_what_was_asked_for_is_given(shared: Path) -> None:
    folder = shared / "data" / "trec_eval"
    run, qrels = str(folder / "results.trunc"), str(folder / "qrels.test")
    assert list(ultrarag.evaluate_trec(run, qrels, ["NDCG"], [5])["eval_res"]) == ["ndcg@5"]
    assert ultrarag.evaluate_trec(run, qrels, ["map"], [])["eval_res"] == {
        "map": pytest.approx(0.1523, abs=5e-5)
    }
    with pytest.raises(ArgumentError, match="ks is empty, and ndcg"):
        ultrarag.evaluate_trec(run, qrels, ["map", "ndcg"], [])
    with pytest.raises(ArgumentError, match="n_resamples"):
        ultrarag.evaluate_trec_pvalue(run, run, qrels, n_resamples=0)
    for tool, name in (("evaluate", "metrics"), ("evaluate_trec", "save_path")):
        check_argument(tool, name, None)  # it may be left out
    with pytest.raises(OptionError):
        check_argument("evaluate_trec", "metrics", None)


def test_two_runs_are_tested_over_the_queries_that_either_has(tmp_path: Path) -> None:
    """A has 17 of 18 judged queries and B 16 of these: the 17th counts 0 for B."""
    lines = {"qrels": [f"q{n} 0 a 1" for n in range(18)]}
    lines["new"] = [f"q{n} Q0 a 1 1 A" for n in range(17)]
    lines["old"] = [f"q{n} Q0 {name} 1 {ord(name)} B" for n in range(16) for name in "ab"]
    paths = [str(tmp_path / name) for name in ("new", "old", "qrels")]
    for path in paths:
        Path(path).write_text("\n".join(lines[Path(path).name]) + "\n")
    found = ultrarag.evaluate_trec_pvalue(*paths, ["mrr"], n_resamples=99)["eval_res"]["mrr"]
    means = {"A_mean": 1.0, "B_mean": 8 / 17, "diff": 9 / 17}
    assert found == pytest.approx({**means, "p_value": 0.01, "significant": True})


def data(path: Path, *records: dict[str, object]) -> str:
    return str(jsonl(path, *records))


RECORDS: tuple[dict[str, object], ...] = (
    {"id": 0, "question": "one", "golden_answers": ["1"], "pred": "1"},
    {"id": 1, "question": "two", "golden_answers": ["2"]},
    {"id": 2, "question": "three", "golden_answers": ["3"], "pred": "3"},
)
KEYS = {"q_ls": "question", "gt_ls": "golden_answers", "pred_ls": "pred"}


def test_a_row_is_the_same_record_in_every_column(tmp_path: Path) -> None:
    path = data(tmp_path / "a.jsonl", *RECORDS)
    with pytest.warns(RagassayWarning, match=r"1 record lacks the field 'pred' .*: 1\)"):
        found = ultrarag.get_data({"path": path, "key_map": KEYS})
    assert found == {
        "q_ls": ["one", "two", "three"], "gt_ls": [["1"], ["2"], ["3"]],
        "pred_ls": ["1", None, "3"],
    }  # fmt: skip
    with pytest.warns(RagassayWarning):
        scored = ultrarag.evaluate(found["pred_ls"], found["gt_ls"], ["em"])["eval_res"]
    assert scored == {"em": [1.0, None, 1.0], "avg_em": 1.0}


def test_shuffling_and_limiting_keep_rows_together(tmp_path: Path) -> None:
    path = data(tmp_path / "a.jsonl", *({"n": n, "double": 2 * n} for n in range(50)))
    asked = {"path": path, "key_map": {"a": "n", "b": "double"}, "shuffle": True, "limit": 20}
    found = ultrarag.get_data({**asked, "seed": 7})
    assert found["b"] == [2 * n for n in found["a"]]
    assert len(found["a"]) == 20
    assert found["a"] != sorted(found["a"]) and max(found["a"]) >= 20
    assert found == ultrarag.get_data({**asked, "seed": 7})
    assert ultrarag.get_data(asked) == ultrarag.get_data({**asked, "seed": 42})
    assert len(ultrarag.get_data({**asked, "limit": 1})["a"]) == 1
    assert found != ultrarag.get_data({**asked, "seed": 8})


def test_json_and_parquet_hold_the_same(tmp_path: Path) -> None:
    import polars

    whole = [record for record in RECORDS if "pred" in record]
    (tmp_path / "a.json").write_text(json.dumps(whole), encoding="utf-8")
    polars.DataFrame(whole).write_parquet(tmp_path / "a.parquet")
    first, second = (
        ultrarag.get_data({"path": str(tmp_path / name), "key_map": KEYS})
        for name in ("a.json", "a.parquet")
    )
    assert first == second
    assert first["gt_ls"] == [["1"], ["3"]]


@pytest.mark.parametrize(("change", "complaint"), [
    ({"path": "none.jsonl"}, "none.jsonl: there is no such file."),
    ({"path": "a.csv"}, "ends in '.csv'. Name a .jsonl, .json or .parquet file."),
    ({"key_map": {"q_ls": "qestion"}}, "that key_map.q_ls names. Did you mean 'question'?"),
    ({"key_map": {}}, "benchmark.key_map "),
    ({"key_map": {"q_ls": 1}}, "benchmark.key_map.q_ls must be a valid string, not 1"),
    ({"limit": 0}, "benchmark.limit "),
    ({"limits": 3}, "benchmark.limits is not a known key. Did you mean 'limit'?"),
    ({"shuffle": "no"}, "benchmark.shuffle must be a valid boolean, not 'no'"),
    ({"seed": "x"}, "benchmark.seed must be a valid integer, not 'x'"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(change, complaint, here) -> None:
    data(here / "a.jsonl", *RECORDS)
    (here / "a.csv").write_text("question\n")
    with pytest.raises((ArgumentError, InputError)) as error:
        ultrarag.get_data({"path": "a.jsonl", "key_map": {"q_ls": "question"}, **change})
    assert complaint in str(error.value)


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for text, complaint in (
        ('{"a": 1}\n\n{"a"\n', "line 3: not valid JSON"),
        ("[1]\n", "line 1: the number 1 was given where a record"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=complaint):
            ultrarag.get_data({"path": str(path), "key_map": {"x": "a"}})
