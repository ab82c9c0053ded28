import csv
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from ragassay import Turn
from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Statement
from ragassay.formats import Notes, from_records, load
from ragassay.formats.native import write
from ragassay.formats.records.answers_and_turns import conversation, with_earlier_turns
from ragassay.formats.records.field_names import ALIASES, folded

# The names of ../shared/reference/peers.md, section 6: field, names, a value, what comes of it.
PUBLISHED_NAMES: list[tuple[str, str, Any, Any]] = [
    ("id", "id query_id qid _id sample_id", "x", "x"),
    ("query", "user_input question query input prompt", "x", "x"),
    ("passages",
     "retrieved_contexts contexts context retrieval_context retrieved_context"
     " retrieved_passages passages documents chunks", ["x"], (Passage("x"),)),
    ("passages", "retrieved_context_ids retrieved_ids doc_ids run", ["x"], (Passage(id="x"),)),
    ("gold",
     "reference_contexts ground_truth_context expected_chunks golden_chunks"
     " reference_context gt_chunks", ["x"], (GoldPassage(text="x"),)),
    ("gold", "reference_context_ids retrieval_gt", ["x"], (GoldPassage(id="x"),)),
    ("gold", "qrels", {"x": 2}, (GoldPassage(id="x", grade=2),)),
    ("answer",
     "response answer actual_output output outputs prediction pred_answer generated_answer", "x",
     Answer("x")),
    ("references",
     "reference ground_truth ground_truths ground_truth_answers expected_output expected"
     " expected_response reference_answer gt_answer golden_answers generation_gt target", "x",
     ("x",)),
]  # fmt: skip


def one(record: dict[str, Any], **options: Any) -> Sample:
    (sample,) = from_records([record], notes=Notes(), **options)
    return sample


@pytest.mark.parametrize(("field", "name", "value", "expected"), [
    (f, name, v, e) for f, names, v, e in PUBLISHED_NAMES for name in names.split()
])  # fmt: skip
def test_every_published_name_is_understood(field, name, value, expected) -> None:
    others = {key: "y" for key in ("id", "query", "metadata.note") if key != field}
    assert getattr(one({**others, name: value}), field) == expected


def test_no_alias_stands_for_two_fields() -> None:
    names = [folded(name) for field, others in ALIASES.items() for name in (field, *others)]
    assert len(names) == len(set(names))


PARTS = [{"text": "A.", "citations": ["d1", 2]}, {"text": "B."}]
IN_PARTS = Answer("A. B.", (Statement("A.", ("d1", "2")), Statement("B.")))
BY_ID = {"passages": (Passage("x", "a"), Passage("y", "b"))}
TALK = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ann."}]
LABELS = {"Answerability": ["PARTIAL"], "Question Type": ["Factoid"]}
TURN = {"speaker": "user", "text": "q", "enrichments": LABELS}
GIVEN = {"metrics": {"RL_F": [0.5], "RB_llm": None}, "metrics_judge": {"RL_F": "x/1", "odd": 3}}
UNSCORED = {"metrics_unscored": {"RB_llm": "undefined: nothing", "odd": None}}

