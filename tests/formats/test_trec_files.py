import gzip
import io
import json
import math
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from ragassay.base.errors import InputError, RagassayWarning
from ragassay.engine.run.ranked_runs import read_judged
from ragassay.formats import Mapper, Notes
from ragassay.formats.trec import trec_files, trec_run

RUN = "q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 1.5 tag\nq2 Q0 a 1 -3e-2 tag\n"
ROWS = [("q1", "a", 2.5), ("q1", "b", 1.5), ("q2", "a", -0.03)]
QRELS = "q1 0 a 1\nq1 0 c 0\nq2 0 b -1\n"


def write(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


MANY = {f"q{n}": {"d": 1} for n in range(20)}
LAYOUTS = {
    "single spaces": RUN, "tabs": RUN.replace(" ", "\t"), "padded": RUN.replace(" ", "\t  "),
    "spaces and tabs": RUN.replace(" a ", "\ta "), "CRLF": RUN.replace("\n", "\r\n"),
    "blanks around lines": "  " + RUN.replace("\n", "  \n  "), "CR": RUN.replace("\n", "\r"),
    "no last line end": RUN.rstrip("\n"),
    "comments, blank lines": "# about\n" + RUN.replace("\n", "\n\n # more\n"),
    "comment on the first line": RUN.replace("tag\n", "tag # a note\n", 1),
    "comment on another line": RUN.replace("tag\nq2", "tag\t#note \nq2"),
    "byte order mark": b"\xef\xbb\xbf" + RUN.encode(), "gzip": gzip.compress(RUN.encode()),
    "gzip with a mark": gzip.compress(b"\xef\xbb\xbf" + RUN.encode()),
}  # fmt: skip


@pytest.mark.parametrize("content", LAYOUTS.values(), ids=LAYOUTS)
def test_a_run_is_read_however_it_is_laid_out(tmp_path: Path, content: str | bytes) -> None:
    found = trec_files.read_run(write(tmp_path, content))
    assert (found.frame.rows(), found.tag) == (ROWS, "tag")


def test_the_tag_is_that_of_the_last_line(tmp_path: Path) -> None:
    assert trec_files.read_run(write(tmp_path, RUN + "q3 Q0 a 1 1 other\n")).tag == "other"


def test_quotes_hashes_and_brackets_are_characters_like_any_other(tmp_path: Path) -> None:
    found = trec_files.read_run(write(tmp_path, 'q"1 Q0 u#1,2 1 1 t\n', "run[1]*.txt"))
    assert found.frame.rows() == [('q"1', "u#1,2", 1)]


def test_graded_and_negative_grades_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, QRELS + "q2 0 d 3\n")
    assert trec_files.read_qrels_by_query(path) == {"q1": {"a": 1, "c": 0}, "q2": {"b": -1, "d": 3}}


@pytest.mark.parametrize("order", ["query-id\tcorpus-id\tscore", "corpus-id\tquery-id\tscore"])
def test_beir_qrels_are_known_by_their_header(tmp_path: Path, order: str) -> None:
    rows = [{"query-id": "q 1", "corpus-id": "d 1", "score": "2"}]
    rows += [{"query-id": "q 1", "corpus-id": "#d", "score": "0"}]
    text = "\n".join([order, *("\t".join(row[n] for n in order.split("\t")) for row in rows)])
    found = trec_files.read_qrels_by_query(write(tmp_path, text + "\r\n"))
    assert found == {"q 1": {"d 1": 2, "#d": 0}}


def test_a_beir_folder_gives_its_test_qrels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"this folder has no qrels/\*\.tsv"):
        trec_files.read_qrels(tmp_path)
    (tmp_path / "qrels").mkdir()
    header = "query-id\tcorpus-id\tscore\n"
    write(tmp_path / "qrels", header + "q\td\t1\n", "dev.tsv")
    assert trec_files.read_qrels_by_query(tmp_path) == {"q": {"d": 1}}
    write(tmp_path / "qrels", header + "q\te\t1\n", "train.tsv")
    with pytest.raises(InputError, match=r"several qrels: dev\.tsv, train\.tsv"):
        trec_files.read_qrels(tmp_path)
    write(tmp_path / "qrels", header + "q\tf\t1\n", "test.tsv")
    with pytest.warns(RagassayWarning, match=r"test\.tsv was read, not dev\.tsv, train\.tsv"):
        assert trec_files.read_qrels_by_query(tmp_path) == {"q": {"f": 1}}


