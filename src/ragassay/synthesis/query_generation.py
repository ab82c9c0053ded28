"""Open RAG Eval's configurations of query generation (``document_source``, ``model``,
``generation``, ``output``) as what we synthesize; and its files of queries."""

from __future__ import annotations

import csv
import io
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ragassay.base.errors import InputError
from ragassay.base.files import write_bytes
from ragassay.base.yaml_files import text_of
from ragassay.compat.open_rag_eval.published_evaluators import JudgeModel, Keys, judge_word
from ragassay.engine.run.config_reading import ConfigFile, is_for_a_key, read_filled, variable_of
from ragassay.golden.documents import READERS
from ragassay.golden.golden_export import delimited, json_lines
from ragassay.golden.golden_item import GoldenItem
from ragassay.synthesis.draft import EXPANDED, JOINT, Mix

SOURCES = ("LocalFileSource", "CSVSource")
Count = Annotated[int, Field(ge=1)]


class DocumentSource(Keys):
    """``document_source``: where documents are, and which of them count."""

    type: Literal["LocalFileSource", "CSVSource"]
    path: str | None = None
    file_extensions: list[str] | None = None
    csv_path: str | None = None
    text_column: str = "text"
    min_doc_size: int = 0
    max_num_docs: Count | None = None
    seed: int = 0


class Generation(Keys):
    """``generation``: what is written."""

    n_questions: Count = 50
    min_words: Count = 5
    max_words: Count = 20
    questions_per_doc: Any = None
    language: str | None = None
    question_types: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=lambda: dict.fromkeys(EXPANDED, 1.0)
    )
    generate_expected_answers: bool = False


class Output(Keys):
    """``output``: the file of queries."""

    format: Literal["csv", "jsonl"] = "csv"
    base_filename: str = "queries"
    include_metadata: Any = None


class QueryGeneration(Keys):
    """A configuration of query generation."""

    document_source: DocumentSource
    model: JudgeModel | None = None
    generation: Generation = Field(default_factory=Generation)
    output: Output = Field(default_factory=Output)


@dataclass(frozen=True)
class PublishedWish:
    """What a configuration of query generation asks for: its model as a judge's word (empty for
    none), the variable of its key, and sentences about keys that mean nothing here."""

    path: Path
    config: QueryGeneration
    generator: str
    key_variable: str | None
    mix: Mix
    notes: Sequence[str] = ()

    @contextmanager
    def documents(self, golden: Path | None) -> Iterator[Path]:
        """A folder with the documents that count: the source's own where all of them do, or else
        the folder ``documents`` of the golden set, into which they are copied."""
        source = self.config.document_source
        if source.path and not (
            source.file_extensions or source.min_doc_size or source.max_num_docs
        ):
            yield Path(source.path)
            return
        with tempfile.TemporaryDirectory() as aside:
            folder = Path(aside) if golden is None else golden / "documents"
            contents = list(self._contents())
            if source.max_num_docs is not None and len(contents) > source.max_num_docs:
                places = random.Random(source.seed).sample(
                    range(len(contents)), source.max_num_docs
                )
                contents = [contents[at] for at in sorted(places)]
            if not contents:
                raise InputError(
                    "names no document that counts (document_source)",
                    path=self.path,
                    hint="See its path, file_extensions and min_doc_size.",
                )
            for name, content in contents:
                write_bytes(folder / name, content)
            yield folder

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of each document that is large enough."""
        source, path = self.config.document_source, Path(self.config.document_source.path or "")
        if source.type == "CSVSource":
            path = Path(source.csv_path or "")
            rows = csv.DictReader(io.StringIO(text_of(path)))
            if source.text_column not in (rows.fieldnames or ()):
                names = ", ".join(rows.fieldnames or ()) or "none"
                problem = f"has no column {source.text_column!r} (there are: {names})"
                raise InputError(problem, path=path)
            seen = set()
            for number, row in enumerate(rows, 1):
                text = (row[source.text_column] or "").strip()
                if text and len(text) >= source.min_doc_size and text not in seen:
                    seen.add(text)
                    yield f"row-{number:06}.txt", text.encode()
            return
        if not path.is_dir():
            raise InputError("is not a folder of documents", path=path)
        wanted = [f".{end.lstrip('.')}".casefold() for end in source.file_extensions or READERS]
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.suffix.casefold() in wanted:
                content = file.read_bytes()
                if len(content) >= source.min_doc_size:
                    yield file.relative_to(path).as_posix(), content

    def save_queries(self, items: Sequence[GoldenItem]) -> Path:
        """Writes the file of queries: ``query_id``, ``query`` and, where answers are generated,
        ``expected_answer`` (empty for an unanswerable query)."""
        output = self.config.output
        path = Path(f"{output.base_filename}.{output.format}")
        names = ["query_id", "query"]
        names += ["expected_answer"] * self.config.generation.generate_expected_answers
        rows = [(item.id, item.query, "".join(item.references[:1]))[: len(names)] for item in items]
        records = [dict(zip(names, row, strict=True)) for row in rows]
        is_csv = output.format == "csv"
        write_bytes(path, delimited(names, rows) if is_csv else json_lines(records))
        return path


def read_query_generation(path: Path) -> PublishedWish:
    """Reads a configuration of query generation."""
    file = ConfigFile(read_filled(text_of(path), path, leave=is_for_a_key), path)
    body = file.content.value
    if not isinstance(body, dict) or "document_source" not in body:
        raise InputError(
            "is not a configuration of query generation: it has no document_source",
            path=path,
            hint="Name a folder of documents, or such a file.",
        )
    kind = (body["document_source"] or {}).get("type")
    if kind not in SOURCES:
        raise file.wrong(
            ("document_source", "type"),
            f"{kind!r} cannot be read here",
            f"There are: {', '.join(SOURCES)}. Export a Vectara corpus to files or a CSV first.",
        )
    read = file.validated(QueryGeneration, body, ())
    source, generation = read.document_source, read.generation
    needed = "csv_path" if source.type == "CSVSource" else "path"
    if not getattr(source, needed):
        raise file.wrong(("document_source",), f"{source.type} needs {needed}")
    if generation.min_words > generation.max_words:
        raise file.wrong(("generation", "min_words"), "is larger than max_words")
    types = generation.question_types
    for name in types:
        if name not in EXPANDED:
            raise file.wrong(
                ("generation", "question_types", name),
                "is not a type of question",
                f"There are: {', '.join(EXPANDED)}.",
            )
    if not sum(types.values()) > 0:
        raise file.wrong(("generation", "question_types"), "has no weight above 0")
    for place in (("generation", "questions_per_doc"), ("output", "include_metadata")):
        if (body.get(place[0]) or {}).get(place[1]) is not None:
            file.note(place, "has no effect, as in Open RAG Eval.")
    weights: dict[str, dict[str, float]] = {JOINT: types, "shape": {"single": 1}}
    if generation.language:
        weights["language"] = {generation.language: 1}
    word, variable = "", None
    if read.model is not None:
        word, own_variables = judge_word(file, read.model, "gpt-4o-mini", ("model",))
        variable = variable_of(read.model.api_key, file.content, ("model", "api_key"))
        variable = None if variable in own_variables else variable
    return PublishedWish(path, read, word, variable, Mix.of(weights), tuple(file.notes))