READ: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # Names.
    ({"inputs": {"question": "q"}, "outputs": {"response": "a"},
      "expectations": {"expected_response": "r"}},
     {"query": "q", "answer": Answer("a"), "references": ("r",)}),
    ({"ID": 1, "User Input": "q", "Response": "a"}, {"id": "1", "query": "q"}),
    ({"Retrieved-Context": ["c"]}, {"passages": (Passage("c"),)}),
    ({"answer": "gold", "prediction": "said", "error": None},
     {"answer": Answer("said"), "references": ("gold",), "failure": None}),
    ({"answer": "gold", "prediction": "", "error": "timeout"},
     {"answer": None, "failure": "timeout"}),
    ({"retrieval_context": ["r"], "context": ["g"]},
     {"passages": (Passage("r"),), "gold": (GoldPassage(text="g"),)}),
    *(({"id": value}, {"id": "7"}) for value in (7, 7.0, "7")),
    *(({"query_run": n}, {"repeat": int(n) - 1}) for n in (1, 2, "3")),
    ({"repeat": 2, "query_run": 3}, {"repeat": 2}), ({"repeat": None}, {"repeat": 0}),
    ({"answer": None}, {"answer": None}), ({"answer": ""}, {"answer": Answer("")}),
    ({"answer": PARTS}, {"answer": IN_PARTS}),
    ({"answer": {"statements": PARTS}}, {"answer": IN_PARTS}),
    ({"answer": {"text": "A.", "citations": ["d1"]}},
     {"answer": Answer("A.", (Statement("A.", ("d1",)),))}),
    ({"reference": "Paris"}, {"references": ("Paris",)}),
    ({"reference": " "}, {"references": ()}), ({"references": [""]}, {"references": ("",)}),
    ({"golden_answers": [["NYC", "New York"], ["LA"]]},
     {"reference_groups": (("NYC", "New York"), ("LA",)), "references": ("NYC", "New York", "LA")}),
    ({"targets": [{"speaker": "agent", "text": "r"}]}, {"references": ("r",)}),
    *(
        ({"passages": value}, {"passages": expected})
        for value, expected in (
            (["a", "b"], (Passage("a"), Passage("b"))),
            ({"d1": "a", "d2": "b"}, (Passage("a", "d1"), Passage("b", "d2"))),
            ("a", (Passage("a"),)), ([], ()), (None, None),
            ([{"doc_id": 1, "text": "a", "score": 2}], (Passage("a", "1", 2.0),)),
            ([{"id": "p", "text": None, "content": "Emma."}], (Passage("Emma.", "p"),)),
            ([{"id": "c", "filename": "f", "start_char_offset": 1, "end_char_offset": 5}],
             (Passage(None, "c", None, "f", 1, 5),)),
            ([{"page_content": "a", "metadata": {"source": "f", "start_index": 3}}],
             (Passage("a", None, None, "f", 3),)),
        )
    ),
    ({"chunks": [{"id": "c", "title": "t", "text": "x"}]},
     {"passages": (Passage("x", "c", names=("t",)),)}),
    ({"contexts": ["a", "b"], "retrieved_context_ids": ["x", 7]},
     {"passages": (Passage("a", "x"), Passage("b", "7"))}),
    ({"passages": {"a": "x", "b": "y"}, "retrieved_ids": ["a", "b"]}, BY_ID),
    ({"passages": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}],
      "retrieved_ids": ["a", "b"]}, BY_ID),
    ({"passages": ["x", "y"], "run": {"a": 0.9, "b": 0.1}},
     {"passages": (Passage("x", "a", 0.9), Passage("y", "b", 0.1))}),
    ({"run": {"a": 0.5, "b": 0.5, "c": 0.9}},
     {"passages": (Passage(None, "c", 0.9), Passage(None, "b", 0.5), Passage(None, "a", 0.5))}),
    ({"passage_embeddings": [[1, 0], [0, 1]]},
     {"given": {"passage_embeddings": [[1, 0], [0, 1]]}, "passages": (Passage(), Passage())}),
    *(
        ({"gold": value}, {"gold": expected})
        for value, expected in (
            (["a"], (GoldPassage(text="a"),)),
            ({"d1": 2, "d2": 0}, (GoldPassage("d1", grade=2), GoldPassage("d2", grade=0))),
            ({"d1": "a"}, (GoldPassage("d1", "a"),)),
            ([{"filename": "f", "start_char_offset": 0, "end_char_offset": 9}],
             (GoldPassage(document="f", start=0, end=9),)),
            ([{"id": 1, "grade": 3}], (GoldPassage("1", grade=3),)), ([], ()), (None, None),
        )
    ),
    ({"gt_chunks": [{"title": "t", "fact": "f"}]}, {"gold": (GoldPassage(text="f"),)}),
    ({"retrieval_gt": [["a", "b"], ["c"]]}, {"gold": tuple(GoldPassage(x) for x in "abc")}),
    ({"reference_contexts": ["a"], "reference_context_ids": ["x"]},
     {"gold": (GoldPassage("x", "a"),)}),
    ({"gold": ["a", "b"], "gold_ids": {"g1": 0, "g2": 2}},
     {"gold": (GoldPassage("g1", "a", grade=0), GoldPassage("g2", "b", grade=2))}),
    ({"gold": [{"text": "a", "grade": 2}], "gold_ids": ["g"]},
     {"gold": (GoldPassage("g", "a", grade=2),)}),
    ({"passages": [{"id": "c", "text": "t"}], "gold": ["a"]}, {"gold": (GoldPassage(text="a"),)}),
    ({"messages": TALK}, {"query": "Who?", "answer": Answer("Ann.")}),
    ({"messages": TALK, "response": "Ann."}, {"answer": Answer("Ann.")}),
    ({"messages": [{"type": "human", "data": {"content": ["Who", "is it?"]}},
                   {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "Ann."}}]},
     {"query": "Who\nis it?", "answer": Answer("Ann.")}),
    ({"turns": 3}, {"metadata": {"turns": 3}, "history": ()}),
    ({"query": "q", "messages": [TALK[0], {"role": "user", "content": "q"}]},
     {"history": (Turn("user", "Who?"),)}),
    ({"task_id": "t", "input": [TURN]},
     {"answerability": Answerability.PARTIAL, "metadata": {"Question Type": ["Factoid"]}}),
    *(
        ({name: value}, {"answerability": Answerability.UNANSWERABLE})
        for name, value in (
            ("answerability", "UNANSWERABLE"), ("Answerability", ["UNANSWERABLE"]),
            ("answerability", "unanswerable"), ("answerable", False), ("is_answerable", "false"),
            ("is_impossible", True),
        )
    ),
    *(({"answerability": value}, {"answerability": None}) for value in (None, "", [])),
    *(
        ({"timestamp": value}, {"timestamp": seconds})
        for value, seconds in (
            (1700000000, 1700000000.0), ("1700000000.5", 1700000000.5),
            ("2023-11-14T22:13:20+00:00", 1700000000.0), ("2023-11-14 22:13:20", 1700000000.0),
            (None, None),
        )
    ),
    ({"domain": "law", "tags": ["a"], "n": None},
     {"metadata": {"domain": "law", "tags": ["a"], "n": None}}),
    ({"a": "x" * 2000, "b": "x" * 2001, "c": ["x"] * 100, "d": ["x"] * 101, "e": [["x"]]},
     {"metadata": {"a": "x" * 2000, "c": ["x"] * 100}}),
    ({"metadata": {"domain": "law"}, "domain": "tax"}, {"metadata": {"domain": "tax"}}),
    ({"passages": [{"id": "p1", "text": "x", "metadata": {"id": "uuid"}}]},
     {"passages": (Passage("x", id="p1"),)}),
    ({**GIVEN, **UNSCORED},
     {"given": {"RL_F": [0.5], "RB_llm": None}, "given_by": {"RL_F": "x/1"},
      "given_unscored": {"RB_llm": "undefined: nothing"}, "metadata": {}}),
    ({"given by": "a donor", "given_unscored": None},
     {"metadata": {"given by": "a donor"}, "given_by": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("record", "expected"), READ)
def test_a_record_of_any_published_shape_is_read(record, expected) -> None:
    asks = {"query", "inputs", "input", "messages", "User Input"} & record.keys()
    sample = one({**({} if asks else {"query": "q"}), **record})
    assert {field: getattr(sample, field) for field in expected} == expected


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"id": value}, "line 1, field 'id'.*id is expected")
      for value in (True, 7.5, 2.0**60, ["a"])),
    ({"repeat": 0, "query_run": 3}, "field 'query_run'.*run number is 3, but repeat is 0"),
    *(({"references": value}, "line 1, field 'references'")
      for value in ([True], True, [None], [["a"], "b"], [{"x": 1}], 1e300)),
    *(({"answer": value}, "field 'answer'") for value in (True, ["a", "b"], 2.0**53)),
    *(({"passages": value}, "field 'passages'") for value in ([None], [3], ["a", {"txt": "b"}], 3)),
    *(({"passages": [{"text": "a", "score": value}]}, "line 1, field .*score")
      for value in (float("nan"), float("inf"), "high", True)),
    ({"contexts": ["a", "b"], "retrieved_context_ids": ["x"]}, "_ids'.*1 id for 2 passages"),
    ({"contexts": ["a", "b"], "retrieved_ids": []}, "0 ids for 2 passages"),
    ({"passages": {"a": "x", "b": "y"}, "retrieved_ids": ["b", "a"]},
     "has the id 'a', and this list has 'b' for it"),
    ({"passages": ["x", "y"], "run": {"a": 0.1, "b": 0.9}}, "field 'run'.*in different orders"),
    ({"retrieved_ids": 3}, "field 'retrieved_ids'.*a list of ids is expected"),
    ({"retrieved_ids": ["a", None]}, "field 'retrieved_ids': an id is null"),
    ({"contexts": ["a"], "passage_scores": 0.5}, "'passage_scores'.*a list of scores is expected"),
    ({"passages_prescribed": "maybe"}, "'passages_prescribed'.*true or false is expected"),
    ({"answer": [{"text": "a", "citations": "d1"}]}, "'answer.citations'.*a list of passage ids"),
    ({"messages": TALK, "user_input": TALK}, "field 'messages': the record has two conversations"),
    ({"messages": [TURN], "answerability": "ANSWERABLE"},
     "labelled PARTIAL in one.*and ANSWERABLE"),
    ({"messages": [*TALK, *TALK[1:]]}, "field 'messages': 2 agent turns follow the last user turn"),
    ({"run": {"a": float("nan"), "b": -1.0}}, "field 'run': the passage 'a' has no score"),
    ({"gold": [17]}, "field 'gold'.*gold_ids"),
    (  # a record that retrieved none of its gold could not be told from one of texts
        {"passages": [{"id": "a", "text": "t"}], "gold": ["a", "b"]},
        "field 'gold'.*ids of passages.*gold_ids=gold",
    ),
    ({"passages": {"a": "t"}, "gold": [{"text": "a"}]}, "ids of passages.*give each as 'id'"),
    ({"gold": ["a", "b"], "gold_ids": []}, "0 ids for 2 gold passages"),
    ({"gold": [{"text": "a", "grade": 2}], "gold_ids": {"g": 0}},
     "has the grade 2, and this list has 0 for it"),
    ({"gold": [{"id": "g", "grade": 2}, {"id": "g", "grade": 0}]}, "'g' has the grades 2 and 0"),
    *(
        ({"messages": talk}, "line 1, field 'messages'")
        for talk in (
            *("user: hi", ["hi"], [{"role": "tool", "content": "x"}]),
            *([{"role": "user"}], [{"text": "x"}]),
        )
    ),
    ({"messages": TALK, "response": "c"}, "differs from the turn after its query"),
    ({"question": "Who?", "messages": TALK, "answer": "Bob."},
     "differs from the turn after its query"),
    ({"answerability": "PARTIAL", "Answerability": ["ANSWERABLE"]}, "several labels: PARTIAL"),
    *(({"answerability": value}, "field 'answerability'")
      for value in ("MAYBE", ["ANSWERABLE", "PARTIAL"], 3)),
    *(({"timestamp": value}, "not a time") for value in ("yesterday", 1700000000000, True, -7e10)),
    ({"answer": "a", "failure": 0}, "field 'failure'.*the reason of a failure"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "said"), REFUSED)
