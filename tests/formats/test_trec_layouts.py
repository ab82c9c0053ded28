"""A run or qrels file is read by exactly its layout, in text, JSON and Parquet."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragassay
from ragassay.base.errors import InputError, RagassayWarning
from ragassay.formats.trec import trec_files

RUN = {"q 1": {"depot guide 2021": 3.5, "faq": 1.0}, "q2": {"faq": -2.0}}
QRELS = {"q 1": {"depot guide 2021": 1, "faq": 0}, "q2": {"faq": 2}}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def triples(table: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(query, one, value) for query, of in table.items() for one, value in of.items()]


def tabbed(run: bool) -> str:
    lines = [
        f"{query}\tQ0\t{one}\t1\t{value}\tmy system" if run else f"{query}\t0\t{one}\t{value}"
        for query, one, value in triples(RUN if run else QRELS)
    ]
    return "\n".join(lines) + "\n"


TABBED = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "a comment line": lambda text: "# made today\n" + text,
    "padded": lambda text: text.replace("\t", " \t  "),
    "blank lines": lambda text: text.replace("\n", "\n\n"),
    "gzip": lambda text: gzip.compress(text.encode()),
}


@pytest.mark.parametrize("change", TABBED.values(), ids=TABBED)
def test_where_tabs_separate_the_columns_ids_may_hold_spaces(tmp_path: Path, change) -> None:
    run = trec_files.read_run(write(tmp_path / "run", change(tabbed(True))))
    assert run.frame.rows() == triples(RUN) and run.tag == "my system"
    qrels = trec_files.read_qrels(write(tmp_path / "qrels", change(tabbed(False))))
    assert qrels.rows() == triples(QRELS)


@pytest.mark.parametrize(("line", "n", "read"), [
    ("q1 0 manual 2021 1", 5, trec_files.read_qrels),
    ("q1 0\tmanual 2021 1", 5, trec_files.read_qrels),
    ("q1\t0\tmanual\t1\tmore", 5, trec_files.read_qrels),
    ("q1 Q0 d 1 2.5 my system", 7, trec_files.read_run),
    ("q1\tQ0\td\t1\t2.5\ttag\tmore", 7, trec_files.read_run),
])  # fmt: skip
@pytest.mark.parametrize("at", [1, 3])
def test_a_line_with_more_columns_is_an_error_with_its_number(tmp_path, line, n, read, at) -> None:
    good = "q1 0 a 1" if read is trec_files.read_qrels else "q1 Q0 a 1 2.5 tag"
    lines = [good, good.replace("q1", "q2"), good.replace("q1", "q3")]
    lines[at - 1] = line
    with pytest.raises(InputError, match=f"the line has {n} columns") as caught:
        read(write(tmp_path / "file", "\n".join(lines) + "\n"))
    assert caught.value.line == at


def test_whole_grades_written_as_decimals_are_grades_and_others_are_not(tmp_path: Path) -> None:
    path = write(tmp_path / "q", "q1 0 a 1.0\nq1 0 b 2.\nq2 0 c -1\n")
    assert trec_files.read_qrels(path)["grade"].to_list() == [1, 2, -1]
    for content in ("q1 0 a 0.5\n", json.dumps({"q1": {"a": 0.5}})):
        with pytest.raises(InputError, match=r"'0\.5' is not a whole number") as caught:
            trec_files.read_qrels(write(tmp_path / "q", content))
        assert "multiply" in str(caught.value)


def as_rows(table: dict[str, dict[str, float]], names: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(triples(table), schema=list(names), orient="row", strict=False)


def parquet(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_parquet(path)
    return path


OTHERS = {
    "JSON": lambda table, path: write(path, json.dumps(table)),
    "JSON with line ends": lambda table, path: write(path, json.dumps(table, indent=1)),
    "ranx": lambda table, path: parquet(as_rows(table, ("q_id", "doc_id", "score")), path),
    "mteb": lambda table, path: parquet(as_rows(table, ("Query-ID", "corpus-id", "score")), path),
    "JSON Lines": lambda table, path: write(
        path, as_rows(table, ("query-id", "corpus-id", "score")).write_ndjson()
    ),
}


@pytest.mark.parametrize("save", OTHERS.values(), ids=OTHERS)
def test_runs_and_qrels_are_read_from_json_and_parquet(tmp_path: Path, save) -> None:
    run, qrels = save(RUN, tmp_path / "run"), save(QRELS, tmp_path / "qrels")
    assert trec_files.read_run(run).frame.rows() == triples(RUN)
    assert trec_files.read_qrels(qrels).rows() == triples(QRELS)
    if "Lines" not in str(save):
        result = ragassay.evaluate(run, ["RR"], qrels=qrels)
        assert result.summary.metrics["RR"].mean == 1.0


def test_json_that_is_neither_says_what_is_read(tmp_path: Path) -> None:
    for content in ('{"mteb": {"test": {"q": {"d": 1}}}}', '{"q": "d"}', "[1]"):
        with pytest.raises(InputError, match=r"\{query: \{document: score\}\}"):
            trec_files.read_run(write(tmp_path / "run.json", content))
    with pytest.raises(InputError, match="twice"):
        trec_files.read_run(write(tmp_path / "r.json", '{"q": {"d": 1}, "q": {"e": 1}}'))


@pytest.mark.parametrize("content", [
    "# made\nq1 0 a 1\nq1 0 b 0\nq2 0 a 2\n",
    "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\ta\t2\n",
    '{"query-id": "q1", "corpus-id": "a", "score": 1}\n'
    '{"query-id": "q1", "corpus-id": "b", "score": 0}\n'
    '{"query-id": "q2", "corpus-id": "a", "score": 2}\n',
], ids=["TREC", "BEIR", "JSON Lines"])  # fmt: skip
def test_qrels_given_as_data_are_told_for_what_they_are(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "dev.tsv", content)
    with pytest.raises(InputError, match=r"judgements \(qrels: 2 queries, 2 documents") as caught:
        ragassay.load(path)
    assert "grades 0, 1, 2" in str(caught.value) and "--qrels" in str(caught.value)


def test_a_run_of_equal_scores_keeps_trec_evals_values_and_is_told(tmp_path: Path) -> None:
    run = write(tmp_path / "run", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n")
    with pytest.warns(RagassayWarning, match="in 1 of 2 queries all documents have") as told:
        read = trec_files.read_run(run)
    text = str(told[0].message)
    assert "(2 of 4 documents). The order among ties is decided by id, descending" in text
    assert "say nothing" not in text
    all_tied = write(tmp_path / "all", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\n")
    with pytest.warns(RagassayWarning, match="in 1 of 2 .* the values say nothing"):
        trec_files.read_run(all_tied)
    assert len(read.frame) == 4
    qrels = write(tmp_path / "qrels", "q1 0 b 1\n")
    with pytest.warns(RagassayWarning):
        (sample,) = ragassay.load(run, gold=qrels)
    assert [one.id for one in sample.passages or ()] == ["b", "a"]


@pytest.mark.parametrize(
    ("value", "said"),
    [('"0.5"', "the text '0.5'"), ("NaN", "nothing"), ("true", "the flag true"),
     ("null", "nothing")],
)  # fmt: skip
@pytest.mark.parametrize("read", [trec_files.read_run, trec_files.read_qrels])
def test_a_value_that_is_no_number_is_named_with_query_and_document(
    tmp_path: Path, read: Any, value: str, said: str
) -> None:
    path = write(tmp_path / "x.json", f'{{"q1": {{"a": 1}}, "q2": {{"b": 1, "c": {value}}}}}')
    problem = f"query 'q2', document 'c': {said} was given where a finite number is expected"
    with pytest.raises(InputError, match=problem):
        read(path)
    table = {"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, float("nan")]}
    with pytest.raises(InputError, match=r"line 2, .*document 'b': the number nan was given"):
        read(parquet(pl.DataFrame(table), tmp_path / "nan.parquet"))
    with pytest.raises(InputError, match=problem):
        list(ragassay.load(path, gold=write(tmp_path / "qrels", "q2 0 b 1\n")))


def ids_by_rank(*passages: object) -> list[str | None]:
    (sample,) = ragassay.formats.from_records([{"id": "1", "passages": passages}])
    return [one.id for one in sample.passages or ()]


@pytest.mark.parametrize(
    ("first", "second"), [(2, 1), ("2", "1"), (2.0, "1"), (10, 9), ("10", "9"), (1, -1)]
)
@pytest.mark.parametrize("name", ["rank", "Rank"])
def test_passages_stand_in_the_order_of_their_rank(name, first: object, second: object) -> None:
    assert ids_by_rank({"id": "a", name: first}, {"id": "b", name: second}) == ["b", "a"]
    assert ids_by_rank({"id": "a", name: second}, {"id": "b", name: first}) == ["a", "b"]
    assert ids_by_rank({"id": "a", name: None}, {"id": "b", name: None}) == ["a", "b"]
    by_id = {"a": {"text": "t", name: first}, "b": {"text": "t", name: second}}
    (sample,) = ragassay.formats.from_records([{"id": "1", "passages": by_id}])
    assert [one.id for one in sample.passages or ()] == ["b", "a"]


@pytest.mark.parametrize(("ranks", "problem"), [
    ([1, None], "passage 2 of 2 has no rank"), ([math.nan, 1], "passage 1 of 2 has no rank"),
    (["1", 1], "passages 1 and 2 both have the rank 1"), (["first", 2], "the text 'first'"),
    ([1, 1.5], "the number 1.5"), ([1, True], "the flag true"),
    ([1, 2**64], "1844674407370955"),
])  # fmt: skip
def test_ranks_that_are_no_order_are_an_error(tmp_path, ranks: list[object], problem: str) -> None:
    ranked = [{"id": name, "rank": rank} for name, rank in zip("ab", ranks, strict=True)]
    record = {"id": "1", "query": "q", "passages": ranked}
    path = write(tmp_path / "a.jsonl", json.dumps(record).replace("NaN", "null"))
    for read, given in ((ragassay.load, path), (ragassay.formats.from_records, [record])):
        with pytest.raises(InputError, match=problem) as caught:
            list(read(given))
        assert caught.value.line == 1 and caught.value.field == "passages.rank"
        assert "leave out all ranks" in str(caught.value)
