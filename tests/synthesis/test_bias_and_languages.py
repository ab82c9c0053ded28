"""What a generator favours against the documents, in each language; filters and checks by words,
refusals among them; what the offline generator leaves out."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.golden.documents import load_documents
from ragassay.golden.golden_item import GoldSpan
from ragassay.judges.asking import Ask, Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.synthesis.draft import WORDS, Draft, Kind, Outcome, Rejection
from ragassay.synthesis.filters import Checks, Filters, declined, ill_formed, no_answer
from ragassay.synthesis.scorecard import NOTABLE, favoured, scorecard
from ragassay.synthesis.sections import Corpus

KIND: Kind = (("answerability", "answerable"), ("type", "factual"))
TOLD = {"en": ("On day {n} the women met about the plan.",
               "On day {n} the men met about the plan."),
        "de": ("Am Tag {n} haben sich die Frauen über den Plan beraten.",
               "Am Tag {n} haben sich die Männer über den Plan beraten."),
        "fr": ("Le jour {n} les femmes ont parlé du plan avec la ville.",
               "Le jour {n} les hommes ont parlé du plan avec la ville."),
        "es": ("El día {n} las mujeres hablaron del plan con la ciudad.",
               "El día {n} los hombres hablaron del plan con la ciudad."),
        "zh": ("第{n}天妇女们讨论了计划。", "第{n}天男士们讨论了计划。"),
        "nl": ("Op dag {n} hebben de vrouwen het plan voor de stad gemaakt.",
               "Op dag {n} hebben de mannen het plan voor de stad gemaakt.")}  # fmt: skip


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
                # Only the first reference is counted.
                texts = (span.text, f"So: {span.text}")
                found.append(Draft(f"{span.text}?", kind, (section,), texts, spans=(span,)))
    return found


@pytest.mark.parametrize(
    ("code", "word"), [("en", " men"), ("de", "Männer"), ("fr", "hommes"), ("es", "hombres"),
                       ("zh", "男士")]
)  # fmt: skip
def test_a_group_that_is_favoured_stands_out_in_its_language(code, word, tmp_path) -> None:
    corpus = corpus_of(tmp_path / "docs", code)
    taken = drafts(corpus, code, word)
    assert len(taken) == 40
    rows = favoured(corpus, taken)
    assert min(one.p for one in rows) == pytest.approx(len(rows) * min(one.ratio.p for one in rows))
    assert [one.ratio.value for one in rows] == sorted((r.ratio.value for r in rows), reverse=True)
    found = {one.what: one for one in rows if one.kind == "group"}
    assert set(found) == {"men", "women"} and {one.language for one in found.values()} == {code}
    assert found["men"].ratio.value > 1.3 and found["men"].n == 80
    assert found["women"].n == 0 and all(one.p < NOTABLE for one in found.values())


def test_each_language_is_compared_with_documents_of_its_own(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "en", "de", "nl", n=20)
    in_spanish: Kind = (*KIND, ("language", "Spanish"))
    taken = [
        *drafts(corpus, "en", " men"),
        *drafts(corpus, "de", "Frauen"),
        *drafts(corpus, "nl", "vrouwen"),
        *drafts(corpus, "en", "women", in_spanish),
    ]
    section = next(one for one in corpus.sections if one.document == "en1")
    taken.append(Draft("Men?", KIND, (section,), ("Men.",)))  # its document tells the language
    found = {(row.language, row.what): row.n for row in favoured(corpus, taken)
             if row.kind == "group"}  # fmt: skip
    assert found == {("en", "men"): 42, ("en", "women"): 0, ("de", "men"): 0,
                     ("de", "women"): 40}, "Dutch has no list, Spanish no document"  # fmt: skip


@pytest.mark.parametrize(("query", "complaint"), [
    ("游泳池夏天几点开门？", ""), ("几点？", "the query has 2 words"),
    ("文章中说游泳池几点开门？", "mentions '文章中'"),
    ("日本文化中心在英文中叫什么？", ""),
    ("Wann öffnet laut diesem Abschnitt das Bad?", "mentions 'diesem Abschnitt'"),
    ("Wann öffnet das Bad im Text?", "mentions 'im Text'"),
    ("Wann ist der nächste Absatz der Treppe dran?", ""),
    ("Quand ouvre la piscine selon le texte ?", "mentions 'le texte'"),
    ("Où est le passage pour piétons ?", ""),
    ("¿Cuándo abre la piscina según el documento?", "mentions 'el documento'")])  # fmt: skip
def test_the_form_of_a_query_is_told_in_each_language(query: str, complaint: str) -> None:
    found = ill_formed(query, WORDS)
    assert complaint in found and bool(found) == bool(complaint)


@pytest.mark.parametrize(("wanted", "query", "complaint"), [
    ("German", "When does the pool open?", "the query is in en, not in de"),
    ("de-AT", "Wann öffnet das Freibad?", ""),
    ("de", "Northport Freibad Tageskarte?", ""),  # its words do not tell
    ("Dutch", "When does the pool open?", ""),  # there is no list of its words
    ("sober", "When does the pool open?", ""),  # a word of one's own
])  # fmt: skip
def test_a_query_in_another_language_than_was_wanted_is_rejected(
    wanted: str, query: str, complaint: str, tmp_path: Path
) -> None:
    corpus = corpus_of(tmp_path / "docs", "de", n=1)
    kind: Kind = (("answerability", "unanswerable"), ("language", wanted))
    found = Filters().against(Draft(query, kind, (corpus.sections[0],)))
    assert (found.detail if found else "") == complaint and (not found or found.why == "form")


def against(corpus: Corpus, draft: Draft) -> Rejection | None:
    with Asker(OfflineJudge()) as asker:
        found: Rejection | None = asker.submit(Checks(corpus).against(draft, Ask(asker))).result()
    return found


POOL = {"de": ("Das Freibad öffnet im Sommer um neun Uhr. Hunde dürfen nicht hinein.",
               ("Dürfen Hunde in das Freibad?", "Nein, Hunde dürfen nicht hinein."),
               "Wo ist im Sommer eine Sauna?", "Wann öffnet das Freibad?"),
        "fr": ("La piscine ouvre à neuf heures en été. Les chiens ne peuvent pas entrer.",
               ("Les chiens peuvent-ils entrer ?", "Non, les chiens ne peuvent pas entrer."),
               "Où est le sauna en été ?", "Quand ouvre la piscine ?"),
        "es": ("La piscina abre a las nueve en verano. Los perros no pueden entrar.",
               ("¿Pueden entrar los perros?", "No, los perros no pueden entrar."),
               "¿Dónde está la sauna en verano?", "¿Cuándo abre la piscina?")}  # fmt: skip


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
    (tmp_path / "pool.md").write_text("游泳池夏天早上九点开门。", encoding="utf-8")
    corpus, kind = Corpus(load_documents(tmp_path)), (("answerability", "unanswerable"),)
    found = against(corpus, Draft("桑拿房在哪里？", kind, (corpus.sections[0],)))
    assert found and found.why == "answered-elsewhere" and "no spaces part its" in found.detail


def test_the_offline_generator_leaves_out_what_is_not_in_english(tmp_path, capsys) -> None:
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


def test_the_scorecard_counts_what_was_wanted_written_passed_and_chosen(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "en")
    taken = drafts(corpus, "en", " men")
    others: Kind = (("answerability", "partial"), ("type", "summary"))
    made = dict.fromkeys(("generator", "prompts", "checker", "seed"), "x")
    against = [Rejection(why, "so", taken[0]) for why in ("form", "leak", "leak")]
    kinds = [KIND, KIND, KIND, others]
    card = scorecard(made, corpus, taken, 3, against, kinds=kinds, not_tried={})
    assert "46 drafts: 43 passed (93%), 40 of them were chosen." in card
    assert "| leak | 2 | 4% |\n| form | 1 | 2% |" in card and "items: en (40 items)" in card
    assert "| answerable, factual | 40 | 100% | 75% |\n| partial, summary | 0 | 0% | 25% |" in card
    assert re.search(r"\| group: men \(en\) \| 80 \| .* 0\.0\d\d \* \|", card), "notable"
    found = Outcome([], 0, rejections=against).reasons()
    assert [[one.why for one in each] for each in found] == [["leak", "leak"], ["form"]]


def test_items_of_every_sentence_favour_nothing_and_no_items_either(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "docs", "en")
    every = favoured(corpus, drafts(corpus, "en", "day"))
    assert every and not [one for one in every if one.p < NOTABLE] and favoured(corpus, []) == []
    for n, is_shown in ((5, True), (4, False)):  # sentences that mention women
        small = corpus_of(tmp_path / f"{n}", "en", n=n)
        found = {row.what: row for row in favoured(small, drafts(small, "en", " men")[:3])}
        assert ("women" in found) is is_shown
        men = found["men"]
        assert men.rate / men.expected == pytest.approx(men.ratio.value)


@pytest.mark.parametrize(("text", "is_none"), [
    ("", True), ("I do not know.", True), ("I'm sorry, I can't help with that.", True),
    ("I refuse.", True), ("I decline to answer.", True), ("Sorry, no.", True),
    ("The documents do not say what a card costs.", True),
    ("As an AI language model I cannot access it.", True), ("Je ne sais pas.", True),
    ("我不知道。", True), ("No.", False), ("0", False), ("5 euros", False),
    ("There is no fee.", False), ("I'm sorry, the museum is closed on Mondays.", False),
    ("I cannot say for sure, but the fee is 5 euros.", False),
    ("I do not know who founded it, but the card costs 5 euros.", False)])  # fmt: skip
def test_a_text_without_an_answer_is_known(text: str, is_none: bool) -> None:
    assert no_answer(text) is no_answer(text, "user: What does a card cost?") is is_none


@pytest.mark.parametrize(("text", "is_declined"), [
    ("I can't help with that.", True),
    ("I'm sorry, I can't help with that. Is there anything else I can help you with?", True),
    ("I am unable to write a query from this passage. Could you provide more text?", True),
    ("I must decline.", True), ("Request refused", True),
    ("There is no information in the passage from which to write a query.", True),
    ("我不知道。泳池几点开门？", False),
    ("Das kann ich leider nicht beantworten.", True), ("I can't log in, what do I do?", False),
    ("I cannot find my card. Could you tell me where I get one?", False),
    ("I'm sorry, what is the fee?", False), ("What does the library not know?", False),
    ("Can you give me more information on the fees?", False),
    ("Tell me what is not known about the founder.", False), ("library opening hours", False),
    ("Summarize the rules of the pool.", False)])  # fmt: skip
def test_a_refusal_to_write_a_query_is_known(text: str, is_declined: bool) -> None:
    assert declined(text) is is_declined
