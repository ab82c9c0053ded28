"""A transformer with its tokeniser, loaded from a folder: from texts to tokens, from these to their
states. Texts that are too long are cut off at the model's real maximum, and it is known which."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ragassay.base.errors import first_line
from ragassay.models.device import Batches, device_of, dtype_of, loading, out_of_memory, overflow
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import CONFIG, WEIGHT_FILES, Unavailable, Unusable

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike
    from torch import Tensor


V = TypeVar("V")


def text_key(text: str) -> bytes:
    """A key that replaces a text, so that the text need not be kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class ByteCache(Generic[V]):
    """Keeps values up to a number of bytes; the one unused for longest is dropped first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, which then counts as just used; ``None`` where it is not kept."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keeps a value of so many bytes; drops those unused for longest where there is no room."""
        if key in self._values:
            self.size -= self._values.pop(key)[1]
        if size > self.limit:
            return
        self._values[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            _, (_, freed) = self._values.popitem(last=False)
            self.size -= freed


BOUNDLESS = 1_000_000  # tokenisers that state no maximum give a number beyond all texts (1e30)

_PREFIXED = ("gpt2", "roberta")  # their first word is read as one within a sentence, after a space


class TextModel:
    """A model in a folder."""

    longest: int | None = None

    def __init__(
        self,
        options: ModelOptions,
        folder: Path,
        layers: int | None = None,
        *,
        prefixed: bool = False,
    ) -> None:
        self.device, self._dtype = device_of(options), dtype_of(options)
        with loading(self.device):
            self.model = load_encoder(folder, self._dtype, layers).to(self.device)
        prefixed = prefixed and self.model.config.model_type in _PREFIXED
        self.tokenizer = tokenizer_of(folder, **({"add_prefix_space": True} if prefixed else {}))
        self.batches = Batches(self.device, options.batch_size)

    @property
    def overflow(self) -> str:
        """The message for vectors that are not finite."""
        return overflow(self._dtype)

    def most_tokens(self, stated: int | None = None) -> int | None:
        """Most tokens of a text: what is stated, or by the tokeniser; where neither says it, the
        positions in the configuration; never more than the model has positions for."""
        most = stated or self.tokenizer.model_max_length
        limits = [int(most)] if most < BOUNDLESS else []
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        if table is not None:
            # RoBERTa and its like begin to count after the number of the padding token.
            first = 0 if table.padding_idx is None else table.padding_idx + 1
            limits.append(table.num_embeddings - first)
        elif not limits:
            limits.append(getattr(self.model.config, "max_position_embeddings", None) or 0)
        return min((limit for limit in limits if limit > 0), default=None)

    def token_ids(self, texts: Sequence[str]) -> Iterator[tuple[list[int], bool]]:
        """The tokens of each text, with the marks of its ends, and whether nothing is cut off."""
        tokenizer = self.tokenizer
        rows = tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)
        for text, row in zip(texts, rows["input_ids"], strict=True):
            complete = self.longest is None or len(row) <= self.longest
            if not complete:
                row = tokenizer(text, truncation=True, max_length=self.longest)["input_ids"]
            yield row, complete

    def states(self, rows: Sequence[ArrayLike]) -> tuple[torch.Tensor, torch.Tensor]:
        """The states of the tokens of each row in single precision, shape (rows, longest,
        dimensions), and which of them are tokens and no padding (1 or 0)."""
        import torch

        inputs = padded(rows, self.device, self.tokenizer.pad_token_id or 0)
        with torch.inference_mode():
            return self.model(**inputs)[0].float(), inputs["attention_mask"]


def padded(
    rows: Sequence[ArrayLike], device: torch.device, pad: int = 0
) -> dict[str, torch.Tensor]:
    """The arguments with which a model is called: ``input_ids`` and ``attention_mask`` (1 for a
    token, 0 for what fills up), each of shape (rows, longest)."""
    import torch

    arrays = [np.asarray(row, np.int64) for row in rows]
    shape = (len(arrays), max(map(len, arrays)))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for at, row in enumerate(arrays):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return {
        "input_ids": torch.from_numpy(ids).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
    }


