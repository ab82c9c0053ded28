"""The models of Open RAG Eval's configurations as our words for judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.engine.config import model_kwargs, variable_of
from ragassay.engine.published.published_draft import Draft
from ragassay.engine.published.published_options import JudgeModel
from ragassay.errors import OptionError, did_you_mean
from ragassay.transport import OWN_KEY, aliases, providers
from ragassay.yaml_files import Place

MODELS = ("OpenAIModel", "GeminiModel", "AnthropicModel", "TogetherModel")


def translate_judge(draft: Draft, model: JudgeModel | None, usual: str, place: Place) -> None:
    """Translates the ``model`` of an evaluator into a judge, unless a flag names one.

    Besides the tool's four types, any provider's name is allowed (``openai``, ``ollama``).

    Args:
        draft: takes the judge, and the environment variable that its key is in.
        model: an evaluator's ``model``.
        usual: the published default, where it has no name.
        place: where it stands.

    Raises:
        InputError: an unknown type, a missing name, an address for a provider that has none, a key
            that is written out, or another judge than that of the evaluators before.
    """
    if model is not None:
        translate_kwargs(draft, model.model_kwargs, (*place, "model_kwargs"))
    if "judge" in draft.given or (model is None and draft.content.value.get("judge")):
        return
    if model is None:
        draft.note(
            place[:-1],
            "names no model, so ragassay's offline rules judge. Open RAG Eval's page means GPT-4o "
            f"of OpenAI: --judge openai:{usual}, or 'model: {{type: OpenAIModel, name: {usual}}}' "
            "here, with the key in OPENAI_API_KEY.",
        )
        return
    word, variables = _word(draft, model, usual, place)
    if not model.name:
        draft.note(
            place,
            f"names no model, so {word} is asked, the default of Open RAG Eval's page (its "
            "tool stops at such a file). 'name' chooses another.",
        )
    if draft.values.get("judge", [word]) != [word]:
        (other,), where = draft.values["judge"], draft.places[("judge",)]
        raise draft.wrong(
            place,
            f"{word} is to be asked here, and {other} in line {draft.content.line(where)}; a run "
            "has one judge, so nothing was evaluated",
            "Keep one of them, ask both as a panel (--judge twice), or run twice with --judge.",
        )
    draft.put("judge", [word], place)
    variable = variable_of(model.api_key, draft.content, draft.path, (*place, "api_key"))
    if variable is not None and variable not in variables:
        draft.put("key_variable", variable, (*place, "api_key"))


def translate_kwargs(draft: Draft, given: Mapping[str, Any] | None, place: Place) -> None:
    """Translates the judge's sampling parameters. Those that flags set are left out.

    Args:
        draft: takes the keys; has the file.
        given: parameters under the names that the endpoint has for them.
        place: of the parameters in the file.

    Raises:
        InputError: an unknown parameter, or an impossible value.
    """
    for name, value in (given or {}).items():
        here = (*place, str(name))
        try:
            values = model_kwargs({name: value})
        except OptionError as error:
            raise draft.wrong(here, error.problem) from error
        for key in values.keys() - {*draft.given}:
            draft.put(key, value, here)


def embedder_word(draft: Draft, model: JudgeModel, place: Place) -> str:
    """The value of our key ``embedder`` for an ``embedding_model``.

    Args:
        draft: has the file.
        model: the part of the file that names the embedder.
        place: of that part.

    Raises:
        InputError: an unknown type, a missing name, or a key that is in a variable of its own.
    """
    if not model.name:
        raise draft.wrong(place, "has no name", "Name it, as in text-embedding-3-small.")
    folded = model.type.strip().casefold().removesuffix("model").removesuffix("embedding")
    word, variables = _word(draft, model.model_copy(update={"type": folded}), "", place)
    here = (*place, "api_key")
    variable = variable_of(model.api_key, draft.content, draft.path, here)
    if variable is not None and variable not in variables:
        raise draft.wrong(
            here,
            f"an embedder's key is read from {' or '.join(variables)}",
            f"Set that variable, or keep the key in a file (embedder_key_file), not in {variable}.",
        )
    return word


def _word(draft: Draft, model: JudgeModel, usual: str, place: Place) -> tuple[str, Sequence[str]]:
    """Our word for a judge, and the environment variables that its key is looked for in anyway."""
    folded = model.type.strip().casefold().removesuffix("model")
    name = aliases().get(folded, folded)
    if name not in providers():
        raise draft.wrong(
            (*place, "type"),
            f"there is no model {model.type!r}",
            f"{did_you_mean(model.type, MODELS)} There are: {', '.join(MODELS)}.",
        )
    provider = providers()[name]
    if model.base_url:
        if provider.protocol != "openai":
            raise draft.wrong(
                (*place, "base_url"),
                "is for servers that speak OpenAI's protocol",
                f"Set the environment variable {provider.url_variable} to ask {name} elsewhere.",
            )
        if not model.name:
            raise draft.wrong(place, "has no name", "Which model of the server is to be asked?")
        return f"{model.base_url}#{model.name}", (OWN_KEY,)
    if not model.name and provider.default is None:
        raise draft.wrong(place, "has no name", f"Which model of {name} is to be asked?")
    return f"{name}:{model.name or f'{provider.default}{usual}'}", provider.keys
