import asyncio
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from question_examples import EXAMPLES, OTHER, PASSAGE, QUERY, name_of
from ragassay.base.errors import InputError, UsageError
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.judges.judge import Failure, JudgeAnswer, Provenance, provenance_of, short, to_record
from ragassay.judges.ledger.ledger_admin import record_of
from ragassay.judges.ledger.paid_answers import JUDGE_ANSWER, Paid
from ragassay.judges.panel import Panel
from ragassay.judges.question import Question
from ragassay.judges.questions import ReportOnContext
from ragassay.judges.questions.checklists import ClaimSupport, ExtractClaims
from ragassay.judges.questions.grading import AnswerMatch, Relevance, RelevanceGrade, Satisfaction
from ragassay.judges.replay import Replay
from valid_answers import largest, smallest

QUESTION = RelevanceGrade(QUERY, PASSAGE)
LABEL: dict[str, Any] = {
    "question": "relevance_grade",
    "data": {"query": QUERY, "passage": PASSAGE},
    "answer": {"grade": 3},
}


def write(folder: Path, *lines: Any, name: str = "labels.jsonl") -> Path:
    path = folder / name
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def replay(folder: Path, *lines: Any) -> Replay:
    return Replay(write(folder, *lines))


def ask(judge: Replay, question: Question[Any] = QUESTION, repeat: int = 0) -> Any:
    answered = asyncio.run(judge.answer(question, repeat))
    assert judge.known(question, repeat) == answered
    return answered


def test_a_final_label_settles_its_question_until_it_is_taken_back(tmp_path: Path) -> None:
    votes = [{**LABEL, "judge": who, "answer": n} for who, n in (("ann", 3), ("bob", 3))]
    final = {**LABEL, "judge": "eve", "answer": 0, "final": True}
    settled = ask(replay(tmp_path, *votes, final, {**LABEL, "judge": "tim", "answer": 3}))
    assert (settled.answer.grade, settled.votes) == (0, ())
    other = {**final, "judge": "ann", "answer": 1}
    assert ask(replay(tmp_path, *votes, final, other)).answer.grade == 1, "the last one counts"
    undone = {**LABEL, "judge": "eve", "answer": None}
    assert ask(replay(tmp_path, *votes, final, undone)).answer.grade == 3
    with pytest.raises(InputError, match="line 1, field 'final'"):
        replay(tmp_path, {**LABEL, "final": "yes"})


def test_a_persons_label_is_found_by_what_it_is_about(tmp_path: Path) -> None:
    judge = replay(
        tmp_path, LABEL, {**LABEL, "data": {"query": QUERY, "passage": OTHER}, "answer": 0}
    )
    assert ask(judge).answer == Relevance(match=3, trust=3, grade=3)
    assert ask(judge, RelevanceGrade(QUERY, OTHER)).answer.grade == 0
    assert ask(judge, RelevanceGrade(QUERY, PASSAGE, "few")).answer.grade == 3  # nor is that asked
    assert ask(judge, repeat=4).answer.grade == 3


@pytest.mark.parametrize(("answer", "match"), [
    (3, 3), ("3", 3), ({"grade": 3}, 3), ({"grade": 3, "match": 1}, 1),
])  # fmt: skip
def test_a_person_need_not_say_what_no_person_is_asked_for(tmp_path, answer, match: int) -> None:
    found = ask(replay(tmp_path, {**LABEL, "answer": answer})).answer
    assert found == Relevance(match=match, trust=3, grade=3)


def test_explanations_may_be_left_out_and_lists_given_bare(tmp_path: Path) -> None:
    parts = {"relevance": 5, "usefulness": 1, "utilization": 0, "attribution": []}
    lines = [
        {"question": kind, "data": data, "answer": answer}
        for kind, data, answer in [
            ("satisfaction", {"query": "q", "answer": "a"}, 4),
            ("answer_attempted", {"query": "q", "answer": "a"}, "yes"),
            ("answer_match", {"query": "q", "answer": "a", "references": ["b"]}, {"match": True}),
            ("claim_support", {"claims": ["c", "d"], "passages": ["p"]}, [True, False]),
            ("report_on_context", {"query": "q", "chunks": ["a", "b"]}, parts),
            ("extract_claims", {"conversation": "user: q", "answer": "a"}, ["one claim"]),
        ]
    ]
    judge = replay(tmp_path, *lines)
    asked = ask(judge, Satisfaction("q", "a"))
    assert (asked.answer.stars, asked.votes) == (4, ()), "of another kind of question is no vote"
    assert ask(judge, ClaimSupport(("c", "d"), ("p",))).answer.supported == (True, False)
    assert ask(judge, AnswerMatch("q", "a", ("b",))).answer.is_matching, "as version 1 had it"
    report = ask(judge, ReportOnContext("q", ("a", "b"))).answer
    assert {name: getattr(report, name) for name in parts} == {**parts, "attribution": ()}
    assert ask(judge, ExtractClaims("user: q", "a")).answer.claims == ("one claim",)


