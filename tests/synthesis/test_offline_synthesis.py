"""Golden sets by rules, without a model."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from ragassay import examples
from ragassay.base.sample import Turn
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.cli.golden.synthesize_command import _show, _show_plan
from ragassay.engine.config.run_config import Judging
from ragassay.golden.documents import load_documents
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, GoldSpan
from ragassay.judges.judge import Failure
from ragassay.review.review_store import ReviewStore, version_of
from ragassay.synthesis.draft import Draft, Mix, Outcome, Rejection, Wish, chosen
from ragassay.synthesis.filters import ELSEWHERE_BY_WORDS, FROM_SPANS, Filters
from ragassay.synthesis.offline_generator import LABEL, OfflineGenerator
from ragassay.synthesis.sections import Corpus, Section, pairs_with_shared_names
from ragassay.synthesis.synthesizing import Synthesis

TOWN = Path(examples.__file__).parent / "town"
DOCUMENTS = TOWN / "documents"


def synthesized(folder: Path, *words: str) -> list[GoldenItem]:
    command = ["golden", "synthesize", str(DOCUMENTS), "-o", str(folder), *words]
    assert call(command) == 0
    return GoldenSet.open(folder).items


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(load_documents(DOCUMENTS))


def documents_of(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def test_thirty_items_are_drafts_with_spans_where_the_documents_have_them(tmp_path: Path) -> None:
    items, documents = synthesized(tmp_path / "golden", "--n", "30"), load_documents(DOCUMENTS)
    assert len(items) == len({item.id for item in items}) == 30
    for item in items:
        assert (item.status, item.origin, item.source) == ("draft", "synthetic", "synthetic")
        assert item.provenance["generator"].startswith("offline-rules/")
        assert item.provenance["seed"] == 0 and item.provenance["wanted"]["type"] == item.type
        for span in item.gold or ():
            assert documents[span.document].text[span.start : span.end] == span.text
        assert bool(item.gold) == bool(item.references) == (item.answerability == "answerable")
    kinds = Counter((item.type, str(item.answerability)) for item in items)
    assert kinds == {("factual", "answerable"): 17, ("yes-no", "answerable"): 7,
                     ("factual", "unanswerable"): 6}  # fmt: skip
    assert {name for item in items
            for name in (s.document for s in item.gold or ())} == set(documents)  # fmt: skip


def test_a_value_is_asked_for_and_another_of_its_kind_is_wrong(tmp_path: Path) -> None:
    text = "# Shop\n\n## Prices\n\nA new card costs 4 euros. A lost card costs 12 euros.\n"
    docs = Corpus(load_documents(documents_of(tmp_path / "docs", shop=text)))
    drafts = list(OfflineGenerator(docs).drafts(Mix.parse(["answerability=answerable"])))
    first = drafts[0]
    assert first.query == "Shop (Prices): a new card costs how many euros?"
    assert first.references == ("4 euros", "A new card costs 4 euros.")
    assert [(one.text, one.kind) for one in first.negatives] == [("12 euros", "inaccurate")]
    assert first.spans[0].text == "A new card costs 4 euros."
    said = [one for one in drafts if one.wanted["type"] == "yes-no"]
    for draft in said:
        true = draft.references[0].startswith("Yes.")
        assert (draft.query.split("that ")[1][:-1] in text.casefold()) == true
        assert draft.negatives[0].text == ("No." if true else "Yes.")
    alike = documents_of(tmp_path / "alike", shop=text.replace("12", "four"))
    docs, mix = Corpus(load_documents(alike)), Mix.parse(["type=factual"])
    drafts = list(OfflineGenerator(docs).drafts(mix))
    wrong = {one.references[0]: one.negatives[0].text for one in drafts if one.references}
    assert (wrong["4 euros"], wrong["four euros"]) == ("5 euros", "five euros")


def test_a_number_that_names_something_is_not_asked_for(tmp_path: Path) -> None:
    texts = {"bus": "# Bus\n\nLine 4 runs every 15 minutes on weekdays.\n",
             "school": "# School\n\nThe course in Room 12 starts with 8 pupils.\n",
             "shop": "# Shop\n\nThe night bus carries 40 guests to the shop.\n"}  # fmt: skip
    docs = Corpus(load_documents(documents_of(tmp_path / "docs", **texts)))
    drafts = OfflineGenerator(docs).drafts(Mix.parse(["answerability=answerable"]))
    asked = [one.references[0] for one in drafts if one.wanted["type"] == "factual"]
    assert asked == ["15 minutes", "8 pupils", "40 guests"]


@pytest.mark.parametrize(("sentence", "asked"), [
    ("Cards cost four euros here.", "four euros, not five euros"), ("Cards cost 4 euros.", ""),
    ("The pool has 9 lanes.", "9 lanes, not 10 lanes"), ("It lasts the guest 9 days.", ""),
    (f"The pool has 9 lanes{' and' * 35}.", "9 lanes, not 10 lanes"),
    (f"The pool has 9 lanes{' and' * 36}.", ""), ("The pool has 9 lanes today", ""),
    ("the pool has 9 lanes.", ""), ("The pool (old) has 9 lanes.", ""),
    ("A card takes 4 to 6 euros.", ""), ("A card takes between 4 and 6 euros.", ""),
    ("A card takes 4 or 6 euros.", ""), ("Often a card costs 12 costs.", ""),
    ("Cards cost four euros here. It is 4 euros.", "four euros, not five euros")])  # fmt: skip
def test_a_value_is_asked_for_where_its_sentence_stands_alone(tmp_path, sentence, asked) -> None:
    docs = documents_of(tmp_path / "docs", shop=f"# Shop\n\n{sentence}\n")
    drafts = OfflineGenerator(Corpus(load_documents(docs))).drafts(Mix.parse(["type=factual"]))
    told = [f"{one.references[0]}, not {one.negatives[0].text}" for one in drafts if one.answerable]
    assert told[:1] == ([asked] if asked else [])


def test_half_a_section_is_incomplete_and_what_is_unanswerable_is_in_no_document(corpus) -> None:
    mix = Mix.parse(["type=summary", "answerability=answerable"])
    drafts = [d for d in OfflineGenerator(corpus).drafts(mix) if d.wanted["type"] == "summary"]
    assert len(drafts) > 40
    for draft in drafts:
        (half,) = [one.text for one in draft.negatives if one.kind == "incomplete"]
        assert draft.references[0].startswith(half) and len(half) < len(draft.references[0])
    mix = Mix.parse(["type=factual,yes-no,summary", "answerability=unanswerable"])
    drafts = list(OfflineGenerator(corpus).drafts(mix))
    assert len(drafts) > 300 and any("say about firewood?" in one.query for one in drafts)
    other = OfflineGenerator(corpus, 1).drafts(mix)
    assert [one.query for one in drafts] != [one.query for one in other], "by the seed"
    whole = " ".join(one.text for one in corpus.documents.values()).casefold()
    for draft in drafts:
        assert not draft.references and not draft.spans
        assert draft.nearly is not None and draft.nearly.query and draft.nearly.answer
        [span] = draft.nearly.spans
        assert corpus.documents[span.document].text[span.start : span.end] == span.text
        [wrong] = draft.negatives
        assert (wrong.text, wrong.by) == (draft.nearly.answer, LABEL), (
            "what almost answers it is wrong"
        )
        missing = corpus.lacks(draft.query)
        assert missing and all(not re.search(rf"\b{one}(?:e|s|es|ing)?\b", whole)
                               for one in missing)  # fmt: skip


def test_the_same_command_again_adds_nothing_and_a_larger_number_adds_the_rest(
    tmp_path: Path, capsys
) -> None:
    folder = tmp_path / "golden"
    first = synthesized(folder, "--n", "20")
    assert len(first) == 20
    lines = (folder / "queries.jsonl").read_bytes().splitlines()
    assert synthesized(folder, "--n", "20") == first
    items = synthesized(folder, "--n", "40")
    assert Counter(item.type for item in items) == {"factual": 30, "yes-no": 10}
    assert (folder / "queries.jsonl").read_bytes().splitlines()[:20] == lines
    for n in ("30", "40"):
        assert synthesized(folder, "--n", n, "--mix", "type=summary") == items, "so many are there"


def test_what_people_and_other_tools_did_stays_and_what_was_rejected_is_replaced(tmp_path) -> None:
    folder = tmp_path / "golden"
    synthesized(folder, "--n", "4")
    made, card = GoldenSet.open(folder), folder / "scorecard.md"
    made.items[0].status, made.items[1].status = "rejected", "accepted"
    made.items[1].id = "renamed"
    made.items.append(GoldenItem(id="theirs", query="Who?", provenance={"tool": "another"}))
    made.save()
    elsewhere = synthesized(tmp_path / "more", "--n", "4", "--like", str(folder))
    likewise = {item.query for item in elsewhere} & {item.query for item in made.items}
    assert likewise and made.items[1].query not in likewise, "only what is accepted is an example"
    other = "## another-generator, prompts 1\n\n### Bias\n\nNone.\n"
    card.write_text(f"{card.read_text()}\n{other}")
    items = synthesized(folder, "--n", "8")
    assert len(items) == 10 and items[4].id == "theirs"
    assert len({item.query for item in items}) == 10, "none is written again"
    told = re.findall("^#+ (?:Scorecard|offline|another|Bias)", card.read_text(), re.M)
    assert sorted(told) == ["# Scorecard", "## another", "## offline", "### Bias", "### Bias"]
    assert other in card.read_text()


def test_rejections_are_kept_with_their_reason(tmp_path: Path) -> None:
    folder = tmp_path / "golden"
    synthesized(folder, "--n", "10")
    records = [orjson.loads(line) for line in (folder / "rejected.jsonl").open("rb")]
    assert records and {one["why"] for one in records} == {"duplicate"}
    assert all(one["detail"] and one["query"] and one["provenance"] for one in records)
    card = (folder / "scorecard.md").read_text()
    assert "| duplicate | " in card and "## offline-rules/" in card
    for check in (FROM_SPANS, ELSEWHERE_BY_WORDS):
        assert re.search(rf"answers no queries: {check} \(\d+ drafts\)", card)
    synthesized(folder, "--n", "20")
    synthesized(folder, "--n", "20")
    lines = (folder / "rejected.jsonl").read_bytes().splitlines()
    assert [*map(orjson.loads, lines)][: len(records)] == records
    assert len(set(lines)) == len(lines), "each is written once"
    wish = Wish(DOCUMENTS, tmp_path / "short", n=2, words=(3, 4))
    outcome = Synthesis(wish, Judging()).run()
    assert not outcome.items and {one.why for one in outcome.rejections} == {"form"}


PLACES = [GoldSpan(document=name, start=0, end=4, text="Text") for name in "aab"]


def draft(query: str, *kind: str, to: str = "Nine.", spans: int = 1, section: str = "") -> Draft:
    """A draft that answers ``to`` (several references by ``|``); ``kind`` is part=value."""
    wanted = tuple((part, value) for part, _, value in (one.partition("=") for one in kind))
    place = Section(section[:1] or "a", "3. Pool", "E1: Heat", int(section[1:] or 0), 9, "Text")
    references = tuple(to.split("|")) if to else ()
    return Draft(query, wanted, (place,), references, spans=tuple(PLACES[:spans]))


def worded(n: int) -> str:
    return " ".join(["When", *["does"] * (n - 2), "it?"])


@pytest.mark.parametrize(("why", "found"), [
    # So many words are a query's; a fourth more or less than the length wanted is no reason.
    *((why, draft(worded(n))) for n, why in ((2, "form"), (3, ""), (60, ""), (61, "form"))),
    *((why, draft(worded(n), "length=short")) for n, why in ((10, ""), (11, "form"))),
    *((why, draft(worded(n), "length=medium")) for n, why in ((7, "form"), (8, ""), (20, ""))),
    *((why, draft(worded(n), "length=long")) for n, why in ((13, "form"), (14, ""), (43, ""))),
    ("form", draft("What does the passage say about lanes?")),
    *(("form", draft("When is it?", f"answerability={a}", spans=0)) for a in ("partial", "x")),
    ("", draft("When is it?", "answerability=unanswerable", to="", spans=0)),
    *(("form", draft("When is it?", to=given)) for given in ("Nine.| ", " |Nine.", " ")),
    *((w, draft("When is it?", "shape=across", spans=n)) for n, w in ((2, "form"), (3, ""))),
    ("", draft("When is it?", "shape=across", "answerability=unanswerable", to="", spans=0)),
    ("leak", draft("Are there nine lanes?", to="Ten rings.|Nine lanes.")),
    ("", draft("Are there nine lanes?", to="Nine wide lanes.|The")),
    ("", draft("Are there nine lanes?", "type=yes-no", to="Nine lanes.")),
    # The number of a heading that the query quotes answers nothing; what it calls it may.
    ("", draft("When is 3. Pool open?", to="3")),
    *(("leak", draft("Does 3. Pool E1 start?", to=name)) for name in ("E1", "Pool")),
    ("duplicate", draft("When do the baths open on Mondays?")),
    ("", draft("When do the large outdoor baths of the town open on Sundays?")),
    ("", draft("When do the large outdoor baths of the town open on Fridays 2?")),
    ("duplicate", draft("Which of the large outdoor baths of the town open on Fridays?")),
    ("", draft("When do the large outdoor baths in our town open on Fridays?")),
    ("", replace(draft("And on Sundays?"), history=(Turn("user", "When do the baths open?"),))),
])  # fmt: skip
def test_each_filter_rejects_what_it_is_for(why: str, found: Draft) -> None:
    large = "When do the large outdoor baths of the town open on Fridays?"
    filters = Filters(["On Mondays, when do the baths open?", large])
    rejection = filters.against(found)
    assert (rejection.why if rejection else "") == why
    again = filters.against(found)  # what was rejected for its form or a leak was not seen
    assert again is not None and again.why == (why or "duplicate")


def test_of_drafts_the_kind_that_lacks_most_is_chosen_and_places_and_words_vary() -> None:
    queries = ["When is it?", "When is it now?", "Who cleans filters daily?", "Why rent lanes?"]
    every = [draft(one, f"type={kind}", section="a") for kind in "xy" for one in queries]
    (x,), (y,) = every[0].kind, every[4].kind
    taken = chosen(every, [(x,), (y,), (y,), (y,), (x,)])
    assert Counter(one.wanted["type"] for one in taken) == {"x": 2, "y": 3}
    assert [one.wanted["type"] for one in taken[:2]] == ["y", "x"]
    assert {one.query for one in taken[:3]} == {queries[0], *queries[2:]}, "the least alike"
    # Too few of a kind: others take their places; and never more than there are.
    assert len(chosen(every[:5], [(y,)] * 3)) == 3 and len(chosen(every[:5], [(y,)] * 9)) == 5
    for places in ("a0 a0 a5", "a0 a5 b0"):
        same = [draft("When is it?", "type=x", section=place) for place in places.split()]
        assert chosen(same, [(x,), (x,)]) == [same[0], same[2]], "of the least used place"


def test_a_search_gives_the_five_best_sections_and_pairs_share_rare_names(tmp_path: Path) -> None:
    for n, name in ((8, "Ann Lee"), (9, "Bob Ray")):
        texts = {f"d{at}": f"It has {'lane ' * at}of {name}." for at in range(n)}
        texts["d0"] = texts["d0"] + "\n\n# Two\n\nIt is of Cyd Moe.\n\n# Three\n\nOf Cyd Moe."
        texts["d1"] += " This is of Cyd Moe."
        found = Corpus(load_documents(documents_of(tmp_path / str(n), **texts)))
        best = [one.document for one in found.search("Which lane?")]
        assert best == [f"d{at}" for at in range(n - 1, n - 6, -1)] and found.search("Sauna?") == []
        pairs = [(a.document, b.document) for a, b in pairs_with_shared_names(found.sections)]
        assert pairs[0] == ("d0", "d1") and len(pairs) == 2 + (28 if n == 8 else 0)
    alike = {"a": "The lane is beside the mill, the tower and a bridge.", "b": "It is a lane."}
    found = Corpus(load_documents(documents_of(tmp_path / "alike", **alike)))
    assert [one.document for one in found.search("lane")] == ["b", "a"], "the shorter one"
    # A long section is divided at blank lines.
    texts = ["a" * 999, "b" * 999, "c", "d" * 2001, "e"]
    text = "# T\n\n" + "\n\n".join(texts) + "\n\n## Two\n\nF.\n"
    corpus = Corpus(load_documents(documents_of(tmp_path / "long", d=text)))
    first = "\n\n".join(texts[:2])  # 2,000 characters
    assert [one.text for one in corpus.sections] == [first, *texts[2:], "F."]
    assert [corpus.at(one.document, one.end - 1) for one in corpus.sections] == corpus.sections


def test_the_mix_is_met_by_largest_remainders() -> None:
    mix = Mix.parse(["type=factual:2,yes-no:1", "answerability=answerable"])
    kinds = Counter(dict(one)["type"] for one in mix.kinds(10, 0))
    assert kinds == {"factual": 7, "yes-no": 3}
    assert mix.kinds(10, 0) == mix.kinds(10, 0) != mix.kinds(10, 1)
    parts = Mix.parse(["type=factual,summary", "answerability=answerable,partial"])
    assert len(set(parts.kinds(40, 0))) == 4, "parts are independent of each other"
    joint = Mix.parse(["question_type=directly_answerable,reasoning_required,unanswerable"])
    assert joint.parts["answerability"] == ("answerable", "unanswerable")
    # An item has an id by what was said before and by its spans.
    one = draft("When is it?")
    later = replace(one, history=(Turn("user", "Hello."),))
    assert len({one.id, draft("When is it?", spans=2).id, later.id, replace(one, name="q").id}) == 4
    assert replace(one, repeat=1, references=()).id == one.id
    joint = Mix.parse(["question_type=partially_answerable", "shape=single:5,across:0"])
    kind = (("answerability", "partial"), ("shape", "single"), ("type", "factual"))
    assert joint.kinds(2, 0) == [kind] * 2


@pytest.mark.parametrize(("words", "said"), [
    (["--mix", "type=factul:2"], "no type is called 'factul'"),
    (["--mix", "kind=factual"], "write PART=VALUE:WEIGHT"),
    (["--mix", "type=factual:-1"], "weight of at least 0"),
    (["--mix", "type=factual:0"], "no weight is above 0"),
    (["--mix", "type=factual:x"], "weight of at least 0"),
    (["--mix", "question_type=unanswerable", "--mix", "type=factual"], "sets type too"),
    (["--mix", "question_type=unanswerable", "--mix", "answerability=partial"],
     "sets answerability too"), (["--style-guide", __file__], "takes no queries and no style"),
    (["--mix", "type=reasoning"], "cannot write type=reasoning"),
    (["--mix", "shape=across"], "cannot write shape=across"),
    (["--n", "0"], "at least 1 item"), (["--budget", "much"], "Write dollars"),
    (["--no-answers"], "Name a model with --generator")])  # fmt: skip
def test_what_cannot_be_done_is_said(tmp_path: Path, capsys, words: list[str], said: str) -> None:
    command = ["golden", "synthesize", str(DOCUMENTS), "-o", str(tmp_path / "golden"), *words]
    assert call(command) == 2 and said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "golden").exists()


def test_items_are_not_added_after_the_documents_changed(tmp_path: Path, capsys) -> None:
    text = "# Shop\n\n## Prices\n\nA new card costs 4 euros. A lost card costs 12 euros.\n"
    docs, folder = documents_of(tmp_path / "docs", shop=text, x="X."), str(tmp_path / "golden")
    command = ["golden", "synthesize", str(docs), "-o", folder]
    assert call([*command, "--n", "2"]) == 0
    for name in ("x", "shop"):  # one is gone, one is edited
        (docs / f"{name}.md").rename(docs / "gone")
        if name == "shop":
            (docs / "x.md").write_text("X.")
            (docs / "shop.md").write_text(text.replace("4 euros", "5 euros"))
        assert call([*command, "--n", "4"]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert f"{name} differs" in told and "ragassay golden anchor" in told


def test_fewer_items_than_wanted_is_incomplete_and_told(tmp_path, capsys) -> None:
    text = "# Shop\n\n## Prices\n\nA new card costs 4 euros.\n"
    docs = documents_of(tmp_path / "docs", shop=text)
    command = ["golden", "synthesize", str(docs), "-o", str(tmp_path / "golden"), "--n", "50"]
    assert call(command) == 3
    n = len(GoldenSet.open(tmp_path / "golden").items)
    assert 0 < n < 50
    told = " ".join(capsys.readouterr().err.split())
    assert f"50 items wanted, the set has {n}: {n} drafts written, none rejected. The" in told
    assert call([*command, "--mix", "type=factual,yes-no,summary", "--json"]) == 3
    body = orjson.loads(capsys.readouterr().out)
    assert (body["wanted"], body["total"]) == (50, n)


def test_the_outcome_says_what_was_rejected_what_it_cost_and_what_to_do(capsys) -> None:
    wish = Wish(Path("d"), Path("o"), n=8, generator="openai:a", seed=6)
    late, no = (Failure(None, reason, "it is") for reason in (Reason.TIMEOUT, Reason.REFUSED))  # type: ignore

    def rejected(why: Any, n: int = 1, detail: str = "No.", failure: Any = None) -> list[Rejection]:
        return [Rejection(why, detail, None, failure)] * n  # type: ignore

    some = [*rejected("leak"), *rejected("form", 3)]
    outcome = Outcome([], 5, 9, some, n_not_chosen=2, cached=4, cost=0.5)
    assert _show(outcome, Path("o"), wish, as_json=False) == 3
    told = capsys.readouterr()
    assert "o: 0 drafts added; the set has 5 of 8 items. 4 drafts rejected, 2 not" in told.out
    assert "0 calls sent, 4 from the ledger, $0.50" in told.out
    err = " ".join(told.err.split())
    assert "note: 3 drafts, form: No." in err and "4 rejected (form 3, leak 1). The" in err
    assert _show(outcome, Path("o"), wish, as_json=True) == 3
    assert orjson.loads(capsys.readouterr().out)["rejected_for"] == {"form": 3, "leak": 1}
    for found, more, advice in (
        (rejected("form"), {}, "another seed: --seed 7."),
        (rejected("form"), {"generator": "offline"}, "The rules find no more"),
        (rejected("form"), {"given": [None] * 8}, "Each draft has its reason"),
        (rejected("not-written", detail="It declined."), {}, "Name another generator"),
        (rejected("not-written", 1, "No.", no), {}, "Fix the generator"),
        (rejected("not-checked", 1, "No.", no), {}, "Fix the checker"),
    ):  # fmt: skip
        wanted = replace(wish, n=200 if more else 8, **more)
        assert _show(replace(outcome, rejections=found), Path("o"), wanted, as_json=False) == 3
        err = " ".join(capsys.readouterr().err.split())
        assert advice in err and ("8 items wanted" in err) is ("given" in more or not more)
    why = [*rejected("form", 1, "once", late), *rejected("form", 2, "spent", late)]
    stopped = replace(outcome, total=8, rejections=(), unasked=why)
    assert _show(stopped, Path("o"), wish, as_json=False) == 3, "although all are there"
    err = " ".join(capsys.readouterr().err.split())
    assert "Not finished: 3 drafts not asked: spent. Run the same" in err and "seed" not in err
    plan = {"drafts": 2, "calls": 3, "most_calls": 9, "held": 1, "input_tokens": 5_000,
            "output_tokens": 7, "unpriced": 1, "cost": 0.5}  # fmt: skip
    _show_plan(plan, as_json=False)
    said = "2 drafts: at least 3 calls (5,000 tokens in, 7 out, $0.50), 1 from the ledger; at most"
    assert capsys.readouterr().out == f"{said} 9 calls\n"


def test_what_people_review_while_items_are_written_stays(tmp_path: Path) -> None:
    wish = Wish(DOCUMENTS, tmp_path / "g", n=4)
    Synthesis(wish, Judging()).run()
    more = Synthesis(replace(wish, n=8), Judging())  # reads the folder
    store = ReviewStore(tmp_path / "g")
    first = store.golden().items[0]
    store.review(first.id, "ann", "accept", version_of(first), fields={"query": "What is it?"})
    Synthesis(replace(wish, n=8), Judging()).run()
    outcome, items = more.run(), GoldenSet.open(tmp_path / "g").items
    assert (items[0].status, items[0].query) == ("accepted", "What is it?")
    assert len(items) == outcome.total == 8


def test_what_is_right_is_not_rejected_for_a_number_of_its_heading_or_for_its_length(
    tmp_path: Path,
) -> None:
    text = (
        "# Manual\n\n## 3. Starting\n\nThe LED blinks blue for about 3 minutes.\n\n"
        "## Care\n\nThe owner cleans the filter. All other work is done by a partner. Noor van "
        "Dijk coordinates the visits from Eindhoven.\nHalcyon Energy B.V. is open Monday to Friday "
        "from 8:30 to 17:00. Call +31 10 555 0142 or write to us. In an emergency "
        "call the fire brigade first.\n"
    )
    docs, folder = documents_of(tmp_path / "docs", manual=text), tmp_path / "golden"
    mix = ["--mix", "answerability=answerable", "--mix", "type=factual:1,summary:1"]
    call(["golden", "synthesize", str(docs), "-o", str(folder), "--n", "2", *mix])
    references = {one.references[0] for one in GoldenSet.open(folder).items}
    [summary] = references - {"3 minutes"}
    assert summary.startswith("The owner cleans the filter.") and "3 minutes" in references


def test_queries_keep_capitals_and_ask_once_and_nothing_of_a_request(tmp_path: Path) -> None:
    texts = {
        "terms": "# Terms\n\nMr. Pieter Vos decides claims of 7 days. A claim in Class A "
        "lasts 30 days. E01 stops all pumps for 5 minutes. I lend 9 books a week.\n",
        "faq": "# FAQ\n\n## Does it make noise?\n\nThe fan runs for 8 minutes. It is quiet.\n\n"
        "## E02: Heat\n\nThe pump is too hot. It stops.\n",
        "plan": "# Maintenance plan\n\nThe filter must be cleaned every 6 months.\n",
        "manual": "# Manual\n\nHang the cabinet on 4 hooks. Switch on the pump for 20 seconds. "
        "Lanes on the left are 25 metres long.\n",
    }
    docs = Corpus(load_documents(documents_of(tmp_path / "docs", **texts)))
    mix = Mix.parse(["type=factual,yes-no,summary", "answerability=answerable,unanswerable"])
    drafts = list(OfflineGenerator(docs).drafts(mix))
    queries = [one.query for one in drafts]
    asked = [one.query.split(": ", 1)[1] for one in drafts if one.wanted["type"] == "factual"]
    assert "Mr. Pieter Vos decides claims of how many days?" in asked
    assert "a claim in Class A lasts how many days?" in asked
    codes = {"E01 stops all pumps for how many minutes?", "I lend how many books a week?"}
    assert codes <= set(asked)
    assert "FAQ: does it make noise?" in queries
    assert "FAQ (Does it make noise): the fan runs for how many minutes?" in queries
    assert "What does FAQ say about E02: Heat?" in queries
    assert all(one.count("?") == 1 for one in queries)
    told = [one.query for one in drafts if one.wanted["type"] == "yes-no"]
    assert any("that lanes on the left" in one for one in told)
    assert not [one for one in told if "hang" in one or "switch" in one]
    # The first word of a title is no name, only because no sentence has it.
    plan = [one for one in drafts if one.sections[0].document == "plan" and not one.answerable]
    assert plan and all(one.query.startswith("Maintenance plan in ") for one in plan)
