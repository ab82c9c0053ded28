"""Results of other tools' evaluations, as far as no path names their values: functions that rows of
``exports.yaml`` name. The items of a file come from one function, and each item's record, by our
names, from another one; other fields of the entry are for chosen columns only."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.base.errors import first_line
from ragassay.base.yaml_files import value_of
from ragassay.formats.format import Head
from ragassay.formats.format_words import OptionWords, wrong
from ragassay.formats.records import step_contents
from ragassay.formats.records.field_names import NAMES, known_fields
from ragassay.formats.records.field_values import opened, unpacked
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.sources.json_files import parse_json

Row = Mapping[str, Any]
Items = Iterator[tuple[int, Any]]
"""Items of a file, each with its line or number."""

Made = tuple[dict[str, Any], Row | None]
"""A record, and the other fields of its entry."""


# Test runs and results, datasets in CSV, and conversational test cases of deepeval. Plain lists of
# test cases need no format of their own: their names are known.

_CASES = NAMES["deepeval.cases"]
_RETRIEVED = frozenset({"retrievalContext", "retrieval_context", "passages"})
_METADATA = ("metadata", "additionalMetadata", "additional_metadata")
"""Names of the metadata of a test case; the later ones are of older versions."""

_NUMBERED = re.compile(r"|(?:conversational_)?test_case_\d+")
"""Names that deepeval gives to test cases without one, or leaves empty."""


def run_cases(path: Path, mapper: Mapper) -> Items:
    """Each test case with the names in its run that are ids; in CSV, whose names stay what they
    are, with ``None``. There the texts of a context are joined by ``|``, whatever they hold."""
    if not opening.is_json(path, mapper.encoding):
        for line, cells in delimited.rows(path, mapper.encoding):
            row: dict[str, Any] = {**cells}
            for key in ("retrieval_context", "context"):
                if (cell := row.get(key)) is not None:
                    listed = opened(cell)  # others may have written a list
                    row[key] = listed if isinstance(listed, list) else cell.split("|")
            yield line, (row, None)
        return
    seen: set[str] = set()
    for line, record in json_files.json_records(path, mapper.around, mapper.encoding):
        with opening.shaped("deepeval", path, line):
            run = record.get("testRunData") or record.get("test_run_data") or record
            lists = [run[name] for name in _CASES if isinstance(run.get(name), list)]
        cases = [case for cases in lists for case in cases]
        golden = not lists and run.get("actual_output", run.get("actualOutput")) is None
        ids = _ids([run] if golden else cases, seen)
        for number, case in enumerate(cases, 1) if lists else ((line, run),):
            yield number, (case, ids)


def _ids(cases: Sequence[Any], seen: set[str]) -> frozenset[str]:
    """The names of the test cases of a run that are ids, which are added to ``seen``: all of them
    where each case has one of its own and no earlier run of the file has it."""
    listed = [case.get("name") if isinstance(case, dict) else None for case in cases]
    names = {text for text in listed if isinstance(text, str) and not _NUMBERED.fullmatch(text)}
    are_ids = len(names) == len(cases) and names.isdisjoint(seen)
    seen |= names
    return frozenset(names) if are_ids else frozenset()


def case_record(item: tuple[Any, frozenset[str] | None], line: int, mapper: Mapper) -> Made:
    """The record of a test case; of a conversation, its last question and answer."""
    case, ids = item
    if not isinstance(case, dict):
        raise wrong("no_object_item", field=_CASES[0], item="test case")
    metadata = _case_metadata(case)
    left_out = (*NAMES["deepeval.left_out"], *_METADATA) if ids is not None else _METADATA
    record = {key: case[key] for key in case if key not in left_out and case[key] is not None}
    if ids is not None and (name := record.pop("name", None)) is not None:
        if name in ids:
            record["id"] = name
        else:
            metadata.setdefault("name", name)
    if metadata:
        record["metadata"] = metadata
    turns = record.get("turns")
    turns = turns if isinstance(turns, list) else []
    answers = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "assistant"]
    if answers[1:]:
        mapper.tell("earlier_answers", line, count=len(answers) - 1)
    last = answers[-1] if answers else {}
    passages = last.get("retrievalContext", last.get("retrieval_context"))
    if passages is not None:
        record["passages"] = passages
    if "context" in record and record.keys().isdisjoint(_RETRIEVED):
        record["retrieval_context"] = None  # beside which the context is gold
    lost = [key for key in ("name", *_METADATA) if key in case and key not in record]
    return record, {key: case[key] for key in lost}


def _case_metadata(case: Row) -> dict[str, Any]:
    """The metadata of a test case, and the scores that deepeval gave it as ``score.NAME``."""
    made: dict[str, Any] = {}
    for name in reversed(_METADATA):
        written = unpacked(case.get(name))
        if isinstance(written, Mapping):
            made |= written
        elif written is not None:
            made[name] = written
    return made | step_contents.scores(case.get("metricsData") or case.get("metrics_data"))


# Logs of Inspect AI: a sample and epoch each.


def log_samples(path: Path, mapper: Mapper) -> Items:
    """Each sample of a log, with its model. An archive has a file for each; JSON is read whole."""
    with opening.opened(path) as stream:
        is_archive = stream.read(4) in opening.BINARY
    log = {} if is_archive else parse_json(opening.read_all(path, mapper.encoding), path)
    number = 0
    listed = _archived(path, log) if is_archive else log.get("samples") or ()
    for number, value in enumerate(listed, 1):
        yield number, (value, (log.get("eval") or {}).get("model"))
    if not number:
        raise wrong("empty_log", path=path, field="samples")


def _archived(path: Path, log: dict[str, Any]) -> Iterator[Any]:
    """Each sample in an archive, after what the log says beside them was put into it."""
    try:
        with zipfile.ZipFile(opening.on_disk(path)) as archive:
            members = opening.checked_parts(archive, path)
            heads = ("header.json", "_journal/start.json")  # the first is written after all samples
            for head in [name for name in heads if name in members][:1]:
                log |= parse_json(opening.unpacked_part(archive, head), path)
            for member in (name for name in members if name.startswith("samples/")):
                yield parse_json(opening.unpacked_part(archive, member), path)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise wrong("archived_log", path=path, why=first_line(error)) from None


def log_record(item: tuple[Any, Any], line: int, mapper: Mapper) -> Made:
    """The record of a sample. A list of documents in its metadata is its passages."""
    element, model = item
    if not isinstance(element, dict):
        raise wrong("no_object_item", field="samples", item="sample")
    output, metadata = element.get("output") or {}, element.get("metadata") or {}
    answer, choices = output.get("completion"), output.get("choices") or []
    if answer is None and choices:
        answer = (choices[0].get("message") or {}).get("content")
    error, limit = element.get("error"), element.get("limit")
    if not error and not answer and isinstance(limit, dict):
        most = str(limit.get("limit")).removesuffix(".0")
        error = f"stopped at its limit of {limit.get('type')}: {most}"
    found = step_contents.name_of_list(metadata)
    record = {
        "id": element.get("id"),
        "repeat": (element.get("epoch") or 1) - 1,
        "system": model,
        "query": element.get("input"),
        "references": element.get("target") or None,
        "answer": None if error else answer,
        "failure": error.get("message") if isinstance(error, dict) else error,
        "passages": None if found is None else step_contents.documents(metadata[found]),
        "metadata": {
            **{key: value for key, value in metadata.items() if key != found},
            **step_contents.scores(element.get("scores")),
        },
    }
    turns = element.get("messages")
    if isinstance(turns, list) and any(turn.get("role") == "tool" for turn in turns):
        if mapper.from_tools:  # only the messages hold the results of tools
            record |= {"query": turns, "answer": None}
        else:
            mapper.tell("tools", line)
    return {key: value for key, value in record.items() if value is not None}, None


# Results of promptfoo: a test each, asked of a provider with a prompt.

_FIELDS = ("query", "history", "passages", "references", "gold", "id")
_OUTPUTS = ("answer", "output", "response", "text", "content")
_LONGEST = 40
"""Characters of a label of a prompt that is a name; promptfoo's default is the whole prompt."""