def test_a_record_that_cannot_be_read_is_refused_with_its_field(record, said) -> None:
    with pytest.raises(InputError, match=said):
        one({**({} if {"messages"} & record.keys() else {"query": "q"}), **record})


@pytest.mark.parametrize(("record", "names"), [({"id": 1, "foo": "bar"}, "id, foo"), ({}, "")])
def test_a_record_without_any_known_column_lists_its_columns(record: Any, names: str) -> None:
    with pytest.raises(InputError, match=f"the columns are .*{names}.*; none.*--columns query="):
        one(record)


@pytest.mark.parametrize(("record", "told"), [
    ({"query": "q", "raw": {"x": 1}}, "unknown field 'raw'"),
    ({"answer": "x"}, "neither an id nor a query"),
])  # fmt: skip
def test_what_is_left_out_or_made_is_told(record: dict[str, Any], told: str) -> None:
    notes = Notes()
    (sample,) = from_records([record], notes=notes)
    assert any(told in line for line in notes)
    assert "query" in record or sample.id == "row-1"


def test_two_systems_without_ids_agree_on_the_query_and_not_on_its_place() -> None:
    history = [{"role": "user", "content": "h"}, {"role": "assistant", "content": "i"}]
    first = {"question": "Who?", "answer": "a"}
    second = {"question": "Who?", "answer": "b", "history": history}
    notes = Notes()
    ids = [s.id for s in from_records([first, second], notes=notes)]
    turned = [s.id for s in from_records([second, first], notes=notes)]
    assert ids == turned[::-1]
    assert ids[0] != ids[1]
    assert "records without an id: 4 (first: line 1)" in next(iter(notes))


