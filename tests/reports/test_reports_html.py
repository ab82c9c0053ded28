"""The HTML file as text: complete, self-contained and safe against its own data."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st
from selectolax.lexbor import LexborHTMLParser

import ragassay
from ragassay.base.note import Note
from ragassay.base.sample import Answer, GoldPassage, Passage, Sample, Statement, Turn
from ragassay.base.score import Score
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.metrics.core import naming
from ragassay.reports.html import pages, query_browser
from ragassay.reports.html.query_browser import LONG, MARK, TextPool, packed, script_json
from ragassay.reports.text import wording
from ragassay.reports.views import comparison_view
from reports_examples import HOSTILE, Kind, comparison, example, hostile, pair, result, samples
from unpacked_pages import held, unpacked

ASSETS = pages.ASSETS


class Page:
    """The page as a parser sees it."""

    def __init__(self, text: str) -> None:
        self.source, tree = text, LexborHTMLParser(text)
        assert tree.root is not None
        self.tags = [(node.tag or "", node.attributes) for node in tree.root.traverse()]
        self.scripts = [(node.attributes, node.text()) for node in tree.css("script")]
        cells = ([cell.text() for cell in row.css("td, th")] for row in tree.css("tr"))
        self.rows = list(cells)
        for node in tree.css("script, style"):
            node.decompose()
        self.words = " ".join(tree.root.text().split())

    def row(self, name: str) -> list[str]:
        """The cells of the first row that a metric heads: the one of the page's main table."""
        found = next(row for row in self.rows if row and row[0].strip().startswith(name))
        return [" ".join(cell.split()) for cell in found]

    def json(self, name: str) -> Any:
        """What the page holds under an id."""
        return held(self.source)[name]


def report(found: Result, folder: Path, title: str | None = None) -> str:
    pages.write_report(found, folder / "report.html", title)
    return (folder / "report.html").read_text(encoding="utf-8")


def compared(parts: Any, folder: Path, title: str | None = None) -> str:
    found, *runs = parts
    pages.write_comparison(replace(found, runs=tuple(runs)), folder / "comparison.html", title)
    return (folder / "comparison.html").read_text(encoding="utf-8")


def test_the_numbers_shown_are_the_summarys_own(tmp_path: Path) -> None:
    found = example(45)
    page = Page(report(found, tmp_path))
    for metric in found.summary.metrics.values():
        mean = wording.number(metric.mean) + wording.bounds(metric.low, metric.high)
        assert page.row(metric.name)[1:3] == [mean, wording.coverage(metric)]
        assert [metric.title] in page.rows
    assert "6 of 45" in page.words
    assert "39/45" in page.words
    assert found.summary.averaged_over in page.words
    for piece in found.summary.slices:
        assert piece.value in page.words and f"n={piece.n}" in page.words


def test_the_browsers_rows_are_the_scores_exactly(tmp_path: Path) -> None:
    found = example(120)
    page = Page(report(found, tmp_path))
    rows = page.json("rows")
    assert rows["id"] == [identity[0] for identity in found.columns.identities]
    for at, metric in enumerate(rows["metrics"]):
        values, scored = found.columns.values(metric["name"]), found.columns.scored(metric["name"])
        pairs = zip(values, scored, strict=True)
        assert rows["values"][at] == [float(value) if ok else None for value, ok in pairs]
    unscored = rows["reasons"][[m["name"] for m in rows["metrics"]].index("f1")]
    assert set(unscored.values()) == {"not_applicable"}
    detail = page.json(f"d0-{100 // query_browser.CHUNK}")[100 % query_browser.CHUNK]
    sample = list(found.samples)[100]
    assert (detail["query"], detail["answer"]) == (sample.query, sample.answer_text)
    assert sample.passages is not None
    assert [p[3] for p in detail["passages"]] == [p.text for p in sample.passages]
    value, _, explanation, parts = detail["scores"]["nDCG@10"]
    assert value == pytest.approx(found.columns.value("nDCG@10", 100), rel=1e-6)
    assert (explanation, json.loads(parts)) == ("2 of 2 relevant found", {"ranks": [1, 3]})


