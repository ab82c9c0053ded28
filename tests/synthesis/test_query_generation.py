"""Open RAG Eval's configurations of query generation."""

import csv
from pathlib import Path

import pytest
from test_llm_synthesis import honest

from llm_server import LLMServer
from ragassay import examples
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem
from ragassay.synthesis.query_generation import read_query_generation

DOCUMENTS = Path(examples.__file__).parent / "town" / "documents"
CONFIG = """
document_source:
  type: LocalFileSource
  path: {path}
  file_extensions: [".md"]
  min_doc_size: 100
  max_num_docs: 4
  seed: 7
model:
  type: OpenAIModel
  name: writer
  base_url: {url}
  api_key: ${{oc.env:WRITERS_KEY}}
generation:
  n_questions: 8
  min_words: 5
  max_words: 60
  questions_per_doc: 2
  language: English
  question_types: {{directly_answerable: 50, reasoning_required: 25, unanswerable: 25}}
  generate_expected_answers: {answers}
output: {{format: csv, base_filename: asked, include_metadata: true}}
"""


@pytest.fixture
def config(here: Path, server: LLMServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WRITERS_KEY", "sk-of-a-test")
    server.settings.rule = honest
    path = here / "generation.yaml"
    path.write_text(CONFIG.format(path=DOCUMENTS, url=server.url, answers="true"))
    return path


def queries() -> list[dict[str, str]]:
    with Path("asked.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_published_configuration_gives_a_golden_set_and_the_csv(config, server, capsys) -> None:
    assert call(["golden", "synthesize", str(config), "-o", "golden"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "questions_per_doc: has no effect" in said and "include_metadata: has no effect" in said
    items = GoldenSet.open(Path("golden")).items
    kinds = sorted((item.type, str(item.answerability)) for item in items)
    assert kinds == [*[("factual", "answerable")] * 4, *[("factual", "unanswerable")] * 2,
                     *[("reasoning", "answerable")] * 2]  # fmt: skip
    assert {item.language for item in items} == {"English"}
    assert len(list(Path("golden/documents").iterdir())) == 4
    rows = queries()
    assert list(rows[0]) == ["query_id", "query", "expected_answer"]
    told = {row["query_id"]: (row["query"], row["expected_answer"]) for row in rows}
    assert told == {item.id: (item.query, "".join(item.references)) for item in items}
    assert "sk-of-a-test" in server.state.keys


def test_without_expected_answers_there_is_no_column_and_no_answer(config: Path, server) -> None:
    config.write_text(CONFIG.format(path=DOCUMENTS, url=server.url, answers="false"))
    assert call(["golden", "synthesize", str(config)]) == 0
    assert list(queries()[0]) == ["query_id", "query"] and len(queries()) == 8
    config.write_text(config.read_text().replace("min_words: 5", "min_words: 60"))
    assert read_query_generation(config)  # as many words as max_words
    assert not any(item.references for item in GoldenSet.open(Path("asked")).items)


def test_rows_of_a_csv_are_documents(config: Path, tmp_path: Path) -> None:
    with (tmp_path / "texts.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "body"])
        for path in sorted(DOCUMENTS.iterdir()):
            writer.writerow([path.stem, path.read_text()])
        long_enough = ["just long enough", "x" * 50]  # and there twice
        writer.writerows([["short", "x" * 49], long_enough, long_enough])
    config.write_text(
        "document_source: {type: CSVSource, csv_path: texts.csv, text_column: body, "
        "min_doc_size: 50}\n"
        "generation: {n_questions: 6, max_words: 60, question_types: {directly_answerable: 1}}\n"
    )
    assert call(["golden", "synthesize", str(config), "-o", "golden"]) == 0
    items = GoldenSet.open(Path("golden")).items
    assert len(items) == 6 and {item.author for item in items} == {"offline-rules/5"}
    assert len(list(Path("golden/documents").glob("row-*.txt"))) == 8
    with Path("queries.csv").open(newline="") as stream:
        queries = [row["query"] for row in csv.DictReader(stream)]
    assert queries == [item.query for item in items]


def test_documents_count_by_end_size_and_number_and_queries_may_be_json_lines(config: Path) -> None:
    docs = config.parent / "docs"
    docs.mkdir()
    for name, n in {"a.md": 50, "b.md": 49, "c.txt": 60, "d.MD": 70, "e.md": 80,
                    "f.md": 90}.items():  # fmt: skip
        (docs / name).write_text(name[0] * n)

    def counted(source: str) -> str:
        config.write_text(
            f"document_source: {{type: LocalFileSource, path: docs, {source}}}\n"
            "output: {format: jsonl, base_filename: asked}\n"
        )
        with read_query_generation(config).documents(None) as folder:
            return "".join(sorted(path.name[0] for path in folder.iterdir()))

    assert counted("seed: 1") == "abcdef" and counted("min_doc_size: 50") == "acdef"
    assert counted("file_extensions: [md, .html]") == "abdef"
    assert counted("max_num_docs: 6") == counted("max_num_docs: 9") == "abcdef"
    drawn = {counted(f"max_num_docs: 2, seed: {seed}") for seed in (1, 2, 3)}
    assert {len(names) for names in drawn} == {2} and len(drawn) > 1
    wish = read_query_generation(config)
    asked = wish.config.generation
    assert (asked.n_questions, asked.min_words, asked.max_words) == (50, 5, 20)
    path = wish.save_queries([GoldenItem(id="q", query="Why?", references=["x"])])
    assert path.read_text() == '{"query_id":"q","query":"Why?"}\n'


@pytest.mark.parametrize(("old", "new", "said"), [
    ("type: LocalFileSource", "type: VectaraCorpusSource", "Export a Vectara corpus"),
    ("path: ", "folder: ", "folder"), ("n_questions: 8", "n_questions: none", "n_questions"),
    ("type: LocalFileSource", "type: CSVSource", "CSVSource needs csv_path"),
    ("unanswerable: 25", "unanswered: 25", "a type of"), ("words: 5", "words: 90", "larger"),
    ("${oc.env:WRITERS_KEY}", "sk-written-out", "a key must not be in the file"),
    ("OpenAIModel", "OpenMindModel", "no model 'OpenMindModel'"),
    ("min_doc_size: 100", "min_doc_size: 1000000", "no document that counts"),
    ("path: ", "path: generation.yaml # ", "generation.yaml: is not a folder of documents"),
    ("type: LocalFileSource", "type: CSVSource\n  csv_path: generation.yaml\n  text_column: body",
     "has no column 'body' (there are: "),
    ("directly_answerable: 50, reasoning_required: 25, unanswerable: 25", "unanswerable: 0",
     "has no weight above 0"), ("document_source", "source", "has no document_source")
])  # fmt: skip
def test_a_wrong_file_is_told_with_its_place(config, capsys, old, new, said) -> None:
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new, 1))
    assert call(["golden", "synthesize", str(config), "-o", "golden"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told and "generation.yaml" in told and "sk-written-out" not in told