def test_blanks_accents_and_the_marks_of_a_file_make_no_other_question(tmp_path: Path) -> None:
    data = {"query": f" {QUERY}\n", "passage": "cafe\u0301  ? au lait"}
    claims = {"question": "claim_support", "data": {"claims": ["a  b"], "passages": ["p"]}}
    judge = replay(
        tmp_path, f"\ufeff{json.dumps({**LABEL, 'data': data})}\n\n", {**claims, "answer": [True]}
    )
    assert ask(judge, RelevanceGrade(QUERY, "caf\u00e9\n\ud800 au lait")).answer.grade == 3
    found = ask(judge, ClaimSupport(("a b",), (" p",)))
    assert found.answer.supported == (True,)
    assert found.provenance.judge == "replay:labels.jsonl, line 3"
    assert ask(judge, ClaimSupport(("ab",), ("p",))).reason is Reason.MISSING_INPUT


def test_a_label_with_a_repeat_is_for_that_alone(tmp_path: Path) -> None:
    judge = replay(tmp_path, {**LABEL, "repeat": 1, "answer": 0})
    assert ask(judge, repeat=1).answer.grade == 0
    for repeat in (0, 2):
        failure = ask(judge, repeat=repeat)
        assert failure.reason is Reason.MISSING_INPUT and "(1 to others" in failure.detail
        assert ("repeat 2" in failure.detail) == (repeat == 2)
        assert (failure.repeat, failure.provenance) == (repeat, Provenance(judge.label, attempts=0))


def test_several_people_are_a_panel(tmp_path: Path) -> None:
    grades = {"ann": 0, "bob": 0, "cid": 2, "dot": 3, "eve": 3}
    lines = [{**LABEL, "answer": grade, "judge": who} for who, grade in grades.items()]
    judge_answer = ask(replay(tmp_path, *lines))
    assert judge_answer.answer.grade == 2
    said = [vote.provenance.judge for vote in judge_answer.votes]
    assert said == [line["judge"] for line in lines]
    assert judge_answer.provenance.judge == "replay:labels.jsonl"


def test_a_later_line_of_the_same_person_corrects_the_earlier(tmp_path: Path) -> None:
    lines = [{**LABEL, "answer": grade, "judge": "ann"} for grade in (0, 3)]
    assert ask(replay(tmp_path, *lines)).answer.grade == 3
    unnamed = [{**LABEL, "answer": grade} for grade in (0, 3)]
    judge_answer = ask(replay(tmp_path, *unnamed))
    assert judge_answer.answer.grade == 0  # two people who do not agree: the lower
    places = [f"replay:labels.jsonl, line {n}" for n in (1, 2)]
    assert [vote.provenance.judge for vote in judge_answer.votes] == places


def test_a_label_of_a_person_goes_before_what_was_recorded(tmp_path: Path) -> None:
    recorded = to_record(JudgeAnswer(QUESTION, smallest(QUESTION), Provenance("openai:gpt-4o")))
    judge = replay(tmp_path, recorded, LABEL)
    assert ask(judge).answer.grade == 3
    assert ask(judge).votes == ()


MADE = Provenance(
    "openai:gpt-4o", model="gpt-4o-2024-11-20", prompt_hash="abc", request="r",
    messages=({"role": "user", "content": "hi"},), reply='{"grade": 1}', input_tokens=90,
    output_tokens=9, cost=0.01, latency=0.5, attempts=2, dropped=("seed",),
)  # fmt: skip


@pytest.mark.parametrize("question", EXAMPLES, ids=name_of)
def test_a_recorded_answer_comes_back_with_its_provenance(tmp_path, question) -> None:
    judge_answer = JudgeAnswer(question, largest(question), MADE)
    again = ask(replay(tmp_path, to_record(judge_answer)), question)
    assert again.answer == judge_answer.answer
    assert to_record(again) == {**to_record(judge_answer), "request": "", "attempts": 0}