def test_ids_made_from_queries_stay_the_same_from_release_to_release() -> None:
    # printf '["Who wrote Emma?",[]]' | b2sum -l 64
    assert one({"query": "Who wrote Emma?"}).id == "q-6fcd113e5958c682"


@pytest.mark.parametrize(("value", "words"), [
    (1965, "1965"), (1965.0, "1965"), (-0.0, "0"), (1.5, "1.5"), (10**30, str(10**30)),
])  # fmt: skip
def test_a_number_is_its_text(value: float, words: str) -> None:
    sample = one(
        {"id": 1, "query": value, "answer": value, "references": [value],
         "negative_references": value, "gold": value, "passages": [{"id": "p", "text": value}]}
    )  # fmt: skip
    assert (sample.query, sample.answer, sample.references) == (words, Answer(words), (words,))
    assert sample.negative_references == (words,)
    assert (sample.gold, sample.passages) == ((GoldPassage(text=words),), (Passage(words, "p"),))
    assert one({"id": 1, "query": "q", "references": value}).references == (words,)
    assert one({"id": 1, "query": "q", "references": [[value]]}).reference_groups == ((words,),)
    stated = one({"id": 1, "query": "q", "answer": [{"text": value}]}).answer
    assert stated == Answer(words, (Statement(words),))


