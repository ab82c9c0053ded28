"""What a generator favours against the documents, in each language; filters and checks by words;
what the offline generator leaves out."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.golden.documents import load_documents
from ragassay.golden.golden_item import GoldSpan
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.synthesis.draft import Draft, Nearly, Rejection, chosen
from ragassay.synthesis.filters import Checks, Filters, ill_formed
from ragassay.synthesis.mix import WORDS, Kind
from ragassay.synthesis.scorecard import favoured, measured, scorecard
from ragassay.synthesis.sections import Corpus

KIND: Kind = (("answerability", "answerable"), ("type", "factual"))
TOLD = {
    "en": ("On day {n} the women met about the plan.", "On day {n} the men met about the plan."),
    "de": ("Am Tag {n} haben sich die Frauen über den Plan beraten.",
           "Am Tag {n} haben sich die Männer über den Plan beraten."),
    "fr": ("Le jour {n} les femmes ont parlé du plan avec la ville.",
           "Le jour {n} les hommes ont parlé du plan avec la ville."),
    "es": ("El día {n} las mujeres hablaron del plan con la ciudad.",
           "El día {n} los hombres hablaron del plan con la ciudad."),
    "zh": ("第{n}天妇女们讨论了计划。", "第{n}天男士们讨论了计划。"),
    "nl": ("Op dag {n} hebben de vrouwen het plan voor de stad gemaakt.",
           "Op dag {n} hebben de mannen het plan voor de stad gemaakt."),
}  # fmt: skip


def corpus_of(folder: Path, *codes: str, n: int = 40) -> Corpus:
    """Documents in which women and men are told of alike often."""
    folder.mkdir()
    for code in codes:
        for day in range(n):
            text = "\n".join(one.format(n=day) for one in TOLD[code])
            (folder / f"{code}{day}.md").write_text(text, encoding="utf-8")
    return Corpus(load_documents(folder))


def drafts(corpus: Corpus, code: str, word: str, kind: Kind = KIND) -> list[Draft]:
    """A draft of each sentence in a language that holds a word."""
    found = []
    for section in corpus.sections:
        text = corpus.documents[section.document].text
        for start, end in section.sentences:
            if section.document.startswith(code) and word in text[start:end]:
                span = GoldSpan.of(section.document, text, start, end)
                found.append(Draft(f"{span.text}?", kind, (section,), (span.text,), spans=(span,)))
    return found


@pytest.mark.parametrize(
    ("code", "word"), [("en", " men"), ("de", "Männer"), ("fr", "hommes"), ("es", "hombres"),
                       ("zh", "男士")]
)  # fmt: skip
def test_a_group_that_is_favoured_stands_out_in_its_language(
    code: str, word: str, tmp_path: Path
) -> None:
    corpus = corpus_of(tmp_path / "docs", code)
    taken = drafts(corpus, code, word)
    assert len(taken) == 40 and measured(corpus, taken) == ({code: 40}, {})
    found = {one.what: one for one in favoured(corpus, taken) if one.kind == "group"}
    assert set(found) == {"men", "women"} and {one.language for one in found.values()} == {code}
    assert found["men"].is_notable and found["men"].ratio.value > 1.3 and found["men"].count == 80
    assert found["women"].is_notable and found["women"].count == 0
    alike = [*taken, *drafts(corpus, code, TOLD[code][0].split("{n}")[0])]
    notable = [one for one in favoured(corpus, alike) if one.is_notable]
    assert not [one for one in notable if one.kind in ("group", "opinion", "name")]


def test_each_language_is_compared_with_documents_of_its_own(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "en", "de")
    taken = [*drafts(corpus, "en", " men"), *drafts(corpus, "de", "Frauen")]
    found = {
        (one.language, one.what): one.count
        for one in favoured(corpus, taken)
        if one.kind == "group"
    }
    assert found == {
        ("en", "men"): 80, ("en", "women"): 0, ("de", "men"): 0, ("de", "women"): 80,
    }  # fmt: skip


def test_a_language_without_a_list_or_a_document_is_told_and_not_counted(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "nl", "en", n=6)
    in_spanish: Kind = (*KIND, ("language", "Spanish"))
    taken = [*drafts(corpus, "nl", "vrouwen"), *drafts(corpus, "en", "women", in_spanish)]
    assert measured(corpus, taken) == (
        {},
        {"nl": (6, "no list of words"), "es": (6, "no document in this language")},
    )
    assert not [one for one in favoured(corpus, taken) if one.kind in ("group", "opinion")]
    made = {"generator": "g", "prompts": "p", "checker": "c", "seed": 0}
    card = scorecard(made, corpus, taken, [], [], kinds=[], real=[], not_tried={})
    assert "not measured for nl, of 6 items: no list of words" in card
    assert "not measured for es, of 6 items: no document in this language" in card
    assert "group: women" not in card


def test_german_nouns_are_no_names(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "de", n=8)
    found = favoured(corpus, drafts(corpus, "de", "Frauen"))
    assert not [one for one in found if one.kind == "name"]


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("游泳池夏天几点开门？", ""),
        ("几点？", "the query has 2 words"),
        ("文章中说游泳池几点开门？", "speaks of '文章中'"),
        ("日本文化中心在英文中叫什么？", ""),
        ("Wann öffnet laut diesem Abschnitt das Bad?", "speaks of 'diesem Abschnitt'"),
        ("Wann öffnet das Bad im Text?", "speaks of 'im Text'"),
        ("Wann ist der nächste Absatz der Treppe dran?", ""),
        ("Quand ouvre la piscine selon le texte ?", "speaks of 'le texte'"),
        ("Où est le passage pour piétons ?", ""),
        ("¿Cuándo abre la piscina según el documento?", "speaks of 'el documento'"),
    ],
)
def test_the_form_of_a_query_is_told_in_each_language(query: str, complaint: str) -> None:
    found = ill_formed(query, WORDS)
    assert complaint in found and bool(found) == bool(complaint)


@pytest.mark.parametrize(
    ("wanted", "query", "complaint"),
    [
        ("German", "When does the pool open?", "the query is in en, not in de"),
        ("de-AT", "Wann öffnet das Freibad?", ""),
        ("de", "Northport Freibad Tageskarte?", ""),  # its words do not tell
        ("sober", "When does the pool open?", ""),  # a word of one's own
    ],
)
def test_a_query_in_another_language_than_was_wanted_is_rejected(
    wanted: str, query: str, complaint: str, tmp_path: Path
) -> None:
    corpus = corpus_of(tmp_path / "docs", "de", n=1)
    kind: Kind = (("answerability", "unanswerable"), ("language", wanted))
    found = Filters().against(Draft(query, kind, (corpus.sections[0],)))
    assert (found.detail if found else "") == complaint and (not found or found.why == "form")


def against(corpus: Corpus, draft: Draft) -> Rejection | None:
    with Asker(OfflineJudge()) as asker:
        found: Rejection | None = asker.submit(
            Checks(corpus).against(draft, asker.scope().ask())
        ).result()
    return found


POOL = {
    "de": ("Das Freibad öffnet im Sommer um neun Uhr. Hunde dürfen nicht hinein.",
           ("Dürfen Hunde in das Freibad?", "Nein, Hunde dürfen nicht hinein."),
           "Wo ist im Sommer eine Sauna?", "Wann öffnet das Freibad?"),
    "fr": ("La piscine ouvre à neuf heures en été. Les chiens ne peuvent pas entrer.",
           ("Les chiens peuvent-ils entrer ?", "Non, les chiens ne peuvent pas entrer."),
           "Où est le sauna en été ?", "Quand ouvre la piscine ?"),
    "es": ("La piscina abre a las nueve en verano. Los perros no pueden entrar.",
           ("¿Pueden entrar los perros?", "No, los perros no pueden entrar."),
           "¿Dónde está la sauna en verano?", "¿Cuándo abre la piscina?"),
}  # fmt: skip


@pytest.mark.parametrize("code", POOL)
def test_words_check_drafts_in_each_language(code: str, tmp_path: Path) -> None:
    text, (query, answer), near_miss, answered = POOL[code]
    (tmp_path / "pool.md").write_text(text, encoding="utf-8")
    corpus = Corpus(load_documents(tmp_path))
    (section,) = corpus.sections
    span = GoldSpan.of("pool", text, 0, len(text))
    kind: Kind = (("answerability", "answerable"), ("type", "yes-no"))
    draft = Draft(query, kind, (section,), (answer, answer.split(",")[0]), spans=(span,))
    assert Filters().against(draft) is None and against(corpus, draft) is None
    foreign: Sequence[tuple[str, str]] = [(near_miss, ""), (answered, "answered-elsewhere")]
    for asked, why in foreign:
        found = against(corpus, Draft(asked, (("answerability", "unanswerable"),), (section,)))
        assert (found.why if found else "") == why, asked


def test_words_do_not_tell_what_chinese_documents_answer(tmp_path: Path) -> None:
    (tmp_path / "pool.md").write_text("游泳池夏天早上九点开门。", encoding="utf-8")
    corpus = Corpus(load_documents(tmp_path))
    kind: Kind = (("answerability", "unanswerable"),)
    found = against(corpus, Draft("桑拿房在哪里？", kind, (corpus.sections[0],)))
    assert found is not None and found.why == "answered-elsewhere"
    assert "no spaces part its words" in found.detail


def test_the_offline_generator_leaves_out_what_is_not_in_english(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "bad.md").write_text("Das Bad kostet für Erwachsene im Sommer 12 euros und mehr.")
    words = ["golden", "synthesize", str(docs), "-o", str(tmp_path / "golden"), "--n", "2"]
    assert call(words) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "English only" in told and "are in de (1). Name a model with --generator" in told
    (docs / "pool.md").write_text("The pool takes 12 euros from adults. It has 3 doors in all.")
    call(words)
    written = (tmp_path / "golden" / "queries.jsonl").read_text()
    assert '"document":"pool"' in written and '"document":"bad"' not in written
    assert "1 document in de left out" in " ".join(capsys.readouterr().err.split())


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
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


def drafts_of(corpus: Corpus, *words: str, of: slice = slice(None)) -> list[Draft]:
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


def test_a_group_and_a_place_that_are_favoured_stand_out(town: Corpus) -> None:
    taken = drafts_of(town, " men ", "Northport")
    found = {
        (one.kind, one.what): one
        for one in favoured(town, taken)
        if not one.is_place and one.kind != "word"
    }
    assert {key for key, one in found.items() if one.is_notable} == {
        ("group", "men"), ("group", "women"), ("name", "Northport"), ("name", "Southport"),
    }  # fmt: skip
    men, women = found["group", "men"], found["group", "women"]
    assert men.ratio.value > 1.5 and men.count == 2 * len(taken)
    assert (women.count, women.ratio.value, women.ratio.low) == (0, 0.0, 0.0)
    assert found["name", "Northport"].ratio.low > 1 > found["name", "Southport"].ratio.high


def test_items_of_every_sentence_favour_nothing(town: Corpus) -> None:
    taken = drafts_of(town)
    notable = {(one.kind, one.what) for one in favoured(town, taken) if one.is_notable}
    assert notable <= {("word", "which")}


def test_items_of_few_documents_stand_out_by_place(town: Corpus) -> None:
    found = {one.what: one for one in favoured(town, drafts_of(town, of=slice(0, 2)))}
    assert found["d00"].is_notable and found["d00"].rate == 0.5
    assert found["d05"].count == 0 and found["d05"].expected == pytest.approx(1 / 60, abs=0.01)


def test_an_item_counts_in_the_third_in_which_its_gold_span_stands(tmp_path: Path) -> None:
    """The section begins in the first third, and holds the whole document."""
    lines = [f"Hall {n} has {n} seats." for n in range(10, 40)]
    (tmp_path / "halls.md").write_text(" ".join(lines), encoding="utf-8")
    corpus = Corpus(load_documents(tmp_path))
    assert len(corpus.sections) == 1
    last = drafts_of(corpus)[-9:]
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


def test_nothing_chosen_is_no_bias(town: Corpus) -> None:
    assert favoured(town, []) == []


def test_words_tell_where_the_checker_answers_no_queries(town: Corpus) -> None:
    (draft, *_) = drafts_of(town, "women", "Northport")
    draft.query = "Which plan did the women of Northport have?"
    assert against(town, draft) is None
    for query, why in (
        ("Which plan did they meet over in Eastport?", "not-answerable"),
        ("Which plan did the women of Northport have on day 777?", "not-answerable"),
        (f"Is it so that {draft.references[0][:-1]}?", "known-without"),
    ):
        draft.query = query
        found = against(town, draft)
        assert found is not None and found.why == why, query


def test_the_scorecard_tells_it(tmp_path: Path) -> None:
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
