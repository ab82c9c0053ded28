"""What bert-score 0.3.13 publishes of its models: the layer whose scores agree best with people's
judgments (WMT16), and baselines, which are what random pairs of sentences score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import Path

from ragassay.base.problem_words import system_problem
from ragassay.models.weights.weight_files import Unusable, Weights

_HEADER = ["LAYER", "P", "R", "F"]


def _table(name: str) -> list[str]:
    lines = files("ragassay.models").joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def layer_for(model: str) -> int | None:
    """The recommended layer (0: the embeddings' own) of a model by its name on the hub, with or
    without a commit; ``None`` where none is recommended."""
    return RECOMMENDED.get(listed_name(model))


def listed_name(model: str) -> str:
    """bert-score's name of a model: without its commit, and without the owner that the hub has
    since put before names such as ``roberta-large``."""
    name = Weights.parse(model).name
    maker, _, rest = name.partition("/")
    return rest if maker in _MAKERS else name


_MAKERS = frozenset({"FacebookAI", "albert", "distilbert", "google-bert", "google-t5", "xlnet"})

RECOMMENDED: Mapping[str, int] = {
    model: int(layer) for line in _table("layers.tsv") for model, layer in [line.split("\t")]
}
"""The layer by bert-score's name of the model."""


@dataclass(frozen=True)
class Baseline:
    """What random pairs of sentences score: precision, recall and F."""

    p: float
    r: float
    f: float

    def rescaled(self, p: float, r: float, f: float) -> tuple[float, float, float]:
        """Precision, recall and F rescaled so that the baseline becomes 0 and 1 stays 1. The lower
        bound depends on the model: a cosine of -1 may become -3 or less."""
        rescaled = (
            (x - b) / (1 - b) for x, b in zip((p, r, f), (self.p, self.r, self.f), strict=True)
        )
        return tuple(rescaled)  # type: ignore[return-value]


def baseline(lang: str, model: str, layer: int, file: str = "") -> Baseline:
    """The baseline of a language (``en``, ``zh``, ``en-sci`` ...), model and layer; of a local
    ``file`` in bert-score's form (``LAYER,P,R,F``, one line a layer) in place of the bundled
    numbers. An `Unusable` says what there is where there is none."""
    if file:
        return _from_file(Path(file), layer)
    name = listed_name(model)
    layers = _bundled().get((lang.casefold(), name))
    if layers is None:
        others = sorted(other for other, its_model in _bundled() if its_model == name)
        hint = f"there is one for {', '.join(others)}; " if others else ""
        raise Unusable(
            f"no baseline is known for the model {name} and the language {lang} ({hint}name a "
            "file of your own, as in baseline=FILE, or say rescale=false)"
        )
    if not 0 <= layer < len(layers):
        raise Unusable(
            f"the baseline of {name} for {lang} has the layers 0 to {len(layers) - 1}, not {layer}"
        )
    return layers[layer]


def has_baseline(lang: str, model: str) -> bool:
    """Whether a baseline of a language and model is bundled."""
    return (lang.casefold(), listed_name(model)) in _bundled()


@cache
def _bundled() -> Mapping[tuple[str, str], tuple[Baseline, ...]]:
    baselines = {}
    for line in _table("baselines.tsv"):
        lang, model, *layers = line.split("\t")
        baselines[lang, model] = tuple(Baseline(*map(float, cell.split(","))) for cell in layers)
    return baselines


def _from_file(path: Path, layer: int) -> Baseline:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(
            f"the file of baselines {path} cannot be read: {system_problem(error)}"
        ) from error
    if not lines or lines[0].strip().split(",") != _HEADER:
        raise Unusable(f"{path} is no file of baselines: line 1 must be {','.join(_HEADER)}")
    for n, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            its_layer, p, r, f = map(float, line.split(","))
        except ValueError:
            raise Unusable(f"{path}, line {n}: four numbers are needed, not {line!r}") from None
        if its_layer == layer:
            if not all(isfinite(value) and value < 1 for value in (p, r, f)):
                raise Unusable(f"{path}, line {n}: a baseline lies below 1, unlike {line!r}")
            return Baseline(p, r, f)
    raise Unusable(f"{path} has no baseline for the layer {layer}")
