"""From an answer's text to what it cites, and what the citations are worth."""

from dataclasses import replace
from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Reason, Sample, Score, Statement, Unscored
from ragassay.base.score import Outcome
from ragassay.engine.run.scoring import score_stream
from ragassay.judges.asking import Asker
from ragassay.judges.question import Question
from ragassay.metrics.citation.citable import Citable
from ragassay.metrics.citation.citation_parser import parts, published_parts, sentences, tidy
from ragassay.metrics.citation.citation_support import Citation
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import passage_keys
from scripted_judge import Scripted

FIVE = tuple(Passage(f"text {at}", id=f"[{at}]") for at in range(1, 6))
DOCS = tuple(Passage(f"text {at}", id=f"doc{at}") for at in range(1, 4))


def cut(found: tuple[Statement, ...]) -> list[tuple[str, list[str]]]:
    return [(one.text, list(one.citations)) for one in found]


# --- every form


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("A fact [1].", ["1"]), ("A fact [1, 2, 3]", ["1", "2", "3"]),
        ("A fact [1], [2]", ["1", "2"]), ("A fact [1] [2]", ["1", "2"]),
        ("A fact [1][2].", ["1", "2"]), ("A fact [1] and [2].", ["1", "2"]),
        ("A fact [1-3].", ["1", "2", "3"]), ("A fact [1–3, 5].", ["1", "2", "3", "5"]),
        ("A fact [1-51].", [str(at) for at in range(1, 52)]),  # no longer range cites
        ("A fact [1,2;3]", ["1", "2", "3"]), ("A fact [ 1 ].", ["1"]), ("A fact [^1].", ["1"]),
        ("A fact [doc1].", ["doc1"]), ("A fact [Doc 1, Doc 2].", ["doc1", "doc2"]),
        ("A fact [source: 2].", ["source2"]), ("A fact [cite: 1, 2].", ["1", "2"]),
        ("A fact [citation:3].", ["3"]), ("A fact 【1†source】.", ["1"]),
        ("A fact 【2†L3-L5】.", ["2"]), ("A fact 【3】.", ["3"]), ("A fact ［1］.", ["1"]),
        ("A fact [[1]](https://example.org/a).", ["1"]),
        ("A fact [2](https://example.org/a).", ["2"]), (r"A fact \[1\].", ["1"]),
        ("A fact <sup>[1]</sup>.", ["1"]), ("A fact ^[1]^.", ["1"]), ("A fact (3).", ["3"]),
        ("A fact (Source 3)", ["source3"]), ("[1] A fact", ["1"]), ("- [1] A fact", ["1"]),
        ("A fact `[1]`.", ["1"]), ("A fact (2), which is so [1].", ["1"]),
    ],
)  # fmt: skip
def test_every_form_of_citation_is_understood(text: str, cited: list[str]) -> None:
    for found in (parts(text, FIVE), sentences(text, FIVE)):
        assert [key for one in found for key in one.citations] == cited
        assert len(found) == 1 and "fact" in found[0].text and "1]" not in found[0].text


@pytest.mark.parametrize(
    "text",
    ["In [2024] it rained.", "It rained (2024).", "Seven planets (7).", "There are 12 (3).",
     "An array `x[1]` and\n```\ny[2]\n```\n", "The interval [0, 1] is closed.",
     "The range [5-2] is empty.", "Left [sic] as it stood.",
     "First (1) do this, then (2) that.", "He said [...] so.", "- [ ] to do\n- [x] done",
     "A text (Smith, 2020)."],
)  # fmt: skip
def test_what_is_no_citation_is_none(text: str) -> None:
    assert not [one for one in parts(text, FIVE) if one.citations]


def test_an_id_of_a_passage_is_a_citation_whatever_it_looks_like() -> None:
    passages = (Passage("a", id="2024"), Passage("b", id="msmarco_v2.1_doc_1#2"))
    found = parts("It rained [2024]. It snowed [msmarco_v2.1_doc_1#2].", passages)
    assert [one.citations for one in found] == [("2024",), ("msmarco_v2.1_doc_1#2",)]
    assert parts("A fact 【9†notes.pdf】.", (Passage("a", id="notes.pdf"),))[0].citations == (
        "notes.pdf",
    )


