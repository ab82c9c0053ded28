"""BERTScore (Zhang et al. 2020): each token is matched with the most similar one of the other text.
The values are those of bert-score 0.3.13 for one pair at a time; in its batches padding counts as a
token of similarity 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragassay.base.errors import system_problem
from ragassay.models.device import Batches
from ragassay.models.encoders.encoder import Encoder, Tokens
from ragassay.models.weights.weight_files import Unusable, Weights

if TYPE_CHECKING:
    import torch


Pair = tuple[str, str]  # a candidate and a reference
_PIECE = 1_024


class TokenMatch(NamedTuple):
    """How similar two texts are: precision and recall from -1 to 1, and F (0 where it has no value;
    anywhere where the two differ in sign, as with untrained models). ``cut``: whether candidate and
    reference were too long for the model; ``empty``: one of the two has no tokens, then all values
    are 0, as in bert-score."""

    p: float
    r: float
    f: float
    cut: tuple[bool, bool] = (False, False)
    empty: bool = False


@dataclass(frozen=True)
class Idf:
    """The weight of a token: the log of how seldom it occurs in a run's ``n`` references."""

    n: int
    counts: Counter[int]

    @classmethod
    def of(cls, encoder: Encoder, references: Iterable[str]) -> Idf:
        """Counts the references that hold each token; a repeated reference counts each time."""
        n, counts = 0, Counter[int]()
        texts = iter(references)
        while piece := list(islice(texts, _PIECE)):
            n += len(piece)
            for row in encoder.tokens(piece):
                counts.update(set(row.ids.tolist()))
        return cls(n, counts)

    def weights(self, row: Tokens) -> np.ndarray:
        """The weight of each token, shape (n,); a token that no reference holds has the largest."""
        tokens = row.ids.tolist()
        return np.array(
            [log((self.n + 1) / (self.counts[token] + 1)) for token in tokens], np.float32
        )


class WordVectors:
    """An encoder in which each word (split at white space) has one vector, whatever is around it.
    It needs no torch, and reads texts of any length."""

    longest: int | None = None

    def __init__(self, table: Mapping[str, Sequence[float]]) -> None:
        self._table = {word: np.array(row) / np.linalg.norm(row) for word, row in table.items()}

    def match(self, candidate: str, reference: str) -> tuple[float, float, float]:
        """Precision, recall and F: each word counts with its best cosine. Or a `KeyError`."""
        cosines = self._rows(candidate) @ self._rows(reference).T
        p, r = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        return p, r, 2 * p * r / (p + r) if p + r else 0.0

    def _rows(self, text: str) -> np.ndarray:
        return np.stack([self._table[word] for word in text.split()])


def compare(
    encoder: Encoder | WordVectors, pairs: Sequence[Pair], idf: Idf | None = None
) -> list[TokenMatch | None]:
    """The BERTScore of each pair of candidate and reference, in their order; ``None`` where no
    token of one of its texts has any weight (each occurs in every reference). ``idf`` weighs tokens
    by how seldom they are. Texts that occur more than once are encoded once.

    A `MemoryError` where a single text or pair does not fit, an `Unusable` where the model cannot
    run in this precision, a `FloatingPointError` where its numbers are not finite."""
    if isinstance(encoder, WordVectors):
        return [TokenMatch(*encoder.match(*pair)) for pair in pairs]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    rows = dict(zip(texts, encoder.tokens(texts), strict=True))
    matches: list[TokenMatch | None] = [None] * len(pairs)
    batches = Batches(encoder.device)
    todo = []
    for at, (candidate, reference) in enumerate(pairs):
        if rows[candidate].empty or rows[reference].empty:
            cut = (not rows[candidate].complete, not rows[reference].complete)
            matches[at] = TokenMatch(0.0, 0.0, 0.0, cut, True)
        else:
            todo.append(at)
    for group in _fitting(encoder, todo, pairs, rows):
        chosen = [(rows[pairs[at][0]], rows[pairs[at][1]]) for at in group]
        for at, match in zip(group, _matched(encoder, batches, chosen, idf), strict=True):
            matches[at] = match
    return matches


def _fitting(
    encoder: Encoder, todo: Sequence[int], pairs: Sequence[Pair], rows: dict[str, Tokens]
) -> Iterator[list[int]]:
    """Groups of one or more pairs whose vectors fit into half the cache."""
    room = encoder.cache.limit // 2
    group: list[int] = []
    texts: set[str] = set()
    size = 0
    for at in todo:
        further = set(pairs[at]) - texts
        more = sum(encoder.size(len(rows[text])) for text in further)
        if group and size + more > room:
            yield group
            group, texts, size, further = [], set(), 0, set(pairs[at])
            more = sum(encoder.size(len(rows[text])) for text in further)
        group.append(at)
        texts |= further
        size += more
    if group:
        yield group


