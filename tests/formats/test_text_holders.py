"""Objects in memory are read by the text that they hold; any other object is an error."""

from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from json_lines import jsonl
from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats import from_records, load


class Document:
    def __init__(self, page_content: str, metadata: dict[str, Any]) -> None:
        self.page_content, self.metadata, self.id = page_content, metadata, None

    def __repr__(self) -> str:
        return f"page_content={self.page_content!r} metadata={self.metadata!r}"


class Message:
    def __init__(self, content: Any, type: str = "ai") -> None:  # noqa: A002
        self.content, self.type = content, type


class Node:
    metadata, node_id = {"file_name": "guide.pdf"}, "n1"

    def get_content(self) -> str:
        return "Open at nine."


@dataclass
class Chunk:
    text: str
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Content:
    id: str
    content: str
    meta: dict[str, Any]
    score: float


class Nothing:
    pass


def one(**record: Any) -> Sample:
    (sample,) = from_records([{"id": "1", "query": "When?"} | record])
    return sample


PASSAGES = {
    "a document": (Document("Open at nine.", {"source": "guide.pdf"}), None, "guide.pdf", None),
    "a node with a score": (SimpleNamespace(node=Node(), score=0.0, get_content=Node().get_content),
                            "n1", "guide.pdf", 0.0),
    "a node": (Node(), "n1", "guide.pdf", None),
    "a data class": (Chunk("Open at nine."), None, None, None),
    "a document of Haystack": (Content("h1", "Open at nine.", {"file_path": "guide.pdf"}, 0.5),
                               "h1", None, 0.5),
    "an object with a doc_id": (SimpleNamespace(text="Open at nine.", doc_id="d"), "d", None, None),
    "any object with a text": (SimpleNamespace(text="Open at nine.", id="c"), "c", None, None),
}  # fmt: skip


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=PASSAGES)
@pytest.mark.parametrize("of", [list, tuple, deque])
def test_passages_are_what_documents_and_nodes_hold(passage: Any, of: Any) -> None:
    given, name, document, score = passage
    (found,) = one(passages=of([given])).passages or ()
    assert (found.text, found.id, found.document, found.score) == (
        "Open at nine.", name, document, score,
    )  # fmt: skip
    assert found.names == (("guide.pdf",) if name == "h1" else ())


@pytest.mark.parametrize("gold", [Document("Open at nine.", {"id": "d1"}), {"text": "Open at nine.",
                                  "metadata": {"doc_id": "d1"}}])  # fmt: skip
def test_gold_has_the_id_of_its_metadata_as_passages_have(gold: Any) -> None:
    sample = one(gold=[gold], passages=[gold])
    assert [part.id for part in (*(sample.gold or ()), *(sample.passages or ()))] == ["d1", "d1"]


def test_answers_queries_and_turns_are_what_messages_hold() -> None:
    parts = Message([{"type": "text", "text": "At "}, {"type": "text", "text": "nine."}])
    for answer in (Message("At nine."), parts, SimpleNamespace(text="At nine.")):
        assert one(answer=answer).answer.text == "At nine."  # type: ignore[union-attr]
    history = [Message("Hello", "human"), Message("Hi."), Message("When?", "human")]
    sample = one(query=Message("When?", "human"), history=history[:2])
    assert sample.query == "When?"
    assert [(turn.speaker, turn.text) for turn in sample.history] == [
        ("user", "Hello"), ("agent", "Hi."),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["answer", "query", "passages", "references", "metadata"])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"text": x}])
def test_any_other_object_is_an_error_with_record_field_and_class(name: str, wrap: Any) -> None:
    records = [{"id": "1", "query": "When?"}, {"id": "2", "query": "Who?", name: wrap(Nothing())}]
    with pytest.raises(InputError, match=r"test_text_holders\.Nothing") as caught:
        list(from_records(records))
    assert caught.value.line == 2
    assert caught.value.field in (name, "text")


def test_values_with_one_written_form_are_texts() -> None:
    assert one(answer=Decimal("1.50")).answer.text == "1.50"  # type: ignore[union-attr]
    assert one(metadata={"file": Path("a/b"), "k": {1j}}).metadata == {"file": "a/b", "k": ["1j"]}


