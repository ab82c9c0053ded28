"""The evaluators of Open RAG Eval's configurations, each as keys of a `RunConfig`: what
`translate_trec` (the suite ``trecrag``), `translate_consistency` and `translate_golden` put into a
file, and their models, which are our words for judges and embedders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ragassay import suites
from ragassay.base.errors import UsageError, meant_or_all
from ragassay.base.yaml_files import Place
from ragassay.engine.config.config_paths import found_from
from ragassay.engine.run.config_reading import ConfigFile, variable_of
from ragassay.metrics.core import naming
from ragassay.models.classifiers.hhem import HHEM
from ragassay.models.encoders.token_matching import has_baseline
from ragassay.models.weights.weight_files import is_path, no_folder
from ragassay.transport.providers_and_prices import OWN_KEY, aliases, providers

Cutoff = Annotated[int, Field(ge=1)]

_MODELS = ("OpenAIModel", "GeminiModel", "AnthropicModel", "TogetherModel")


class Keys(BaseModel):
    """Keys of Open RAG Eval's configurations."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class JudgeModel(Keys):
    """``model``: the judge."""

    type: str
    name: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    model_kwargs: dict[str, Any] | None = None


class EvaluatorEntry(Keys):
    """An entry of ``evaluator``. The page calls it by ``name``, the tool by ``type``."""

    name: str | None = None
    type: str | None = None
    model: JudgeModel | None = None
    embedding_model: Any = None
    options: dict[str, Any] | None = None


# Judges and embedders


def _translate_judge(file: ConfigFile, model: JudgeModel | None, suite: str, place: Place) -> None:
    """Translates the ``model`` of an evaluator into a judge, unless a flag names one. Besides the
    tool's four types, any provider's name is allowed (``openai``, ``ollama``)."""
    usual = suites.get(suite).default_model
    if model is not None:
        file.sample(model.model_kwargs, (*place, "model_kwargs"))
    if "judge" in file.flags or (model is None and file.content.value.get("judge")):
        return
    if model is None:
        file.note(
            place[:-1],
            "names no model, so ragassay's offline rules judge. Open RAG Eval's page means GPT-4o "
            f"of OpenAI: --judge openai:{usual}, or 'model: {{type: OpenAIModel, name: {usual}}}' "
            "here, with the key in OPENAI_API_KEY.",
        )
        return
    word, variables = judge_word(file, model, usual, place)
    if file.values.get("judge", [word]) != [word]:
        (other,), where = file.values["judge"], file.places[("judge",)]
        raise file.wrong(
            place,
            f"{word} is to be asked here, and {other} in line {file.content.line(where)}; a run "
            "has one judge, so nothing was evaluated",
            "Keep one of them, ask both as a panel (--judge twice), or run twice with --judge.",
        )
    file.put("judge", [word], place)
    variable = variable_of(model.api_key, file.content, (*place, "api_key"))
    if variable is not None and variable not in variables:
        file.put("key_variable", variable, (*place, "api_key"))


def translate_golden(file: ConfigFile, entry: EvaluatorEntry, place: Place) -> None:
    """A golden-answer evaluator: its judge and its embedder; it has no options."""
    _translate_judge(file, entry.model, "golden", (*place, "model"))
    for key in entry.options or {}:
        raise file.wrong((*place, "options", key), "is not a known key", "It has none.")
    if "embedder" in file.flags or entry.embedding_model is None:
        return
    where = (*place, "embedding_model")
    model = file.validated(JudgeModel, entry.embedding_model, where)
    if not model.name:
        raise file.wrong(where, "has no name", "Name it, as in text-embedding-3-small.")
    folded = model.type.strip().casefold().removesuffix("model").removesuffix("embedding")
    word, variables = judge_word(file, model.model_copy(update={"type": folded}), "", where)
    here = (*where, "api_key")
    variable = variable_of(model.api_key, file.content, here)
    if variable is not None and variable not in variables:
        hint = (
            f"Set that variable, or keep the key in a file (embedder_key_file), not in {variable}."
        )
        raise file.wrong(here, f"an embedder's key is read from {' or '.join(variables)}", hint)
    file.put("embedder", word, where)


