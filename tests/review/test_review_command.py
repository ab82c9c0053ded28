"""``ragassay golden review`` as a program."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from ragassay.cli.command_line import call
from reviewed_set import small

pytest.importorskip("fastapi", reason="needs the extra 'service'")


def test_the_program_serves_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    folder = small(tmp_path / "g").folder
    words = ["golden", "review", str(folder), "--reviewer", "ann", "--port", "0"]
    program = subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", program.stdout.readline())
        assert found is not None
        assert 'value="ann"' in httpx2.get(found[0]).text
    finally:
        program.send_signal(signal.SIGINT)
        assert program.wait(30) in (0, 130)


def test_settings_are_kept_for_the_next_reviewer_and_wrong_ones_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, known = small(tmp_path / "g"), small(tmp_path / "known")
    review = [
        "golden",
        "review",
        str(store.folder),
        "--xlsx",
        str(tmp_path / "s.xlsx"),
        "--overwrite",
    ]
    assert call([*review, "--overlap", "0.5", "--people", "3"]) == 0
    assert (store.settings().overlap, store.settings().people) == (0.5, 3)
    assert call([*review, "--people", "1"]) == 2
    assert "--people" in capsys.readouterr().err
    assert call([*review, "--calibration", str(known.folder)]) == 2
    assert "no known answers" in capsys.readouterr().err
    assert store.settings().calibration is None