PRINTED = [
    repr(Document("Open at nine.", {"source": "guide.pdf"})),
    "[Document(metadata={'source': 'guide.pdf'}, page_content='Open at nine.')]",
    "content='At nine.' additional_kwargs={} response_metadata={}",
    "AIMessage(content='At nine.', additional_kwargs={})",
    "Node ID: 3f\nText: Open at nine.",
    "<app.Answer object at 0x7f10a2b3c4d0>",
    "[<__main__.Answer object at 0x7f10a2b3c4d0>, <__main__.Answer object at 0x7f10a2b3c4d1>]",
    "[Document(id=ab12, content: 'Open at nine.', meta: {'name': 'guide.pdf'})]",
    "[Document(page_content='Open at nine, and cl...",
    "[(Document(page_content='Open at nine.'), 0.5)]",
    "Response(response='At nine.', source_nodes=[])",
    "[Document(page_content='Open at nine.', metadata={}), ...]",
    "0    Open at nine.\n1    Closed.\nName: text, dtype: object",
]


@pytest.mark.parametrize("cell", PRINTED)
@pytest.mark.parametrize("column", ["answer", "passages", "query", "reference"])
def test_what_python_prints_for_an_object_is_no_text(tmp_path, cell: str, column: str) -> None:
    path = tmp_path / "a.csv"
    quoted = cell.replace('"', '""')
    head, row = {"query": "When?", column: f'"{quoted}"'}, ""
    row = ",".join(head.values())
    path.write_text(f"{','.join(head)}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="as Python prints it") as caught:
        load(path)
    assert caught.value.line == 2 and caught.value.field == column


ANY_PRINTED = [
    "[ScoredPoint(id=1, version=0, score=0.9, payload={'text': 'Open at nine.'}, vector=None)]",
    "[Chunk(text='Open at nine.')]",
    "qdrant_client.models.ScoredPoint(id=1, version=0)",
    "[<Document: {'content': 'Open at nine.'}>]",
    "[NodeWithScore(node=TextNode(id_='3', embedding=None, ...",
]


@pytest.mark.parametrize("cell", [*PRINTED, *ANY_PRINTED])
@pytest.mark.parametrize("column", ["passages", "gold"])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: [{"text": x}]])
def test_a_passage_is_no_print_of_an_object(column: str, cell: str, wrap: Any) -> None:
    with pytest.raises(InputError, match="as Python prints it") as caught:
        one(**{column: wrap(cell)})
    assert caught.value.line == 1 and str(caught.value.field).startswith(column)


@pytest.mark.parametrize("text", ANY_PRINTED)
def test_an_answer_may_be_code(text: str) -> None:
    sample = one(answer=text, reference=text)
    assert sample.answer.text == text and sample.references == (text,)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [
    *("Use Point(x=1) here.", "Point(x=1) makes a point.", "f(content='a') works."),
    *("Response (see page 3)", "Note(s): see (a).", "<div>Open at nine.</div>", "a(b) == c(d)"),
    *("<Open at nine>", "Foo(a == b)", "[1] Open (at nine)."),
])  # fmt: skip
def test_passages_about_code_are_passages(text: str) -> None:
    assert [part.text for part in one(passages=[text]).passages or ()] == [text]


@pytest.mark.parametrize("text", [
    "Set content='x' in the form.", "See <b>object at 0x7f</b>.", "x=1", "f(content='a') works.",
])  # fmt: skip
def test_texts_about_code_are_texts(text: str) -> None:
    assert one(answer=text).answer.text == text  # type: ignore[union-attr]


def test_texts_of_a_class_of_their_own_are_texts() -> None:
    class Named(str):
        pass

    class Kind(Enum):
        ONE = "At nine."

    for value in (Named("At nine."), Kind.ONE, np.str_("At nine.")):
        sample = one(answer=value, references=[value], passages=[value])
        assert sample.answer.text == "At nine."  # type: ignore[union-attr]
        assert sample.references == ("At nine.",)
        assert (sample.passages or ())[0].text == "At nine."


BIG = 2**64 + 1


@pytest.mark.parametrize("number", [2**63, BIG, -BIG, 10**30])
def test_an_integer_beyond_64_bits_is_kept_as_its_digits(tmp_path: Path, number: int) -> None:
    records = [
        {"id": "1", "query": "When?", "metadata": {"account": number, "list": [number]}},
        {"id": "2", "query": "When?", "account": number + 1},
    ]
    path = jsonl(tmp_path / "a.jsonl", *records)
    for samples in (list(from_records(records)), load(path)):
        first, second = samples
        assert first.metadata["account"] == str(number)
        assert first.metadata["list"] == [str(number)]
        assert second.metadata["account"] == str(number + 1)
    ordinary = [{"id": "1", "query": "When?", "account": -(2**63)}]
    assert next(from_records(ordinary)).metadata["account"] == -(2**63)