def judge_word(
    file: ConfigFile, model: JudgeModel, usual: str, place: Place
) -> tuple[str, Sequence[str]]:
    """Our word for a judge, and the environment variables that its key is read from by default."""
    folded = model.type.strip().casefold().removesuffix("model")
    name = aliases().get(folded, folded)
    if name not in providers():
        hint = meant_or_all(model.type, _MODELS)
        raise file.wrong((*place, "type"), f"there is no model {model.type!r}", hint)
    provider = providers()[name]
    if model.base_url:
        if provider.protocol != "openai":
            hint = f"Set the environment variable {provider.url_variable} to ask {name} elsewhere."
            problem = "is for servers that speak OpenAI's protocol"
            raise file.wrong((*place, "base_url"), problem, hint)
        if not model.name:
            raise file.wrong(place, "has no name", "Which model of the server is to be asked?")
        return f"{model.base_url}#{model.name}", (OWN_KEY,)
    if not model.name and provider.default is None:
        raise file.wrong(place, "has no name", f"Which model of {name} is to be asked?")
    return f"{name}:{model.name or f'{provider.default}{usual}'}", provider.keys


# The TREC evaluator


class _Hallucination(Keys):
    """``hallucination_metric`` of the TREC evaluator."""

    backend_type: str | None = None
    model_name: str | Path | None = None
    detection_threshold: float | None = None
    max_chars: Cutoff | None = None
    api_key: str | None = None
    base_url: str | None = None


class _TrecOptions(Keys):
    """``options`` of the TREC evaluator."""

    k_values: Annotated[list[Cutoff], Field(min_length=1)] | None = None
    run_consistency: bool | None = None
    metrics_to_run_consistency: list[str] | None = None
    hallucination_metric: _Hallucination | None = None
    model_kwargs: dict[str, Any] | None = None


def translate_trec(file: ConfigFile, entry: EvaluatorEntry, place: Place) -> None:
    """A TREC evaluator: judge, cut-offs, parameters, and the metrics that are compared over
    repeated runs."""
    _translate_judge(file, entry.model, "trecrag", (*place, "model"))
    body, place = entry.options or {}, (*place, "options")
    parameters = naming.parameters(*suites.get("trecrag").resolve())
    fields: dict[str, Any] = dict.fromkeys(parameters, (Any, None))
    form = create_model("Options", __base__=_TrecOptions, **fields)
    options = file.validated(form, body, place)
    file.sample(options.model_kwargs, (*place, "model_kwargs"))
    if options.k_values is not None:
        file.put("ks", options.k_values, (*place, "k_values"))
    for key, value in body.items():
        if key in parameters:
            file.option(key, value, (*place, key))
    if options.hallucination_metric is not None:
        _hallucination(file, options.hallucination_metric, (*place, "hallucination_metric"))
    _repeats(file, options, place)


def _hallucination(file: ConfigFile, metric: _Hallucination, place: Place) -> None:
    if metric.backend_type not in (None, "hhem"):
        problem = f"there is no backend {metric.backend_type!r} here"
        raise file.wrong((*place, "backend_type"), problem, "Write hhem, which runs here.")
    if metric.model_name not in (None, HHEM.name):
        folder = found_from(file.path.parent, str(metric.model_name))
        if not folder.is_dir():
            problem = f"{metric.model_name!r} is neither {HHEM.name} nor a folder that holds it"
            raise file.wrong((*place, "model_name"), problem)
        file.put("models", {HHEM.name: str(folder)}, (*place, "model_name"))
    if metric.max_chars is not None:
        file.option("max_chars", metric.max_chars, (*place, "max_chars"))