def test_a_comparison_shows_its_numbers_and_both_runs(tmp_path: Path) -> None:
    parts = pair(45)
    page = Page(compared(parts, tmp_path))
    comp, a, b = parts
    first, *others = comparison_view.verdicts(comp)
    assert all(said in page.words for said in (first[1:], *others))
    for d in comp.differences:
        cells = page.row(d.name)
        diff = wording.number(d.diff, sign=True) + wording.bounds(d.low, d.high, sign=True)
        means = [wording.number(d.a_mean), wording.number(d.b_mean)]
        assert cells[1:5] == [*means, diff, d.verdict] and len(cells) == 6
        tests = [*map(wording.p_value, (d.p_value, d.t_p_value, d.p_adjusted))]
        end = [*tests, f"{d.n}", wording.number(d.detectable)]
        assert any(row[0].split()[0] == d.name and row[2:] == end for row in page.rows if row)
    notes = tuple(Note("text", {"text": f"a {one}"}, severity=one) for one in ("warning", "detail"))
    more = {"brought": notes, "gates": (GateResult("no drop f1>0.1", 0.2, True),)}
    primary = replace(comp, primary=("AP", "f1"), **more)
    chosen = Page(compared((primary, a, b), tmp_path, "Release 4"))
    titled = "Release 4 hybrid (new) against bm25 (old)"
    assert all(said in chosen.words for said in (titled, "a warning", "a detail", "f1>0.1: passed"))
    assert chosen.words.count("Configuration and versions") == 2
    alone = replace(comp, unpaired=True, runs=(a, b))
    assert pages.comparison_parts(alone)["browser"] is None, "they have no query in common"
    heads = [row[0].split()[0] for row in chosen.rows if len(row) == 6]
    others = [d.name for d in comp.differences if d.name not in ("AP", "f1")]
    assert heads == ["metric", "AP", "f1", "metric", *others]
    rows = page.json("rows")
    at = [m["name"] for m in rows["metrics"]].index("AP")
    assert rows["metrics"][rows["deciding"]]["name"] == "f1"  # of which answers are right
    assert rows["values"][at] == a.columns.values("AP").tolist()
    assert rows["other"][at] == b.columns.values("AP").tolist()
    first, second = (page.json(f"d{run}-0")[3] for run in (0, 1))
    assert first["query"] == second["query"] and first["answer"] != second["answer"]


def test_repeats_are_averaged_in_the_rows_and_all_shown_in_the_details(tmp_path: Path) -> None:
    kind = Kind("f1", "F1", "answer")
    one = samples(4)
    repeated = [replace(sample, repeat=n) for sample in one for n in range(2)]
    a = result(repeated, {"f1": [Score(at / 8) for at in range(8)]}, (kind,))
    b = result(one[1:], {"f1": [Score(0.5)] * 3}, (kind,))
    page = Page(compared((replace(comparison(b, b), only_a=1), a, b), tmp_path))
    assert "1 query only in the new run" in page.words and "only in the old run" not in page.words
    rows = page.json("rows")
    assert rows["id"] == [sample.id for sample in one[1:]], "those that both runs hold"
    assert rows["values"] == [[5 / 16, 9 / 16, 13 / 16]]
    assert rows["detail"] == [[[0, 1], [0]], [[2, 3], [1]], [[4, 5], [2]]]
    for run, place in ((0, 5), (1, 2)):
        assert page.json(f"d{run}-0")[place]["query"] == one[3].query
    tags = Page(report(a, tmp_path)).json("rows")["tag"]
    assert tags[:2] == ["hybrid", "hybrid · repeat 1"]


def test_a_page_says_first_how_many_answers_are_right_and_why_the_others_fail(tmp_path) -> None:
    records = [
        {"id": f"q{at}", "system": "rag", "query": "Where?", "answer": said,
         "references": ["Here."], "metadata": {"place": [said, "town"]}}
        for at, said in enumerate(["Here.", "Here.", "Here.", "There."])
    ]  # fmt: skip
    (tmp_path / "places.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    metrics = ["answer_words", "token_f1.f"]
    found = ragassay.evaluate(tmp_path / "places.jsonl", metrics, slice_by=["place"])
    page = Page(report(found, tmp_path, "Release <4>"))
    assert "Release <4> rag on places, " in page.words and "75 % of answers are right" in page.words
    shares = ["75 % of 4[19 to 99 %]", "100 % of 3[29 to 100 %]", "0 % of 1"]
    assert page.row("right answers")[1:] == shares
    moved = Page(compared((ragassay.compare(found, found), found, found), tmp_path))
    assert moved.row("right answers (old)")[1:] == page.row("right answers")[1:]
    first = page.words.index("1 of 4 samples fail")
    assert first < page.words.index("answer_words") < page.words.rindex("Distributions")
    filters = {attrs["data-filter"] for _, attrs in page.tags if "data-filter" in attrs}
    offered = {attrs.get("value") for tag, attrs in page.tags if tag == "option"}
    assert "fails" in filters and filters <= offered
    rows = page.json("rows")
    assert rows["answer"] == ["Here.", "Here.", "Here.", "There."]
    assert rows["metrics"][rows["deciding"]]["name"] == "token_f1.f"


def test_data_cannot_leave_its_place(tmp_path: Path) -> None:
    found = hostile()
    both = compared((comparison(found, found), found, found), tmp_path)
    for text in (report(found, tmp_path), both):
        page = Page(text)
        assert HOSTILE not in text
        assert "<img" not in text
        assert len(page.scripts) == text.count("<script")
        assert {attrs.get("type") for attrs, _ in page.scripts} == {None, "text/plain"}
        assert page.json("d0-0")[0]["query"].startswith(HOSTILE)
        assert page.json("d0-0")[0]["answer"].startswith("=1+1 " + HOSTILE)
        assert HOSTILE.split(">")[0] in page.words
        assert "\u2028" not in text


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_embedded_json_is_the_data_and_holds_no_markup(value: Any) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029]", text)


