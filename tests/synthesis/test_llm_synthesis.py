"""Golden sets that a model writes and another one checks, over HTTP."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import orjson
import pytest

from llm_rule import Request
from llm_server import LLMServer
from ragassay import examples
from ragassay.base.sample import Sample, Turn
from ragassay.cli.command_line import call
from ragassay.golden.documents import load_documents
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, nearly
from ragassay.synthesis.draft import Kind, Wish
from ragassay.synthesis.llm_generator import LLMGenerator
from ragassay.synthesis.sections import Corpus

DOCUMENTS = Path(examples.__file__).parent / "town" / "documents"
ASKS = "Please tell me the end of this: "


def sentence_of(passage: str, at: int = 0) -> str:
    """A sentence of a passage, whose first two lines are headings."""
    text = passage.split("\n", 2)[2]
    found = [one for one in re.split(r"(?<=[.])\s+", text) if len(one.split()) > 5]
    return found[at % len(found)]


def kind_of(request: Request) -> str:
    fields = frozenset(request.schema["properties"])
    return {
        frozenset({"query"}): "write_query", frozenset({"answer"}): "answer_from_passages",
        frozenset({"verdicts"}): "claim_support",
        frozenset({"reasoning", "is_matching"}): "answer_match",
    }.get(fields, "write_answer")  # fmt: skip


def honest(request: Request) -> Any:
    """Writes and checks as it is asked to: queries ask for the last word of a sentence."""
    fences = request.fences
    passages, named = [text for name, text in fences if name.startswith("passage")], dict(fences)
    match kind_of(request):
        case "write_query":
            if "must NOT answer" in request.plain:
                return {"query": f"Is there a unicorn ride in the {passages[0].splitlines()[0]}?"}
            at = int(request.body.get("seed") or 0)
            begun = [sentence_of(one, at).rsplit(" ", 1)[0] for one in passages]
            return {"query": ASKS + " / ".join(begun) + "?"}
        case "write_answer":
            found = _found(named["query"], passages)
            right = " ".join(found)
            return {"answer": right, "quotes": found, "inaccurate": right.replace(".", " never."),
                    "incomplete": right[: len(right) // 2]}  # fmt: skip
        case "answer_from_passages":
            return {"answer": " ".join(_found(named["query"], passages))}
        case "answer_match":
            said = named["prediction"].strip() == named["reference answer"].strip()
            return {"reasoning": "", "is_matching": said}
    claims, held = re.findall(r"^\[?\d+[\].):]* +(.+)$", named["claims"], re.M), " ".join(passages)
    entries = [all(part in held for part in re.split(r"(?<=[.])\s+", claim)) for claim in claims]
    return {"verdicts": [{"number": n, "reason": "", "supported": one}
                         for n, one in enumerate(entries, 1)]}  # fmt: skip


def _found(conversation: str, passages: list[str]) -> list[str]:
    """The sentences that the last turn of a conversation asks for."""
    asked = conversation.rsplit(ASKS, 1)[-1].removesuffix("?").split(" / ")
    texts = [one for passage in passages for one in re.split(r"(?<=[.])\s+|\n", passage)]
    return ([next((one for one in texts if one.startswith(part)), "") for part in asked if part]
            if (ASKS in conversation and passages) else [])  # fmt: skip


class Desk:
    """A folder in which golden sets are synthesized by models of one server."""

    def __init__(self, folder: Path, server: LLMServer) -> None:
        self.folder, self.server = folder / "golden", server

    def synthesize(self, *words: str, code: int = 0, checker: str = "checker") -> list[GoldenItem]:
        models = ["--generator", f"{self.server.url}#writer"]
        models += ["--checker", f"{self.server.url}#{checker}"]
        command = ["golden", "synthesize", str(DOCUMENTS), "-o", str(self.folder)]
        assert call([*command, *models, *words]) == code
        return GoldenSet.open(self.folder).items if self.folder.exists() else []

    def rejected(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in (self.folder / "rejected.jsonl").open("rb")]

    def sent(self, kind: str) -> list[dict[str, Any]]:
        bodies = self.server.bodies
        return [body for body in bodies if kind_of(Request(body, b"", 0, 0, "")) == kind]


@pytest.fixture
def desk(here: Path, server: LLMServer) -> Desk:
    server.settings.rule = honest
    return Desk(here, server)


def test_a_model_writes_and_another_one_checks(desk: Desk) -> None:
    items, documents = desk.synthesize("--n", "12"), load_documents(DOCUMENTS)
    assert len(items) == 12
    for item in items:
        made = item.provenance
        assert made["generator"].endswith("#writer") and made["checker"].endswith("#checker")
        assert re.fullmatch(r"[0-9a-f]{12}", made["prompts"]) and made["judge_answers"]
        assert item.status == "draft" and item.origin == "synthetic"
        if item.answerability == "unanswerable":
            assert "unicorn" in item.query and not item.references and item.gold == []
            continue
        (span,) = item.gold or ()
        assert documents[span.document].text[span.start : span.end] == span.text
        assert item.references == [span.text]
        wrong = {(one.kind, one.by) for one in item.negative_references}
        assert wrong == {("inaccurate", made["generator"]), ("incomplete", made["generator"])}
    for body in desk.sent("claim_support"):  # spans are shown with the headings above them
        text = dict(Request(body, b"", 0, 0, "").fences)["passage 1"]
        assert text.startswith(tuple(one.title.title for one in documents.values() if one.title))
    models = {kind: {one["model"] for one in desk.sent(kind)} for kind in KINDS}
    assert models["write_query"] == models["write_answer"] == {"writer"}
    assert models["claim_support"] == models["answer_from_passages"] == {"checker"}


KINDS = ("write_query", "write_answer", "claim_support", "answer_from_passages", "answer_match")


def test_nothing_is_paid_for_twice(desk: Desk, capsys) -> None:
    desk.synthesize("--n", "8", "--dry-run", "--json")
    plan = orjson.loads(capsys.readouterr().out)
    assert desk.server.stats()["requests"] == 0 and not desk.folder.exists()
    desk.synthesize("--n", "8", "--json", checker="gpt-4o-mini")
    assert plan["calls"] == len(desk.sent("write_query")) == plan["drafts"] == 12
    assert plan["calls"] < desk.server.stats()["requests"] <= plan["most_calls"]
    told = orjson.loads(capsys.readouterr().out)
    assert (told["calls"], told["cached"]) == (desk.server.stats()["requests"], 0)
    assert told["drafts"] == len(told["items"]) + told["rejected"] + told["not_chosen"]
    assert told["cost"] > 0
    lines, paid = (desk.folder / "queries.jsonl").read_bytes(), desk.server.stats()["requests"]
    desk.synthesize("--n", "8")
    assert (desk.folder / "queries.jsonl").read_bytes() == lines
    for name in ("queries.jsonl", "rejected.jsonl", "documents.json", "scorecard.md"):
        (desk.folder / name).unlink()
    desk.folder.rmdir()
    capsys.readouterr()
    desk.synthesize("--n", "8", "--dry-run", "--json", checker="gpt-4o-mini")
    held = orjson.loads(capsys.readouterr().out)
    assert (held["held"], plan["held"]) == (told["calls"], 0)
    desk.synthesize("--n", "8", "--json", checker="gpt-4o-mini")
    again = orjson.loads(capsys.readouterr().out)
    assert (again["calls"], again["cached"], again["cost"]) == (0, told["calls"], 0)
    assert (desk.folder / "queries.jsonl").read_bytes() == lines
    assert desk.server.stats()["requests"] == paid


def test_one_model_for_both_is_refused_unless_it_is_said(desk: Desk, capsys) -> None:
    for checker in ("writer", f"checker,{desk.server.url}#Writer"):
        desk.synthesize("--n", "2", code=2, checker=checker)
    assert "--same-model" in capsys.readouterr().err and desk.server.stats()["requests"] == 0
    assert len(desk.synthesize("--n", "2", "--same-model", checker="writer")) == 2


def but(kind: str, answer: Callable[[Request, Any], Any]) -> Callable[[Request], Any]:
    """The honest rule, with other answers to one kind of question."""

    def rule(request: Request) -> Any:
        said = honest(request)
        return answer(request, said) if kind_of(request) == kind else said

    return rule


def sees(request: Request) -> bool:
    return any(name.startswith("passage") for name, _ in request.fences)


@pytest.mark.parametrize(("why", "rule"), [
    ("not-written", but("write_query", lambda r, said: {"query": "  "})),
    ("not-written", but("write_query", lambda r, said: {"query": "I can't help with that."})),
    ("not-written", but("write_answer", lambda r, said: {**said, "answer": ""})),
    ("not-written", but("write_answer", lambda r, said: {**said, "answer": "I don't know."})),
    ("form", but("write_query", lambda r, said: {"query": "What does the passage say of it?"})),
    ("form", but("write_answer", lambda r, said: {**said, "quotes": []})),
    ("leak", but("write_answer", lambda r, said: {**said, "answer": "tell the end"})),
    ("not-grounded", but("write_answer", lambda r, said: {**said, "quotes": ["Made up."]})),
    ("not-grounded", but("write_answer", lambda r, said: {**said, "answer": "Made up."})),
    ("not-answerable", but("answer_from_passages", lambda r, said: {"answer": ""})),
    ("not-answerable", but("answer_from_passages", lambda r, said: {"answer": "I don't know"})),
    ("answered-elsewhere", but("answer_from_passages", lambda r, said: {"answer": "Yes."})),
    ("not-answerable", but("answer_match", lambda r, s: {**s, "is_matching": False})),
    ("known-without",
     but("answer_from_passages", lambda r, said: said if sees(r) else {"answer": "known"})),
], ids=lambda one: one if isinstance(one, str) else "")  # fmt: skip
def test_what_is_wrong_with_a_draft_rejects_it(desk, why, rule) -> None:
    def known(request: Request) -> Any:
        said = dict(request.fences)
        if kind_of(request) == "answer_match" and said["prediction"].strip() == "known":
            return {"reasoning": "", "is_matching": True}
        return rule(request)

    desk.server.settings.rule = known
    wanted = "unanswerable" if why == "answered-elsewhere" else "answerable"
    mix = (f"--mix=answerability={wanted}", "--mix=type=factual")
    assert desk.synthesize("--n", "4", *mix, code=3) == []
    shown = str([body["messages"] for body in desk.sent("answer_from_passages")])
    assert why != "answered-elsewhere" or "passage 2" in shown, "of all documents"
    records = desk.rejected()
    assert {one["why"] for one in records} - {"duplicate"} == {why}
    assert all(one["detail"] for one in records)
    assert f"| {why} |" in (desk.folder / "scorecard.md").read_text()


def test_not_to_know_without_the_spans_is_not_compared_with_the_answer(desk: Desk) -> None:
    def rule(request: Request) -> Any:
        if kind_of(request) == "answer_from_passages" and not sees(request):
            return {"answer": "I do not know."}
        if kind_of(request) == "answer_match":
            return {"reasoning": "", "is_matching": True}
        return honest(request)

    desk.server.settings.rule = rule
    mix = ("--mix", "answerability=answerable", "--mix", "type=factual")
    assert len(desk.synthesize("--n", "2", *mix)) == 2


def test_a_query_across_documents_has_spans_in_two(desk: Desk) -> None:
    mix = ("--mix", "shape=across", "--mix", "type=comparison", "--mix", "answerability=answerable")
    items = desk.synthesize("--n", "4", *mix)
    for item in items:
        assert len({span.document for span in item.gold or ()}) == 2
        assert item.type == "comparison" and item.provenance["wanted"]["shape"] == "across"
        assert len({one.split(":")[0] for one in item.provenance["passages"]}) == 2


def test_a_follow_up_has_the_first_turn_as_its_history(desk: Desk) -> None:
    def rule(request: Request) -> Any:
        said = honest(request)
        if kind_of(request) == "write_query" and "earlier turns" in dict(request.fences):
            passage = dict(request.fences)["passage 1"]
            return {"query": ASKS + sentence_of(passage, 1).rsplit(" ", 1)[0] + "?"}
        if kind_of(request) == "write_answer":  # a right answer is no wrong one
            quotes = [one.replace(" ", "\n ", 1) for one in said["quotes"]]  # it is there once
            quotes += said["quotes"]
            return {**said, "quotes": quotes, "incomplete": f"{said['answer']} "}
        return said

    desk.server.settings.rule = rule
    mix = ("--mix", "shape=follow-up", "--mix", "answerability=answerable")
    items = desk.synthesize("--n", "4", *mix)
    checked = [str(body["messages"]) for body in desk.sent("answer_from_passages")]
    for item in items:
        # The checker sees the first turn too, with the spans and without.
        times = sum(item.query in one and item.history[0].text in one for one in checked)
        assert times == (1 if item.type == "yes-no" else 2)
        assert [one.kind for one in item.negative_references] == ["inaccurate"]
        assert [one.speaker for one in item.history] == ["user", "agent"]
        assert len(item.gold or ()) == 1
        assert item.history[0].text.startswith(ASKS) and item.history[0].text != item.query


def test_examples_are_accepted_items_about_other_passages_and_never_come_back(desk: Desk) -> None:
    items = desk.synthesize("--n", "6", "--mix", "answerability=answerable")
    opened = GoldenSet.open(desk.folder)
    for item, kind in zip(opened.items, ("factual", "yes-no", "yes-no"), strict=False):
        item.status, item.type = "accepted", kind
    opened.items[3].status = "rejected"
    opened.save()
    accepted = {item.query: (item.gold or [])[0].text for item in opened.items[:3]}
    before = len(desk.sent("write_query"))
    more = desk.synthesize("--n", "8", "--mix", "answerability=answerable", "--mix", "type=factual")
    shown = 0
    for body in desk.sent("write_query")[before:]:
        fences = Request(body, b"", 0, 0, "").fences
        examples_of = [text for name, text in fences if name.startswith("example query")]
        passages = " ".join(text for name, text in fences if name.startswith("passage"))
        assert set(examples_of) <= set(accepted)
        assert opened.items[0].query not in examples_of[1:]  # the only factual one
        assert all(accepted[one] not in passages for one in examples_of)
        shown += len(examples_of)
    assert shown and len({item.query for item in more}) == len(more) == len(items) + 3


def test_what_was_never_asked_is_no_rejection(desk: Desk, capsys) -> None:
    items = desk.synthesize("--n", "8", "--budget", "3 calls", "--json", code=3)
    shown = capsys.readouterr()
    told = orjson.loads(shown.out)
    assert not items and told["rejected"] == 0 and told["drafts"] <= 3
    assert told["not_asked"] == 12 and told["calls"] == 3
    assert "12 drafts not asked: the budget is spent (3 of 3 calls" in " ".join(shown.err.split())
    assert desk.rejected() == []
    assert "0 drafts: 0 passed" in (desk.folder / "scorecard.md").read_text()
    desk.synthesize("--n", "8", "--budget", "20 calls", code=3)
    assert not any("budget" in one["detail"] for one in desk.rejected())
    desk.server.settings.key = "another"
    desk.synthesize("--n", "8", code=3)
    assert "Not finished" in capsys.readouterr().err
    desk.server.settings.key = None
    assert len(desk.synthesize("--n", "8")) == 8


def test_given_queries_only_get_answers(desk: Desk, tmp_path: Path) -> None:
    sentence = "A new card costs 4 euros."
    records = [{"id": "card", "query": ASKS + sentence.rsplit(" ", 1)[0] + "?"},
               {"id": "none", "query": "Is there a unicorn ride?"},
               {"id": "far", "query": "Zzyx quorp blim?"}]  # fmt: skip
    (tmp_path / "asked.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    items = {item.id: item for item in desk.synthesize("--queries", "asked.jsonl")}
    assert items["card"].references == [sentence] and items["card"].source == "given"
    assert [one.text for one in items["card"].gold or ()] == [sentence]
    assert items["none"].answerability == "unanswerable" and items["none"].gold == []
    assert not any("nearly" in one.provenance for one in items.values())
    assert not desk.sent("write_query") and len(desk.synthesize("--queries", "asked.jsonl")) == 3
    assert desk.rejected() == [], "what is there is no duplicate of itself"


def test_no_answer_is_paid_for_where_none_is_wanted_or_the_query_has_another_length(desk) -> None:
    desk.server.settings.rule = but("write_query", lambda r, said: {"query": "Why is it so? " * 4})
    assert desk.synthesize("--n", "2", "--mix", "length=short", code=3) == []
    assert {one["why"] for one in desk.rejected()} == {"form"} and not desk.sent("write_answer")
    desk.server.settings.rule = honest
    mix = ("--mix", "answerability=answerable")
    items = desk.synthesize("--n", "4", "--no-answers", *mix)
    assert all(not item.references and item.gold for item in items)
    assert {kind for kind in KINDS if desk.sent(kind)} == {"write_query"}


def test_mix_and_style_guide_stand_in_the_prompt(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "guide.txt").write_text("Address the city as you.\n")
    parts = ("type=procedural", "language=Dutch", "length=long", "style=terse", "complexity=direct")
    mix = [f"--mix={one}" for one in parts]
    items = desk.synthesize("--n", "2", "--style-guide", "guide.txt", *mix)
    for told in (body["messages"][1]["content"] for body in desk.sent("write_query")):
        for words in ("step by step", "Language: Dutch.", "Style: terse.", "is one sentence",
                      "17 to 35 words.", "Address the city"):  # fmt: skip
            assert words in told
    assert all("Address the city" in str(body) for body in desk.sent("write_answer"))
    told = {(one.type, one.language, one.style, one.complexity) for one in items}
    assert told == {("procedural", "Dutch", "terse", "direct")}


def test_passages_are_drawn_from_every_document_in_turn_and_queries_may_be_given() -> None:
    corpus = Corpus(load_documents(DOCUMENTS))
    n, of = len(corpus.sections), len(corpus.documents)
    kinds: list[Kind] = [(("answerability", "answerable"), ("type", "factual"))] * (2 * n)
    shots = [GoldenItem(id=str(at), query=f"{at}?", type="x" * (at > 5)) for at in range(9)]
    drawn = []
    for seed in (0, 1):
        generator = LLMGenerator(corpus, Wish(DOCUMENTS, DOCUMENTS, seed=seed), shots)
        drawn.append(list(generator.wanted(kinds)))
        assert {one.sections[0].document for one in drawn[seed][:of]} == {*corpus.documents}
        assert [one.repeat for one in drawn[seed]] == [0] * n + [1] * n
    assert [one.sections for one in drawn[0]] != [one.sections for one in drawn[1]]
    assert len(generator.question(drawn[0][0]).examples) == 3
    said = (Turn("bot", "Hi."), Turn("agent", "Hello."))
    asked = [Sample(id="a", query="Is there a pool?", history=said), Sample(id="b", query="Zzyx?")]
    pool, none = generator.answering(asked)
    assert (pool.name, pool.history) == ("a", (Turn("user", "Hi."), said[1]))
    assert pool.answerable and pool.sections and not none.answerable and not none.sections


def test_an_unanswerable_follow_up_has_a_first_turn_with_an_answer(desk: Desk) -> None:
    items = desk.synthesize("--n", "2", "--mix", "shape=follow-up", "--mix",
                            "answerability=unanswerable")  # fmt: skip
    assert [[one.speaker for one in item.history] for item in items] == [["user", "agent"]] * 2
    for item in items:  # a near miss names the passage that it was written from
        places = [f"{one.document}:{one.start}-{one.end}" for one in nearly(item)]
        assert places == item.provenance["passages"] and len(places) == 1


def test_what_a_function_raises_is_told_and_the_set_is_incomplete(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_writer.py").write_text("def broken(prompt):\n    return {}['on holiday']\n")
    command = ["golden", "synthesize", str(DOCUMENTS), "-o", str(tmp_path / "golden"), "--n", "2"]
    assert call([*command, "--checker", "offline", "--generator", "own_writer:broken"]) == 3
    assert "'on holiday'" in " ".join(capsys.readouterr().err.split())


def test_a_quote_is_found_across_the_line_ends_of_a_document() -> None:
    generator, section = Mock(), SimpleNamespace(text="It opens\n at nine.", start=5)
    LLMGenerator._span(generator, "opens at  nine.", [section])
    generator._corpus.span.assert_called_once_with(section, 8, 23)