def provider_results(path: Path, mapper: Mapper) -> Items:
    """Each result with the names of its provider's prompts, and how often its test and provider
    were met before (as a function of both)."""
    seen: dict[tuple[str, str], int] = {}
    written: Items = json_files.json_records(path, encoding=mapper.encoding)
    if path.suffix in (".yaml", ".yml"):
        written = iter([(1, _parsed(path, mapper))])
    elif not opening.is_json(path, mapper.encoding):
        listed = list(_table_results(path, mapper))
        prompts = _prompts([value for _, value in listed])
        yield from ((line, (value, prompts, seen)) for line, value in listed)
        return
    number = 0
    for line, outer in written:
        results = outer.get("results")
        results = results.get("results") if isinstance(results, dict) else results
        if isinstance(outer.get("vars"), dict):  # of a file of results it is a list of names
            results = [outer]
        if not isinstance(results, list):
            raise wrong("no_results", path=path, line=line, field="results")
        prompts = _prompts(results)
        for result in results:
            number += 1
            yield number if len(results) > 1 else line, (result, prompts, seen)


def _table_results(path: Path, mapper: Mapper) -> Items:
    """The results in a table, as in JSON: after the variables of a test, a group of columns for
    each prompt, which begins with the output, under ``[provider] prompt``."""
    rows = delimited.rows(path, mapper.encoding, mapper.delimiter, repeated=True)
    for index, (line, row) in enumerate(rows):
        variables: dict[str, Any] = {}
        group, groups = variables, []
        for name, cell in row.items():
            if begun := _OUTPUT_COLUMN.match(name):
                group = {"provider": begun[1], "label": begun[2], "output": cell}
                groups.append(group)
            elif group is variables:
                group[name] = unpacked(cell)
            else:
                group[name.partition("#")[0]] = cell
        description = variables.pop("Description", None)
        for at, group in enumerate(groups):
            marked = _STATUS.match(group["output"] or "")
            status, score, output = marked.groups() if marked else (None, None, group["output"])
            status = group.get("Status") or status
            failed = status == "ERROR"
            filled = (name for name in group if name.startswith("Metric: ") and group[name])
            metrics = {
                name.partition(": ")[2]: step_contents.number(group[name]) for name in filled
            }
            label = group["label"]
            yield (
                line,
                {
                    "provider": group["provider"],
                    "prompt": {"label": label, "raw": label if "{{" in label else None},
                    "promptIdx": at,
                    "testIdx": index,
                    "vars": variables,
                    "testCase": {"description": description},
                    "response": {} if failed else {"output": output},
                    "error": (output or group.get("Grader Reason") or "error") if failed else None,
                    "success": status and status == "PASS",
                    "score": step_contents.number(group.get("Score") or score),
                    "namedScores": metrics or unpacked(group.get("Named Scores")),
                },
            )