def test_citations_that_come_first_belong_to_what_follows_unless_a_line_wraps() -> None:
    lines = "Two things:\n- [1] Iron is heavy.\n- [2] Wool is light.\n"
    assert cut(parts(lines, FIVE)) == [
        ("Two things:", []), ("Iron is heavy.", ["1"]), ("Wool is light.", ["2"]),
    ]  # fmt: skip
    ours = [("Iron is heavy.", ["1"]), ("Wool is light.", ["2"])]
    assert cut(sentences("[1] Iron is heavy. [2] Wool is light.", FIVE)) == ours
    assert cut(sentences("Iron is heavy. [1] Wool is light. [2]", FIVE)) == ours
    text = "Iron is a metal that is heavy\n[1]. Wool is light [2]."
    assert [one.citations for one in parts(text, FIVE)] == [("1",), ("2",)]
    assert sentences(text, FIVE)[0] == Statement("Iron is a metal that is heavy.", ("1",))
    wrapped = parts("Iron is heavy, see:\n[1], and wool is light.", FIVE)
    assert [one.citations for one in wrapped] == [("1",), ()]


@pytest.mark.parametrize(
    "ending",
    ["\n\nSources: [1], [2]", " Sources: [1], [2].",
     "\n\n**References**\n[1] A book\n[2] https://example.org",
     "\n\n## Sources:\n1. A book\n2. Another\n", "\n\n[^1]: A note.\n[^2]: Another.",
     "\n\n[1]: https://example.org\n"],
)  # fmt: skip
def test_a_list_of_sources_at_the_end_cites_nothing(ending: str) -> None:
    for way in (parts, sentences):
        assert cut(way("Iron is heavy [1]. Wool is not" + ending, FIVE))[1:] == [
            ("Wool is not", [])
        ]


def test_parts_and_sentences_differ_where_a_sentence_cites_nothing() -> None:
    text = "Uncited it is. Cited it is [1]. The end."
    assert cut(parts(text, FIVE)) == [("Uncited it is. Cited it is", ["1"]), ("The end.", [])]
    assert cut(sentences(text, FIVE)) == [
        ("Uncited it is.", []), ("Cited it is.", ["1"]), ("The end.", []),
    ]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("n", [10_000, pytest.param(100_000, marks=pytest.mark.heavy)])
@pytest.mark.parametrize("piece", (
    "\n", " ", ".", "…", "!x ", "[", "]", "[1]", "[1] ", "[1]. ", "[1], ", "x [1] ", "[1] x\n",
    "(1) ", "x (1) ", "(source 1). ", "<sup>[1]</sup>.\n", "`x` [1] ", "```", "[^1]: x\n", "- \n",
    "1. ", "A. ", "e.g. ", "* [1] so\n", "Sources: ", "#", "【1†x】", "x\n", "。", "1,", "and ",
))  # fmt: skip
def test_a_long_text_of_one_piece_is_cut(piece: str, n: int) -> None:
    """Each took minutes where a pattern was tried again at every place of a run."""
    for text in (piece * (n // len(piece)), "So [1]. " + piece * (n * 3 // 10) + "x"):
        for cut in (parts(text, DOCS), sentences(text, DOCS), published_parts(text)):
            assert sum(len(statement.text) for statement in cut) <= len(text)
        assert len(tidy(text)) <= len(text)


# --- the published cut, to the letter


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A [1, 2, 3]", [("A", ["[1]", "[2]", "[3]"])]), ("A [1], [2]", [("A", ["[1]", "[2]"])]),
     ("A [1] [2]", [("A", ["[1]"])]), ("[1] A fact", [("A fact", [])]),
     ("A [1] b", [("A", ["[1]"])]), ("A [1-3]", [("A [1-3]", [])]),
     ("A [2024]", [("A", ["[2024]"])]), ("Uncited. Cited [1].", [("Uncited. Cited", ["[1]"])]),
     ("A [1]. B", [("A", ["[1]"]), (". B", [])])],
)  # fmt: skip
def test_the_published_parts_are_cut_as_the_tool_cuts_them(text, expected) -> None:
    assert cut(published_parts(text)) == expected


# --- which passage is meant


