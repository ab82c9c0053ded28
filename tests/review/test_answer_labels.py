"""Labels of answers by people: what is asked, who is asked, and that a run is judged by them."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ragassay
from labelled_answers import answered, disagreeing, labelled, todo
from question_examples import EXAMPLES, name_of
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.judges import Question
from ragassay.judges.question import kinds
from ragassay.judges.questions import RubricGrade
from ragassay.judges.replay import label_of
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import (
    answer_fields,
    answer_text,
    guides,
    label_text,
    shown_question,
)
from ragassay.review.review_agreement import label_agreement
from ragassay.review.review_store import ReviewStore
from reviewed_set import small


def test_a_run_judged_by_the_labels_has_the_grades_that_people_gave(tmp_path: Path) -> None:
    labels = labelled(tmp_path)
    grades = {"The library opens at nine.": 3, "Cards cost five euros.": 1}
    for key in todo(labels, "ann"):
        question = labels.question(key).question
        labels.label(key, "ann", grades[question.data["passage"]], 2.5)
    assert todo(labels, "ann") == []
    assert labels.progress("ann")["done"] == labels.progress("ann")["total"] == 4
    run = tmp_path / "run"
    words = ["run", str(tmp_path / "answers.jsonl"), "--golden", str(labels.folder)]
    assert call([*words, "-m", "umbrela", "--judge", f"replay:{labels.path}", "-o", str(run)]) == 0
    summary = ragassay.open_run(run).summary
    assert summary.metrics["umbrela"].mean == 2.0
    assert not any("matched no question" in one for one in summary.warnings)


def test_what_follows_from_an_answer_is_asked_after_it(tmp_path: Path) -> None:
    labels = labelled(tmp_path, metrics=("faithfulness",))
    (first, _) = todo(labels, "ann")
    assert labels.question(first)[0].kind == "extract_claims"
    labels.label(first, "ann", ["It opens at nine.", "It opens daily."])
    follows = [one["key"] for one in labels.entries("ann") if one["kind"] == "claim_support"]
    assert [labels.question(key)[0].data["claims"] for key in follows] == [
        ("It opens at nine.", "It opens daily.")
    ]
    labels.label(first, "eve", ["It shuts."], final=True)
    keys = {one["key"] for one in labels.entries("ann") if one["kind"] == "claim_support"}
    assert [labels.question(key)[0].data["claims"] for key in keys] == [("It shuts.",)]
    labels.undo("eve")
    labels.label(follows[0], "ann", [True, False])
    result = ragassay.evaluate(str(tmp_path / "answers.jsonl"), metrics="faithfulness",
                               judge=f"replay:{labels.path}")  # fmt: skip
    assert next(row.value for row in result.scores) == 0.5
    labels.undo("ann"), labels.undo("ann")
    assert follows[0] not in {one["key"] for one in labels.entries("ann")}
    with pytest.raises(UsageError, match="no longer asked"):
        labels.label(follows[0], "ann", [True, True])


def test_an_undo_brings_the_label_before_back_also_in_a_run(tmp_path: Path) -> None:
    labels = labelled(tmp_path)
    key = todo(labels, "ann")[0]
    labels.label(key, "ann", 3)
    labels.label(key, "ann", 0)
    assert labels.undo("ann").key == key and labels.own_label(key, "ann") == 3
    labels.label(key, "ann", None)
    assert labels.own_label(key, "ann") == "cannot tell" and key not in todo(labels, "ann")
    labels.undo("ann"), labels.undo("ann")
    assert labels.own_label(key, "ann") is None and key in todo(labels, "ann")
    with pytest.raises(UsageError, match="no label to undo"):
        labels.undo("ann")
    again = AnswerLabels(labels.folder, labels._samples, labels._metrics)
    assert (again.own_label(key, "ann"), again.progress("ann")["mine"]) == (None, 0)


def test_several_people_label_the_overlap_and_agree_by_kind(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 2, status="accepted")
    store.change_settings(overlap=1.0, people=2)
    labels = labelled(tmp_path, metrics=("umbrela", "faithfulness"), store=store)
    graded = [one["key"] for one in labels.entries("ann") if one["kind"] == "relevance_grade"]
    for key, (ann, bob) in zip(graded, [(3, 3), (0, 0), (2, 1), (3, 3)], strict=True):
        labels.label(key, "ann", ann)
        assert {one["key"]: one["state"] for one in labels.entries("ann")}[key] == "waiting"
        labels.label(key, "bob", bob)
        state = {one["key"]: one["state"] for one in labels.entries("eve")}[key]
        assert state == ("done" if ann == bob else "disagreement")
    claims = [one["key"] for one in labels.entries("bob") if one["kind"] == "extract_claims"]
    labels.label(claims[0], "bob", ["It opens."])
    states = {one["key"]: one["state"] for one in labels.entries("ann")}
    assert states[claims[0]] == "done", "lists of texts are written by one person"
    (alpha, _, kappa) = label_agreement(labels).measures["relevance_grade"]
    assert (alpha.n_items, alpha.share, kappa.people) == (4, 0.75, ("ann", "bob"))
    assert call(["golden", "agreement", str(store.folder)]) == 0


def test_systems_are_not_told_and_what_they_share_is_asked_once(tmp_path: Path) -> None:
    labels = labelled(tmp_path, "one", "two", "three", metrics=("umbrela", "answer_match"))
    listed = labels.entries("ann")
    assert [one["kind"] for one in listed].count("relevance_grade") == 4
    answers = [labels.question(one["key"])[0].data.get("answer") for one in listed]
    one, other = ([text for text in half if text] for half in (answers[:5], answers[5:]))
    assert sorted(one) == sorted(other) and one != other, "the order tells no system"
    assert [one["sample"] for one in listed] == sorted(one["sample"] for one in listed)
    assert "system" not in str(listed)


def test_a_run_folder_brings_its_own_metrics(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 2, status="accepted")
    run, path = tmp_path / "run", answered(tmp_path)
    words = ["run", str(path), "--golden", str(store.folder), "-m", "no_answer,token_f1"]
    assert call([*words, "-o", str(run)]) == 0
    labels = AnswerLabels.of(store.folder, run)
    assert {one["kind"] for one in labels.entries("ann")} == {"answer_attempted"}
    with pytest.raises(UsageError, match="has its own metrics"):
        AnswerLabels.of(store.folder, run, ["umbrela"])
    with pytest.raises(UsageError, match="asks a judge"):
        AnswerLabels.of(store.folder, path, ["token_f1"])
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "i0", "answer": "At nine."}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="lack what is asked about"):
        AnswerLabels.of(store.folder, bare, ["umbrela"])
    for suite, wanted in (
        ((), {"relevance_grade", "answer_match"}),
        (("ragreport",), {"report_on_context", "contradiction", "satisfaction"}),
    ):
        of_file = AnswerLabels.of(store.folder, path, suite=suite)
        assert {one["kind"] for one in of_file.entries("ann")} == wanted
    key = next(one["key"] for one in of_file.entries("ann") if one["kind"] == "report_on_context")
    for who, useful in (("ann", 3), ("bob", 4)):
        said = {"relevance": 5, "usefulness": useful, "utilization": 50, "attribution": [1, 2]}
        of_file.label(key, who, said, -1.0)
    found = label_agreement(of_file)
    assert {kind: one[0].share for kind, one in found.measures.items()} == {
        f"report_on_context ({name})": float(name != "usefulness") for name in said
    }
    assert found.differ[0]["sample"] == of_file.question(key).sample and found.seconds == {}


def test_all_questions_about_an_answer_are_for_as_many_people(tmp_path: Path) -> None:
    labels = labelled(tmp_path)
    labels.change_settings(overlap=0.6)  # which holds for i0 alone
    for key in todo(labels, "ann"):
        labels.label(key, "ann", 2)
    found = {(one["sample"], one["state"]) for one in labels.entries("ann")}
    assert found == {("i0", "waiting"), ("i1", "done")}


def test_two_people_who_save_at_once_lose_nothing(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 2, status="accepted")
    people = {who: labelled(tmp_path, store=ReviewStore(store.folder)) for who in ("ann", "bob")}
    keys = todo(people["ann"], "ann")

    def work(who: str) -> None:
        for key in keys:
            people[who].label(key, who, 2)

    with ThreadPoolExecutor() as threads:
        list(threads.map(work, people))
    log = people["ann"].current()
    assert list(log.of) == keys and all(set(given) == {"ann", "bob"} for given in log.of.values())


def test_wrong_labels_are_refused_and_wrong_lines_told(tmp_path: Path) -> None:
    labels = labelled(tmp_path)
    key = todo(labels, "ann")[0]
    for answer in (7, "very", [1], {"rating": 1}):
        with pytest.raises(InputError):
            labels.label(key, "ann", answer)
    with pytest.raises(UsageError, match="name"):
        labels.label(key, " ", 1)
    assert not labels.path.exists()
    labels.label(key, "ann", 1)
    with labels.path.open("a") as stream:
        stream.write('{"question": "relevance_grade", "data": {}, "answer": 1}\n')
    with pytest.raises(InputError, match="line 2"):
        labels.entries("ann")


@pytest.mark.parametrize("question", EXAMPLES, ids=name_of)
def test_each_kind_of_question_has_a_form_whose_answers_are_labels(question: Question[Any]) -> None:
    values: dict[str, Any] = {
        "text": lambda _: "text", "texts": lambda _: ["a, b", "c"], "numbers": lambda _: [1],
        "number": lambda field: field["high"], "choice": lambda field: field["values"][-1],
        "choices": lambda field: [field["values"][0]] * len(field["items"]),
    }  # fmt: skip
    answer = {one["name"]: values[one["form"]](one) for one in answer_fields(question)}
    again, reply = label_of(json.loads(json.dumps({"question": question.kind, "data": question.data,
                                                   "answer": answer})))  # fmt: skip
    assert again == question and reply is not None
    text = answer_text(question, reply)
    assert text and all(len(line) < 60 for line in text.splitlines())
    shown = shown_question(question, "When?")
    assert shown["ask"] and shown["texts"]
    titles = [one["title"].removesuffix("s") for one in shown["texts"]]
    assert titles.count("query") + titles.count("conversation") == 1 and "intent" not in answer
    beside = {"passage", "chunk", "reference", "wrong answer"}
    assert not {*beside, "instruction", "claim", "nugget"} & {*titles}


def test_a_scale_of_eleven_values_has_buttons_and_a_longer_one_a_number() -> None:
    assert set(guides()) <= set(kinds())
    for high, form in ((10, "choice"), (11, "number")):
        question = RubricGrade("Is it so?", 0, high, ((0, "no"),), (("answer", "Yes."),))
        why, grade = answer_fields(question)
        assert (why["form"], grade["form"], grade["meanings"]) == ("text", form, {"0": "no"})


def states(labels: AnswerLabels, who: str) -> dict[str, str]:
    return {one["key"]: one["state"] for one in labels.entries(who)}


def test_a_disagreement_is_listed_and_what_settles_it_is_what_a_run_takes(tmp_path, capsys) -> None:
    labels, key = disagreeing(tmp_path)
    folder = str(labels.folder)
    assert states(labels, "eve")[key] == "disagreement"
    assert labels.others(key) == {"ann": 3, "bob": 1}
    progress = labels.progress("eve")
    assert (progress["done"], progress["left"]) == (3, 1)
    assert call(["golden", "agreement", folder]) == 0
    assert "1 disagreement (1 of labels), 1 to settle" in capsys.readouterr().out
    before = label_agreement(labels).measures
    assert call(["golden", "agreement", folder, "--json"]) == 0
    capsys.readouterr()

    labels.label(key, "eve", 0, final=True)
    assert states(labels, "eve")[key] == "done" and labels.own_label(key, "eve") == 0
    assert labels.others(key) == {"ann": 3, "bob": 1, "eve": 0}
    assert label_agreement(labels).measures == before, "eve saw what others had said"
    assert call(["golden", "agreement", folder]) == 0
    assert "1 disagreement (1 of labels), 0 to settle" in capsys.readouterr().out
    (line,) = (labels.folder / "adjudication.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["labels"], told["settled_by"], told["answer"]) == ({"ann": 3, "bob": 1}, "eve", 0)
    assert told["data"] == json.loads(json.dumps(labels.question(key)[0].data))

    def mean() -> float | None:
        data, judge = str(tmp_path / "answers.jsonl"), f"replay:{labels.path}"
        result = ragassay.evaluate(data, metrics="umbrela", judge=judge)
        return result.summary.metrics["umbrela"].mean

    assert mean() == pytest.approx((0 + 2 + 2 + 2) / 4) and labels.undo("eve").key == key
    assert states(labels, "eve")[key] == "disagreement"
    assert mean() == pytest.approx((1 + 2 + 2 + 2) / 4), "the median of two is the lower"


def test_who_cannot_tell_disagrees_with_nobody(tmp_path: Path) -> None:
    labels, key = disagreeing(tmp_path)
    labels.label(key, "bob", None)
    assert label_text(labels.question(key)[0], labels.own_label(key, "bob")) == "cannot tell"
    assert states(labels, "eve")[key] != "disagreement" and label_agreement(labels).differ == []


def test_people_are_compared_on_each_value_of_a_list(tmp_path: Path) -> None:
    labels = labelled(tmp_path, metrics=("faithfulness",))
    labels.label(todo(labels, "ann")[0], "ann", ["One.", "Two.", "Three."])
    [key] = [one["key"] for one in labels.entries("ann") if one["kind"] == "claim_support"]
    for who, answer in (("ann", [True, False, True]), ("bob", [True, True, True])):
        labels.label(key, who, answer)
    [(title, measures)] = label_agreement(labels).measures.items()
    kappa = measures[-1]
    assert label_text(labels.question(key)[0], {"supported": [True, False, True]}) == "yes\nno\nyes"
    assert (title, kappa.people, kappa.n_items) == ("claim_support", ("ann", "bob"), 3)
    assert kappa.share == pytest.approx(2 / 3)


def test_who_settles_an_own_disagreement_keeps_the_independent_label(tmp_path: Path) -> None:
    labels, key = disagreeing(tmp_path)
    labels.label(key, "ann", 1, final=True)
    labels.label(key, "ann", 2)  # who once saw the others' labels has seen them
    assert labels.own_label(key, "ann") == 2
    (told,) = label_agreement(labels).differ
    assert (told["labels"], told["answer"]) == ({"ann": 3, "bob": 1}, 2)
    labels.undo("ann"), labels.undo("ann")
    assert labels.own_label(key, "ann") == 3 and states(labels, "eve")[key] == "disagreement"
    again = AnswerLabels(labels.folder, labels._samples, labels._metrics)
    assert again.own_label(key, "ann") == 3 and states(again, "eve")[key] == "disagreement"


def test_what_an_undo_restores_settles_again_here_and_in_a_run(tmp_path: Path) -> None:
    labels, key = disagreeing(tmp_path)
    for who, answer in (("ann", 0), ("eve", 3), ("ann", 1)):
        labels.label(key, who, answer, final=True)
    labels.undo("ann")
    settled = labels.current().settled(key)
    assert settled is not None and (settled.who, settled.answer) == ("ann", 0)
    data, judge = str(tmp_path / "answers.jsonl"), f"replay:{labels.path}"
    result = ragassay.evaluate(data, metrics="umbrela", judge=judge)
    assert result.summary.metrics["umbrela"].mean == pytest.approx((0 + 2 + 2 + 2) / 4)


def test_who_did_not_see_the_others_adds_a_vote_and_settles_nothing(tmp_path: Path) -> None:
    labels, key = disagreeing(tmp_path)
    labels.label(key, "eve", 1)
    record = {"question": "relevance_grade", "data": labels.question(key)[0].data, "answer": 2}
    with labels.path.open("a") as stream:  # nobody in the lines: each is by a person of its own
        stream.write(2 * (json.dumps(record) + "\n"))
    assert states(labels, "tim")[key] == "disagreement"
    n = len(labels.path.read_text().splitlines())
    unnamed = {f"line {n - 1}": 2, f"line {n}": 2}
    assert labels.others(key) == {"ann": 3, "bob": 1, "eve": 1, **unnamed}
    with labels.path.open("a") as stream:  # a later line without an answer takes an answer back
        stream.write(json.dumps({**record, "judge": "bob", "answer": None}) + "\n")
    assert labels.others(key) == {"ann": 3, "eve": 1, **unnamed}
