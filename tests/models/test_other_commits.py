"""A model of which the cache holds another commit than the one that values were checked with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.models.weights import weight_files
from ragassay.models.weights.weight_files import Unavailable, Weights, place_of

HHEM = "vectara/hallucination_evaluation_model"
OTHER = "a" * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs huggingface_hub")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(weight_files, "needs_packages", lambda: None)
    return tmp_path / f"models--{HHEM.replace('/', '--')}" / "snapshots"


def test_another_commit_in_the_cache_is_named_and_can_be_taken(cache: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        place_of(Weights.parse(HHEM), {})
    assert "another commit" not in str(caught.value)
    folder = cache / OTHER
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    with pytest.raises(Unavailable) as caught:
        place_of(Weights.parse(HHEM), {})
    said = str(caught.value)
    assert weight_files.PINNED[HHEM][:12] in said and f"another commit of it, {OTHER[:12]}," in said
    assert f"--model {HHEM}={folder}" in said
    assert place_of(Weights.parse(HHEM), {HHEM: str(folder)}) == folder