texts = st.text(max_size=3 * LONG) | st.sampled_from([MARK, f"{MARK}0", "x" * LONG])
nested = st.recursive(texts | st.none() | st.integers(-9, 9), lambda one: st.lists(one, max_size=4))


@given(st.lists(nested, max_size=6))
def test_what_is_packed_is_the_data_with_each_long_text_once(values: list[Any]) -> None:
    pool = TextPool()
    taken = [unpacked(packed(pool.take(value))) for value in values]
    batches = dict(pool.drain(end=True))
    long = [text for batch in batches.values() for text in unpacked(batch)]
    assert len(long) == len(set(long)) and all(len(x) >= LONG or x[0] == MARK for x in long)

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(one) for one in value]
        return long[int(value[1:])] if isinstance(value, str) and value[:1] == MARK else value

    assert [whole(value) for value in taken] == values
    assert not re.search("[<>&]", "".join(batches.values()))


def test_the_file_is_well_structured_loads_nothing_and_allows_only_its_own_scripts(tmp_path):
    for text in (report(example(10), tmp_path), compared(pair(10), tmp_path)):
        page = Page(text)
        assert not re.search(r"https?://", re.sub(r"http://www\.w3\.org/2000/svg", "", text))
        for tag, attrs in page.tags:
            assert tag not in ("link", "iframe", "object", "embed", "img", "base")
            assert "src" not in attrs and not any(name.startswith("on") for name in attrs)
            assert attrs.get("href", "#").startswith("#")  # type: ignore[union-attr]
        policy = next(a["content"] for t, a in page.tags if a.get("http-equiv")) or ""
        assert "default-src 'none'" in policy and "unsafe-eval" not in policy
        for attrs, body in page.scripts:
            if attrs.get("type") is None:
                digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in policy
        names = [tag for tag, _ in page.tags]
        assert names.count("h1") == names.count("main") == 1
        assert dict(page.tags)["html"]["lang"] == "en"
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        targets = {a["href"] for t, a in page.tags if t == "a"}
        assert {f"#{name}" for name in ids} >= targets
        for tag, attrs in page.tags:
            assert tag != "th" or attrs.get("scope")
            assert tag != "svg" or (attrs.get("role") == "img" and attrs.get("aria-label"))


def test_more_rows_and_longer_texts_than_there_is_room_for_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(query_browser, "MAX_ROWS", 60)
    monkeypatch.setattr(query_browser, "CHUNK", 50)
    page = Page(report(example(100), tmp_path))
    assert len(page.json("rows")["id"]) == 60
    assert len(page.json("d0-1")) == 10
    assert "The first 60 of 100 samples are listed here" in page.words
    assert len(next(iter(page.json("rows")["slices"].values()))) == 60
    page = Page(compared(pair(100), tmp_path))
    assert len(page.json("rows")["id"]) == 60 and "The first 60 of 100 queries" in page.words
    found = samples(200)
    long = [replace(s, passages=(replace(s.passages[0], text="x" * 50_000),)) for s in found]  # type: ignore[index]
    big = result(long)
    whole = len(report(big, tmp_path))
    monkeypatch.setattr(query_browser, "TEXT_BUDGET", 400_000)
    text = report(big, tmp_path)
    assert [*map(query_browser.share, (10**9,) * 3, (9, 50_000, 10**6))] == [100_000, 20_000, 1_200]
    assert whole > len(text)  # deflated, so many equal letters take hardly any space
    passage = Page(text).json("d0-0")[0]["passages"][0][3]
    assert re.search(r"x … \[[\d,]+ more characters in the run folder\]$", passage)


