"""What a generator favours against the documents."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from ragassay.golden.documents import load_documents
from ragassay.golden.golden_item import GoldSpan
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.synthesis.draft import Draft, Nearly, Rejection, chosen
from ragassay.synthesis.filters import Checks
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.scorecard import favoured
from ragassay.synthesis.sections import Corpus

KIND: Kind = (("answerability", "answerable"), ("type", "factual"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Sixty documents in which women and men, Northport and Southport are told of alike often."""
    folder = tmp_path_factory.mktemp("documents")
    draw = random.Random(1)
    for n in range(60):
        told = [
            f"On day {n} the {who} met in {where} over plan {draw.randrange(1000)}."
            for who in ("women", "men")
            for where in ("Northport", "Southport")
        ]
        draw.shuffle(told)
        (folder / f"d{n:02}.md").write_text(f"# Day {n}\n\n{' '.join(told)}\n", encoding="utf-8")
    return Corpus(load_documents(folder))


def drafts(corpus: Corpus, *words: str, of: slice = slice(None)) -> list[Draft]:
    """A draft of each sentence that holds the words."""
    found = []
    for section in corpus.sections[of]:
        text = corpus.documents[section.document].text
        for start, end in section.sentences:
            if all(one in text[start:end] for one in words):
                span = GoldSpan.of(section.document, text, start, end)
                query = f"Which plan is it when {span.text[3:-1]}?"
                found.append(Draft(query, KIND, (section,), (span.text,), spans=(span,)))
    return found


def test_a_group_and_a_place_that_are_favoured_stand_out(corpus: Corpus) -> None:
    taken = drafts(corpus, " men ", "Northport")
    found = {
        (one.kind, one.what): one
        for one in favoured(corpus, taken)
        if not one.is_place and one.kind != "word"
    }
    assert {key for key, one in found.items() if one.is_notable} == {
        ("group", "men"), ("group", "women"), ("name", "Northport"), ("name", "Southport"),
    }  # fmt: skip
    men, women = found["group", "men"], found["group", "women"]
    assert men.ratio.value > 1.5 and men.count == 2 * len(taken)
    assert (women.count, women.ratio.value, women.ratio.low) == (0, 0.0, 0.0)
    assert found["name", "Northport"].ratio.low > 1 > found["name", "Southport"].ratio.high


def test_items_of_every_sentence_favour_nothing(corpus: Corpus) -> None:
    taken = drafts(corpus)
    notable = {(one.kind, one.what) for one in favoured(corpus, taken) if one.is_notable}
    assert notable <= {("word", "which")}


def test_items_of_few_documents_stand_out_by_place(corpus: Corpus) -> None:
    found = {one.what: one for one in favoured(corpus, drafts(corpus, of=slice(0, 2)))}
    assert found["d00"].is_notable and found["d00"].rate == 0.5
    assert found["d05"].count == 0 and found["d05"].expected == pytest.approx(1 / 60, abs=0.01)


def test_an_item_counts_in_the_third_in_which_its_gold_span_stands(tmp_path: Path) -> None:
    """The section begins in the first third, and holds the whole document."""
    lines = [f"Hall {n} has {n} seats." for n in range(10, 40)]
    (tmp_path / "halls.md").write_text(" ".join(lines), encoding="utf-8")
    corpus = Corpus(load_documents(tmp_path))
    assert len(corpus.sections) == 1
    last = drafts(corpus)[-9:]
    unanswerable = [
        dataclasses.replace(one, spans=(), references=(), nearly=Nearly(one.spans)) for one in last
    ]
    for taken in (last, unanswerable):
        found = {one.what: one for one in favoured(corpus, taken)}
        assert found["last third"].count == 9 and found["last third"].is_notable
        assert found["first third"].count == 0
        assert found["first third"].expected == pytest.approx(1 / 3, abs=0.02)
        assert {one.places[0] for one in chosen(taken, [KIND] * 9)} == {
            one.places[0] for one in taken
        }


def test_nothing_chosen_is_no_bias(corpus: Corpus) -> None:
    assert favoured(corpus, []) == []


def against(corpus: Corpus, draft: Draft) -> tuple[str, int]:
    checks = Checks(corpus)
    with Asker(OfflineJudge()) as asker:
        ask = asker.scope().ask()
        found: Rejection | None = asker.submit(checks.against(draft, ask)).result()
    return ("" if found is None else found.why), checks.not_tried.total()


def test_words_tell_where_the_checker_answers_no_queries(corpus: Corpus) -> None:
    (draft, *_) = drafts(corpus, "women", "Northport")
    draft.query = "Which plan did the women of Northport have?"
    assert against(corpus, draft) == ("", 1)
    for query, why in (
        ("Which plan did they meet over in Eastport?", "not-answerable"),
        ("Which plan did the women of Northport have on day 777?", "not-answerable"),
        (f"Is it so that {draft.references[0][:-1]}?", "known-without"),
    ):
        draft.query = query
        assert against(corpus, draft) == (why, 1), query


def test_the_scorecard_tells_it(tmp_path: Path) -> None:
    from ragassay.cli.command_line import call

    for n in range(8):
        place = tmp_path / "docs" / f"d{n}.md"
        place.parent.mkdir(exist_ok=True)
        lines = [f"Hall {n}{k} has {k + 3} seats and {n + 4} doors." for k in range(5)]
        place.write_text(f"# House {n}\n\n{' '.join(lines)}\n", encoding="utf-8")
    words = ["golden", "synthesize", str(tmp_path / "docs"), "-o", str(tmp_path / "g"), "--n", "8"]
    assert call(words) == 0
    card = (tmp_path / "g" / "scorecard.md").read_text(encoding="utf-8")
    assert "### Bias against the documents" in card and "| what | count |" in card
    assert "their words were compared instead" in card and "Wording: " in card