_UNUSED = ("pooler.", "lm_head.", "cls.", "classifier.")  # parts above the last layer


def load_encoder(folder: Path, dtype: torch.dtype, layers: int | None = None) -> Any:
    """An encoder with all its weights; a missing one would be a random number."""
    from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding

    with quietly():
        with _readable(folder / CONFIG):
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            if layers is not None:
                _cut(config, layers, folder)
            kind = AutoModelForTextEncoding if "t5" in config.model_type else AutoModel
        weights = (folder / name for name in WEIGHT_FILES if (folder / name).is_file())
        with _readable(next(weights, folder)):
            # Sizes that do not fit are reported below.
            strict = {"output_loading_info": True, "ignore_mismatched_sizes": True}
            strict["local_files_only"] = True
            model, report = kind.from_pretrained(folder, config=config, dtype=dtype, **strict)
    absent = sorted(key for key in report["missing_keys"] if not key.startswith(_UNUSED))
    absent += sorted(key for key, *_ in report["mismatched_keys"] if not key.startswith(_UNUSED))
    if absent:
        raise Unusable(
            f"the weights in {folder} do not fit the model that its config.json describes "
            f"({len(absent)} missing or of another shape, such as {absent[0]}); a vector would be "
            "random numbers, so fetch the model again ('ragassay models fetch NAME')"
        )
    _one_precision(model, dtype)
    return (model.get_encoder() if config.is_encoder_decoder else model).eval()


def _one_precision(model: Any, dtype: torch.dtype) -> None:
    """Converts all numbers to one precision: some classes make a few in single precision whatever
    is asked (DeBERTa's biases), and then cannot multiply them by others. Those that the library
    keeps in single on purpose, because they overflow otherwise, stay so."""
    import torch

    in_single = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    if dtype == torch.float16:
        in_single |= set(getattr(model, "_keep_in_fp32_modules", None) or ())
    for name, parameter in model.named_parameters():
        if parameter.is_floating_point() and not any(
            f".{value}." in f".{name}." for value in in_single
        ):
            parameter.data = parameter.data.to(dtype)


def _cut(config: Any, layers: int, folder: Path) -> None:
    n = int(config.num_hidden_layers)
    if not 0 <= layers <= n:
        raise Unusable(f"the model in {folder} has the layers 0 to {n}, not {layers}")
    config.num_hidden_layers = layers
    for each in ("layer_types", "attention_window"):  # one entry a layer
        if isinstance(getattr(config, each, None), list):
            setattr(config, each, getattr(config, each)[:layers])


def tokenizer_of(folder: Path, **options: bool) -> Any:
    """The folder's tokeniser, or an `Unavailable`."""
    from transformers import AutoTokenizer

    with quietly(), _readable(folder, "the tokeniser in "):
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, **options)


@contextmanager
def _readable(place: Path, prefix: str = "") -> Iterator[None]:
    """Turns any error of the library about a file into one sentence that names the file."""
    try:
        yield
    except Unavailable:
        raise
    except ImportError as error:
        raise Unavailable(f"{prefix}{place} needs another package: {first_line(error)}") from error
    except Exception as error:
        if out_of_memory(error):
            raise
        # A plain ValueError is a refusal (a kind that it does not know, a torch that is too old).
        damaged = type(error) is not ValueError
        advice = ": copy or fetch it again ('ragassay models fetch NAME')" if damaged else ""
        why = first_line(error).rstrip(".")
        if isinstance(error, UnpicklingError):  # its own message advises to run code from the file
            why = "it is damaged, or does not hold weights"
        raise Unusable(f"{prefix}{place} cannot be read ({why}){advice}") from error


@contextmanager
def quietly() -> Iterator[None]:
    """Silences transformers' progress bars and reports, which are not for the users of a metric."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def tensors_of(folder: Path) -> dict[str, Tensor]:
    """All tensors of a model's folder by name, on the processor."""
    from safetensors.torch import load_file

    path = folder / WEIGHT_FILES[0]
    if not path.is_file():
        raise Unusable(f"{folder} holds no weights as safetensors ({path.name})")
    with _readable(path):
        return dict(load_file(path))
