"""Open RAG Eval's YAML configurations, as its page prints them (``evaluator: name: "trecrag"``) and
as its tool wants them (``type: TRECEvaluator``): from them to the keys of a `RunConfig`.

Facts by spec/open-rag-eval.md, "Configuration" and "Configuration Options", and the public tool's
example files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.engine.config import RunConfig, found_from
from ragassay.engine.published.published_consistency import add_spread, translate_consistency
from ragassay.engine.published.published_draft import Draft
from ragassay.engine.published.published_golden import translate_golden
from ragassay.engine.published.published_options import Evaluator, top_notes
from ragassay.engine.published.published_trec import translate_trec
from ragassay.errors import did_you_mean
from ragassay.yaml_files import Marked, Place

EVALUATOR = "evaluator"

_EVALUATORS = {
    "trecrag": "trecrag",
    "trec": "trecrag",
    "trecevaluator": "trecrag",
    "consistency": "consistency",
    "consistencyevaluator": "consistency",
    "goldenanswerevaluator": "golden",
    "golden_answer": "golden",
}
_SHOWN = (
    "trecrag",
    "consistency",
    "TRECEvaluator",
    "ConsistencyEvaluator",
    "GoldenAnswerEvaluator",
)


def is_published(body: Mapping[str, Any]) -> bool:
    """Whether a configuration is one of Open RAG Eval's."""
    return EVALUATOR in body


def translate(content: Marked, path: Path, given: Collection[str] = ()) -> Draft:
    """The keys of a `RunConfig` that a published configuration stands for.

    Our own keys may stand beside ``evaluator``. Paths are taken from the file's folder, or else
    from the working directory.

    Args:
        content: of the file, with its lines.
        path: of the file.
        given: keys that flags set, so that the file need not say them.

    Raises:
        InputError: an unknown key or evaluator, an impossible value, what ragassay cannot do, or a
            key to an endpoint that is written out; with line and field.
    """
    draft = Draft(content, path, given)
    _check_keys(draft)
    _files(draft)
    seen: dict[str, tuple[Place, Any]] = {}
    for body, place in _listed(draft):
        _evaluator(draft, body, place, seen)
    _queries(draft, "golden" in seen)
    add_spread(draft)
    _check_once(draft)
    return draft


# Beside the evaluators


def _check_keys(draft: Draft) -> None:
    """Refuses unknown keys, and notes those that mean nothing here."""
    notes = top_notes()
    known = [
        *notes,
        EVALUATOR,
        "results_folder",
        "generated_answers",
        "input_results",
        "input_queries",
        "model_kwargs",
    ]
    for key in draft.content.value:
        if key not in known and key not in RunConfig.model_fields:
            hint = did_you_mean(str(key), [*known, *RunConfig.model_fields])
            raise draft.wrong(
                (str(key),), f"unknown key {key!r}", hint or f"There are: {', '.join(known)}."
            )
        if key in notes:
            draft.note((str(key),), notes[str(key)])


def _files(draft: Draft) -> None:
    """Where the data and the run folder are."""
    base = draft.path.parent
    folder = _path_of(draft, "results_folder")
    if folder is not None and "output" not in draft.given:
        draft.put("output", str(found_from(base, folder)), ("results_folder",))
    if "data" in draft.given:
        return
    for key in ("generated_answers", "input_results"):
        name = _path_of(draft, key)
        if name is not None:
            # The tool keeps them among the results.
            inside, alone = (found_from(base, Path(one) / name) for one in (folder or "", ""))
            chosen = inside if inside.exists() or not alone.exists() else alone
            draft.put("data", str(chosen), (key,))


def _queries(draft: Draft, golden: bool) -> None:
    """Translates where the golden answers are; only the golden-answer evaluator reads the
    queries.
    """
    key = "input_queries"
    name = _path_of(draft, key)
    if name is None:
        return
    if not golden:
        draft.note((key,), "is not read: the queries stand beside the answers.")
    elif "references" not in draft.given:
        draft.put("references", str(found_from(draft.path.parent, name)), (key,))


def _path_of(draft: Draft, key: str) -> str | None:
    value = draft.content.value.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise draft.wrong((key,), "is not the name of a file or folder")
    return value


def _check_once(draft: Draft) -> None:
    """Refuses a key of ours that an evaluator sets as well."""
    for key in draft.content.value:
        if key in RunConfig.model_fields and key in draft.values:
            place = draft.places[(key,)]
            raise draft.wrong(
                (key,),
                f"is said twice: here, and by {'.'.join(place)} in line "
                f"{draft.content.line(place)}",
                "Keep one of them.",
            )


# Evaluators


def _listed(draft: Draft) -> Iterable[tuple[Any, Place]]:
    """The evaluators of the file, each with its place."""
    listed = draft.content.value[EVALUATOR]
    if not isinstance(listed, list):
        return [(listed, (EVALUATOR,))]
    if not listed:
        raise draft.wrong((EVALUATOR,), "names no evaluator", _one_of())
    return [(one, (EVALUATOR, str(at))) for at, one in enumerate(listed)]


def _evaluator(draft: Draft, body: Any, place: Place, seen: dict[str, tuple[Place, Any]]) -> None:
    """Translates an evaluator, and remembers it among those seen."""
    if not isinstance(body, dict):
        raise draft.wrong(place, "is not a mapping of keys", _one_of())
    one = draft.validated(Evaluator, body, place)
    kind = _kind(draft, one, place)
    options = one.options or {}
    first, same = seen.setdefault(kind, (place, options))
    if options != same:
        raise draft.wrong(
            place,
            f"stands here again with other options than in line {draft.content.line(first)}",
            "One run has each evaluator once: keep one, or make two files.",
        )
    if one.embedding_model is not None and kind != "golden":
        draft.note(
            (*place, "embedding_model"),
            "is not used: no metric of this evaluator asks an embedding model.",
        )
    draft.add_suite(kind, place)
    if kind == "trecrag":
        translate_trec(draft, one, place)
    elif kind == "golden":
        translate_golden(draft, one, place)
    else:
        translate_consistency(draft, one, place)


def _kind(draft: Draft, one: Evaluator, place: Place) -> str:
    """Which evaluator it is: the name of a suite."""
    words = {key: getattr(one, key) for key in ("name", "type") if getattr(one, key)}
    if not words:
        raise draft.wrong(place, "has neither a name nor a type", _one_of())
    kinds = {}
    for key, word in words.items():
        kinds[key] = _EVALUATORS.get(word.strip().casefold())
        if kinds[key] is None:
            hint = did_you_mean(word, _SHOWN)
            if word in suites.known():
                hint = f"For the suite {word} leave out evaluator, and write 'suite: [{word}]'."
            raise draft.wrong(
                (*place, key), f"there is no evaluator {word!r}", f"{hint} {_one_of()}"
            )
    if len(set(kinds.values())) > 1:
        raise draft.wrong((*place, "type"), "names another evaluator than name does")
    return str(next(iter(kinds.values())))


def _one_of() -> str:
    return f"Write 'name: {_SHOWN[0]}', 'name: {_SHOWN[1]}', or the tool's 'type: {_SHOWN[2]}'."