@pytest.mark.parametrize(
    ("ids", "keys", "found"),
    [
        (("[2]", "[3]"), ("2", "[3]", "doc 3", "1"), [0, 1, 1, None]),
        (("doc1", "doc2", "doc3"), ("doc2", "Doc 2", "2", "4"), [1, 1, 1, None]),
        # The rank, where ids are no numbers, or words with numbers.
        ((None, None), ("1", "2", "3", "source 1"), [0, 1, None, 0]),
        (("7187158", "4922619"), ("1", "2", "3", "source 1"), [0, 1, None, 0]),
        (("2020-x", "2021-y"), ("1", "2", "3", "source 1"), [0, 1, None, 0]),
        (("p0", "p1"), ("[1]", "[2]", "[3]"), [0, 1, None]),
        (("doc-7", "doc-1"), ("[1]", "[2]", "[3]", "[doc 1]"), [0, 1, None, 1]),
        (("d2", "d3"), ("[1]", "[2]", "[3]"), [0, 1, 1]),  # [3] is no rank
        (("7", "1"), ("[1]", "[2]", "[3]"), [1, None, None]),
        (("3", "doc-12"), ("[12]", "[doc 12]", "[1]"), [1, 1, None]),
        (("[3]", "[1]"), ("[1]", "[2]", "[3]"), [1, None, 0]),
        (("x", "y", "y"), ("y", "[Y]"), [1, 1]),  # the first of those with one id
        (("doc-5", "source-5"), ("[5]", "[doc 5]"), [0, 0]),
    ],
)
def test_a_citation_means_an_id_or_a_rank(ids, keys, found) -> None:
    citable = Citable(tuple(Passage("t", id=name) for name in ids))
    assert [citable.find(key) for key in keys] == found


def test_names_of_passages_are_unique() -> None:
    passages = (Passage("a", id="x"), Passage("b"), Passage("c", id="x"), Passage("d", id="2"))
    passages += (Passage("e", id="x (rank 6)"), Passage("f", id="x"))
    keys = ["x", "2", "x (rank 3)", "2 (rank 4)", "x (rank 6)", "x (rank 6) (rank 6)"]
    assert list(passage_keys(passages)) == keys


# --- the metrics


def by_text(question: Question[Any]) -> Any:
    """Passage 1 supports everything in full, passage 2 in part; 3 has no verdict."""
    at = question.data["passage"].split()[-1]
    if at == "3":
        return Reason.TIMEOUT
    return {"support": {"1": "full", "2": "partial"}.get(at, "none")}


def outcomes(names: str, answer: Any, judge: Scripted, **fields: Any) -> list[Outcome]:
    said = Answer(answer) if isinstance(answer, str) else answer
    one = Sample(**({"id": "q", "query": "?", "answer": said, "passages": FIVE} | fields))
    with Asker(judge) as asker:
        ((_, found),) = score_stream([one], list(naming.metrics_by_name(names).values()), asker)
        return [column[0] for column in found]


def values(names: str, answer: Any, **fields: Any) -> list[Any]:
    found = outcomes(names, answer, Scripted(by_text), **fields)
    return [one.value if isinstance(one, Score) else one.reason for one in found]


THREE = "{0}.precision,{0}.recall,{0}.f1"
ANSWER = "Rain is wet. Iron is heavy [1]. Wool is light [2][9]. The end."


def test_the_four_forms_by_name() -> None:
    assert values(THREE.format("citation"), ANSWER) == pytest.approx(
        [0.5, (1 + 0.25 + 0) / 3, 10 / 22]
    )
    assert values(THREE.format("citation_ore"), ANSWER) == pytest.approx([0.75, 0.5, 0.6])
    assert values(THREE.format("citation_trec"), ANSWER) == pytest.approx(
        [0.75, 1.5 / 4, 2 * 0.75 * 0.375 / 1.125]
    )
    assert values(THREE.format("citation_sentences"), ANSWER) == pytest.approx(
        [0.5, 1.5 / 4, 2 * 0.5 * 0.375 / 0.875]
    )


