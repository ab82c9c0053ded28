"""A run that is killed at any moment leaves no folder that reads as whole and mixes two runs."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.base.errors import InputError
from ragassay.reports.run_reports import write_reports


def data(folder: Path, letter: str) -> Path:
    """Two runs of three queries, whose ids, texts and system say which file they are from."""
    rows = [
        {"id": f"{letter}{n}", "system": letter, "repeat": repeat,
         "answer": f"{letter} says {n + repeat}", "references": [f"{letter} says {n}"]}
        for n in range(3) for repeat in range(2)
    ]  # fmt: skip
    return jsonl(folder / f"{letter}.jsonl", *rows)


def letters(folder: Path) -> set[str]:
    """From which runs the files of a folder are; nothing where it does not read as whole."""
    try:
        found = ragassay.open_run(folder)
    except InputError:
        return set()
    seen = {found.summary.system, Path(found.config["data"]).stem}
    seen |= {sample.id[0] for sample in found.samples} | {row.system for row in found.scores}
    if found.consistency is not None:
        seen |= {sample.system for sample in found.consistency.samples}
    reports = "".join(report.read_text() for report in folder.rglob("*.md"))
    return seen | {letter for letter in "ab" if f"{letter}.jsonl" in reports}


@pytest.mark.parametrize(("suites", "how"), [
    ((["qa"], ["qa"]), "run"), ((["qa", "consistency"], ["qa"]), "save"),
    ((["qa"], ["qa", "consistency"]), "run"),
])  # fmt: skip
def test_the_folder_of_a_killed_run_is_of_one_run_or_not_whole(tmp_path, monkeypatch, suites, how):
    target = tmp_path / "run"
    write_reports(ragassay.evaluate(data(tmp_path, "a"), suites[0], save=target))
    assert letters(target) == {"a"}
    states: list[set[str]] = []

    def looked_at(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*args: Any, **options: Any) -> Any:
            found = change(*args, **options)
            copy = tmp_path / "copy"
            shutil.copytree(target, copy)
            states.append(letters(copy))
            shutil.rmtree(copy)
            return found

        return changed

    second = data(tmp_path, "b")
    result = ragassay.evaluate(second, suites[1]) if how == "save" else None
    with monkeypatch.context() as patched:
        for name in ("unlink", "replace"):
            patched.setattr(Path, name, looked_at(getattr(Path, name)))
        if result is None:
            result = ragassay.evaluate(second, suites[1], save=target)
        else:
            result.save(target)
    write_reports(ragassay.open_run(target))
    assert letters(target) == {"b"}
    assert (ragassay.open_run(target).consistency is not None) == ("consistency" in suites[1])
    assert len(states) > 5 and set() in states
    assert all(len(state) <= 1 for state in states), states
