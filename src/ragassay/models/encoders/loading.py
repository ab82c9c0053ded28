"""Loading a model from a folder, complete and without messages of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import first_line
from ragassay.models.device import out_of_memory
from ragassay.models.weights.weight_files import CONFIG, WEIGHT_FILES, Unavailable, Unusable

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_UNUSED = ("pooler.", "lm_head.", "cls.", "classifier.")
"""Parts above the last layer, which are not used: the file may lack them."""

_POINTER = b"version https://git-lfs"


def load_encoder(folder: Path, dtype: torch.dtype, layers: int | None = None) -> Any:
    """An encoder with all its weights; a missing weight would be a random number."""
    from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding

    with quietly():
        with _readable(folder / CONFIG):
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            if layers is not None:
                _cut(config, layers, folder)
            kind = AutoModelForTextEncoding if "t5" in config.model_type else AutoModel
        with _readable(_weights_in(folder)):
            model, report = kind.from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are reported below
                local_files_only=True,
            )
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
            f".{one}." in f".{name}." for one in in_single
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
    """Turns any error of the library about a file into one sentence that names the file: each
    format fails in its own way."""
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
        raise Unusable(f"{prefix}{place} cannot be read ({_why(place, error)}){advice}") from error


def _weights_in(folder: Path) -> Path:
    """The file of the folder's weights, or their index, that the library takes."""
    return next((folder / name for name in WEIGHT_FILES if (folder / name).is_file()), folder)


def _why(place: Path, error: Exception) -> str:
    """What is wrong with a file, in a few words."""
    if place.is_file():
        with place.open("rb") as stream:
            begin = stream.read(len(_POINTER))
        if begin == _POINTER:
            return "it is a pointer of Git LFS, and not the file itself"
        if not begin:
            return "it is empty"
    if isinstance(error, UnpicklingError):  # its own message advises to run code from the file
        return "it is damaged, or holds other things than weights"
    return first_line(error).rstrip(".")


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
