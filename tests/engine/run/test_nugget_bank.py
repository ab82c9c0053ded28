"""Nugget banks: facts that belong to a query, pooled over systems, editable, named by a hash."""

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import InputError, Passage, Reason, Sample, UsageError
from ragassay.base.sample import Turn
from ragassay.base.score import Unscored
from ragassay.cli.command_line import call
from ragassay.engine.run.pooled_nuggets import pooled
from ragassay.engine.run.rescoring import rescore
from ragassay.formats.nugget_bank_file import Nugget, NuggetBank, QueryNuggets
from ragassay.judges.asking import Asker
from ragassay.judges.question import Question
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.metrics.core import naming
from scripted_judge import Scripted


def judge(question: Question[Any]) -> Any:
    """A nugget is a passage's text; what begins with "v" is vital; an answer holds what it says."""
    data = question.data
    match question.kind:
        case "relevance_grade":
            return {"match": 1, "trust": 1, "grade": 0 if "noise" in data["passage"] else 2}
        case "extract_nuggets":
            if "broken" in data["query"]:
                return Reason.SERVER_ERROR
            return {"nuggets": [text for text in data["passages"] if text not in data["known"]]}
        case "nugget_importance":
            return {"labels": ["vital" if n.startswith("v") else "okay" for n in data["nuggets"]]}
        case "assign_nuggets":
            held = [n in data["answer"] for n in data["nuggets"]]
            return {"labels": ["support" if one else "not_support" for one in held]}
    return Reason.UNSUPPORTED


def sample(system: str, passages: str, answer: str = "", **fields: Any) -> Sample:
    texts = tuple(Passage(text) for text in passages.split("|") if text)
    base = {"id": "q1", "query": "what?", "answer": answer, "passages": texts, "system": system}
    return Sample(**(base | fields))


TWO = [
    sample("a", "v alpha|o beta|noise", "v alpha"),
    sample("b", "o beta|v gamma", "v gamma and o beta"),
    sample("b", "v delta", "", repeat=1),
]


def bank_of(samples: list[Sample], said: Scripted, names: str = "nuggets.all") -> NuggetBank:
    with Asker(said) as asker:
        return pooled(iter(samples), asker, list(naming.metrics_by_name(names).values()))


def test_a_bank_pools_the_passages_of_all_systems_and_repeats() -> None:
    said = Scripted(judge)
    bare = Sample(id="q1", passages=(Passage(None, id="x"),), system="c")  # the others have both
    turns = (Turn("user", "first?"), Turn("agent", "so"))  # the user's are read
    later = sample("a", "other", id="q2", query="who?", history=turns)
    bank = bank_of([bare, *TWO, later], said)
    entries = [(name, one.query, one.failure) for name, one in bank.items()]
    assert entries == [("q1", "what?", None), ("q2", "who?", None)]
    texts = [one.text for one in bank["q1"].nuggets]
    assert texts == ["v alpha", "v gamma", "v delta", "o beta"], "vital first, then in their order"
    assert [one.importance for one in bank["q1"].nuggets] == ["vital"] * 3 + ["okay"]
    graded = [(q.passage, q.earlier) for q in said.questions if isinstance(q, RelevanceGrade)]
    assert graded.pop() == ("other", ("first?",))
    texts = ["noise", "o beta", "v alpha", "v delta", "v gamma"]
    assert sorted(graded) == [(text, ()) for text in texts]


def test_the_limits_are_those_of_the_metrics() -> None:
    names = "nuggets(best=2).all,nuggets(best=2).vital"
    assert len(bank_of(TWO, Scripted(judge), names)["q1"].nuggets) == 2
    with pytest.raises(UsageError, match="different parameters"):
        bank_of(TWO, Scripted(judge), "nuggets(best=2).all,nuggets.vital")


def test_a_failure_stands_in_the_entry_and_costs_that_query_only() -> None:
    bare = [Sample(id="q3", query="why?", passages=(Passage(None, id="x"),))]
    bare += [Sample(id="q4", passages=(Passage("v"),))]
    bank = bank_of([sample("a", "v x", id="q2", query="broken"), *TWO, *bare], Scripted(judge))
    failures = [bank[name].failure for name in ("q2", "q3", "q4")]
    reasons = [failure and failure.reason for failure in failures]
    assert reasons == [Reason.SERVER_ERROR, Reason.MISSING_INPUT, Reason.MISSING_INPUT]
    assert len(bank["q1"].nuggets) == 4
    broken = [sample("a", "v x", "v x", id="q2", query="broken")]
    by = {"judge": Scripted(judge), "nuggets": "pooled"}
    (row,) = ragassay.evaluate(broken, "nuggets.all", **by).scores
    assert row.reason == Reason.SERVER_ERROR


