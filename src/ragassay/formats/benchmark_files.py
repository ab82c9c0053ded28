"""Files of published benchmarks whose values no path names: functions that ``exports.yaml`` names.
One gives the items of a file, another one each item's record, by our names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from ragassay.formats.evaluations import Items, Made
from ragassay.formats.format_words import wrong
from ragassay.formats.records import field_values
from ragassay.formats.records.field_names import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.sources.delimited import Row
from ragassay.formats.sources.json_files import whole_object

# InspectorRAGet's JSON: tasks, documents, models and evaluations in one object. Each evaluation is
# a sample: one model's response to one task. Values computed by an algorithm become given metrics;
# people's labels become metadata['annotations'], by metric and annotator.

_Table = Mapping[str, dict[str, Any]]
_COMPUTED = ("system", "composite")
_CONDITIONED = {"rb_agg": "rb_agg_idk", "rb_llm": "rb_llm_idk", "rl_f": "rl_f_idk"}
"""MT-RAG's analytics call values after IDK conditioning by the names of the raw metrics."""


def evaluations(path: Path, mapper: Mapper) -> Items:
    """Each evaluation with the tables of tasks and documents that it refers to."""
    content = whole_object(path, mapper.encoding)
    documents = _by(content, "documents", "document_id")
    tasks = _by(content, "tasks", "task_id")
    for number, row in enumerate(_objects(content, "evaluations"), 1):
        yield number, (row, tasks, documents)


def evaluation_record(
    item: tuple[dict[str, Any], _Table, _Table], line: int, mapper: Mapper
) -> Made:
    """The record of an evaluation: of its task, with what the model said."""
    evaluation, tasks, documents = item
    name = evaluation.get("task_id")
    task = tasks.get(str(name))
    if task is None:
        raise wrong("no_task", field="evaluations.task_id", task=name)
    computed: dict[str, Any] = {}
    annotations: dict[str, Any] = deepcopy(task.get("annotations") or {})
    for metric, by_author in (evaluation.get("annotations") or {}).items():
        if not isinstance(by_author, dict):
            raise wrong("no_annotators", field="evaluations.annotations", metric=metric)
        for author, entry in by_author.items():
            value = entry.get("value") if isinstance(entry, dict) else entry
            if author in _COMPUTED:
                computed[_CONDITIONED.get(metric, metric)] = value
            else:
                annotations.setdefault(metric, {})[author] = value
    record = {key: value for key, value in task.items() if key not in ("annotations", "contexts")}
    if (contexts := task.get("contexts")) is not None:
        record["contexts"] = [_context(item, documents) for item in contexts]
    record |= {
        "passages_prescribed": True,  # they belong to the task, so that all models have the same
        "model_id": evaluation.get("model_id"),
        "model_response": evaluation.get("model_response"),
        "metrics": computed,
    }
    if annotations:
        record["metadata"] = {**(task.get("metadata") or {}), "annotations": annotations}
    return record, None


def _context(item: Any, documents: _Table) -> dict[str, Any]:
    own = item if isinstance(item, dict) else {}
    if "text" in own:
        return own
    name = str(own.get("document_id") if own is item else item)
    if name not in documents:
        raise wrong("no_document", field="tasks.contexts", document=name)
    return {**documents[name], **own}


def _by(content: dict[str, Any], table: str, key: str) -> _Table:
    entries: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(_objects(content, table), 1):
        place: dict[str, Any] = {"line": number, "field": f"{table}.{key}"}
        if row.get(key) is None:
            raise wrong("entry_without_key", number=number, table=table, key=key, **place)
        name = str(row[key])
        if name in entries:
            raise wrong("entry_twice", key=key, name=name, table=table, **place)
        entries[name] = row
    return entries


def _objects(content: dict[str, Any], table: str) -> list[dict[str, Any]]:
    rows = content.get(table)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise wrong("no_objects", field=table)
    return rows


# ML cube's rows: a prediction stands in a column MODEL@VERSION; a row with those of several models
# makes a sample for each. The chunks of a context are joined by the task's separator.