def test_a_record_names_its_question_and_keeps_every_vote() -> None:
    question = RelevanceGrade(QUERY, f"first  words,\n{'x' * 100}", "zero", ("Earlier?",))
    late = Failure(question, Reason.TIMEOUT, "late", Provenance("b"), 1)
    votes = (JudgeAnswer(question, largest(question), MADE, 1), late)
    panel = Provenance("panel(a, b)", latency=2.0, attempts=0)
    record = to_record(JudgeAnswer(question, largest(question), panel, 1, votes))
    named = {"id": f"{question.key}.1", "question": "relevance_grade", "version": 2}
    named |= {"key": question.key, "repeat": 1}
    answer = largest(question).model_dump(mode="json")
    about = {"passage": f"first words, {'x' * 67} …"}
    first, second = record.pop("votes")
    assert record == {**named, "answer": answer, "judge": "panel(a, b)", "about": about}
    failed = {"answer": None, "reason": "timeout", "detail": "late", "judge": "b"}
    assert second == {**named, **failed}
    assert first == to_record(votes[0], is_vote=True) and first["latency"] == 0.5
    chunks = ReportOnContext(QUERY, ("a  b", "c" * 99, *"defghij"))
    (about,) = to_record(Failure(chunks, Reason.TIMEOUT, "late"))["about"].items()
    assert about == ("chunks (9)", short(f"a b | {'c' * 99}"))
    many = ClaimSupport(tuple("abcdefghijk"), ("p",))
    shown = to_record(Failure(many, Reason.TIMEOUT, "late", Provenance("a", "m")))
    claims = {"claims (11)": "a | b | c | d | e | f | g | h | i", "passages (1)": "p"}
    assert shown["about"] == claims
    assert (shown["id"], shown["model"], shown["attempts"]) == (many.key, "m", 1)
    wrong = AnswerMatch("q", "a", ("r",), ("w",), "Be strict.")
    assert "about" not in to_record(Failure(wrong, Reason.TIMEOUT, "late"))
    assert [short(text) for text in ("x" * 80, "x" * 79 + " yz", " a\n b ")] == [
        "x" * 80, f"{'x' * 79} …", "a b",
    ]  # fmt: skip


def test_a_record_gives_its_origin_back_as_far_as_it_states_one() -> None:
    made = replace(MADE, cached=True)
    found = provenance_of(to_record(JudgeAnswer(QUESTION, largest(QUESTION), made)))
    assert replace(found, messages=made.messages) == made
    assert provenance_of({"judge": None}) == Provenance("", messages=[], attempts=0)
    assert provenance_of({"cost": 0.0}).cost == 0.0


def test_a_recorded_panel_and_a_recorded_failure_come_back_as_they_were(tmp_path: Path) -> None:
    failure = Failure(QUESTION, Reason.REFUSED, "it would not", MADE, 1)
    votes = (JudgeAnswer(QUESTION, smallest(QUESTION), MADE, 2), failure)
    panel = JudgeAnswer(QUESTION, largest(QUESTION), Provenance("panel(a, b)"), 1, votes)
    bare = {**to_record(Failure(QUESTION, Reason.FAILED, "")), "repeat": 3, "reason": "refused"}
    lines = [to_record(one) for one in (panel, replace(failure, repeat=2))]
    judge = replay(tmp_path, *lines, bare)
    found = ask(judge, repeat=1)
    assert (found.answer, found.repeat) == (largest(QUESTION), 1)
    assert [(type(vote), vote.repeat) for vote in found.votes] == [(JudgeAnswer, 2), (Failure, 1)]
    assert found.votes[0].answer == smallest(QUESTION)
    again = ask(judge, repeat=2)
    assert (again.reason, again.detail, again.repeat) == (Reason.REFUSED, "it would not", 2)
    told = ask(judge, repeat=3)
    assert told.reason is Reason.REFUSED and "line 3" in told.detail
    assert judge.label == "replay:labels.jsonl of panel(a, b), openai:gpt-4o"


@pytest.mark.parametrize(("n", "named"), [(1, "a"), (3, "a, b, c"), (5, "a, b, c and 2 more")])
def test_a_label_names_the_first_judges_of_recorded_answers(tmp_path, n: int, named: str) -> None:
    made = [JudgeAnswer(QUESTION, largest(QUESTION), Provenance(one)) for one in "abcde"[:n]]
    lines = [to_record(one) for one in (*made, made[0])]
    judge = replay(tmp_path, {**LABEL, "judge": "ann"}, *lines)
    assert judge.label == f"replay:labels.jsonl of {named}"