def test_one_id_for_two_queries_is_refused() -> None:
    for other in ("something else?", "whatever?"):
        with pytest.raises(InputError, match="two different queries have the id 'q1'"):
            bank_of([*TWO, sample("c", "x", query=other)], Scripted(judge))
    assert len(bank_of([*TWO, sample("c", "v x", query=" what? ")], Scripted(judge))) == 1


def test_two_systems_are_measured_against_the_same_facts(tmp_path: Path) -> None:
    by = {"judge": Scripted(judge), "nuggets": "pooled"}
    result = ragassay.evaluate(TWO, "nuggets.all", save=tmp_path / "run", **by)
    found = {(row.system, row.repeat, row.metric): row for row in result.scores}
    assert found["a", 0, "nuggets.all"].value == 0.25
    assert found["b", 0, "nuggets.all"].value == 0.5
    assert found["b", 1, "nuggets.all"].value == 0.0, "an empty answer holds nothing"
    memory = ragassay.evaluate(TWO, "nuggets.all", judge=Scripted(judge), nuggets="pooled")
    memory.save(tmp_path / "kept")
    for one in (memory, *(ragassay.open_run(tmp_path / name) for name in ("run", "kept"))):
        again = rescore(one)
        assert (again.n_scores, again.different, again.unmeasured) == (3, (), 0)
    kept = NuggetBank.read(tmp_path / "run" / "nuggets.jsonl")
    assert result.summary.nuggets == kept.hash == bank_of(TWO, Scripted(judge)).hash


def test_an_edited_bank_is_taken_as_it_is(tmp_path: Path) -> None:
    fact = {"text": "v alpha", "importance": "okay"}
    path = write(tmp_path, {"qid": "q1", "query": "what?", "nuggets": [fact]})
    said = Scripted(judge)
    bare = Sample(id="q1", query="what?", answer="v alpha", system="b")  # type: ignore[arg-type]
    more = [sample("a", "x", "v alpha"), sample("a", "x", "y", id="q9"), bare]
    names = "nuggets.all,nuggets.vital"
    result = ragassay.evaluate(more, names, judge=said, nuggets=str(path))
    by_sample = {(row.sample, row.system, row.metric): row for row in result.scores}
    assert by_sample["q1", "a", "nuggets.all"].value == 1.0
    assert by_sample["q1", "a", "nuggets.vital"].reason == "undefined"
    assert by_sample["q1", "b", "nuggets.all"].value == 1.0, "no passages are needed"
    absent = by_sample["q9", "a", "nuggets.all"]
    assert absent.reason == "missing_input" and "'q9'" in absent.explanation
    assert set(said.asked) == {"assign_nuggets"}, "nothing is made anew"


