import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ragassay.base import files
from ragassay.base.errors import UsageError


def test_missing_folders_are_made_and_a_file_of_any_name_is_on_disk(tmp_path, monkeypatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(os, "fsync", kept.append)
    files.write_text(tmp_path / "a" / "b" / ("c" * 255), "x")
    assert (tmp_path / "a" / "b" / ("c" * 255)).read_text() == "x" and len(kept) == 1


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be written"):
        files.write_text(tmp_path / "file" / "below.txt", "x")


def test_a_link_stays_a_link_and_a_pipe_or_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "x"
    os.mkfifo(tmp_path / "pipe")  # no device: a fault would replace it for the whole machine
    for target in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UsageError, match="not a regular file"):
            files.write_text(target, "x")


def test_an_interrupt_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    code = files.atomic.__wrapped__.__code__  # type: ignore[attr-defined]
    lines = interrupted = 0
    files.write_text(tmp_path / "a.txt", "old")

    def trace(frame: FrameType, event: str, given: object) -> Any:
        nonlocal lines
        if frame.f_code is not code:
            return None
        if event == "line":
            lines += 1
            if lines == last:
                raise KeyboardInterrupt
        return trace

    for last in range(1, 100):
        lines, before = 0, sys.gettrace()
        sys.settrace(trace)
        try:
            files.write_text(tmp_path / "a.txt", "x")
            break
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(before)
        assert [path.name for path in tmp_path.iterdir()] == ["a.txt"], last
        assert (tmp_path / "a.txt").read_text() in ("old", "x"), last
    assert interrupted > 10 and (tmp_path / "a.txt").read_text() == "x"


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("x")
    files.write_text(tmp_path / "ours", "x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode
