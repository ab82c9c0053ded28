"""From the spans of traces (steps of requests, of any tool) to samples, one for each trace."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, did_you_mean
from ragassay.base.printable import few
from ragassay.base.sample import Sample
from ragassay.formats.format_words import wrong
from ragassay.formats.records import field_values, step_contents
from ragassay.formats.records.field_names import NAMES
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources.opening import shaped

RETRIEVAL, RERANK, TOOL, MODEL, OTHER = "retrieval", "rerank", "tools", "models", "other"
RATING = "ratings"
"""Kinds of steps, and scores of traces; but for `OTHER`, as ``names.txt`` calls the list of each
one's names."""

_KINDS = {name: kind for kind in (RETRIEVAL, RERANK, TOOL, MODEL, RATING) for name in NAMES[kind]}


def kind_of(name: Any) -> str:
    """The kind of a span, by the name that a tool gives it, in any case, also in quotes."""
    return _KINDS.get(str(name or "").strip('"').casefold(), OTHER)


@dataclass(frozen=True)
class Span:
    """One step of a request, with what its tool says of it."""

    line: int  # in the file, or the number of its record
    path: Path | None  # of the file
    id: str
    parent: str | None = None  # the step that it is part of; none for the request itself
    trace: str = ""  # id of the request; empty where only `parent` says which one it is
    kind: str = OTHER
    name: str = ""
    start: Any = None  # as the tool writes it
    inputs: Any = None
    outputs: Any = None
    documents: Any = None  # what it retrieved, where that is apart from the outputs
    error: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)  # of the request's record
    clock: str = "timestamp"  # what the tool calls its time, for errors
    metadata: Mapping[str, Any] = field(default_factory=dict)  # of the request
    served: Mapping[str, float] = field(default_factory=dict)  # what it took
    own: Mapping[str, Any] = field(default_factory=dict)  # metadata of the system's makers
    beside: Mapping[str, Any] = field(default_factory=dict)  # what only chosen columns may read
    has_steps: bool = False  # whether its record says that it has steps, wherever they are


def samples(listed: Iterable[Span], mapper: Mapper) -> Iterator[Sample]:
    """A sample for each trace of some spans. All of them are held in memory, since those of one
    trace need not follow each other, or be in one file."""
    by_id: dict[str, Span] = {}
    ratings: dict[str, dict[str, Any]] = {}
    for span in listed:
        if span.kind == RATING:
            ratings.setdefault(span.trace, {}).update(span.metadata)
    every, listed = [span for span in listed if span.kind != RATING], []
    for span in every:
        first = by_id.setdefault(span.id, span)
        if not span.id or first is span or first.trace != span.trace:
            listed.append(span)
        elif first.path is not span.path or replace(first, line=span.line) != span:
            facts = {"id": span.id, "first": first.line, "other": first.path}
            raise wrong("same_step", path=span.path, line=span.line, field="id", **facts)
    # What is in a trace whose own record is there is a part of it.
    steps = [
        replace(span, parent=span.trace)
        if span.parent is None and span.trace in by_id and span.trace != span.id
        else span
        for span in listed
    ]
    if mapper.span is not None and steps and all(step.name != mapper.span for step in steps):
        names = list(dict.fromkeys(step.name for step in steps if step.name))
        facts = {"near": did_you_mean(mapper.span, names), "names": few(names, 20)}
        raise wrong("no_such_step", path=mapper.path, span=mapper.span, **facts)
    parents = {step.id: step.parent for step in steps}
    traces: dict[str, list[Span]] = {}
    for step in steps:
        name = step.trace or [step.id, *_above(step.id, parents)][-1]
        traces.setdefault(name, []).append(step)
    lone = sum(len(steps) == 1 and name in by_id for name, steps in traces.items())
    if lone and (n := sum(name not in by_id for name in traces)):
        mapper.tell("traces_apart", count=lone, n=n)
    for name, steps in traces.items():
        ids = {step.id for step in steps}
        outermost = [step for step in steps if step.parent is None or step.parent not in ids]
        root = _with_inner_contents(min(outermost or steps, key=_begun), steps, parents)
        root = replace(root, metadata={**ratings.pop(name, {}), **root.metadata})
        mapper.path = root.path
        with shaped("its tool", mapper.path, root.line):
            record = _record(name, root, steps, mapper)
        beside = {"inputs": root.inputs, "outputs": root.outputs, **root.beside}
        beside = {key: value for key, value in beside.items() if key not in (record or ())}
        if record is None:
            mapper.left_out(beside, root.line)
            continue
        try:
            made = mapper.sample(record, root.line, beside)
        except InputError as error:
            raise error.but(field=root.clock) if error.field == "timestamp" else error from None
        if made.passages and {(p.text or "").strip() for p in made.passages} == {
            made.answer_text.strip()
        }:
            mapper.tell("answer_as_passage", root.line)
        yield made
    if ratings and not traces:
        raise wrong("ratings_alone", path=mapper.path)
    if ratings:
        mapper.tell("ratings_apart", count=len(ratings))


def _above(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """The ids of the known steps that contain a step, the innermost first."""
    seen = {name: None}
    above = parents.get(name)
    while above is not None and above in parents and above not in seen:
        seen[above] = None
        above = parents[above]
    return list(seen)[1:]


def _with_inner_contents(root: Span, steps: list[Span], parents: Mapping[str, str | None]) -> Span:
    """The span of the request. Where it has no inputs or outputs (a trace of Langfuse, the span of
    a web server), it takes them, with the error, from the outermost step that contains every call
    of a model, retrieval and tool."""
    if root.error is not None or not (_is_nothing(root.inputs) or _is_nothing(root.outputs)):
        return root
    above = {span.id: {span.id, *_above(span.id, parents)} for span in steps}
    parts = [above[span.id] for span in steps if span.kind != OTHER and span.id != root.id]
    around: list[Span] = []
    for step in steps:
        is_silent = _is_nothing(step.inputs) and _is_nothing(step.outputs)
        says = step.error is not None or not is_silent
        if step.kind == OTHER and step.id != root.id and says and not _retrieves(step):
            around += [step] if all(step.id in part for part in parts) else []
    inner = min(around, key=lambda value: len(above[value.id]), default=root)
    if any(inner.id not in above[span.id] for span in around):
        return root
    inputs = inner.inputs if _is_nothing(root.inputs) else root.inputs
    if not _is_nothing(root.outputs):
        return replace(root, inputs=inputs)
    return replace(root, inputs=inputs, outputs=inner.outputs, error=inner.error)


def _is_nothing(value: Any) -> bool:
    return value is None or value in ("", {}, [])


def _begun(step: Span) -> tuple[float, str]:
    number = step_contents.number(step.start)
    return (0.0, str(step.start or "")) if number is None else (number, "")


def _record(name: str, root: Span, steps: list[Span], mapper: Mapper) -> dict[str, Any] | None:
    ordered = sorted(steps, key=_begun)
    models = [span for span in ordered if span.kind == MODEL]
    asked, answered = step_contents.asked(root.inputs), step_contents.answer(root.outputs)
    if not asked and models:
        asked = step_contents.asked(models[0].inputs)
    if answered is None and root.error is None and models:
        answered = step_contents.answer(models[-1].outputs)
    passages = _passages(root, ordered, mapper)
    record: dict[str, Any] = {"id": name or None, **asked}
    error = root.error
    if error is None and answered is None and _is_nothing(root.outputs):
        within = (span.error for span in ordered if span.parent == root.id)
        error = next((text for text in within if text is not None), None)
    failed, detail = step_contents.failure(error)
    is_trace = bool(name)  # a record of an evaluation has none: it may say what is expected alone
    nothing = not asked and (answered, passages, failed) == (None, None, None)
    if is_trace and nothing and not mapper.columns:
        return None
    record |= {"answer": answered, "passages": passages, "failure": failed}
    metadata = {"name": root.name, **root.metadata, "asked": _served(root, models)}
    metadata["failure_detail"] = detail
    metadata = {key: value for key, value in metadata.items() if value not in (None, "", {})}
    for name in ("conversation_id", "user_id"):  # of the request, whichever of its steps has it
        values = (span.metadata.get(name) for span in ordered)
        if name not in metadata and (first := next(filter(None, values), None)) is not None:
            metadata[name] = first
    # What the makers of the system say of its first step, else of the first that neither retrieves
    # nor calls a model or tool.
    others = (span for span in ordered if span.kind == OTHER and span.own)
    own = root.own or next((other.own for other in others), {})
    for name, value in own.items():
        if value not in (None, "", [], {}) and mapper.fits_metadata(name, value, root.line):
            metadata.setdefault(name, value)
    record["metadata"] = metadata
    record |= {key: value for key, value in root.fields.items() if value is not None}
    moment = step_contents.of_any_unit(record.get("timestamp"))
    if not mapper.zone and field_values.lacks_zone(moment):  # tools write their times in UTC
        moment = field_values.timestamp(moment, "timestamp")
    record["timestamp"] = moment
    return mapper.unchosen(record)


def _served(root: Span, models: list[Span]) -> dict[str, float]:
    """What the request took, by its first step, else the tokens and cost of its model calls."""
    asked = dict(root.served)
    for name in ("input_tokens", "output_tokens", "cost"):
        counts = [model.served[name] for model in models if name in model.served]
        if name not in asked and counts and len(counts) == len(models):
            asked[name] = math.fsum(counts)
    return asked


def _passages(root: Span, ordered: list[Span], mapper: Mapper) -> list[Any] | None:
    """What the trace retrieved, best first: of the last reranking, else of all retrievals."""
    if mapper.span is not None:
        chosen = [span for span in ordered if span.name == mapper.span]
        if not chosen:
            mapper.tell("no_step", span=mapper.span)
        return _documents_of(chosen, mapper) if chosen else None
    retrievals = [span for span in ordered if span.kind == RETRIEVAL]
    steps = [span for span in ordered if span.kind == OTHER and span.id != root.id]
    with_documents = [step for step in steps if step_contents.are_documents(step.outputs)]
    retrievals = retrievals or [*filter(_retrieves, with_documents)]
    retrieving = {retrieval.id for retrieval in retrievals}
    steps = [span for span in ordered if span.kind == RERANK or span.id in retrieving]
    outer = _outermost(steps, ordered)
    reranked = [span for span in outer if span.kind == RERANK]
    used = reranked[-1:] or outer
    if len(used) > 1:
        mapper.tell("several_retrievals")
    tools = [span for span in ordered if span.kind == TOOL]
    if tools and mapper.from_tools:
        used = [*used, *tools]
    elif tools and not used:
        mapper.tell("tools_alone")
    passages = _documents_of(used, mapper, reranked=bool(reranked))
    if passages is None:
        passages = step_contents.within(root.outputs, root.inputs)
    is_lacking = passages is None and "passages" not in mapper.columns
    if is_lacking and root.has_steps and len(ordered) == 1:
        mapper.tell("steps_elsewhere", root.line)
    if passages is None and with_documents:
        name = with_documents[0].name
        choice = shlex.quote(f"span:{name}")
        mapper.tell("maybe_documents", with_documents[0].line, name=name, choice=choice)
    return passages


def _outermost(steps: list[Span], ordered: list[Span]) -> list[Span]:
    """The retrievals and rerankings that no other one with documents contains: the model got those
    of the outermost one, in its order. One without documents is replaced by those within it."""
    parents = {span.id: span.parent for span in ordered}
    within = {step.id: set(_above(step.id, parents)) for step in steps}
    listing = {step.id for step in steps if _lists_documents(step)}
    around = set().union(*within.values())
    inner = [step for step in steps if not listing & within[step.id]]
    outermost = [span for span in inner if span.id in listing or span.id not in around]
    return outermost or steps  # steps may contain each other


def _lists_documents(span: Span) -> bool:
    """Whether the output of a step is a list of documents, also an empty one. Where it is one text
    of them all, a step within it may have the list."""
    documents = step_contents.unwrapped(_documents(span))
    return isinstance(documents, list) or step_contents.within(documents) is not None


def _documents_of(used: list[Span], mapper: Mapper, *, reranked: bool = False) -> list[Any] | None:
    """The documents of these steps, each once; ``None`` where the trace holds those of none."""
    documented = [item for item in used if _documents(item) is not None]
    if len(documented) < len(used):
        mapper.tell("no_documents")
        # A reranking without documents hides what it left of the retrieval.
        documented = [] if reranked else documented
    documents: list[Any] = []
    for span in documented:
        before = list(documents)
        documents += (doc for doc in step_contents.documents(_documents(span)) if doc not in before)
    return documents if documented else None


def _retrieves(span: Span) -> bool:
    """Whether a step of no known kind retrieves: one of the words of its name is ``search``,
    ``vector``, ``context`` ..., or begins with ``retriev``, and its output has documents."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", span.name).casefold())
    if not words or words[-1] == "query" or not {*NAMES["preparing"]}.isdisjoint(words):
        return False
    says_so = any(word in NAMES["retrieving"] or word.startswith("retriev") for word in words)
    return says_so and step_contents.are_documents(span.outputs)


def _documents(span: Span) -> Any:
    """What a step retrieved; ``None`` where the trace does not hold it: tools may drop outputs."""
    documents = step_contents.unwrapped(span.outputs) if span.documents is None else span.documents
    return None if documents in ("", {}) else documents