@pytest.mark.parametrize("record", [
    {"query": "q", "response": "a", "output": "b"},
    {"query": "q", "response": "a", "answer": "b", "ground_truth": "c"},
    {"query": "q", "contexts": ["a"], "documents": ["b"]},
    {"query": "q", "response": "a", "Response": "b"},
])  # fmt: skip
def test_two_columns_for_one_field_are_an_error_and_not_a_choice(record: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"could each be .* Say which one is: columns="):
        one(record)
    field, column = ("answer", "response") if "response" in record else ("passages", "contexts")
    assert getattr(one(record, columns={field: column}), field) is not None


def test_times_without_a_zone_are_counted_as_read_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    times = ["2026-01-01T00:00:00", "2026-01-02", "2026-01-01T00:00:00Z", 1_700_000_000, None]
    rows = [{"id": str(at), "query": "q", "timestamp": moment} for at, moment in enumerate(times)]
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "America/New_York")
        time.tzset()
        with pytest.warns(RagassayWarning, match="without a zone: 2.* UTC"):
            found = [one.timestamp for one in from_records(rows)]
    time.tzset()
    assert found == [1767225600.0, 1767312000.0, 1767225600.0, 1_700_000_000.0, None]


def test_columns_rename_fields_and_key_map_names_mean_the_same() -> None:
    record = {"nr": 1, "frage": "q", "gold": "ignored", "richtig": ["r"], "gesagt": "a"}
    named = {"id": "nr", "query": "frage", "references": "richtig", "answer": "gesagt"}
    key_map = {"id": "nr", "q_ls": "frage", "gt_ls": "richtig", "pred_ls": "gesagt"}
    sample = one(record, columns=named)
    assert (sample.id, sample.query, sample.references) == ("1", "q", ("r",))
    assert sample == one(record, columns=key_map)
    assert one({"id": 1, "answer": "a"}, columns={"query": "frage|inputs.text?"}).query is None


def test_a_column_that_later_records_lack_loses_no_record(tmp_path: Path) -> None:
    notes = Notes()
    rows = [{"id": 1, "q": "a"}, {"id": 2, "answer": "x"}]
    found = list(from_records(rows, columns={"query": "q"}, notes=notes))
    assert [s.query for s in found] == ["a", None]
    assert "records without the column 'q': 1" in next(iter(notes))
    files = [tmp_path / f"{row['id']}.jsonl" for row in rows]
    for file, row in zip(files, rows, strict=True):  # the first of each file must have it
        file.write_text(json.dumps(row))
    with pytest.raises(InputError, match=r"2\.jsonl.*'q'"):
        load(files, columns={"query": "q"})