def write(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "bank.jsonl"
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return path


FACT = {"text": "a fact", "importance": "vital"}
ENTRY: dict[str, Any] = {"qid": "q", "query": "?", "nuggets": [FACT]}


def test_a_bank_is_written_and_read_back(tmp_path: Path) -> None:
    failed = Unscored(Reason.TIMEOUT, "no nuggets were made: too late")
    entries = [QueryNuggets("1", "wer?", (Nugget("ä fact", "vital"), Nugget("b", "okay")))]
    bank = NuggetBank([*entries, QueryNuggets("2", None, ()), QueryNuggets("3", "x", (), failed)])
    bank.write(tmp_path / "b.jsonl")
    again = NuggetBank.read(tmp_path / "b.jsonl")
    assert dict(again) == dict(bank) and again.hash == bank.hash
    assert len((tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    (tmp_path / "bank.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"bank.jsonl: "):  # without entries
        NuggetBank.read(tmp_path / "bank.jsonl")


def test_castorinis_files_are_read_and_an_assignment_is_left_out(tmp_path: Path) -> None:
    held = {"text": "Trauma of helpers", "importance": "vital", "assignment": "support"}
    nuggets = [held, {"text": "Affects  therapists", "importance": "OKAY"}]
    path = write(tmp_path, {"qid": "2024-145979", "query": "what is it", "nuggets": nuggets})
    (entry,) = NuggetBank.read(path).values()
    said = Nugget("Trauma of helpers", "vital"), Nugget("Affects therapists", "okay")
    assert entry.nuggets == said


def test_the_hash_names_what_answers_are_measured_by() -> None:
    one = QueryNuggets("1", "a?", (Nugget("x", "vital"), Nugget("y", "okay")))
    other = QueryNuggets("2", "b?", (Nugget("z", "okay"),))
    bank = NuggetBank([one, other])
    assert bank.hash == NuggetBank([other, one]).hash
    for changed in (
        QueryNuggets("1", "a?", (Nugget("x", "okay"), Nugget("y", "okay"))),
        QueryNuggets("1", "a?", (Nugget("x", "vital"),)),
        QueryNuggets("1", "a?", (Nugget("x!", "vital"), Nugget("y", "okay"))),
        QueryNuggets("1", "c?", one.nuggets),
    ):
        assert NuggetBank([changed, other]).hash != bank.hash


@pytest.mark.parametrize(("line", "field", "says"), [
    ("{", None, "not valid JSON"), ({"qid": "q"}, "nuggets", ""),
    ({"qid": "q", "nuggets": ["a fact"]}, "nuggets", "was given where a nugget is expected"),
    ({"qid": "q", "nuggets": [{"importance": "vital"}]}, "nuggets.text", "no text"),
    ({"qid": "q", "nuggets": [{"text": "a", "importance": "must"}]}, "nuggets.importance", "must"),
    ({"qid": "q", "nuggets": [*ENTRY["nuggets"], {"text": "A FACT", "importance": "okay"}]},
     "nuggets", "the query has the nugget"),
    ({"qid": "x", "nuggets": []}, "qid", "the bank has the query"),
    ({"qid": "q", "nuggets": [], "failure": "late"}, "failure", "reason"),
])  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, line: object, field: str | None, says: str) -> None:
    path = write(tmp_path, {**ENTRY, "qid": "x"}, line)
    with pytest.raises(InputError) as caught:
        NuggetBank.read(path)
    error = caught.value
    assert error.line == 2 and str(path) in str(error) and says in str(error)
    assert error.field == field


def test_a_bank_for_another_query_is_refused_and_both_are_shown(tmp_path: Path, capsys) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "q1", "query": "Who wrote Dune?", "answer": "Herbert."}\n')
    wrong = {**ENTRY, "qid": "q1", "query": "other query?"}
    path = write(tmp_path, {**ENTRY, "qid": "q0"}, wrong)
    words = ["run", str(data), "--metrics", "nuggets.all", "--nuggets", str(path)]
    for more in ([], ["--dry-run"]):
        assert call([*words, *more]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"{path}, line 2" in said
        assert "'other query?'" in said and "'Who wrote Dune?'" in said


def test_a_bank_that_serves_no_query_of_the_data_is_said(tmp_path: Path) -> None:
    record = {"id": "q1", "query": "Who wrote Dune?", "answer": "Herbert.", "passages": ["Dune"]}
    empty = {"qid": "q1", "query": "Who wrote Dune?", "nuggets": []}
    for more in ([], [empty]):
        path = write(tmp_path, {**ENTRY, "qid": "x7"}, *more)
        found = ragassay.evaluate([record], ["nuggets.all", "answered"], nuggets=str(path)).summary
        assert any("no nugget for any query" in w and "'x7'" in w for w in found.warnings)
    path = write(tmp_path, {**ENTRY, "qid": "q1", "query": record["query"]})
    served = ragassay.evaluate([record, {**record, "id": "q2"}], ["nuggets.all"], nuggets=str(path))
    assert not any("no nugget for any query" in w for w in served.summary.warnings)


def test_a_bank_goes_with_the_run_that_it_belonged_to(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    record = {"id": "q1", "query": "Who?", "answer": "v", "passages": ["v"]}
    for _ in range(2):
        ragassay.evaluate([record], ["nuggets.all"], nuggets="pooled", save=folder)
        assert (folder / "nuggets.jsonl").is_file() and (folder / "judge_answers.jsonl").is_file()
        # A run may read the bank that lies in the folder which it writes.
        own = str(folder / "nuggets.jsonl")
        ragassay.evaluate([record], ["answer_words"], nuggets=own, save=folder)
        assert (folder / "nuggets.jsonl").is_file()
        ragassay.evaluate([record], ["answer_words"], save=folder)
        assert not (folder / "nuggets.jsonl").exists()
        assert not (folder / "judge_answers.jsonl").exists()