def test_two_citations_of_one_passage_are_one_and_their_worths_are_settable() -> None:
    answer = "Iron is heavy [1]. It is a metal [doc 1]. Wool is light [2]. Sand is dry [8][9]."
    passages = tuple(Passage(f"text {at}", id=f"doc{at}") for at in (1, 2))
    assert values("citation.precision,citation_ore.precision", answer, passages=passages) == [
        pytest.approx((1 + 0.5 + 0 + 0) / 4), pytest.approx((1 + 0.5) / 2),
    ]  # fmt: skip
    assert values("citation_pairs.precision", answer, passages=passages) == [2.5 / 5]
    twice = "Iron is heavy [1][doc 1][2]."  # once in one statement
    assert values("citation_pairs.precision", twice, passages=passages) == [0.75]
    assert values("citation(partial=0.25).precision", "Wool is light [2].") == [0.25]
    assert values("citation(full=0.8).f1", "Iron is heavy [1].") == [pytest.approx(0.8)]


def test_the_three_scores_of_a_form_cost_one_question_a_citation() -> None:
    judge = Scripted(by_text)
    names = ",".join(THREE.format(f"citation{form}") for form in ("", "_ore", "_trec"))
    outcomes(names, "Iron is heavy [1]. Wool is light [2]. Iron is heavy [1].", judge)
    assert sorted(question.data["statement"] for question in judge.questions) == [
        "Iron is heavy",
        "Wool is light",
    ]


def test_what_was_not_retrieved_is_not_asked_about_and_statements_are_taken_as_they_are() -> None:
    judge = Scripted(by_text)
    (found,) = outcomes("citation.f1", "Iron is heavy [9].", judge)
    assert isinstance(found, Score) and found.value == 0.0 and not judge.asked
    (told,) = found.parts["statements"]
    assert told["citations"] == [
        {"citation": "9", "passage": None, "support": "not_retrieved", "score": 0.0}
    ]
    answer = Answer("x", (Statement("Iron. Heavy [2].", ("doc1",)), Statement("Wool.", ())))
    one = Sample(id="q", query="?", answer=answer, passages=DOCS)
    assert Citation().suits(one) and not Citation().suits(replace(one, answer=Answer("Wool.")))
    found = values(THREE.format("citation_sentences"), answer, passages=DOCS)
    assert found == pytest.approx([1.0, 0.5, 2 / 3])


def test_an_uncited_and_an_empty_answer_and_one_that_the_judge_does_not_rate() -> None:
    assert values("citation.f1", "Iron is heavy [1]. Wool is light [3].") == [Reason.TIMEOUT]
    for form in ("citation", "citation_pairs", "citation_sentences"):
        assert values(THREE.format(form), "I do not know.") == [Reason.NOTHING_CITED, 0.0, 0.0]
    assert values(THREE.format("citation_ore"), "I do not know.") == [0.0, 0.0, 0.0]
    for form in ("citation", "citation_ore", "citation_trec", "citation_sentences"):
        assert values(THREE.format(form), "") == [Reason.EMPTY_ANSWER] * 3


def test_answers_that_cite_in_a_list_at_their_end_alone_are_counted() -> None:
    said = ["Iron is heavy.\n\nSource: [1]", "Wool is light. Sources: [1], [2]"]
    said += ["Iron [1].", "No.", "So it is [2].\n\nSources: [2]"]
    data = [{"id": one, "query": "?", "answer": one, "passages": ["a", "b"]} for one in said]
    stated = {"text": said[0], "statements": [{"text": "Iron is heavy."}]}
    data.append({**data[0], "id": "stated", "answer": stated})
    result = ragassay.evaluate(data, ["citation.f1", "citation_ore.f1"])
    (listed,) = [line for line in map(str, result.summary.notes) if "in a list" in line]
    assert listed.startswith("2 answers cite")
    assert result.columns.values("citation.f1")[[0, 1, 3]].tolist() == [0.0] * 3


def test_what_is_missing_is_said() -> None:
    bare = (Passage(id="[1]"), Passage("text 2", id="[2]"))
    (found,) = outcomes("citation.f1", "Iron is heavy [1].", Scripted(by_text), passages=bare)
    assert isinstance(found, Unscored) and found.reason is Reason.MISSING_INPUT
    assert "[1]" in found.detail
    assert values("citation.f1", "Wool is light [2].", passages=bare) == [0.5]
    assert values("citation.f1", "x", passages=None) == [Reason.MISSING_INPUT]


def test_a_lone_zero_cites_what_is_not_there_and_an_interval_is_none() -> None:
    found = parts("Alpha is big [0]. Gamma is here [2]. It lies in [0, 1].", FIVE)
    assert [one.citations for one in found] == [("0",), ("2",), ()]
