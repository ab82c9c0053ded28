"""A run knows the language of what its judge read, or says that it does not."""

from __future__ import annotations

import json
from pathlib import Path

import ragassay
from ragassay import Passage, Sample
from ragassay.base.sample import Answer
from ragassay.engine.results.slicing import DataLanguage

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


def test_a_short_answer_does_not_change_the_language() -> None:
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
