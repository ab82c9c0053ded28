"""BERTScore's published facts: baselines and recommended layers."""

import csv
from pathlib import Path

import pytest

from ragassay.models.encoders.token_matching import RECOMMENDED, baseline, has_baseline, layer_for
from ragassay.models.weights.weight_files import Unavailable


def test_the_bundled_baselines_are_the_published_ones() -> None:
    mnli = baseline("en", "microsoft/deberta-xlarge-mnli", 40)
    assert (mnli.p, mnli.r, mnli.f) == pytest.approx((0.5169066, 0.5170288, 0.5150192))
    assert mnli.rescaled(1, 1, 1) == (1, 1, 1)
    assert mnli.rescaled(-1, -1, -1)[0] == pytest.approx(-3.14, abs=0.01)
    assert baseline("EN", "FacebookAI/roberta-large@abc", 17) == baseline("en", "roberta-large", 17)
    package = pytest.importorskip("bert_score", reason="the peer")
    root = Path(package.__file__).parent / "rescale_baseline"
    files = list(root.rglob("*.tsv"))
    for path in files:
        lang, *model = path.relative_to(root).with_suffix("").parts
        name = path.relative_to(root / lang).as_posix().removesuffix(".tsv")
        assert model
        with path.open() as stream:
            for at, row in enumerate(csv.DictReader(stream)):
                found = baseline(lang, name, at)
                assert (found.p, found.r, found.f) == tuple(float(row[key]) for key in "PRF")
    assert len(files) > 50


def test_the_recommended_layers_are_the_published_ones() -> None:
    utils = pytest.importorskip("bert_score.utils", reason="the peer")
    assert dict(RECOMMENDED) == dict(utils.model2layers)
    assert layer_for("FacebookAI/xlm-roberta-large@c0ffee") == 17
    assert layer_for("somebody/else") is None


@pytest.mark.parametrize(("lang", "model", "layer", "said"), [
    ("xx", "roberta-large", 17, "there is one for en"),
    ("en", "somebody/else", 3, "name a file of your own"),
    ("en", "roberta-large", 99, "has the layers 0 to 24, not 99"),
    ("en", "roberta-large", -1, "has the layers 0 to 24, not -1"),
])  # fmt: skip
def test_a_missing_baseline_says_what_there_is(lang, model: str, layer: int, said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        baseline(lang, model, layer)
    assert has_baseline(lang.upper(), model) == ("layers" in said)


@pytest.mark.parametrize(("text", "said"), [
    ("P,R,F\n1,2,3\n", "line 1 must be LAYER,P,R,F"), ("LAYER,P,R,F\n0,a,b,c\n", "line 2"),
    ("LAYER,P,R,F\n2,0.1,nan,0.1\n", "line 2: a baseline lies below 1"),
    ("LAYER,P,R,F\n0,0.1,0.1,0.1\n \n2,0.1,0.1,1\n", "line 4: a baseline lies below 1"),
    ("LAYER,P,R,F\n1,0.1,0.1,0.1\n", "has no baseline for the layer 2"), ("", "line 1 must be"),
])  # fmt: skip
def test_a_faulty_file_of_baselines_says_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("LAYER,P,R,F\n1,0.2,0.2,0.2\n2,0.1,0.2,0.3\n3,0.4,0.4,0.4\n")
    rescaled = baseline("en", "x", 2, str(path)).rescaled(0.55, 0.2, -0.4)
    assert rescaled == pytest.approx((0.5, 0.0, -1.0))
    path.write_text(text)
    with pytest.raises(Unavailable, match=said):
        baseline("en", "x", 2, str(path))
    with pytest.raises(Unavailable, match="cannot be read"):
        baseline("en", "x", 2, str(tmp_path / "absent.tsv"))
