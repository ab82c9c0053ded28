"""A metric that finds no words in the script of the data is told, with the one to take."""

from __future__ import annotations

import pytest

import ragassay

TEXTS = {
    "English": ("the depot stands in Leeds", "the depot is in Leeds"),
    "Russian": ("депо находится в Лидсе", "депо стоит в Лидсе"),
    "Chinese": ("仓库位于利兹市中心", "仓库在利兹市中心"),
    "Japanese": ("倉庫はリーズにあります", "倉庫はリーズにある"),
    "Thai": ("คลังสินค้าอยู่ที่ลีดส์", "คลังสินค้าตั้งอยู่ลีดส์"),
}
BLIND = {
    "English": set(),
    "Russian": {"rouge1.f"},
    **{key: {"rouge1.f", "BLEU", "f1", "coverem"} for key in ("Chinese", "Japanese", "Thai")},
}
ALL = ["rouge1.f", "BLEU", "BLEU(tokenize=zh)", "token_f1.f", "f1", "coverem"]


@pytest.mark.parametrize("language", TEXTS)
def test_metrics_that_find_no_words_in_a_script_are_told(language: str) -> None:
    answer, reference = TEXTS[language]
    record = {"id": "1", "query": "?", "answer": answer, "references": [reference]}
    summary = ragassay.evaluate([record], ALL).summary
    told = [text for text in summary.warnings if "not find words" in text]
    assert len(told) == bool(BLIND[language])
    named = set(told[0].partition(" do")[0].split(", ")) if told else set()
    assert named == BLIND[language]
    assert summary.metrics["token_f1.f"].mean > 0.3