_OUTPUT_COLUMN = re.compile(r"(?s)\[([^]]+)\] (.*)")
_STATUS = re.compile(
    r"(?s)\[(PASS|FAIL|ERROR)\] (?:\(([\d.]+)[^)]*\)\s+)?"
    r"(.*?)\s*(?:\n\n(?:Pass|Fail) Reason: .*)?\Z"
)
"""An output with its verdict, as in the tables of older versions, which have no column for it."""


def outputs_with_verdicts(head: Head) -> bool:
    """Whether a table has outputs of providers that begin with their verdict."""
    cells = ((name, head.record.get(name)) for name in head.columns)
    return any(_OUTPUT_COLUMN.match(name) and _STATUS.match(cell or "") for name, cell in cells)


def _prompts(results: list[Any]) -> dict[str, dict[str, str]]:
    """Names of the prompts of those providers that were asked with several: provider -> index of
    the prompt -> its label, where each has a short one of its own, else ``2`` for the second."""
    asked: dict[str, dict[str, str]] = {}
    for result in results:
        if isinstance(result, dict):
            entry = result.get("prompt")
            prompt = entry if isinstance(entry, dict) else {}
            label = str(prompt.get("label") or "")
            is_name = len(label) <= _LONGEST and "\n" not in label and label != prompt.get("raw")
            labels = asked.setdefault(_provider(result), {})
            labels.setdefault(str(result.get("promptIdx")), label if is_name else "")
    for labels in asked.values():
        if "" in labels.values() or len({*labels.values()}) < len(labels):
            labels |= {index: str(number) for number, index in enumerate(labels, 1)}
    return {provider: labels for provider, labels in asked.items() if len(labels) > 1}


def _provider(row: Row) -> str:
    provider = row.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "")


