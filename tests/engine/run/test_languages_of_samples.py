"""The language of samples: a field, else told by their words; a default slice of a run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Passage, Sample
from ragassay.base.sample import Answer
from ragassay.engine.comparison.compare_runs import weakest_slice
from ragassay.engine.results.score_columns import DataLanguage
from ragassay.formats import from_records

QUERIES = {
    "en": ["When does the pool open?", "Where is the library of the town?", "Who may use it?"],
    "de": ["Wann öffnet das Bad?", "Wo ist die Bücherei der Stadt?", "Wer darf in die Sauna?"],
    "zh": ["泳池几点开门？", "图书馆在哪里？", "谁可以用桑拿？"],
}


def records(*languages: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"{code}{at}", "query": text, "answer": "1250", "references": ["1250"], **more}
            for code in languages for at, text in enumerate(QUERIES[code])]  # fmt: skip


def slices(data: list[dict[str, Any]], **options: Any) -> dict[str, list[str]]:
    found = ragassay.evaluate(data, metrics=["token_f1"], **options).summary.slices
    return {
        column: sorted(one.value for one in found if one.column == column)
        for column in {one.column for one in found}
    }


def test_a_run_in_several_languages_is_sliced_by_them_unasked() -> None:
    assert slices(records("en", "de", "zh")) == {"language": ["de", "en", "zh"]}
    assert slices(records("en")) == {}


def test_a_few_queries_that_seem_to_be_in_another_language_make_no_slice() -> None:
    many = [{**one, "id": f"{one['id']}-{n}"} for n in range(10) for one in records("en")]
    assert slices([*many, *records("de")[:2]]) == {}
    assert slices([*many[:18], *records("de")[:2]]) == {"language": ["de", "en"]}, "a tenth"
    assert slices([*many, *records("de")[:2]], slice_by=["language"]) == {"language": ["de", "en"]}


def test_conditions_and_tables_know_the_language_that_slices_show() -> None:
    data = [{**one, "id": f"{one['id']}{n}", "topic": (code := one["id"][:2]),
             "answer": "1250" if code == "en" else "7"}
            for n in range(3) for one in records("en", "de")]  # fmt: skip
    result = ragassay.evaluate(data, ["contains_answer"])
    assert (frame := result.to_polars())["language"].to_list() == [*frame["topic"]]
    assert ragassay.evaluate(data, ["em"], where="language=de").summary.n_samples == 9
    assert [note.counts["column"] for note in weakest_slice(result)] == ["topic"], "no guess"


@pytest.mark.parametrize("name", ["language", "lang", "Language"])
def test_the_field_decides(name: str) -> None:
    data = [{**one, name: ("tr", "fi")[at % 2]} for at, one in enumerate(records("en", "de"))]
    assert slices(data) == {"language": ["fi", "tr"]}
    assert slices(data, slice_by=[name]) == {name: ["fi", "tr"]}
    chosen = ragassay.evaluate(data, ["em"], where=f"{name}=fi").to_polars()
    assert [*chosen["language"]] == ["fi"] * (len(data) // 2)
    told = [Sample(id=o["id"], query=o["query"], metadata={name: o[name]}) for o in data]
    assert slices(told) == {name: ["fi", "tr"]}
    # Scores in a table are no slices, unless named; versions are.
    told = [{**one, "score": ("1.0", "0.25")[at % 2], "version": ("1.0", "1.1")[at % 2]}
            for at, one in enumerate(records("en", "en"))]  # fmt: skip
    told = [{**one, "id": f"{at}"} for at, one in enumerate(told)]
    assert [[*slices(told, slice_by=by)] for by in (None, ["score"])] == [["version"], ["score"]]
    assert (first := next(iter(from_records(data)))).language == "tr" and not first.metadata


def test_numbers_are_read_in_the_language_of_the_field() -> None:
    one = records("zh")[0] | {"answer": "1.250"}
    value = {
        code: ragassay.evaluate([{**one, "language": code}], metrics=["token_f1"])
        .summary.metrics["token_f1.f"].mean
        for code in ("de", "en")
    }  # fmt: skip
    assert value == {"de": 1.0, "en": 0.0}


TEXTS = {
    "English": ("the depot stands in Leeds", "the depot is in Leeds"),
    "French": ("le dépôt est à Leeds", "le dépôt se trouve à Leeds"),
    "Russian": ("депо находится в Лидсе", "депо стоит в Лидсе"),
    "Chinese": ("仓库位于利兹市中心", "仓库在利兹市中心"),
    "Japanese": ("倉庫はリーズにあります", "倉庫はリーズにある"),
    "Thai": ("คลังสินค้าอยู่ที่ลีดส์", "คลังสินค้าตั้งอยู่ลีดส์"),
}
BLIND = {
    **{key: set() for key in ("English", "French")},
    "Russian": {"rouge1.f"},
    **{key: {"rouge1.f", "BLEU", "f1", "coverem"} for key in ("Chinese", "Japanese", "Thai")},
}
ALL = ["rouge1.f", "BLEU", "BLEU(tokenize=zh)", "token_f1.f", "f1", "coverem"]


@pytest.mark.parametrize("language", TEXTS)
def test_metrics_that_find_no_words_in_a_script_are_told(language: str) -> None:
    answer, reference = TEXTS[language]
    record = {"id": "1", "query": "?", "answer": answer, "references": [reference]}
    summary = ragassay.evaluate([record], ALL).summary
    told = [text for text in summary.warnings if "not recognise words" in text]
    assert len(told) == bool(BLIND[language])
    named = set(re.split(r",? ", told[0].partition(". For")[0])) & {*ALL} if told else set()
    assert named == BLIND[language]
    assert summary.metrics["token_f1.f"].mean > 0.3
    alone = ragassay.evaluate([{**record, "references": ["7"]}], ALL).summary
    assert [text for text in alone.warnings if "not recognise words" in text] == told


ENGLISH = {"query": "How tall is the tower?", "answer": "The tower is 314 metres tall."}
CHINESE = {"query": "西湖隧道什么时候开通？", "answer": "西湖隧道于2019年开通。"}
ARABIC = {"query": "كم يبلغ ارتفاع برج خليفة؟", "answer": "يبلغ ارتفاع برج خليفة 828 مترا."}


def sample(query: str, answer: str, *passages: str) -> Sample:
    texts = tuple(map(Passage, passages))
    return Sample(id="q", query=query, answer=Answer(answer), passages=texts)


def code(*samples: Sample) -> str:
    found = DataLanguage()
    for one in samples:
        found.add(one)
    return found.code


def test_the_language_is_that_of_nine_tenths_of_the_samples() -> None:
    english, chinese = sample(**ENGLISH), sample(**CHINESE)
    assert code(english) == "en" and code(chinese) == "zh" and code() == ""
    assert code(*[english] * 9, chinese) == "en"
    assert code(*[english] * 8, chinese) == ""


def test_what_is_in_several_languages_or_in_none_that_is_known_is_in_none() -> None:
    english, arabic = ENGLISH.values(), ARABIC["answer"]
    assert code(sample(**ARABIC)) == ""
    assert code(sample(ENGLISH["query"], arabic)) == ""
    assert code(sample(*english, arabic)) == ""
    assert code(sample(*english, "The tower was opened in the spring of 2016.")) == "en"
    names = sample(ENGLISH["query"], "Oslo, Paris, 314")
    assert code(names) == "en"
    assert code(sample("Oslo?", "Paris")) == ""
    assert code(*[sample("Oslo?", "Paris")] * 2, names) == ""


def test_only_what_was_judged_has_a_language(tmp_path: Path) -> None:
    data = [{"id": f"q{at}", **ENGLISH, "references": ["314"]} for at in range(3)]
    save = tmp_path / "run"
    metrics = ragassay.evaluate(data, ["answered", "em"], save=save).summary.metrics
    assert (metrics["answered"].language, metrics["em"].language) == ("en", "")
    stored = json.loads((save / "summary.json").read_text())["metrics"]
    assert stored["answered"]["language"] == "en"
    (system,) = ragassay.compare(save, save).runs[:1]
    assert system.summary.metrics["answered"].language == "en"
