"""A run with gold passages beside the full one tells where a query fails."""

import json
import sys
from pathlib import Path

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.engine.diagnosis.isolated_run import isolated


def run(folder: Path, answers: str, repeats: int = 1) -> ragassay.Result:
    """A run whose answers are right (r), wrong (w) or missing (-), query by query."""
    said = {"r": "It is nine.", "w": "It is ten.", "-": None}
    records = [{"id": f"q{at // repeats}", "repeat": at % repeats, "query": "When?",
                "answer": said[one], "references": ["nine"]}
               for at, one in enumerate(answers)]  # fmt: skip
    return ragassay.evaluate(records, metrics=["contains_answer"], save=folder)


def test_each_query_has_its_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full, alone = run(tmp_path / "full", "rrwwww-r"), run(tmp_path / "alone", "rrrrrwrw")
    found = isolated(full, alone, "contains_answer")
    assert found.queries == {"right": ("q0", "q1"), "retrieval": ("q2", "q3", "q4"),
                             "generation": ("q5",), "despite": ("q7",)}  # fmt: skip
    assert found.unscored == 1
    [difference] = found.comparison.differences
    # Seven pairs are scored: with the gold passages 5 are right, with the retrieved ones 3.
    assert difference.n == 7 and difference.diff == pytest.approx(2 / 7)
    words = [str(tmp_path / "full"), str(tmp_path / "alone")]
    assert call(["golden", "isolate", *words]) == 0
    out = capsys.readouterr().out
    assert "3 of 7  right with the gold passages only: retrieval failed  (q2, q3, q4)" in out
    assert call(["golden", "isolate", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"]["generation"] == ["q5"]


def test_repeats_count_by_their_mean_and_not_where_one_is_unscored(tmp_path: Path) -> None:
    full, alone = run(tmp_path / "full", "rwwwr-", 2), run(tmp_path / "alone", "rwrrrr", 2)
    found = isolated(full, alone, "contains_answer")
    assert {kind: names for kind, names in found.queries.items()
            if names} == {"right": ("q0",), "retrieval": ("q1",)}  # fmt: skip
    assert (found.unscored, found.threshold) == (1, 0.5)
    stricter = isolated(full, alone, "contains_answer", 0.6)
    assert stricter.queries["generation"] == ("q0",)


def test_a_metric_that_a_run_lacks_and_runs_of_other_queries_are_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "one", "rw")
    with pytest.raises(UsageError, match=r"has no metric 'contains_answers'. Did you mean"):
        isolated(one, one, "contains_answers")
    records = [{"id": "another", "query": "When?", "answer": "nine", "references": ["nine"]}]
    other = ragassay.evaluate(records, metrics=["contains_answer"])
    with pytest.raises(UsageError, match="The two runs share no query"):
        isolated(one, other, "contains_answer")


def test_runs_that_are_not_what_they_are_taken_for_are_refused() -> None:
    """Of an answer of 'ragassay ask', which was given these passages."""
    record = {"id": "q", "query": "When?", "references": ["nine"], "answer": "At nine."}
    asked = ({"fingerprint": "f", "passages": given} for given in ("retrieved", "gold"))
    records = ([record | {"metadata": {"asked": one}}] for one in asked)
    full, alone = (ragassay.evaluate(one, metrics=["contains_answer"]) for one in records)
    assert isolated(full, alone, "contains_answer").queries["right"] == ("q",)
    for pair in ((alone, full), (full, full), (alone, alone)):
        with pytest.raises(UsageError, match="name the run with retrieved passages first"):
            isolated(*pair, "contains_answer")


def gold_run(answers: str, gold: str, given: str | None = None) -> ragassay.Result:
    """A run of queries whose gold is known (k), unknown (u) or known to be none (n, z); ``given``
    says for each whether the system was given a passage (g) or none (-)."""
    known = {"k": [{"id": "p", "text": "Nine."}], "n": [], "z": [{"id": "p", "grade": 0}],
             "u": None}  # fmt: skip
    records = [{"id": f"q{at}", "query": "When?", "references": ["nine"], "gold": known[of],
                "answer": "It is nine." if one == "r" else "It is ten.", "passages": None
                if given is None else ["Nine."] * (given[at] == "g")}
               for at, (one, of) in enumerate(zip(answers, gold, strict=True))]  # fmt: skip
    return ragassay.evaluate(records, metrics=["contains_answer"])


def test_a_query_whose_gold_is_unknown_is_not_blamed_on_generation(tmp_path, capsys) -> None:
    full, alone = gold_run("rwwww", "kkkuu"), gold_run("rrwww", "kkkuu", "ggg--")
    found = isolated(full, alone, "contains_answer")
    assert found.unknown == ("q3", "q4") and found.queries["generation"] == ("q2",)
    assert sum(map(len, found.queries.values())) == 3 and found.unscored == 0
    assert found.comparison.differences[0].n == found.comparison.n_common == 3
    for name, run in (("full", full), ("alone", alone)):
        run.save(tmp_path / name)
    words = ["golden", "isolate", str(tmp_path / "full"), str(tmp_path / "alone")]
    assert call(words) == 0
    out = capsys.readouterr().out
    assert "2       left out: the gold passages are not known  (q3, q4)" in out
    assert call([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown"] == ["q3", "q4"]


def test_gold_is_known_by_the_records_or_by_what_the_system_was_given() -> None:
    def unknown(gold: str, given: str | None) -> tuple[str, ...]:
        runs = gold_run("ww", gold), gold_run("ww", gold, given)
        return isolated(*runs, "contains_answer").unknown

    assert unknown("ku", None) == ("q1",) and unknown("ku", "gg") == ()
    assert unknown("nz", "--") == (), "none is relevant, and that is known"
    assert unknown("kk", "g-") == ("q1",), "its gold has no text, so the system was given none"
    assert unknown("uu", None) == (), "the runs say of no query what its gold is"
    with pytest.raises(UsageError, match="No query of the two runs has known gold passages"):
        unknown("uu", "--")


QUERIES = [
    {"id": "a", "query": "When?", "references": ["nine"],
     "gold": [{"document": "d", "start": 0, "end": 13, "text": "Open at nine."}, {"id": "g"}]},
    {"id": "b", "query": "Where?", "references": ["here"],
     "gold": [{"document": "d", "start": 14, "end": 24, "text": "It is far."},
              {"document": "d", "start": 30, "end": 35, "text": "Noise", "grade": 0}]},
]  # fmt: skip


def generator(query: str, passages: list[str] | None = None) -> dict[str, object]:
    """Retrieves a wrong passage, and repeats what it is given."""
    found = ["Nobody knows."] if passages is None else passages
    return {"answer": " ".join(found), "passages": found}


def test_a_function_answers_from_the_gold_passages() -> None:
    full = ragassay.ask(QUERIES, generator).samples
    alone = ragassay.ask(QUERIES, generator, gold_passages=True).samples
    assert [one.answer_text for one in full] == ["Nobody knows.", "Nobody knows."]
    assert [one.answer_text for one in alone] == ["Open at nine.", "It is far."]
    assert [[passage.text for passage in one.passages or ()]
            for one in alone] == [["Open at nine."], ["It is far."]]  # fmt: skip
    assert all(one.metadata["asked"]["passages"] == "gold" for one in alone)


def test_the_passages_of_an_answer_are_those_that_were_given_whatever_it_says() -> None:
    def silent(query: str, passages: list[str] | None = None) -> dict[str, object]:
        return {"answer": "So.", "passages": ["Nobody knows."]}

    (sample, _) = ragassay.ask(QUERIES, silent, gold_passages=True).samples
    assert [one.text for one in sample.passages or ()] == ["Open at nine."]
    assert sample.passages_prescribed
    with pytest.raises(UsageError, match="takes no passages, so it cannot be given the gold ones"):
        ragassay.ask(QUERIES, lambda query: "x", gold_passages=True)


def test_a_command_is_given_the_gold_passages_in_its_request(here: Path) -> None:
    Path("rag.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "print(json.dumps({'answer': ' '.join(asked.get('passages', ['Nobody knows.']))}))\n"
    )
    target = f"command:{sys.executable} rag.py"
    said = [[one.answer_text for one in ragassay.ask(QUERIES, target, gold_passages=gold).samples]
            for gold in (False, True)]  # fmt: skip
    assert said == [["Nobody knows."] * 2, ["Open at nine.", "It is far."]]
