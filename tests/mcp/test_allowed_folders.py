"""Paths that name nothing: one sentence for the agent, as for a path outside."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

from ragassay.base.errors import ArgumentError
from ragassay.mcp.agent_tools import AllowedFolders


@pytest.mark.parametrize("path", ["a\0b", "circle/a", "..", "/"])
def test_a_path_that_leads_nowhere_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ArgumentError, match=r"data: .* (lies outside|there is no file)"):
        AllowedFolders([tmp_path]).existing(path, "data")