def model_rows(path: Path, mapper: Mapper) -> Items:
    """Each row, once for each model that answered in it."""
    mapper.cells = True
    encoding, is_record = mapper.encoding, mapper.reaches_into
    rows: Items = delimited.rows(path, encoding)
    if opening.is_json(path, encoding):
        rows = json_files.json_records(path, mapper.around, encoding, is_record=is_record)
    for line, row in rows:
        models = [key for key in row if all(key.partition("@"))]
        shared = {key: value for key, value in row.items() if key not in models}
        if not models:
            yield line, shared
        for other in shared if models else ():
            if FIELD_OF.get(folded(other)) in ("answer", "system"):
                place: dict[str, Any] = {"path": path, "line": line, "field": other}
                raise wrong("two_models", other=other, model=models[0], **place)
        for model in models:
            yield line, {**shared, "system": model, "answer": row[model]}


def paragraph_questions(path: Path, mapper: Mapper) -> Items:
    """SQuAD's questions: the paragraph that holds an answer is gold."""
    for line, article in json_files.json_records(path, mapper.around, mapper.encoding):
        with opening.shaped("SQuAD", path, line):
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    texts = [*dict.fromkeys(answer["text"] for answer in asked["answers"])]
                    record = {key: asked.get(key) for key in ("id", "question", "is_impossible")}
                    gold = [paragraph["context"]] if texts else None
                    yield line, record | {"references": texts, "gold": gold}


# Results of Open RAG Eval's connectors: a row a passage. The rows of one query and run are in rank
# order, mostly together; one of them holds the answer. NO_ANSWER means that the system answered
# with nothing, API_ERROR that it failed.

_COLUMNS = ("query", "passage_id", "passage", "generated_answer")
_OPTIONAL = ("query_id", "query_run")
_KNOWN = frozenset({*_COLUMNS, *_OPTIONAL})
_NO_ANSWER, _API_ERROR = "NO_ANSWER", "API_ERROR"
_NO_PASSAGE = ("NA", "ERROR")
"""What ``passage_id`` holds where no passage was recorded, beside NO_ANSWER or API_ERROR."""

Numbered = tuple[int, Row]
_Key = tuple[str | None, str | None, str | None]


def runs_of_queries(path: Path, mapper: Mapper) -> Items:
    """The rows of each query and run. The file is read twice: first to find the last row of each
    group, so that only incomplete groups are held in memory."""
    last = {_group_key(pair): pair[0] for pair in _passage_rows(path, mapper.encoding)}
    begun: dict[_Key, list[Numbered]] = {}
    for passage_row in _passage_rows(path, mapper.encoding):
        key = _group_key(passage_row)
        begun.setdefault(key, []).append(passage_row)
        if passage_row[0] == last[key]:
            rows = begun.pop(key)
            yield rows[0][0], rows


def _passage_rows(path: Path, encoding: str | None) -> Iterator[Numbered]:
    for line, row in delimited.rows(path, encoding):
        if lacking := [column for column in _COLUMNS if column not in row]:
            facts = {"found": ", ".join(row), "wanted": ", ".join((*_OPTIONAL, *_COLUMNS))}
            raise wrong("no_such_column", path=path, field=lacking[0], column=lacking[0], **facts)
        if row["query"] is None:
            raise wrong("empty_query", path=path, line=line, field="query")
        yield line, row


def _group_key(numbered: Numbered) -> _Key:
    """The group of a row: its id and run, or its query and run where it has no id."""
    _, row = numbered
    name = row.get("query_id")
    return name, None if name else row["query"], row.get("query_run")