def test_a_field_that_does_not_exist_is_a_usage_error_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no field 'anwser'.*Did you mean 'answer'"):
        one({"id": 1}, columns={"anwser": "x"})
    with pytest.raises(UsageError, match="'answer' is named twice"):
        one({"id": 1}, columns={"answer": "x", "response": "y"})


@pytest.mark.parametrize("key", ["id", "ticket"])
def test_rows_of_passages_are_repeated_identities(key: str) -> None:
    rows = [{key: 1, "query": "Who?", "contexts": one} for one in ("Dune is by Herbert.", "Sand.")]
    with pytest.raises(InputError, match=r"already given in line 1.*with a list of passages"):
        list(from_records(rows, notes=Notes()))


def mapped(*records: dict[str, Any], **options: Any) -> list[Sample]:
    return list(from_records(list(records), notes=Notes(), **options))


@pytest.mark.parametrize(("word", "other", "fields"), [
    ("answer", "prediction", ("references", "answer")),
    ("context", "retrieval_context", ("gold", "passages")),
])  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_name_that_would_mean_two_fields_in_one_file_is_an_error(
    tmp_path: Path, word: str, other: str, fields: tuple[str, str], first: bool
) -> None:
    """A record without a prediction would have the reference as its answer."""
    whole = {"id": "1", "question": "Who?", word: "Gold.", other: "Told."}
    records = [whole, {"id": "2", "question": "When?", word: "Gold."}]
    path = jsonl(tmp_path / "a.jsonl", *(records if first else records[::-1]))
    with pytest.raises(InputError, match="in an earlier record") as caught:
        load(path, notes=Notes())
    assert caught.value.line == 2 and f"--columns {fields[0]}={word}" in str(caught.value)
    samples = {one.id: one for one in load(path, columns={fields[0]: word}, notes=Notes())}
    assert getattr(samples["2"], fields[1]) is None and getattr(samples["2"], fields[0])
    # Another file may use the name in its own way.
    for name, record in zip(("b", "c"), records, strict=True):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    assert len(load([tmp_path / "b.jsonl", tmp_path / "c.jsonl"], notes=Notes())) == 2


@pytest.mark.parametrize("part", [{"score": 0}, {"score": 2}, {"label": 0}, {"is_relevant": False}])
def test_a_grade_of_gold_under_another_name_is_asked_for(part: dict[str, Any]) -> None:
    """It would count as relevant."""
    with pytest.raises(InputError, match=r"and no grade.*If it is its grade"):
        mapped({"id": "1", "gold": [{"id": "d1", **part}]})
    (sample,) = mapped({"id": "1", "gold": [{"id": "d1", "grade": 0, **part}]})
    assert sample.gold == (GoldPassage("d1", grade=0),)
    for other in ({"score": 0.5}, {"label": 1}, {"is_relevant": True}, {"label": "a"}):
        assert mapped({"id": "1", "gold": [{"id": "d1", **other}]})[0].gold == (GoldPassage("d1"),)


def test_lists_of_passages_as_texts_in_json_are_read_as_in_cells(tmp_path: Path) -> None:
    """As `read_csv().to_json(lines=True)` writes them."""
    row = {
        "query": '["q"]', "contexts": "['x.', 'y.']", "gold_ids": "[1, 2]",
        "gold": '[{"text": "g"}, {"text": "h"}]',
    }  # fmt: skip
    path, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    path.write_text(json.dumps(row))
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows([[*row], [*row.values()]])
    (one,), (cells,) = load(path, notes=Notes()), load(table, notes=Notes())
    assert one == cells and one.query == '["q"]'
    assert [p.text for p in one.passages or ()] == ["x.", "y."]
    path.write_text(json.dumps({**row, "contexts": '["x" is a letter'}))
    with pytest.raises(InputError, match="field 'contexts': the cell begins like a list"):
        load(path, notes=Notes())


@pytest.mark.parametrize(
    "reference", ["[1, 2]", '{"name": "call"}', "[1] It is.", '["a" is a letter']
)
def test_references_in_json_stay_texts(tmp_path: Path, reference: str) -> None:
    record = {"id": "1", "answer": reference, "references": reference}
    path = jsonl(tmp_path / "a.jsonl", record)
    (one,) = load(path, notes=Notes())
    assert one.references == (reference,)


