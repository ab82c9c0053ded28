"""The consistency evaluator of Open RAG Eval's configurations: the suite ``consistency``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from ragassay.base.errors import UsageError
from ragassay.base.yaml_files import Place
from ragassay.engine.config.config_file import ConfigFile
from ragassay.engine.config.config_paths import found_from
from ragassay.engine.open_rag_eval_config.published_judge import Cutoff, EvaluatorEntry, Keys
from ragassay.metrics.core import naming
from ragassay.models.encoders.baselines import has_baseline
from ragassay.models.weights.weight_files import is_path, no_folder


class ConsistencyOptions(Keys):
    """``options`` of the consistency evaluator."""

    metrics: Annotated[list[Any], Field(min_length=1)] | None = None


class BertOptions(Keys):
    """``bert_score`` of the consistency evaluator, with the page's defaults."""

    model_type: str = "xlm-roberta-large"
    lang: str = "en"
    rescale_with_baseline: bool = True
    max_length: Cutoff | None = None
    layer: Annotated[int, Field(ge=0)] | None = None

    @property
    def rescaled(self) -> bool:
        """Whether scores are rescaled: by default as on the page, and if there is a baseline."""
        return self.rescale_with_baseline and has_baseline(self.lang, self.model_type)

    @property
    def metrics(self) -> list[str]:
        """Our name of the metric: the page has F1 alone."""
        scale = f"lang={self.lang}" if self.rescaled else "rescale=false"
        layer = "" if self.layer is None else f"layer={self.layer},"
        return [f"runs_bertscore(model={self.model_type},{layer}{scale}).f"]


class RougeOptions(Keys):
    """``rouge_score`` of the consistency evaluator: it has no options."""

    @property
    def metrics(self) -> list[str]:
        """Our names of the metrics: precision, recall and F of each variant, and the tool's own
        ROUGE-L."""
        parts = [f"runs_rouge{variant}.{part}" for variant in "12L" for part in "fpr"]
        return [*parts, "runs_rouge_ore.f"]


class Similarities(Keys):
    """An entry of the consistency evaluator's list: a name, or names with their options."""

    bert_score: BertOptions | None = None
    rouge_score: RougeOptions | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, entry: Any) -> Any:
        by_name = {entry: None} if isinstance(entry, str) else entry
        if not isinstance(by_name, dict) or not by_name:
            raise ValueError("is no metric. Write 'bert_score: {}' or 'rouge_score: {}'")
        for name, options in by_name.items():
            if not isinstance(options, dict | None):
                raise ValueError(f"{name} is not a mapping of keys. Write '{name}: {{}}'")
        return {name: options or {} for name, options in by_name.items()}


def translate_consistency(file: ConfigFile, one: EvaluatorEntry, place: Place) -> None:
    """Translates a consistency evaluator: the metrics that it lists. Where it lists none, the suite
    has all.

    Args:
        file: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an unknown key or metric, or an impossible value.
    """
    if one.model is not None:
        file.note((*place, "model"), "is not asked: this evaluator needs no judge.")
    options = file.validated(ConsistencyOptions, one.options, (*place, "options"))
    if options.metrics is None:
        return
    where = (*place, "options", "metrics")
    places: dict[str, Place] = {}
    for at, entry in enumerate(options.metrics):
        similarities = file.validated(Similarities, entry, (*where, str(at)))
        for name in [entry] if isinstance(entry, str) else entry:
            here = (*where, str(at), *([] if isinstance(entry, str) else [name]))
            for metric in _metrics(file, getattr(similarities, name), here):
                places.setdefault(metric, here)
    file.put("consistency_metrics", list(places), where, *places.values())


def _metrics(file: ConfigFile, chosen: BertOptions | RougeOptions, place: Place) -> list[str]:
    """The metrics that an entry of the evaluator's list stands for."""
    if isinstance(chosen, BertOptions):
        folder = found_from(file.path.parent, chosen.model_type)
        if is_path(chosen.model_type) and not folder.is_dir():
            raise file.wrong((*place, "model_type"), no_folder(chosen.model_type))
        if folder.is_dir():
            chosen = chosen.model_copy(update={"model_type": str(folder)})
        if chosen.rescale_with_baseline and not chosen.rescaled:
            file.note(
                place,
                f"is not rescaled: there is no baseline for this model and lang {chosen.lang}.",
            )
        if chosen.max_length is not None:
            file.note(
                (*place, "max_length"),
                "is not used: as much is read as the model takes, and a score says where that was "
                "not all.",
            )
    try:
        return [str(naming.parse(metric)) for metric in chosen.metrics]
    except UsageError as error:
        raise file.wrong(place, str(error)) from error
