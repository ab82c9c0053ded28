"""The models of Open RAG Eval's configurations as our words for judges and embedders; its
golden-answer evaluator, the suite ``golden``, has nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ragassay import suites
from ragassay.base.errors import did_you_mean
from ragassay.base.yaml_files import Place
from ragassay.engine.config.config_file import ConfigFile
from ragassay.engine.config.environment import variable_of
from ragassay.transport.providers import OWN_KEY, aliases, providers

Cutoff = Annotated[int, Field(ge=1)]


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


MODELS = ("OpenAIModel", "GeminiModel", "AnthropicModel", "TogetherModel")


def translate_judge(file: ConfigFile, model: JudgeModel | None, usual: str, place: Place) -> None:
    """Translates the ``model`` of an evaluator into a judge, unless a flag names one.

    Besides the tool's four types, any provider's name is allowed (``openai``, ``ollama``).

    Args:
        file: takes the judge, and the environment variable that its key is in.
        model: an evaluator's ``model``.
        usual: the published default, where it has no name.
        place: of the model in the file.

    Raises:
        InputError: an unknown type, a missing name, an address for a provider that has none, a key
            that is written out, or another judge than that of the evaluators before.
    """
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
    if not model.name:
        file.note(
            place,
            f"names no model, so {word} is asked, the default of Open RAG Eval's page (its "
            "tool stops at such a file). 'name' chooses another.",
        )
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


def translate_golden(file: ConfigFile, one: EvaluatorEntry, place: Place) -> None:
    """Translates a golden-answer evaluator: its judge and its embedder.

    Args:
        file: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an option (it has none), or an impossible model.
    """
    translate_judge(file, one.model, suites.get("golden").default_model, (*place, "model"))
    for key in one.options or {}:
        raise file.wrong((*place, "options", key), "is not a key that is known", "It has none.")
    where = (*place, "embedding_model")
    if "embedder" in file.flags:
        return
    if one.embedding_model is None:
        file.note(
            place,
            "names no embedding_model, so the semantic similarity is unscored; --embedder names "
            "one.",
        )
        return
    model = file.validated(JudgeModel, one.embedding_model, where)
    file.put("embedder", _embedder(file, model, where), where)


def _embedder(file: ConfigFile, model: JudgeModel, place: Place) -> str:
    """The value of our key ``embedder`` for an ``embedding_model``.

    Args:
        file: has the file.
        model: the part of the file that names the embedder.
        place: of that part.

    Raises:
        InputError: an unknown type, a missing name, or a key that is in a variable of its own.
    """
    if not model.name:
        raise file.wrong(place, "has no name", "Name it, as in text-embedding-3-small.")
    folded = model.type.strip().casefold().removesuffix("model").removesuffix("embedding")
    word, variables = judge_word(file, model.model_copy(update={"type": folded}), "", place)
    here = (*place, "api_key")
    variable = variable_of(model.api_key, file.content, here)
    if variable is not None and variable not in variables:
        raise file.wrong(
            here,
            f"an embedder's key is read from {' or '.join(variables)}",
            f"Set that variable, or keep the key in a file (embedder_key_file), not in {variable}.",
        )
    return word


def judge_word(
    file: ConfigFile, model: JudgeModel, usual: str, place: Place
) -> tuple[str, Sequence[str]]:
    """Our word for a judge, and the environment variables that its key is read from by default.

    Args:
        file: has the place.
        model: as the file has it.
        usual: the model where it has no name.
        place: of the model.

    Raises:
        InputError: an unknown type, a missing name, an address for a provider that has none.
    """
    folded = model.type.strip().casefold().removesuffix("model")
    name = aliases().get(folded, folded)
    if name not in providers():
        raise file.wrong(
            (*place, "type"),
            f"there is no model {model.type!r}",
            f"{did_you_mean(model.type, MODELS)} There are: {', '.join(MODELS)}.",
        )
    provider = providers()[name]
    if model.base_url:
        if provider.protocol != "openai":
            raise file.wrong(
                (*place, "base_url"),
                "is for servers that speak OpenAI's protocol",
                f"Set the environment variable {provider.url_variable} to ask {name} elsewhere.",
            )
        if not model.name:
            raise file.wrong(place, "has no name", "Which model of the server is to be asked?")
        return f"{model.base_url}#{model.name}", (OWN_KEY,)
    if not model.name and provider.default is None:
        raise file.wrong(place, "has no name", f"Which model of {name} is to be asked?")
    return f"{name}:{model.name or f'{provider.default}{usual}'}", provider.keys