def test_an_answer_that_does_not_fit_its_question_or_is_gone_is_a_failure(tmp_path: Path) -> None:
    question = ClaimSupport(("a", "b"), ("p",))
    line = to_record(JudgeAnswer(question, largest(question), MADE))
    judge = replay(tmp_path, {**line, "answer": {"supported": [True]}})
    assert ask(judge, question).reason is Reason.UNPARSABLE
    write(tmp_path, "{\n")
    gone = ask(judge, question)
    assert gone.reason is Reason.FAILED and "line 1" in gone.detail and "changed" in gone.detail


def answered(judge: Replay, *questions: Question[Any]) -> tuple[str, ...]:
    for question in questions:
        asyncio.run(judge.answer(question))
    return judge.remarks()


def test_labels_that_matched_no_question_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    other = {**LABEL, "data": {"query": QUERY, "passage": OTHER}}
    recorded = to_record(JudgeAnswer(RelevanceGrade("x", "y"), largest(QUESTION), MADE))
    ann, corrected = {**LABEL, "judge": "ann"}, {**LABEL, "judge": "ann", "answer": 1}
    judge = replay(tmp_path, ann, corrected, other, recorded)
    judge.known(RelevanceGrade(QUERY, OTHER))  # a plan asks nothing
    (said,) = answered(judge, QUESTION)
    left = "1 of 3 labels matched no question of the run; the first is in line 3"
    assert said == f"labels.jsonl: {left}"
    assert answered(judge, RelevanceGrade(QUERY, OTHER)) == ()
    panel = Panel([replay(tmp_path, other)])
    assert panel.remarks()[0].startswith("labels.jsonl: 1 of 1 label matched no question")


def test_an_exported_ledger_is_replayed(tmp_path: Path) -> None:
    def row(model: str, grade: int) -> Paid:
        made = Provenance("", f"{model}-1", "abc", request="00" * 32, reply=str(grade))
        answer = Relevance(match=grade, trust=grade, grade=grade)
        record = to_record(JudgeAnswer(QUESTION, answer, made))
        endpoint = "http://localhost:8000/v1"
        sent = zlib.compress(b'{"messages": [{"role": "user", "content": "x"}]}')
        about = ("00" * 32, JUDGE_ANSWER, endpoint, model, QUESTION.kind)
        return Paid(*about, record, sent, created=0.0)

    import orjson

    rows = [row(*one) for one in (("small", 0), ("large", 3), ("other", 3))]
    lines = [orjson.dumps(record_of(one)).decode() + "\n" for one in rows]
    judge_answer = ask(replay(tmp_path, *lines))
    assert judge_answer.answer.grade == 3  # three models are a panel
    assert len(judge_answer.votes) == 3
    answering = [orjson.dumps(record_of(one) | {"judge": "a"}).decode() + "\n" for one in rows]
    assert len(ask(replay(tmp_path, *answering)).votes) == 3, "who judges is the model, too"
    alone = ask(replay(tmp_path, lines[0]))
    assert alone.provenance.messages == [{"role": "user", "content": "x"}]
    assert alone.provenance.judge == "http://localhost:8000/v1#small"


def test_what_was_recorded_for_another_version_of_a_question_is_not_used(tmp_path: Path) -> None:
    older = {**to_record(JudgeAnswer(QUESTION, largest(QUESTION), MADE)), "key": QUESTION.key_at(1)}
    failure = ask(replay(tmp_path, older))
    assert failure.reason is Reason.MISSING_INPUT
    for words in ("line 1,", "version 1 of relevance_grade", "version 2"):
        assert words in failure.detail
    newer = {**to_record(JudgeAnswer(QUESTION, smallest(QUESTION), MADE)), "judge": "b"}
    found = ask(replay(tmp_path, newer, older))
    assert (found.answer, found.votes) == (smallest(QUESTION), ()), "the older one is no vote"