def _repeats(file: ConfigFile, options: _TrecOptions, place: Place) -> None:
    """Translates the metrics that are compared over repeated runs."""
    where = (*place, "metrics_to_run_consistency")
    places: dict[str, Place] = {}
    for at, name in enumerate(options.metrics_to_run_consistency or []):
        here = (*where, str(at))
        try:
            metrics = suites.get("trecrag").resolve([name])
        except UsageError as error:
            raise file.wrong(here, str(error)) from error
        places |= dict.fromkeys(map(str, metrics), here)
    wanted = options.run_consistency
    if wanted is None:  # as in the tool
        wanted = bool(places)
    if not wanted:
        if places:
            file.note(where, "is not looked at, because run_consistency is not true.")
        file.put("first_runs", True, (*place, "run_consistency"))
        return
    file.add_suite("consistency", (*place, "run_consistency"))
    if places:
        file.put("consistency_of", list(places), where, *places.values())


# The consistency evaluator


class _ConsistencyOptions(Keys):
    """``options`` of the consistency evaluator."""

    metrics: Annotated[list[Any], Field(min_length=1)] | None = None


class _BertOptions(Keys):
    """``bert_score`` of the consistency evaluator, with the page's defaults."""

    model_type: str = "xlm-roberta-large"
    lang: str = "en"
    rescale_with_baseline: bool = True
    max_length: Cutoff | None = None
    layer: Annotated[int, Field(ge=0)] | None = None


class Similarities(Keys):
    """An entry of the consistency evaluator's list: a name, or names with their options."""

    bert_score: _BertOptions | None = None
    rouge_score: Keys | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, entry: Any) -> Any:
        by_name = {entry: None} if isinstance(entry, str) else entry
        if not isinstance(by_name, dict) or not by_name:
            raise ValueError("is not a metric. Write 'bert_score: {}' or 'rouge_score: {}'")
        for name, options in by_name.items():
            if not isinstance(options, dict | None):
                raise ValueError(f"{name} is not a mapping of keys. Write '{name}: {{}}'")
        return {name: options or {} for name, options in by_name.items()}


_ROUGE = (
    *(f"runs_rouge{variant}.{part}" for variant in "12L" for part in "fpr"),
    "runs_rouge_ore.f",
)
"""What ``rouge_score`` means: precision, recall and F of each variant, and the tool's own
ROUGE-L."""


def translate_consistency(file: ConfigFile, evaluator_entry: EvaluatorEntry, place: Place) -> None:
    """A consistency evaluator: the metrics that it lists, or else all of the suite."""
    options = file.validated(_ConsistencyOptions, evaluator_entry.options, (*place, "options"))
    if options.metrics is None:
        return
    where = (*place, "options", "metrics")
    places: dict[str, Place] = {}
    for at, entry in enumerate(options.metrics):
        similarities = file.validated(Similarities, entry, (*where, str(at)))
        for name in [entry] if isinstance(entry, str) else entry:
            here = (*where, str(at), *([] if isinstance(entry, str) else [name]))
            chosen = getattr(similarities, name)
            names = [_bert_score(file, chosen, here)] if name == "bert_score" else _ROUGE
            try:
                metrics = [str(naming.parse(metric)) for metric in names]
            except UsageError as error:
                raise file.wrong(here, str(error)) from error
            for metric in metrics:
                places.setdefault(metric, here)
    file.put("consistency_metrics", list(places), where, *places.values())


def _bert_score(file: ConfigFile, chosen: _BertOptions, place: Place) -> str:
    """Our name for BERTScore with these options; the page has F1 alone."""
    folder = found_from(file.path.parent, chosen.model_type)
    if is_path(chosen.model_type) and not folder.is_dir():
        raise file.wrong((*place, "model_type"), no_folder(chosen.model_type))
    model = str(folder) if folder.is_dir() else chosen.model_type
    rescaled = chosen.rescale_with_baseline and has_baseline(chosen.lang, model)
    if chosen.rescale_with_baseline and not rescaled:
        file.note(
            place, f"is not rescaled: there is no baseline for this model and lang {chosen.lang}."
        )
    scale = f"lang={chosen.lang}" if rescaled else "rescale=false"
    layer = "" if chosen.layer is None else f"layer={chosen.layer},"
    return f"runs_bertscore(model={model},{layer}{scale}).f"
