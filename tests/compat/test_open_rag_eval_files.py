"""The four files of ``--format ore``, and the tool's own files made again from their answers."""

import csv
import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Reason, Sample, formats
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.question import Question, R_co
from ragassay.metrics.consistency.runs_alike import sentences, union_lcs
from ragassay.reports.run_reports import write_reports
from ragassay.reports.tables import ore_files, ore_values
from scripted_judge import Scripted

csv.field_size_limit(10**9)
WORTH = {1.0: "full", 0.5: "partial", 0.0: "none"}


def table(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file by query, cells that hold JSON read."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {row["query_id"]: {k: _read(k, v) for k, v in row.items()} for row in rows}


def _read(column: str, cell: str) -> Any:
    return cell if column in ("query_id", "query") or not cell else json.loads(cell)


def runs_of(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The columns of each run of a row, without their prefix."""
    for at in itertools.count(1):
        run = {
            k.removeprefix(f"run_{at}_"): v for k, v in row.items() if k.startswith(f"run_{at}_")
        }
        if not run:
            return
        yield run


class Recorded(Judge):
    """Says what the judge of the tool's files said. All tokens of a step go to its first question:
    the file has their sums only."""

    def __init__(
        self, rows: Mapping[str, Mapping[str, Any]], tokens: Mapping[str, Any] | None = None
    ) -> None:
        self.said: dict[Any, Any] = {}
        self.tokens = dict(tokens or {})
        for row in rows.values():
            for run in runs_of(row):
                self._add(row["query"], run)

    def _add(self, query: str, run: Mapping[str, Any]) -> None:
        texts = run["retrieved_passages"]
        answer = " ".join(one["text"] for one in run["generated_answer"])
        grades = run["retrieval_score_umbrela_scores"]
        for key, grade in grades.items():
            self.said["grade", query, texts[key]] = grade
        nuggets = run["generation_score_autonugget_scores"]
        self.said["nuggets", query, frozenset(self._read(texts, grades))] = nuggets["nuggets"]
        for text, label, held in zip(
            nuggets["nuggets"], nuggets["labels"], nuggets["assignments"], strict=True
        ):
            self.said["importance", query, text] = label
            self.said["held", answer, text] = held
        for (part, key), value in links(run).items():
            statement = part.strip(" .")
            self.said["support", statement, texts[key]] = WORTH[value]
        self.said["answered", query, answer] = run["generation_score_no_answer_score"]

    @staticmethod
    def _read(texts: Mapping[str, str], grades: Mapping[str, int]) -> list[str]:
        return [texts[key] for key, grade in grades.items() if grade >= 1] or [*texts.values()]

    @property
    def label(self) -> str:
        return "recorded"

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        try:
            said = self._reply(question.kind, question.data)
        except KeyError as error:
            return Failure(question, Reason.UNSUPPORTED, f"not in the file: {error}")
        step = ore_values.STEPS[question.kind]
        took = self.tokens.pop(step, {"input_tokens": 0, "output_tokens": 0})
        made = Provenance(
            self.label, model="fake-model", input_tokens=took["input_tokens"],
            output_tokens=took["output_tokens"],
        )  # fmt: skip
        reply = type(question).reply.model_validate(said, strict=False)
        return JudgeAnswer(question, question.check(reply), made, repeat)

    def _reply(self, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        query = data.get("query")
        match kind:
            case "relevance_grade":
                grade = self.said["grade", query, data["passage"]]
                return {"match": 1, "trust": 1, "grade": grade}
            case "extract_nuggets":
                if data["known"]:
                    return {"nuggets": []}
                return {"nuggets": self.said["nuggets", query, frozenset(data["passages"])]}
            case "nugget_importance":
                return {"labels": [self.said["importance", query, one] for one in data["nuggets"]]}
            case "assign_nuggets":
                return {
                    "labels": [
                        self.said["held", words(data["answer"]), one] for one in data["nuggets"]
                    ]
                }
            case "citation_support":
                return {"support": self.said["support", data["statement"], data["passage"]]}
        return {"answered": self.said["answered", query, words(data["answer"])]["query_answered"]}


def words(answer: str) -> str:
    """An answer as the tool's parts have it."""
    from ragassay.metrics.citation.citation_parser import text_for_models

    return text_for_models(Answer(answer))


def links(run: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Verdicts on each part and citation whose means are those of the file."""
    means, texts = run["generation_score_citation_scores"], run["retrieved_passages"]
    parts = run["generated_answer"]
    choices = []
    for at, part in enumerate(parts, start=1):
        cited = [key for key in part["citations"] if key in texts]
        mean = means.get(f"part_score_{at}")
        found = itertools.product(WORTH, repeat=len(cited))
        choices.append(
            [
                {(part["text"], key): value for key, value in zip(cited, one, strict=True)}
                for one in found
                if not cited or abs(sum(one) / len(cited) - mean) < 1e-9
            ]
        )
    for picked in itertools.product(*choices):
        every = {pair: value for one in picked for pair, value in one.items()}
        by_key: dict[str, list[float]] = {}
        for (_, key), value in every.items():
            by_key.setdefault(key, []).append(value)
        if all(
            abs(sum(values) / len(values) - means[f"citation_score_{key}"]) < 1e-9
            for key, values in by_key.items()
        ):
            return every
    raise AssertionError(f"no answers make {means}")


@pytest.fixture(scope="module", params=["edge", "multi"])
def both(request: pytest.FixtureRequest, shared: Path, tmp_path_factory) -> tuple[Path, Path]:
    """The tool's folder, and ours from its answers, its configuration and its answers."""
    theirs = shared / "data" / "open_rag_eval" / "tool_0.3.0" / request.param
    ours = tmp_path_factory.mktemp(request.param)
    rows = table(theirs / ore_files.TREC)
    consistency = request.param == "multi"
    options = {
        "k_values": [1, 3, 5], "run_consistency": consistency,
        "metrics_to_run_consistency": [
            "mean_umbrela_score", "vital_nuggetizer_score", "citation_f1_score",
            "hallucination_score",
        ] * consistency,
    }  # fmt: skip
    evaluator = ragassay.TRECEvaluator(Recorded(rows), options)
    result = evaluator.evaluate([*given(theirs / "answers.csv", rows)], save=ours / "run")
    write_reports(result, ours, ["ore"])
    return theirs, ours


def given(path: Path, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Sample]:
    """The samples with the hallucination scores of the file: they come from a stand-in."""
    for sample in formats.read(path):
        row = rows.get(sample.id)
        value = row and row.get(f"run_{sample.repeat + 1}_generation_score_hallucination_score")
        yield sample if value is None else dataclasses.replace(sample, given={"hhem_score": value})


def alike(ours: Any, theirs: Any) -> bool:
    """Equal, numbers to 12 digits."""
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and ours.keys() == theirs.keys()
            and all(alike(ours[key], one) for key, one in theirs.items())
        )
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, float):
        return bool(ours == pytest.approx(theirs, rel=1e-12, abs=1e-12))
    return bool(ours == theirs)


def test_each_table_of_the_tool_is_made_again_cell_by_cell(both: tuple[Path, Path]) -> None:
    theirs, ours = both
    assert {one.name for one in theirs.glob("*eval_results*")} == {
        one.name for one in ours.glob("*eval_results*")
    }
    for path in theirs.glob("*eval_results.csv"):
        wanted, found = table(path), table(ours / path.name)
        assert list(found) == list(wanted)
        for name, row in wanted.items():
            assert found[name].keys() == row.keys()
            if path.name != ore_files.MERGED:
                assert list(found[name]) == list(row), "the order of columns"
            for column, cell in row.items():
                if "token" not in column:
                    assert alike(found[name][column], cell), (path.name, name, column)


def test_the_viewers_file_of_the_tool_is_made_again(both: tuple[Path, Path]) -> None:
    wanted, found = (json.loads((one / ore_files.JSON).read_text()) for one in both)
    assert list(found) == list(wanted) and found["version"] == wanted["version"]
    assert len(found["generated_at"]) == len(wanted["generated_at"])
    assert alike(found["evaluation"], wanted["evaluation"])


@pytest.mark.parametrize("name", ["edge", "multi"])
def test_the_columns_of_tokens_are_made_again(shared: Path, tmp_path: Path, name: str) -> None:
    """Of the first run of a few queries, each by itself."""
    folder = shared / "data" / "open_rag_eval" / "tool_0.3.0" / name
    rows = table(folder / ore_files.TREC)
    samples = [one for one in given(folder / "answers.csv", rows) if one.repeat == 0]
    for sample in [one for one in samples if one.id in rows][:6]:
        row = rows[sample.id]
        judge = Recorded({sample.id: row}, row["run_1_generation_score_token_usage"])
        result = ragassay.TRECEvaluator(judge).evaluate([sample])
        write_reports(result, tmp_path, ["ore"])
        found = table(tmp_path / ore_files.TREC)[sample.id]
        columns = [column for column in found if "token" in column]
        assert len(columns) == 5
        assert [found[column] for column in columns] == [row[column] for column in columns]


PASSAGES = (Passage("Iron is heavy.", id="[1]"), Passage("Wool is light.", id="[2]"))


def sample(name: str, answer: str | None, **more: Any) -> Sample:
    said = None if answer is None else Answer(answer)
    return Sample(
        **({"id": name, "query": f"{name}?", "passages": PASSAGES, "answer": said} | more)
    )


def test_rows_stand_by_id_and_runs_without_an_answer_in_no_file(tmp_path: Path) -> None:
    data = [
        *(sample("q2", f"Iron is heavy {at} [1].", repeat=at) for at in range(3)),
        *(sample("q10", said, repeat=at) for at, said in enumerate(["Iron.", "", "Wool.", "Tin."])),
        *(sample("q1", "Wool [2].", repeat=at) for at in range(2)), sample("q3", ""),
        sample("q4", None, failure="API_ERROR"),
    ]  # fmt: skip
    evaluator = ragassay.TRECEvaluator(options={"run_consistency": True})
    written = write_reports(evaluator.evaluate(data, save=tmp_path / "run"), tmp_path, ["ore"])
    assert ragassay.open_run(tmp_path / "run").summary.n_samples == len(data)
    assert sorted(one.name for one in written.values()) == [
        "ConsistencyEvaluator-eval_results.csv", "TRECEvaluator-eval_results.csv",
        "eval_results.csv", "eval_results.json",
    ]  # fmt: skip
    rows = table(tmp_path / ore_files.TREC)
    assert list(rows) == ["q1", "q10", "q2"]
    said = [run["generated_answer"] for run in runs_of(rows["q10"])]
    assert [one[0]["text"] for one in said] == ["Iron.", "Wool.", "Tin."], "numbered anew"
    compared = table(tmp_path / ore_files.CONSISTENCY)
    assert list(compared) == ["q10", "q2"], "two runs are too few for the tool"
    viewed = json.loads((tmp_path / ore_files.JSON).read_text())["evaluation"]
    assert [(one["query_id"], len(one["runs"])) for one in viewed] == [
        ("q1", 2), ("q10", 3), ("q2", 3),
    ]  # fmt: skip
    assert viewed[0]["consistency"] == {} and "mean_umbrela_score" in viewed[1]["consistency"]


def test_without_consistency_there_are_three_files_and_an_old_one_goes(tmp_path: Path) -> None:
    (tmp_path / ore_files.CONSISTENCY).write_text("of an older run")
    result = ragassay.evaluate([sample("q1", "Iron [1].")], "trecrag")
    assert len(write_reports(result, tmp_path, ["ore"])) == 3
    assert not (tmp_path / ore_files.CONSISTENCY).exists()


def test_where_nothing_relevant_was_retrieved_the_tools_nuggets_have_a_score() -> None:
    said = {
        "relevance_grade": {"match": 0, "trust": 0, "grade": 0},
        "extract_nuggets": {"nuggets": ["iron is heavy"]},
        "nugget_importance": {"labels": ["okay"]}, "assign_nuggets": {"labels": ["support"]},
    }  # fmt: skip
    metrics = ["nuggets.all", "nuggets_ore.all", "nuggets_ore.vital", "nuggets_ore.weighted"]
    found = ragassay.evaluate([sample("q1", "Iron.")], metrics, judge=Scripted(said)).summary
    assert found.metrics["nuggets.all"].unscored == {"nothing_retrieved": 1}
    assert [found.metrics[name].mean for name in metrics[1:]] == [1.0, 0.0, 0.5 / 1.5]


@pytest.mark.parametrize(
    ("text", "reference", "wanted"),
    [  # values of the package rouge 1.0.1
        ("a b c d", "a c", (0.5, 1.0, 2 / 3)), ("a a b", "a b", (1.0, 1.0, 1.0)),
        ("The cat", "the cat", (0.5, 0.5, 0.5)), ("b a. c", "a b c", (2 / 3, 2 / 3, 2 / 3)),
        ("a b. ", "a", (1 / 3, 1.0, 0.5)),
    ],
)  # fmt: skip
def test_the_tools_rouge_counts_distinct_words_of_sentences(text, reference, wanted) -> None:
    found = union_lcs(sentences(text), sentences(reference))
    assert tuple(found) == pytest.approx(wanted, abs=1e-7)