def _matched(
    encoder: Encoder, batches: Batches, pairs: Sequence[tuple[Tokens, Tokens]], idf: Idf | None
) -> list[TokenMatch | None]:
    """The pairs' matches; pairs of similar length go together."""
    rows = list({id(row): row for pair in pairs for row in pair}.values())
    place = {id(row): at for at, row in enumerate(rows)}
    vectors = encoder.vectors(rows)
    weights = [_shares(encoder, row, idf) for row in rows]

    def forward(batch: Sequence[int]) -> list[TokenMatch | None]:
        sides = [[place[id(pairs[at][side])] for at in batch] for side in (0, 1)]
        values = _greedy(
            *(_padded(encoder, vectors, weights, side) for side in sides)  # candidates, references
        )
        matches: list[TokenMatch | None] = []
        for at, (p, r, f), value, other in zip(batch, values, *sides, strict=True):
            if not (weights[value].any() and weights[other].any()):
                matches.append(None)
                continue
            if not (isfinite(p) and isfinite(r)):
                raise FloatingPointError(encoder.overflow)  # costs the sample that has this pair
            cut = (not pairs[at][0].complete, not pairs[at][1].complete)
            matches.append(TokenMatch(p, r, f, cut))
        return matches

    return batches.run([len(tokens) + len(other) for tokens, other in pairs], forward)


class _Side(NamedTuple):
    """One side of a batch of pairs, padded: vectors (pairs, tokens, dimensions); weights and mask
    (pairs, tokens), where each row of weights sums to 1 and padding is 0 and false."""

    vectors: torch.Tensor
    weights: torch.Tensor
    mask: torch.Tensor


def _shares(encoder: Encoder, row: Tokens, idf: Idf | None) -> np.ndarray:
    """Each token's share of its text's weight; all 0 where no token has any weight."""
    if idf is None:
        weights = (~np.isin(row.ids, list(encoder.marks))).astype(np.float32)
    else:
        weights = idf.weights(row)
    total = weights.sum()
    return weights / total if total > 0 else np.zeros_like(weights)


def _padded(
    encoder: Encoder,
    vectors: Sequence[torch.Tensor],
    weights: Sequence[np.ndarray],
    places: Sequence[int],
) -> _Side:
    """Gathers texts into one tensor, by an index, so that a GPU gets few large tasks."""
    import torch

    unique = {place: at for at, place in enumerate(dict.fromkeys(places))}
    lengths = np.array([len(vectors[place]) for place in unique])
    starts = np.cumsum(lengths) - lengths
    of = np.array([unique[place] for place in places])
    step = np.arange(lengths[of].max())
    mask = step < lengths[of][:, None]
    index = np.where(mask, starts[of][:, None] + step, 0)
    share = np.concatenate([weights[place] for place in unique])
    share = np.where(mask, share[index], np.float32(0))
    device = encoder.device
    flat = torch.cat([vectors[place] for place in unique])
    rows = torch.from_numpy(index.reshape(-1)).to(device)
    return _Side(
        flat.index_select(0, rows).view(*index.shape, -1),
        torch.from_numpy(share).to(device),
        torch.from_numpy(mask).to(device),
    )


def _greedy(candidate: _Side, reference: _Side) -> list[list[float]]:
    """Precision, recall and F of each pair, in single precision as bert-score computes them."""
    import torch

    with torch.inference_mode():
        similarities = torch.bmm(candidate.vectors, reference.vectors.transpose(1, 2))
        p = _best(similarities, reference.mask[:, None, :], 2, candidate)
        r = _best(similarities, candidate.mask[:, :, None], 1, reference)
        f = torch.nan_to_num(2 * p * r / (p + r), nan=0.0, posinf=0.0, neginf=0.0)
        values: list[list[float]] = torch.stack([p, r, f], 1).tolist()
    return values


def _best(
    similarities: torch.Tensor, allowed: torch.Tensor, over: int, side: _Side
) -> torch.Tensor:
    """The weighted mean of each token's best match among the true tokens of the other text."""
    best = similarities.masked_fill(~allowed, -2).amax(over)
    return (best * side.weights).sum(1).clamp(-1, 1)


_HEADER = ["LAYER", "P", "R", "F"]  # of bert-score's files


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
        return (p - self.p) / (1 - self.p), (r - self.r) / (1 - self.r), (f - self.f) / (1 - self.f)


def baseline(lang: str, model: str, layer: int, file: str = "") -> Baseline:
    """The baseline of a language (``en``, ``zh``, ``en-sci`` ...), model and layer; from a local
    ``file`` in bert-score's form (``LAYER,P,R,F``, one line a layer) in place of the bundled
    numbers. An `Unusable` says what there is where there is none."""
    if file:
        return _from_file(Path(file), layer)
    name = listed_name(model)
    layers = _bundled().get((lang.casefold(), name))
    if layers is None:
        others = sorted(other for other, its_model in _bundled() if its_model == name)
        hint = f"there is one for {', '.join(others)}; " if others else ""
        hint += "name a file of your own, as in baseline=FILE, or say rescale=false"
        raise Unusable(f"no baseline is known for the model {name} and language {lang} ({hint})")
    if not 0 <= layer < len(layers):
        known = f"the layers 0 to {len(layers) - 1}"
        raise Unusable(f"the baseline of {name} for {lang} has {known}, not {layer}")
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
        problem = f"the file of baselines {path} cannot be read: {system_problem(error)}"
        raise Unusable(problem) from error
    if not lines or lines[0].strip().split(",") != _HEADER:
        raise Unusable(f"{path} is not a file of baselines: line 1 must be {','.join(_HEADER)}")
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