LONG = "".join(f"q{i} Q0 d 1 1.0 t\n" for i in range(5000))


@pytest.mark.parametrize(("content", "line", "said"), [
    ("q1 Q0 a 1 2.5\n", 1, "the line has 5 columns, a run has 6"),
    (RUN + "q2 Q0 x\n" + RUN, 4, "3 columns"),
    ("# one\n\nq1 Q0 a 1 2.5 t\nq1 Q0 b 1 high t\n", 4, "'high' is not a number"),
    ("q1 Q0 a 1 NaN t\n", 1, "'NaN' is not a finite number"),
    ("q1 Q0 a 1 1.0 t\nq1 Q0 b 1 -inf t\n", 2, "'-inf' is not a finite number"),
    ("q1 Q0 a 1 1e999 t\n", 1, "'1e999' is not a finite number"),
    ("q1 Q0 a 1 1_0 t\n", 1, "'1_0' is not a number"),
    ("q1 Q0 a 1 0x1p3 t\n", 1, "'0x1p3' is not a number"), ("q1 Q0  a 1 2.5\n", 1, "5 columns"),
    (LONG + "q Q0 d 1 x t\n" + LONG, 5001, "'x' is not a number"),
    (RUN.encode() + b"q2 Q0 \xff\xfe 1 1 t\n", 4, "not UTF-8"),
    ("# nothing\n\n", None, "no lines but comments"), ("\n", None, "the file is empty"),
    (b"", None, "the file is empty"), (RUN.encode("utf-16-le"), None, "UTF-16"),
    (gzip.compress(RUN.encode() * 5000)[:200], None, "damaged or cut off"),
    (gzip.compress(b"", mtime=0), None, "holds nothing"),
])  # fmt: skip
def test_a_faulty_run_is_an_error_that_says_where(tmp_path, content, line, said: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError, match=said) as caught:
        trec_files.read_run(path)
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize(("content", "line", "said"), [
    ("q1 0 a\n", 1, "the line has 3 columns, a qrels file has 4"),
    ("q1 0 a 1\nq1 0 b 1.5\n", 2, "'1.5' is not a whole number"),
    ("q1 0 a relevant\n", 1, "'relevant' is not a whole number"),
    (RUN, None, "this is a run, not qrels"),
    ("query-id\tcorpus-id\tscore\nq\t\t1\n", 2, "the field is empty"),
    ('{"query-id": null, "corpus-id": "d", "score": 1}', 1, "None is not an id"),
    (json.dumps({**MANY, "q": 3}), None, "field 'q': there are no documents with numbers"),
    ('{"query-id": "q", "corpus-id": "", "score": 1}', 1, "field 'document': '' is not an id"),
    (parquet(x=["a"]), None, "the columns are x; none of them"),
    (parquet(query=[], document=[], grade=[]), None, "the file holds no query"),
    ("query-id\tcorpus-id\tscore\nq\td\n", 2, "has 2 columns, a BEIR qrels file has 3"),
])  # fmt: skip
def test_faulty_qrels_are_an_error_that_says_where(tmp_path, content, line, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        trec_files.read_qrels(write(tmp_path, content))
    assert caught.value.line == line


@pytest.mark.parametrize(("content", "line", "said"), [
    ("# comment\n" + RUN + "q1  Q0 a 9 0.1 tag\n", 5, "'a' occurs a second time for query 'q1'"),
    (RUN.replace("q", "topic-"), None, r"'topic-.*'q1'"),  # both spellings are shown
])  # fmt: skip
def test_a_document_twice_or_no_judged_query_is_an_error(tmp_path, content, line, said) -> None:
    qrels, run = write(tmp_path, QRELS, "qrels"), write(tmp_path, content, "run")
    for read in (
        lambda: read_judged(qrels, run),
        lambda: list(trec_run.judged_samples(run, qrels, Mapper(run, notes=Notes()))),
    ):
        with pytest.raises(InputError, match=said) as caught:
            read()
        assert (caught.value.path, caught.value.line) == (run, line)


def test_a_judgement_that_occurs_twice_is_an_error_with_its_line(tmp_path: Path) -> None:
    qrels = write(tmp_path, QRELS + "q1 0 a 0\n", "qrels")
    run = write(tmp_path, RUN, "run")
    for read in (lambda: read_judged(qrels, run), lambda: trec_files.read_qrels_by_query(qrels)):
        with pytest.raises(InputError, match="'a' occurs a second time") as caught:
            read()
        assert (caught.value.path, caught.value.line) == (qrels, 4)


def test_samples_hold_every_judged_query_in_the_order_of_the_qrels(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q2 0 b 1\nq9 0 x 1\nq1 0 a 1\nq1 0 c 0\n", "qrels")
    tied = "q1 Q0 b 1 2.5 tag\nq1 Q0 z 1 0.5 tag\nu Q0 b 1 1 tag\n"
    run = write(tmp_path, "q1 Q0 a 7 2.5 tag\nq2 Q0 a 1 1 tag\n" + tied, "run")
    with pytest.warns(RagassayWarning, match="1 query of the run has no judgements"):
        samples = list(trec_run.judged_samples(run, qrels, Mapper(run, notes=Notes())))
    assert [sample.id for sample in samples] == ["q2", "q9", "q1"]
    assert {sample.system for sample in samples} == {"tag"}
    assert samples[1].passages == ()
    passages = samples[2].passages or ()
    assert [(p.id, p.score) for p in passages] == [("b", 2.5), ("a", 2.5), ("z", 0.5)]
    assert [(g.id, g.grade) for g in samples[2].gold or ()] == [("a", 1), ("c", 0)]


ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    lambda text: not any(c in text for c in " \t\n\r\v\f") and text[0] not in "#\ufeff"
)
scores = st.floats(allow_nan=False, allow_infinity=False)


@given(
    rows=st.lists(st.tuples(ids, ids, scores), min_size=1, max_size=8),
    separator=st.sampled_from([" ", "\t", "  ", " \t"]),
    end=st.sampled_from(["\n", "\r\n", " \n\n"]),
    packed=st.booleans(),
)
@example(rows=[("x^", "d", 1.0)], separator=" ", end="\n", packed=False)
def test_what_was_written_is_read_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, separator: str, end: str, packed: bool
) -> None:
    text = "".join(
        separator.join([query, "Q0", document, "1", repr(score), "t"]) + end
        for query, document, score in rows
    ).encode()
    path = tmp_path_factory.getbasetemp() / "round-trip"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = trec_files.read_run(path).frame.rows()
    assert found == rows
    assert [math.copysign(1, row[2]) for row in found] == [math.copysign(1, r[2]) for r in rows]


@pytest.mark.parametrize(("ranks", "n"), [
    ((1, 2, 3), 0), ((0, 1, 2), 0), (("a", "b", "c"), 0), ((2, 1, 3), 1), ((3, 2, 1), 1),
    ((5, 5, 5), 0),  # says nothing
])  # fmt: skip
def test_a_rank_column_that_contradicts_the_scores_is_noted(tmp_path, ranks: Any, n: int) -> None:
    lines = [f"q Q0 d{at} {rank} {9 - at} t\n" for at, rank in enumerate(ranks)]
    other = "p Q0 b 2 1 t\np Q0 a 1 2 t\n"  # right, though not in the order of the lines
    path = write(tmp_path, "".join(lines) + other)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = trec_files.read_run(path)
    assert found.frame.columns == ["query", "document", "score"]
    said = [str(one.message) for one in caught]
    assert len(said) == n
    assert all("in 1 of 2 queries the rank column contradicts the scores" in s for s in said)