def run_of_query(rows: list[Numbered], line: int, mapper: Mapper) -> Made:
    """The record of the rows of a query and run, and what is worth knowing of them."""
    first = rows[0][1]
    for other, row in rows[1:]:
        if row["query"] != first["query"]:
            raise wrong("other_query_of_run", line=other, field="query", first=line)
    answers = {row["generated_answer"]: at for at, row in rows if row["generated_answer"]}
    if len(answers) > 1:
        raise wrong("answers_of_run", line=list(answers.values())[1], field="generated_answer")
    answer = next(iter(answers), None)
    failed, silent = answer == _API_ERROR, answer == _NO_ANSWER
    if silent:
        mapper.tell("no_answer", line)
    if failed:
        mapper.tell("api_error", line)
    given = {key: cell for key, cell in first.items() if cell is not None}
    metadata: dict[str, Any] = {key: given[key] for key in given if key not in _KNOWN}
    if silent:
        metadata["no_answer"] = True
    if failed and first["passage_id"] in _NO_PASSAGE and first["passage"]:
        metadata["failure_detail"] = first["passage"]
    record = {
        "id": first.get("query_id"),
        "query": first["query"],
        "query_run": first.get("query_run"),
        "passages": _passages_in(rows),
        "answer": None if failed else "" if silent else answer,
        "failure": _API_ERROR if failed else None,
        "metadata": metadata,
    }
    return {key: value for key, value in record.items() if value is not None}, None


def _passages_in(rows: list[Numbered]) -> list[dict[str, Any]] | None:
    """Passages in rank order; ``None`` where ``NA`` or ``ERROR`` replaces all of them."""
    passages = []
    for _, row in rows:
        name, words = row["passage_id"], row["passage"]
        says_none = name in _NO_PASSAGE and row["generated_answer"] in (_NO_ANSWER, _API_ERROR)
        if not says_none and (name, words) != (None, None):
            passages.append({"id": name, "text": words})
    return passages or (None if any(row["passage_id"] in _NO_PASSAGE for _, row in rows) else [])


# Answers of the TREC RAG tracks of 2024 and 2025: sentences with citations. A citation is an index,
# from 0, into the list of references, which are ids of passages. The topic is in the record (2024)
# or in its metadata (2025).

_TOPIC_ID = ("topic_id", "narrative_id")
_TOPIC = ("topic", "narrative", "title")


def topic_answer(item: dict[str, Any], line: int, mapper: Mapper) -> Made:
    """The record of an answer to a topic."""
    inner, about = item.get("metadata"), dict(item)
    if isinstance(inner, dict):
        del about["metadata"]
        about = {**inner, **about}
    listed = about.pop("references", None)
    if not isinstance(listed, list):
        raise field_values.not_a_list(listed, "references", "passage ids")
    cited = [_reference(value) for value in listed]
    answer, ids = about.pop("answer", None), [row["id"] for row in cited]
    if isinstance(answer, list):
        answer = [_with_ids(sentence, ids) for sentence in answer]
    record: dict[str, Any] = {
        "query": field_values.text(_first(about, _TOPIC), "topic"),
        "id": field_values.identifier(_first(about, _TOPIC_ID), "topic_id"),
        "system": field_values.identifier(about.pop("run_id", None), "run_id"),
        "passages": cited,
        "answer": answer,
    }
    fitting = (key for key in about if mapper.fits_metadata(key, about[key], line))
    record["metadata"] = {key: about[key] for key in fitting}
    return {key: value for key, value in record.items() if value is not None}, None


def _first(about: dict[str, Any], names: Sequence[str]) -> Any:
    """Removes the first of these names from the record and gives its value."""
    return next((about.pop(name) for name in names if name in about), None)


def _reference(item: Any) -> dict[str, Any]:
    if isinstance(item, dict):
        name = field_values.needed_identifier(item.get("id", item.get("docid")), "references.id")
        return {"id": name, "text": field_values.text(item.get("text"), "references.text")}
    return {"id": field_values.needed_identifier(item, "references")}


def _with_ids(sentence: Any, references: Sequence[str]) -> Any:
    """A sentence with ids in its citations; the reader of answers checks the rest."""
    cited = sentence.get("citations") if isinstance(sentence, dict) else None
    if not isinstance(cited, list):
        return sentence
    return {**sentence, "citations": [*dict.fromkeys(_citation(n, references) for n in cited)]}


def _citation(value: Any, references: Sequence[str]) -> str:
    """The passage id of a citation: a text is an id, even of a passage that was never retrieved."""
    if isinstance(value, str):
        return value
    index, n = field_values.whole_number(value, "answer.citations"), len(references)
    if index is None or not 0 <= index < n:
        raise wrong("citation_outside", field="answer.citations", value=value, n=n)
    return references[index]
