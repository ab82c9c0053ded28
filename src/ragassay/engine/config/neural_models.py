"""The options that say where neural models are, and how they run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, field_validator

from ragassay.base.errors import UsageError
from ragassay.engine.config.option import EMPTY, MODEL_CONFIG, Option
from ragassay.models.device import check_device


class NeuralModels(BaseModel):
    """Models on this machine, and what turns texts into vectors."""

    model_config = MODEL_CONFIG

    models: Annotated[
        dict[str, str],
        EMPTY,
        Option(
            flags=("--model",),
            form="NAME=FOLDER",
            example="xlm-roberta-large=models",
            page="models.md",
        ),
    ] = Field(default_factory=dict)
    """A local folder for a neural model, by its name ('ragassay models' lists which there are, and
    where they are)."""
    device: Annotated[str | None, Option(default="auto: a CUDA GPU where there is one")] = None
    """Where models run: auto, cpu, cuda, cuda:1, mps."""
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None, Option(default="float32")
    ] = None
    """Precision of models."""
    batch_size: Annotated[int | None, Option(default="by their length")] = Field(None, ge=1)
    """Texts that go through a model at a time."""
    embedder: Annotated[
        str | None, Option(default="sentence-transformers/all-MiniLM-L6-v2", page="embeddings.md")
    ] = None
    """What turns texts into vectors, for cosines: a FOLDER, a model on this machine,
    openai:text-embedding-3-small, or a base URL with #MODEL."""
    embedder_prefix: Annotated[str | None, Option(default="the folder's own prompt")] = None
    """What goes before each embedded text, where a model wants it: 'query: '."""
    embedder_dimensions: Annotated[int | None, Option(default="the model's own")] = Field(
        None, ge=1
    )
    """Components of an endpoint's vectors, where its model lets one choose."""
    embedder_key_file: Annotated[
        str | None, Option(path="read", default="the provider's environment variable")
    ] = None
    """File that holds the key of the embedder's endpoint."""

    @field_validator("device")
    @classmethod
    def _device(cls, name: str | None) -> str | None:
        try:
            return name if name is None else check_device(name)
        except UsageError as error:
            raise ValueError(str(error)) from error