def test_a_list_of_texts_as_the_text_of_a_reference_is_asked_for(tmp_path: Path) -> None:
    """Several references, or the one list that a system was asked for?"""
    path = jsonl(tmp_path / "a.jsonl", {"id": "1", "references": '["a", "b"]'})
    with pytest.raises(InputError, match=r"field 'references': the text holds a list.*as JSON"):
        load(path, notes=Notes())


def test_texts_in_lists_are_never_opened(tmp_path: Path) -> None:
    """A file of our own comes back as it was."""
    path = tmp_path / "a.jsonl"
    text = '["a", "b"]'
    one = Sample(id="1", passages=(Passage(text),), references=(text,))
    write([one], path)
    assert [*load(path, notes=Notes())] == [one]


def test_columns_of_autorags_results_that_do_not_fit_are_refused() -> None:
    record = {"query": "Where?", "retrieved_contents": ["In Leeds.", "In York."]}
    with pytest.raises(InputError, match="1 score for 2 passages"):
        list(from_records([record | {"retrieve_scores": [0.9]}]))
    for nested in ([["In Leeds.", "In York."]], [["In Leeds."], ["In York."]]):
        with pytest.raises(InputError, match=r"'retrieved_contents': .* one flat list of its"):
            list(from_records([record | {"retrieved_contents": nested}]))


def test_repeated_questions_without_ids_can_take_their_lines_for_ids(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "answer": "A"}, {"question": "Who?", "answer": "B"}]
    path = jsonl(tmp_path / "r.jsonl", *rows)
    with pytest.raises(
        InputError, match=r"line 2: the query 'Who\?' was already given in line 1.*id=@line"
    ):
        load(path)
    for samples in (load(path, columns={"id": "@line"}),
                    list(from_records(rows, columns={"id": "@line"}))):  # fmt: skip
        assert [(one.id, one.answer.text) for one in samples if one.answer] == [
            ("1", "A"), ("2", "B"),
        ]  # fmt: skip
        assert not any(one.metadata for one in samples)


@pytest.mark.parametrize("mark", ["###", "@@@", " || ", " ---- ", "\n---\n", "[SEP]", r"\n\n"])
def test_a_sign_between_sentences_joins_chunks(mark: str) -> None:
    with pytest.raises(InputError, match="seems to hold several chunks"):
        one({"query": "q", "context": f"One.{mark}Two."}, refuse_joined="marks")


def test_a_separator_that_no_context_has_is_told() -> None:
    for contexts, n in ((["A.\n\nB.", "c", ""], 2), (["a;b", "c"], 0)):
        notes = Notes()
        rows = [{"query": f"{text}?", "contexts": text} for text in contexts]
        found = list(from_records(rows, separator=";", refuse_joined=True, notes=notes))
        assert len(found) == len(contexts)  # one chunk may have paragraphs of its own
        said = [line for line in notes if line.startswith("contexts without the separator ';'")]
        assert len(said) == bool(n) and all(f": {n}." in line for line in said)


def test_metadata_have_a_hundred_levels_at_most() -> None:
    value: Any = []
    for _ in range(98):
        value = [value]
    assert one({"id": 1, "query": "q", "metadata": {"x": value}}).metadata == {"x": value}
    with pytest.raises(InputError, match="more than 100 levels"):
        one({"id": 1, "query": "q", "metadata": {"x": [value]}})


def test_turns_in_no_order_of_time_get_no_history_and_are_counted() -> None:
    turns = [Sample(id=f"{at}", query=f"q{at}", answer=Answer("a"), timestamp=float(at),
                    metadata={"session_id": "s"}) for at in (3, 1, 2, 4, 5)]  # fmt: skip
    turns[4] = replace(turns[4], history=(Turn("user", "own"),))
    with pytest.warns(RagassayWarning, match="2 turns"):
        *late, last, own = (turn.history for turn in with_earlier_turns(turns))
    assert late == [()] * 3 and len(last) == 6 and own == turns[4].history


def test_what_tools_gave_for_an_earlier_turn_is_no_result_of_the_last() -> None:
    roles = [("user", "a?"), ("tool", "old"), ("assistant", "a"), ("user", "b?"), ("tool", "new")]
    messages = [{"role": role, "content": text} for role, text in roles]
    assert conversation(messages, "messages").results == ["new"]