@pytest.mark.parametrize("question", EXAMPLES, ids=name_of)
def test_the_line_that_is_shown_has_the_right_shape(tmp_path, question: Question[Any]) -> None:
    """Filled in with the question's own texts and a valid answer, it works."""
    other = {**LABEL, "data": {"query": "another one?", "passage": "of which nobody asks"}}
    failure = ask(replay(tmp_path, other), question)
    line = json.loads(failure.detail.partition("the form ")[2])
    given = json.loads(json.dumps(question.data))
    line["data"] = {name: given[name] for name in line["data"]}
    whole = largest(question).model_dump(mode="json")
    line["answer"] = {name: whole[name] for name in line["answer"]}
    answer = ask(replay(tmp_path, line), question).answer
    assert {name: answer.model_dump(mode="json")[name] for name in line["answer"]} == line["answer"]


@pytest.mark.parametrize(("line", "field", "says"), [
    ("not json\n", None, "is not JSON"), ("[1]\n", None, "is not a JSON object"),
    ({**LABEL, "question": "relevance_grad"}, "question", "Did you mean 'relevance_grade'"),
    ({"question": "satisfaction", "answer": 3}, "data", "does not say which question"),
    ({**LABEL, "data": {"query": "q"}}, "data.passage", "is missing"),
    ({**LABEL, "data": {**LABEL["data"], "pasage": "x"}}, "data.pasage", "'passage'"),
    ({**LABEL, "data": {**LABEL["data"], "zzz": "x"}}, "data.zzz", "It has: earlier, passage"),
    ({**LABEL, "data": {**LABEL["data"], "query": 3}}, "data.query", "must be a valid string"),
    ({**LABEL, "data": "q"}, "data", "must be an object"),
    ({**LABEL, "repeat": -1}, "repeat", "not -1"),
    ({**LABEL, "question": ["x"]}, "question", "there is no question"),
    ({**LABEL, "answer": 4}, "answer.grade", "not 4"),
    ({**LABEL, "answer": {"match": 1}}, "answer.grade", "is missing"),
    ({**LABEL, "answer": None, "reason": "tired"}, "reason", "not 'tired'"),
    ({"question": "satisfaction", "key": "0" * 32}, "answer", "neither an answer nor"),
    ({"question": "nugget_importance", "data": {"query": "q", "nuggets": ["a", "b"]},
      "answer": ["vital"]}, "answer", "must be 2 entries"),
    ({"question": "report_on_context", "data": {"query": "q", "chunks": ["a"]}, "answer": 5},
     "answer", "several values"),
])  # fmt: skip
def test_a_wrong_line_is_named_with_its_field_and_what_to_do(tmp_path, line, field, says) -> None:
    path = write(tmp_path, LABEL, "\n", line)
    with pytest.raises(InputError) as error:
        Replay(path)
    message = str(error.value)
    assert message.startswith(f"{path}, line 3")
    assert says in message
    assert error.value.field == field


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.jsonl.*cannot be read"):
        Replay(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match=r"cannot be read"):
        Replay(tmp_path)
    with pytest.raises(InputError, match="holds no answers"):
        replay(tmp_path, "\n \n")
    with pytest.raises(UsageError, match="replay:FILE"):
        Replay(" ")
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(InputError, match="Decompress"):
        Replay(packed)


def test_the_signature_changes_with_the_content_but_not_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first = replay(tmp_path, LABEL)
    assert first.signature == replay(tmp_path / "a", LABEL).signature
    assert first.label == "replay:labels.jsonl"
    assert str(tmp_path) not in first.signature
    assert replay(tmp_path, {**LABEL, "answer": 2}).signature != first.signature
    assert first.leaves() == ()


def test_a_run_with_most_of_its_questions_unanswered_is_incomplete(tmp_path: Path, capsys) -> None:
    sample = {"id": "1", "query": QUERY, "answer": "Paris.", "passages": [PASSAGE]}
    (tmp_path / "data.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    labels = write(tmp_path, LABEL)

    def code(metrics: str) -> int:
        words = ["-m", metrics, "-J", f"replay:{labels}", "-o", f"{tmp_path}/run"]
        return int(call(["run", f"{tmp_path}/data.jsonl", *words]))

    assert code("umbrela") == code("umbrela,em") == 0
    assert code("umbrela,faithfulness,idk_eval") == 3
    capsys.readouterr()
    assert call(["explain", f"{tmp_path}/run", "1"]) == 0
    lines = capsys.readouterr().out.partition("Lines to add")[2].splitlines()[1:]
    asked = [json.loads(line)["question"] for line in filter(None, lines)]
    assert asked == ["extract_claims", "says_idk"]
