"""Answers of systems to a small golden set, and what people say of them."""

from pathlib import Path
from typing import Any

from json_lines import jsonl
from ragassay.review.answer_labels import AnswerLabels
from reviewed_set import small

PASSAGES = ["The library opens at nine.", "Cards cost five euros."]


def answered(folder: Path, *systems: str) -> Path:
    """Answers to the two items, by systems."""
    records = [{"id": f"i{n}", "query": f"When does it open? {n}", "system": system,
                "passages": PASSAGES, "answer": f"At nine, says {system}."} for system in systems
               or ("one",) for n in range(2)]  # fmt: skip
    return jsonl(folder / "answers.jsonl", *records)


def labelled(folder: Path, *systems: str, metrics: tuple[str, ...] = ("umbrela",),
             store: Any = None) -> AnswerLabels:  # fmt: skip
    store = store or small(folder / "g", 2, status="accepted")
    return AnswerLabels.of(store.folder, answered(folder, *systems), metrics)


def todo(labels: AnswerLabels, who: str) -> list[str]:
    return [one["key"] for one in labels.entries(who) if one["state"] == "todo"]


def disagreeing(tmp_path: Path) -> tuple[AnswerLabels, str]:
    """Labels of two people who graded one passage differently, and all others alike."""
    store = small(tmp_path / "g", 2, status="accepted")
    store.change_settings(overlap=1.0, people=2)
    labels = labelled(tmp_path, store=store)
    first, *rest = todo(labels, "ann")
    for key in rest:
        labels.label(key, "ann", 2), labels.label(key, "bob", 2)
    labels.label(first, "ann", 3, 4.0)
    assert labels.others(first) == {}, "who still has to answer does not see what others said"
    labels.label(first, "bob", 1, 6.0)
    return labels, first
