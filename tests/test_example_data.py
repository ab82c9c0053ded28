"""The bundled example keeps its promises: spans, ids, citations, counts, and how it is built."""

import importlib.util
from pathlib import Path

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.sample import Answerability, Sample
from ragassay.examples import NAMES, documents, path_of
from ragassay.formats import load

BUILD = Path(__file__).resolve().parents[1] / "examples" / "town" / "build.py"


@pytest.fixture(scope="module")
def samples() -> dict[str, list[Sample]]:
    return {name: list(load(path_of(name))) for name in NAMES}


def test_what_is_known_about_a_query_is_the_same_in_every_file(samples) -> None:
    for trio in zip(*(samples[name] for name in NAMES), strict=True):
        for part in (
            "query", "history", "references", "negative_references", "gold", "answerability",
            "metadata",
        ):  # fmt: skip
            assert len({repr(getattr(sample, part)) for sample in trio}) == 1, (trio[0].id, part)


def test_every_span_holds_its_text_and_queries_have_gold_where_they_are_answered(samples) -> None:
    for sample in samples["queries"]:
        wanted = sample.answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL)
        assert bool(sample.gold) is wanted, sample.id
        assert sample.references, sample.id
    texts = documents()
    with pytest.raises(UsageError, match="keyword, hybrid, queries"):
        path_of("hybird")
    for sample in (*samples["keyword"], *samples["hybrid"]):
        for piece in (*(sample.passages or ()), *(sample.gold or ())):
            assert piece.text == texts[piece.document][piece.start : piece.end], sample.id


def test_building_it_again_gives_the_same_files(tmp_path, monkeypatch) -> None:
    if not BUILD.is_file():
        pytest.skip("the sources of the example (examples/town) are not here")
    monkeypatch.syspath_prepend(BUILD.parent)
    spec = importlib.util.spec_from_file_location("town_build", BUILD)
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.main(tmp_path)
    for name in NAMES:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == path_of(name).read_bytes(), name
