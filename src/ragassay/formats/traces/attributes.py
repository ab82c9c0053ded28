"""Attributes of spans: OpenInference, the GenAI semantic conventions of OpenTelemetry, OpenLLMetry,
MLflow and Langfuse, as one span."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.traces import served
from ragassay.formats.traces.request_spans import Span, kind_of

_KIND = (
    *("openinference.span.kind", "mlflow.spanType", "traceloop.span.kind"),
    *("langfuse.observation.type", "gen_ai.operation.name", "llm.request.type"),
)
_INPUTS = (
    *("mlflow.spanInputs", "input.value", "traceloop.entity.input", "langfuse.observation.input"),
    *("gen_ai.input.messages", "gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments"),
    *("llm.input_messages", "gen_ai.prompt"),
)
_OUTPUTS = (
    *("mlflow.spanOutputs", "output.value", "traceloop.entity.output"),
    *("langfuse.observation.output", "gen_ai.output.messages", "gen_ai.tool.call.result"),
    *("llm.output_messages", "gen_ai.completion"),
)
_DOCUMENTS = ("retrieval.documents", "reranker.output_documents", "gen_ai.retrieval.documents")
_SESSIONS = ("session.id", "gen_ai.conversation.id", "langfuse.session.id", "mlflow.trace.session")
_USERS = ("user.id", "langfuse.user.id", "mlflow.trace.user")
_OF_REQUEST = {"conversation_id": _SESSIONS, "user_id": _USERS}
_METADATA = (
    *("metadata", "langfuse.trace.metadata", "langsmith.metadata"),
    *("traceloop.association.properties", "langfuse.observation.metadata"),
)
_TAGS = ("tag.tags", "langfuse.trace.tags", "langsmith.span.tags")
_NOT_OWN = ("ls_", "langgraph_", "langfuse_", "__")
_USED = {
    "input_tokens": (
        *("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        *("llm.usage.prompt_tokens", "mlflow.chat.tokenUsage.input_tokens"),
        "langfuse.observation.usage_details.input",
    ),
    "output_tokens": (
        *("llm.token_count.completion", "gen_ai.usage.output_tokens"),
        *("gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
        *("mlflow.chat.tokenUsage.output_tokens", "langfuse.observation.usage_details.output"),
    ),
    "cost": (
        *("llm.cost.total", "gen_ai.usage.cost", "mlflow.llm.cost.total_cost"),
        "langfuse.observation.cost_details.total",
    ),
    "first_token": ("langfuse.observation.completion_start_time",),
}
"""The attributes that hold what a step used."""


def span(
    attributes: Mapping[str, Any],
    *,
    kind: Any = None,
    begun: Any = None,
    ended: Any = None,
    **known: Any,
) -> Span:
    """A span of its attributes.

    Args:
        attributes: by dotted names, or nested, or both.
        kind: of the span, where the attributes do not say it.
        begun, ended: when, as seconds since 1970 or in ISO 8601.
        known: what the record tells outside the attributes, by the names of `Span`.
    """
    nested = _nested(attributes)
    of_request = {name: _first(nested, places) for name, places in _OF_REQUEST.items()}
    own_kind = _first(nested, _KIND)
    used = {name: _first(nested, places) for name, places in _USED.items()}
    return Span(
        **{
            "kind": kind_of(kind if own_kind is None else own_kind),
            "inputs": _first(nested, _INPUTS),
            "outputs": _first(nested, _OUTPUTS),
            "documents": _first(nested, _DOCUMENTS),
            "metadata": {key: str(one) for key, one in of_request.items() if one is not None},
            "own": _own(nested),
            "served": served.measured(start=begun, end=ended, **used),
            **known,
        }
    )


def _own(nested: Any) -> dict[str, Any]:
    """The metadata and tags that the makers of a system gave a span."""
    own = {"tags": _first(nested, _TAGS), "environment": _at(nested, "langfuse.environment")}
    for place in reversed(_METADATA):
        written = _at(nested, place)
        own |= _flat(written) if isinstance(written, dict) else {"metadata": written}
    return {
        key: value
        for key, value in own.items()
        if value is not None and not key.startswith(_NOT_OWN)
    }


def _flat(nested: Mapping[str, Any]) -> dict[str, Any]:
    """The values of nested objects by dotted names, as they were written."""
    made: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, dict) and value:
            made |= {f"{name}.{inner}": one for inner, one in _flat(value).items()}
        else:
            made[name] = value
    return made


def _first(nested: Any, names: tuple[str, ...]) -> Any:
    return next((value for name in names if (value := _at(nested, name)) is not None), None)


def _at(nested: Any, name: str) -> Any:
    value = nested
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return _listed(value)


def _nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes with an object for each dotted name's part."""
    made: dict[str, Any] = {}
    for name, value in attributes.items():
        *above, last = str(name).split(".")
        inner = made
        for key in above:
            below = inner.get(key)
            if not isinstance(below, dict):
                below = inner[key] = {}
            inner = below
        if isinstance(value, Mapping):
            below = inner.get(last)
            inner[last] = {**(below if isinstance(below, dict) else {}), **_nested(value)}
        elif value is not None and not isinstance(inner.get(last), dict):
            inner[last] = [_each(one) for one in value] if isinstance(value, list) else value
    return made


def _each(value: Any) -> Any:
    return _nested(value) if isinstance(value, Mapping) else value


def _listed(value: Any) -> Any:
    """A value with lists in place of objects whose keys are 0, 1, 2 ..."""
    value = unpacked(value)
    if isinstance(value, list):
        return [_listed(one) if isinstance(one, dict) else one for one in value]
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(one) if isinstance(one, dict) else one for key, one in value.items()}