def provider_record(
    item: tuple[Any, Any, dict[tuple[str, str], int]], line: int, mapper: Mapper
) -> Made:
    """The record of a result. The variables of its test hold fields by their known names."""
    element, prompts, seen = item
    if not isinstance(element, dict):
        raise wrong("no_object_item", item="result")
    case, response = element.get("testCase") or {}, element.get("response") or {}
    variables = element.get("vars") or case.get("vars") or {}
    system = _provider(element)
    if system in prompts:
        system = f"{system}#{prompts[system][str(element.get('promptIdx'))]}"
    output = response.get("output")
    # Two variables that could be the same field are an error, unless a column is chosen for it.
    known = known_fields(variables, _VariableWords(), mapper.columns).values
    keys = {field: key for field, (key, _) in known.items() if field in _FIELDS}
    fields = {field: variables[name] for field, name in keys.items()}
    if isinstance(fields.get("passages"), str):
        fields["passages"] = [fields["passages"]]
    # As numbers, because labels would be slices.
    verdict = ((name, element.get(name)) for name in ("success", "score"))
    scores = {name: float(value) for name, value in verdict if isinstance(value, int | float)}
    scores |= element.get("namedScores") or {}
    metadata = {
        **(case.get("metadata") or {}),
        **{name: value for name, value in variables.items() if name not in keys.values()},
        **step_contents.scores(scores),
        "description": case.get("description"),
        "prompt": (element.get("prompt") or {}).get("label"),
        "asked": None if response.get("cached") else _served(element, response) or None,
    }
    record = {
        "id": str(element.get("testIdx", element.get("id", ""))) or None,
        "query": next(iter(variables.values()), None) if len(variables) == 1 else None,
        **fields,
        "system": system or None,
        "answer": output,
        # Beside an output an error is a failed assertion.
        "failure": None if output is not None else element.get("error") or response.get("error"),
        "references": fields.get("references") or _expected(case.get("assert")),
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
    context = step_contents.within(response.get("metadata") or element.get("metadata") or {})
    if context is not None:
        record["passages"] = context
    if isinstance(output, dict):
        record["answer"] = next((output[k] for k in _OUTPUTS if k in output), output)
        if record.get("passages") is None:  # else it lists what was cited of the context
            record["passages"] = step_contents.within(output)
    record = mapper.unchosen(record)
    key = (str(record.get("id")), str(record.get("system")))
    record["repeat"] = seen[key] = seen.get(key, -1) + 1
    # In the record a response would be an answer, and the answer the reference.
    around = {"vars": variables, "response": response}
    return record, around if mapper.columns else None


def _served(row: Row, response: Row) -> dict[str, float]:
    """What the reply took. The result's own cost and time are 0 where they are not known."""
    used = response.get("tokenUsage") or {}
    if not (used.get("prompt") or used.get("completion")):  # zeros where nothing was counted
        used = {}
    return step_contents.measured(
        latency_ms=row.get("latencyMs") or None,
        input_tokens=used.get("prompt"),
        output_tokens=used.get("completion"),
        cost=response.get("cost", row.get("cost") or None),
    )


class _VariableWords(OptionWords):
    """Names variables as columns reach them."""

    def columns(self, field: str, column: str) -> str:
        return super().columns(field, f"vars.{column}")


def _expected(assertions: Any) -> list[str] | None:
    """The answers that the first assertion expects; of several ``similar`` ones, any is enough."""
    for assertion in assertions or ():
        if isinstance(assertion, dict) and assertion.get("type") in NAMES["promptfoo.expected"]:
            value = assertion.get("value")
            several = assertion["type"] == "similar"
            listed = value if several and isinstance(value, list) else [value]
            texts = [each for each in listed if isinstance(each, str) and each]
            if texts and not any("{{" in each for each in texts):
                return texts
    return None


# Data sets and reports of pydantic-evals: cases, and those that failed.


def _parsed(path: Path, mapper: Mapper) -> Any:
    raw = opening.read_all(path, mapper.encoding)
    is_json = opening.is_json(path, mapper.encoding)
    return parse_json(raw, path) if is_json else value_of(raw.decode(), path)


def evals_cases(path: Path, mapper: Mapper) -> Items:
    """Each case with all that evaluators gave it as its scores."""
    content = _parsed(path, mapper)
    whole = content if isinstance(content, dict) else {}
    cases = [*(whole.get("cases") or ()), *(whole.get("failures") or ())]
    if not cases:
        raise wrong("no_objects", path=path, field="cases")
    for number, case in enumerate(cases, 1):
        if not isinstance(case, dict):
            raise wrong("no_object_item", path=path, line=number, field="cases", item="case")
        scores: dict[str, Any] = {}
        for name in ("labels", "scores", "assertions"):
            scores |= case.get(name) or {}
        yield number, {**case, "scores": scores}