def test_gold_is_marked_by_id_overlapping_span_or_text(tmp_path: Path) -> None:
    def shown(passages: tuple[Passage, ...], gold: tuple[GoldPassage, ...]) -> Any:
        found = [replace(samples(1)[0], passages=passages, gold=gold)]
        return Page(report(result(found), tmp_path)).json("d0-0")[0]

    second, third = (
        Passage(f"{at}", f"p{at // 10}", document="d", start=at - 20, end=at - 10)
        for at in (20, 30)
    )
    passages = (Passage("one", "p1"), second, third, Passage("four", "p4"))
    gold = (GoldPassage(id="p1", grade=2), GoldPassage(document="d", start=5, end=10),
            GoldPassage(id="p4", grade=0), GoldPassage(id="elsewhere"),
            GoldPassage(id="judged elsewhere", grade=0))  # fmt: skip
    detail = shown(passages, gold)
    assert [passage[4] for passage in detail["passages"]] == [2, 1, None, 0]
    assert [entry[0] for entry in detail["gold"]] == ["elsewhere"]
    texts = (Passage("two  words\n", "p1"), Passage("other", "p2"), Passage("", "p3"))
    wanted = (GoldPassage(text="two words", grade=2), GoldPassage(text=""), GoldPassage(text="new"))
    detail = shown(texts, wanted)
    assert [passage[4] for passage in detail["passages"]] == [2, None, None]
    assert [entry[5] for entry in detail["gold"]] == ["", "new"]
    hits = naming.parse("ChunkP@3").score(replace(samples(1)[0], passages=texts, gold=wanted))
    assert isinstance(hits, Score) and hits.parts["hit_ranks"] == [1], "as the metrics see it"


def test_a_page_holds_all_of_a_sample_and_what_judges_said_of_it() -> None:
    statements = [Statement("It opens at nine.", (cited,)) for cited in "pg"]
    statements += [Statement("Closed.", ("x",)), Statement("Free.")]
    sample = Sample(
        id="q", query="When?", history=(Turn("user", "Hello."), Turn("agent", "Yes?")),
        answer=Answer("It opens at nine. It opens at nine. Free.", tuple(statements)),
        negative_references=("ten",), answerability="answerable", metadata={"n": 3}, failure="late",
        runs=(Sample(id="q", answer="A", passages=()), Sample(id="q", repeat=1, failure="down")),
    )  # fmt: skip
    prompt = [{"role": "user", "content": "Is it?"}]
    yes = {"question": "attempted", "answer": {"answered": "yes"}}
    votes = [{**yes, "messages": prompt, "judge": judge, "model": "m"} for judge in "ab"]
    no = {"question": "grade", "answer": None, "reason": "refused", "detail": "no", "model": "m"}
    records = {"v": {"id": "v", **yes, "votes": votes}, "n": {"id": "n", **no, "input_tokens": 7}}
    one = ScoreRow("q", "", 0, "m", [1], "ok", parts={"a": "x" * 9_000}, evidence=("v", "n"))
    rows = {"m": one, "k": replace(one, value=0.5, parts={"p": 1}, evidence=("n", "gone"))}
    found = query_browser.details_of(("q", "", 0), sample, rows, records, 4_000)  # type: ignore
    closed = [None, "Closed.", ["x"]]
    assert found["cited"] == [[0, 16, ["p"]], [18, 34, ["g"]], closed, [36, 40, []]]
    assert found["history"] == [["user", "Hello."], ["agent", "Yes?"]]
    assert found["runs"] == [[0, "A", None, 0], [1, None, "down", None]]
    assert (found["failure"], found["negatives"]) == ("late", ["ten"])
    assert found["labels"] == {"answerability": "answerable", "n": "3"}
    assert [found["scores"][name][::3] for name in "mk"] == [["[1]", None], [0.5, '{"p":1}']]
    assert found["evidence"] == {"m": [0, 1], "k": [1]}
    both, refused = found["judge_answers"]
    assert both["messages"] == [["user", "Is it?"]] and "messages" not in str(both["votes"])
    assert (refused["failure"], refused["tokens"]) == ("refused: no", [7, 0])
    assert "cost" not in refused, "it is not known"
    bare = replace(sample, answer=Answer("Free.", (Statement("Free."),)))
    assert "cited" not in query_browser.details_of(("q", "", 0), bare, {}, {}, 4_000)  # type: ignore


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_aa_asks_for(theme: str) -> None:
    css = (ASSETS / "report.css").read_text()
    block = css.split('[data-theme="dark"] {')[1] if theme == "dark" else css.split(":root {")[1]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block.split("}")[0]))
    texts = ("ink", "muted", "accent", "a", "b")
    pairs = [(text, ground) for text in texts for ground in ("page", "surface", "sunk")]
    pairs += [("a", "a-soft"), ("b", "b-soft"), ("warn", "warn-soft"), ("warn", "surface")]
    for text, ground in pairs:
        light, dark = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def test_a_page_leads_to_that_of_its_consistency_where_there_is_one(tmp_path: Path) -> None:
    data = [{"id": "q", "repeat": at, "query": "Where?", "answer": "Here."} for at in range(2)]
    for options in ({}, {"save": tmp_path / "run"}):
        page = Page(report(ragassay.evaluate(data, ["qa", "consistency"], **options), tmp_path))
        links = {attrs.get("href") for _, attrs in page.tags}
        assert ("consistency/report.html" in links) == bool(options)
