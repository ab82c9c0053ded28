"""Results of promptfoo: JSON, or JSON Lines with a result a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records import aliases
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.option_words import OptionWords
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import retrieved
from ragassay.formats.sources import json_files
from ragassay.formats.sources.opening import shaped
from ragassay.formats.traces import served

_EXPECTED = frozenset(
    {"equals", "icontains", "contains", "factuality", "similar", "context-recall"}
    | {"model-graded-factuality", "answer-correctness"}
)
"""Assertions whose value is the answer that is expected."""


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """A sample for each result: a test, asked of a provider with a prompt.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a result cannot be read.
    """
    seen: dict[tuple[Any, ...], int] = {}
    number = 0
    for line, outer in json_files.json_records(path, encoding=mapper.encoding):
        results = _results(outer)
        if results is None:
            raise InputError(
                "there is no list of results",
                path=path,
                line=line,
                field="results",
                hint="Write them with promptfoo eval --output results.json.",
            )
        prompts = _prompts(results)
        for one in results:
            number += 1
            where = number if len(results) > 1 else line
            if not isinstance(one, dict):
                raise InputError("the result is no object", path=path, line=where)
            with shaped("promptfoo", path, where):
                record = _record(one, prompts, mapper)
                # In the record a response would be an answer, and the answer the reference.
                around = {"vars": _variables(one), "response": one.get("response") or {}}
            key = (str(record.get("id")), str(record.get("system")))
            repeat = seen[key] = seen.get(key, -1) + 1
            beside = around if mapper.columns else None
            yield mapper.sample({**record, "repeat": repeat}, where, beside)


def _results(outer: Mapping[str, Any]) -> list[Any] | None:
    if isinstance(outer.get("vars"), dict):  # of a file of results it is a list of names
        return [outer]
    results = outer.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    return results if isinstance(results, list) else None


def _prompts(results: list[Any]) -> dict[str, dict[str, str]]:
    """Names of the prompts of those providers that were asked with several: provider -> index of
    the prompt -> its label, where each has a short one of its own, else ``2`` for the second."""
    labels: dict[str, dict[str, str]] = {}
    for one in results:
        if isinstance(one, dict):
            entry = one.get("prompt")
            prompt = entry if isinstance(entry, dict) else {}
            label = str(prompt.get("label") or "")
            is_name = len(label) <= _LONGEST and "\n" not in label and label != prompt.get("raw")
            own_labels = labels.setdefault(_provider(one), {})
            own_labels.setdefault(str(one.get("promptIdx")), label if is_name else "")
    return {
        provider: own_labels
        if all(own_labels.values()) and len({*own_labels.values()}) == len(own_labels)
        else {index: str(number) for number, index in enumerate(own_labels, 1)}
        for provider, own_labels in labels.items()
        if len(own_labels) > 1
    }


_LONGEST = 40
"""Characters of a label that is a name; promptfoo's default is the whole prompt."""


def _provider(one: Mapping[str, Any]) -> str:
    provider = one.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "")


def _record(
    one: Mapping[str, Any], prompts: Mapping[str, Mapping[str, str]], mapper: Mapper
) -> dict[str, Any]:
    variables = _variables(one)
    response = one.get("response") or {}
    case = one.get("testCase") or {}
    details = response.get("metadata") or one.get("metadata") or {}
    system = _provider(one)
    prompt = one.get("prompt") or {}
    if system in prompts:
        system = f"{system}#{prompts[system][str(one.get('promptIdx'))]}"
    output = response.get("output")
    keys = _keys(variables, mapper)
    fields = {field: variables[name] for field, name in keys.items()}
    if isinstance(fields.get("passages"), str):
        fields["passages"] = [fields["passages"]]
    # Beside an output an error is a failed assertion.
    failure = None if output is not None else one.get("error") or response.get("error")
    record = {
        "id": str(one.get("testIdx", one.get("id", ""))) or None,
        "query": next(iter(variables.values()), None) if len(variables) == 1 else None,
        **fields,
        "system": system or None,
        "answer": output,
        "failure": failure,
        "references": fields.get("references") or _expected(case.get("assert")),
        "metadata": {
            **(case.get("metadata") or {}),
            **{name: value for name, value in variables.items() if name not in keys.values()},
            **{f"score.{name}": value for name, value in (one.get("namedScores") or {}).items()},
            "description": case.get("description"),
            "prompt": prompt.get("label"),
            "asked": _served(one, response) or None,
        },
    }
    context = retrieved.within(details)
    if context is not None:
        record["passages"] = context
    if isinstance(output, dict):
        record["answer"] = next((output[k] for k in _OUTPUTS if k in output), output)
        if record.get("passages") is None:  # else it lists what was cited of the context
            record["passages"] = retrieved.within(output)
    record["metadata"] = {k: v for k, v in record["metadata"].items() if v is not None}
    return mapper.unchosen(record)


def _served(one: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, float]:
    """What the reply took. Nothing is known of one from promptfoo's cache: its time is that of the
    cache. The result's own cost and time are 0 where they are not known."""
    if response.get("cached"):
        return {}
    milliseconds = served.number(one.get("latencyMs"))
    used = response.get("tokenUsage") or {}
    if not (used.get("prompt") or used.get("completion")):  # zeros where nothing was counted
        used = {}
    return served.measured(
        latency=milliseconds / 1000 if milliseconds else None,
        input_tokens=used.get("prompt"),
        output_tokens=used.get("completion"),
        cost=response.get("cost", one.get("cost") or None),
    )


def _variables(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The variables of a test."""
    return one.get("vars") or (one.get("testCase") or {}).get("vars") or {}


_FIELDS = ("query", "history", "passages", "references", "gold", "id")
_OUTPUTS = ("answer", "output", "response", "text", "content")


def _keys(variables: Mapping[str, Any], mapper: Mapper) -> dict[str, str]:
    """The variable that holds each field, where its name is known and no column is chosen.

    Raises:
        InputError: two variables could be the same field.
    """
    wanted = {field for field in _FIELDS if field not in mapper.columns}
    names = [name for name in variables if FIELD_OF.get(folded(name)) in wanted]
    keys = aliases.plan(names, {}, _VariableWords()).keys if names else {}
    return {field: name for field, name in keys.items() if field in _FIELDS}


class _VariableWords(OptionWords):
    """Names variables as columns reach them."""

    def columns(self, field: str, column: str) -> str:
        """What says that a variable holds a field. Arguments: as of `OptionWords`."""
        return super().columns(field, f"vars.{column}")


def _expected(assertions: Any) -> list[str] | None:
    """The answers that the first assertion about them expects; of several that are ``similar``, one
    is enough, as of references."""
    for one in assertions or ():
        if isinstance(one, dict) and one.get("type") in _EXPECTED:
            value = one.get("value")
            listed = value if isinstance(value, list) and one["type"] == "similar" else [value]
            texts = [each for each in listed if isinstance(each, str) and each]
            if texts and not any("{{" in each for each in texts):
                return texts
    return None


def _sniff(head: Head) -> int:
    first = next(iter(_results(head.record) or ()), None)
    fits = (
        isinstance(first, dict)
        and isinstance(first.get("vars"), dict)
        and ("promptIdx" in first or ("provider" in first and "response" in first))
    )
    return SURE if fits else NO


FORMAT = Format(
    name="promptfoo",
    title="promptfoo results (JSON, JSON Lines)",
    suffixes=(".json", ".jsonl"),
    sniff=_sniff,
    read=read,
)
