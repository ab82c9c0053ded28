"""pytest's plugin: an assertion on one sample, and gates on the samples of a session. The sessions
are real ones, run by pytest's own fixture for plugins."""

import re
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from _pytest.pytester import SysModulesSnapshot

import ragassay
from ragassay.base.errors import UsageError
from ragassay.testing import CollectedSamples, assert_score
from ragassay.testing.collected_samples import gated
from scripted_judge import Scripted

pytest_plugins = ["pytester"]

MODULE = "ragassay.testing.pytest_plugin"
DUNE = {
    "id": "q1", "query": "Who wrote Dune?", "answer": "Frank Herbert wrote Dune.",
    "references": ["Frank Herbert"], "passages": ["Dune is a 1965 novel by Frank Herbert."],
}  # fmt: skip
SUITE = """
import pytest

ANSWERS = {answers!r}

@pytest.mark.parametrize("n", range(len(ANSWERS)))
def test_answer(rag_eval, n):
    rag_eval.add(id=f"q{{n}}", query=f"query {{n}}?", answer=ANSWERS[n], references=["red fox"])
"""


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs pytest on the test folder, with the plugin; ``apart`` in a process of its own."""
    restore = SysModulesSnapshot.restore

    def restore_tests_only(self: SysModulesSnapshot) -> None:
        # Classes of modules that are forgotten live on, in ragassay's registries.
        here = str(pytester.path)
        kept = {
            name: module
            for name, module in sys.modules.items()
            if not str(getattr(module, "__file__", None) or "").startswith(here)
        }
        restore(self)
        sys.modules.update(kept)

    monkeypatch.setattr(SysModulesSnapshot, "restore", restore_tests_only)
    installed = any(one.value == MODULE for one in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", MODULE]

    def run(*words: str, apart: bool = False) -> pytest.RunResult:
        if not [*pytester.path.glob("*.ini"), *pytester.path.glob("*.toml")]:
            pytester.makeini("[pytest]")  # no configuration of a folder above
        runs = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
        return runs("-p", "no:cacheprovider", *plugin, *words)

    return run


def answers(pytester: pytest.Pytester, *texts: str) -> None:
    pytester.makepyfile(SUITE.format(answers=list(texts)))


def one_test(pytester: pytest.Pytester, *lines: str) -> None:
    pytester.makepyfile("\n    ".join(["def test_it(rag_eval):", *lines]))


def test_the_entry_point_is_declared() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)["project"]["entry-points"]["pytest11"]
    assert declared == {"ragassay": MODULE}


def test_a_score_that_fulfils_its_conditions_passes() -> None:
    result = assert_score(DUNE, "token_f1.r>=1", "em<1")
    assert [one.passed for one in result.gates] == [True, True]
    assert len(assert_score(DUNE, "em<1", suite="qa").summary.metrics) == 17
    judge = Scripted({"answer_attempted": {"answered": "no"}})
    assert assert_score(DUNE, "answered<1", judge=judge).summary["answered"].judge == "scripted"


def test_a_score_that_does_not_is_told_with_value_explanation_and_evidence() -> None:
    wrong = {**DUNE, "answer": "Isaac Asimov wrote Foundation."}
    with pytest.raises(AssertionError) as failed:
        assert_score(wrong, "faithfulness>=0.8", "token_f1.p<=1", trust_offline=True)
    text = str(failed.value)
    assert "token_f1" not in text
    assert text.startswith("faithfulness>=0.8 does not hold: faithfulness is 0.0000\n")
    assert "Isaac Asimov wrote Foundation." in text
    assert "0 of 1 claims are supported by the passages" in text
    assert "[1] extract claims" in text and "offline-lexical/" in text


def test_a_value_just_below_the_condition_is_not_told_as_the_conditions_own() -> None:
    @ragassay.metric(name="almost")
    def almost(answer: str) -> float:
        return 0.69999

    with pytest.raises(AssertionError, match=r"almost>=0.7 does not hold: almost is 0.69999"):
        assert_score(DUNE, "almost>=0.7", metrics=[almost])


def test_an_offline_judgment_of_unknown_agreement_decides_nothing() -> None:
    with pytest.raises(AssertionError, match=r"cannot be decided.*trust-offline"):
        assert_score(DUNE, "ragreport_relevance>=1")
    with pytest.raises(AssertionError, match=r"em>=1 cannot be decided: em is unscored \(not_appl"):
        assert_score({**DUNE, "references": []}, "em>=1")


@pytest.mark.parametrize(("conditions", "said"), [
    ([], "at least one condition"),
    (["low(em)>=0.2"], "one sample has no interval. Write 'em>=0.2'"),
    (["em"], "condition 'em' is not a condition"), (["emm>=1"], "emm"),
])  # fmt: skip
def test_an_impossible_condition_is_refused(conditions: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        assert_score(DUNE, *conditions)


def test_a_mistake_shows_the_line_of_the_test_not_ours(pytester, session, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    pytester.makepyfile(
        """
        from ragassay.testing import assert_score

        SAMPLE = {"query": "Who wrote it?", "answer": "Ann and others. " * 9, "references": ["B"]}

        def test_typo():
            assert_score(SAMPLE, "exat_match>=1")

        def test_list():
            assert_score(SAMPLE, ["em>=1"])

        def test_value():
            assert_score(SAMPLE, "em>=1")
        """
    )
    text = session().stdout.str()
    assert "Unknown metric 'exat_match'" in text and "each as a text of its own" in text
    assert "evaluation.py" not in text and "score_assertion.py" not in text
    _, _, evidence = text.partition("em>=1 does not hold")
    lines = [line for line in evidence.splitlines() if line.startswith("E ")]
    assert 70 <= max(map(len, lines)) <= 80


def test_the_plugin_imports_and_prints_nothing_where_no_test_uses_it(pytester, session) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.startswith("ragassay")}
            heavy = {"numpy", "polars", "pydantic", "rich", "orjson"} & sys.modules.keys()
            assert not heavy
            assert ours <= {
                "ragassay", "ragassay.base", "ragassay.base.printable", "ragassay.base.note",
                "ragassay.testing", "ragassay.testing.pytest_plugin",
            }
        """
    )
    pytester.makeini("[pytest]\nragassay_gates = em>=0.5\n")
    done = session(apart=True)
    done.assert_outcomes(passed=1)
    assert done.ret == 0 and "ragassay: " not in done.stdout.str()


def told(done: pytest.RunResult) -> list[str]:
    """The lines of the section that the plugin prints."""
    begin = next(n for n, line in enumerate(done.outlines) if "ragassay: samples" in line)
    lines = done.outlines[begin:]
    end = next(n for n, line in enumerate(lines) if " passed in " in line)
    return [line for line in lines[:end] if line]


def test_the_samples_of_all_tests_are_gated_once_and_alike_by_xdist(pytester, session) -> None:
    answers(pytester, "red fox", "red fox", "a fox", "a red fox", "blue", "red fox")
    gates = ("--ragassay-gate", "low(token_f1.f)>=0.99", "--ragassay-gate", "em>=0.5")
    runs = [session(*gates), session(*gates, "-n", "2", apart=True)]
    for done in runs:
        done.assert_outcomes(passed=6)
        assert done.ret == 1
        done.stdout.fnmatch_lines([
            "*ragassay: samples=6 tests=6*", "*token_f1.f *6/6*",
            "gate low(token_f1.f)>=0.99: FAILED, one-sided 95 % bounds*", "*answer: blue",
            "gate em>=0.5: passed, mean *",
        ])  # fmt: skip
        assert done.stdout.str().count("gate em>=0.5") == 1
        assert "answer: red fox" not in done.stdout.str()
    assert told(runs[0]) == told(runs[1])
    assert session("--ragassay-gate", "em>=0.5").ret == 0


@pytest.mark.parametrize(("gates", "last"), [
    (["em>=0.99", "f1>=0.99", "low(f1)>=0.4"], "ragassay: 2 gates failed, 1 gate undecided"),
    (["em>=0.5"], "*2 passed in *"), (["low(f1)>=0.4"], "ragassay: 1 gate undecided"),
    (["emm>=0.5"], "ragassay: the gates are undecided"),
])  # fmt: skip
def test_the_last_line_says_what_failed(pytester, session, gates: list[str], last: str) -> None:
    answers(pytester, "red fox", "blue")
    done = session("-q", *(f"--ragassay-gate={one}" for one in gates))
    assert fnmatch(done.stdout.lines[-1], last) and (done.ret == 0) is ("passed" in last)


def test_a_test_that_failed_before_its_sample_leaves_gates_undecided(pytester, session) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def system(request):
            assert request.node.callspec.params["n"], "no answer"

        @pytest.mark.parametrize("n", range(4))
        def test_answer(system, rag_eval, n):
            if n == 3:
                pytest.skip("not today")
            rag_eval.add(id=f"q{n}", query=f"q {n}?", answer="red", references=["red"])
            assert n != 2, "wrong"
        """
    )
    ran = session("--ragassay-gate", "em>=0.5", "--ragassay-output", "runs/tests")
    assert ran.ret == 1
    undecided = "gate em>=0.5: undecided,*1 test failed before it added a sample*"
    ran.stdout.fnmatch_lines(["*ragassay: samples=2 tests=2*", undecided])
    assert "<error" in Path(pytester.path, "runs/tests/junit.xml").read_text("utf-8")
    passed = session("--ragassay-gate", "em>=0.5", "-k", "1 or 2 or 3")
    passed.stdout.fnmatch_lines(["gate em>=0.5: passed*"])


def test_gates_come_from_the_ini_file_a_test_and_a_configuration(pytester, session) -> None:
    pytester.makeini("[pytest]\nragassay_gates =\n    em>=0.5\nragassay_config = run.yaml\n")
    (pytester.path / "run.yaml").write_text("metrics: [em, f1, acc]\nfail_under: [acc>=0.5]\n")
    add = "rag_eval.add(query='a?', answer='b', references=['b'])"
    one_test(pytester, add, "rag_eval.gate('f1>=0.5')")
    done = session("--ragassay-output", "out", "--ragassay-gate", "acc>=0.25")
    assert done.ret == 0
    for gate in ("em>=0.5", "f1>=0.5", "acc>=0.5", "acc>=0.25"):
        assert f"gate {gate}: passed" in done.stdout.str()
    assert (pytester.path / "out" / "report.html").exists()
    assert len(ragassay.open_run(pytester.path / "out").columns) == 1
    # The command line wins; without --ragassay-output the configuration names the folder.
    (pytester.path / "o.yaml").write_text("suite: qa\nfail_under: [em<0.5]\noutput: kept\n")
    done = session("--ragassay-config", "o.yaml")
    done.stdout.fnmatch_lines(["gate f1>=0.5: passed*", "gate em<0.5: FAILED*"])
    assert done.ret == 1 and "gate acc" not in done.stdout.str()
    assert len(ragassay.open_run(pytester.path / "kept").summary.metrics) == 17
    assert session("--ragassay-config", "o.yaml", "--ragassay-output", "other").ret == 1
    assert (pytester.path / "other" / "junit.xml").exists()


@pytest.mark.parametrize("named", ["by a hook", "in the ini file", "on the command line"])
def test_who_judges_is_named(pytester: pytest.Pytester, session, named: str) -> None:
    (pytester.path / "labels.jsonl").write_text(
        '{"question": "answer_attempted", "data": {"query": "a?", "answer": "b"}, '
        '"answer": {"answered": "yes"}}\n'
    )
    judge, words = "replay:labels.jsonl", ["--ragassay-gate", "answered>=1"]
    ini = {"by a hook": "", "in the ini file": judge}.get(named, "replay:missing.jsonl")
    pytester.makeini(f"[pytest]\nragassay_judge = {ini}\n")
    hooked = judge if not ini else "replay:missing.jsonl"
    words += ["--ragassay-judge", judge] if named == "on the command line" else []
    pytester.makeconftest(f"def pytest_ragassay_options(config): return {{'judge': {hooked!r}}}")
    one_test(pytester, "rag_eval.add(query='a?', answer='b')")
    done = session(*words)
    assert done.ret == 0
    done.stdout.fnmatch_lines([" Judged by replay:labels.jsonl: *", "gate answered>=1: passed*"])


def test_of_a_test_that_runs_again_its_last_run_counts(pytester: pytest.Pytester, session) -> None:
    pytester.makeconftest(
        """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for again in range(2):
                item.config.again = again
                runtestprotocol(item, nextitem=nextitem)
            return True
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def test_right_at_last(rag_eval, pytestconfig):
            rag_eval.add(query="a?", answer="xb"[pytestconfig.again], references=["b"])
            assert pytestconfig.again

        def test_skipped_at_last(rag_eval, pytestconfig):
            assert pytestconfig.again
            pytest.skip("no key")
        """
    )
    done = session("--ragassay-gate", "em>=1")
    done.stdout.fnmatch_lines(["*ragassay: samples=1 tests=1*", "gate em>=1: passed*"])


def test_a_gate_that_did_not_pass_shows_the_three_samples_that_fare_worst() -> None:
    answers = ["cat dog fox owl", "cat dog", "cat", "", "cat dog fox"]
    samples: list[dict[str, object]] = [
        {"id": f"q{at}", "query": "Which?", "answer": text, "references": ["cat dog fox owl"]}
        for at, text in enumerate(answers)
    ]
    del samples[4]["references"]
    found = gated([{"samples": samples, "gates": ["token_f1.r>=0.8"]}], [], n_without=1)
    shown = [line.strip() for line in found.lines if re.fullmatch(r" +q\d", line)]
    assert shown == ["q4", "q3", "q2"], "first what has no score"
    (gate,) = found.result.gates
    assert gate.passed is False, "a test without a sample makes no failure undecided"


def test_a_query_of_two_tests_is_two_runs_and_two_of_one_id_are_refused(pytester, session) -> None:
    tests = """
        def test_one(rag_eval):
            rag_eval.add(id="1", query="a?", answer="b", references=["b"])

        def test_two(rag_eval):
            rag_eval.add(id="1", query="a?", answer="c", references=["b"])
        """
    pytester.makepyfile(tests)
    done = session("--ragassay-gate", "em>=0.5")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*em *0.5000*2/2*"])
    pytester.makepyfile(tests.replace('"a?", answer="c"', '"c?", answer="b"'))
    done = session("--ragassay-gate", "em>=0.5")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stdout.fnmatch_lines(["ragassay: Tests added two queries with the id '1': 'a?' and *"])


@pytest.mark.parametrize(("body", "ini"), [
    ("pass", "gates = em>=0.5"), ("import pytest; pytest.skip('no key')", "gates = em>=0.5"),
    ("rag_eval.gate('em>=0.5')", "gates ="), ("pass", "config = run.yaml"),
])  # fmt: skip
def test_a_gate_of_nothing_handed_in_is_no_success(pytester, session, body, ini) -> None:
    pytester.makeini(f"[pytest]\nragassay_{ini}\n")
    pytester.makepyfile(f"def test_it(rag_eval): {body}\ndef test_other(): pass")
    done = session()
    assert done.ret == 1 and "No test added a sample" in done.stdout.str()
    assert session("-k", "other").ret == 0
    assert session("-k", "other", "--ragassay-gate", "em>=0.5").ret == 1


@pytest.mark.parametrize(("gate", "ret", "said"), [
    ("em", 1, "em"), ("emm>=0.5", 4, "emm"), ("em>=7", 4, "em"), ("", 4, "there is no gate"),
])  # fmt: skip
def test_an_impossible_gate_is_told(pytester: pytest.Pytester, session, gate, ret, said) -> None:
    answers(pytester, "red fox")
    done = session(*(["--ragassay-gate", gate] if gate else []))
    text = done.stdout.str()
    assert done.ret == ret and f"{said}" in text.partition("ragassay: ")[2]
    assert "Traceback" not in text and "--fail-under" not in text


def test_a_session_that_is_broken_off_decides_no_gate(pytester: pytest.Pytester, session) -> None:
    answers(pytester, "red fox", "red fox")
    words = ["--ragassay-gate", "em>=0.5", "--ragassay-output", "out"]
    assert session("--collect-only", *words).ret == 0
    ends = "if item.name == 'test_answer[1]': pytest.exit('enough')"
    pytester.makeconftest(f"import pytest\ndef pytest_runtest_setup(item):\n    {ends}")
    done = session(*words)
    assert done.ret == pytest.ExitCode.INTERRUPTED and not (pytester.path / "out").exists()
    done.stdout.fnmatch_lines(["ragassay: The session was broken off: gates are undecided."])
    assert done.outlines[-1] == "ragassay: the gates are undecided"


def test_a_sample_is_handed_in_as_a_mapping_with_keywords() -> None:
    collected = CollectedSamples()
    sample = collected.add({"id": "1", "query": "a?", "answer": "b"}, answer="c")
    assert (sample.id, sample.answer and sample.answer.text) == ("1", "c")
    assert collected.add(sample) == sample
    with pytest.raises(UsageError, match="gate 'em' is not"):
        collected.gate("em>=0", "em")
    assert collected.gates == []
    for given in ({}, {"sample": sample}):
        with pytest.raises(UsageError, match=r"rag_eval\.add"):
            collected.add(*given.values(), **({"answer": "d"} if given else {}))


def test_a_sample_with_values_that_json_lacks_is_gated(pytester: pytest.Pytester, session) -> None:
    one_test(
        pytester, "import datetime, numpy, ragassay",
        "metadata = {'day': datetime.date(2026, 1, 2), 'score': numpy.float32(0.5)}",
        "rag_eval.add(ragassay.Sample(id='1', query='Why?', answer=ragassay.Answer('So.'),",
        "                             metadata=metadata, references=('So.',)))",
    )  # fmt: skip
    found = session("--ragassay-gate", "em>=1")
    found.assert_outcomes(passed=1)
    assert found.ret == 0


def test_a_judge_that_is_down_fails_the_session_whatever_the_gates_say(pytester, session) -> None:
    pytester.makeconftest(
        """
        def down(text):
            raise RuntimeError("down")

        def pytest_ragassay_options(config):
            return {"metrics": ["em", "umbrela"], "judge": down}
        """
    )
    add = "rag_eval.add(id='1', query='Why?', answer='So.', references=['So.'], passages=['So.'])"
    one_test(pytester, add, "rag_eval.gate('em>=1')")
    found = session()
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["gate em>=1: passed*", "The evaluation is incomplete: 1 score *"])
    assert found.ret == 1 and found.outlines[-1] == "ragassay: the evaluation is incomplete"


def test_an_option_wins_over_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text("data: x.jsonl\nmetrics: em\nlevel: 0.8\n", encoding="utf-8")
    one = {"id": "1", "query": "q", "answer": "a", "references": ["a"]}
    groups: list[Any] = [
        {"samples": [one | {"system": name, "query": text} for name in "xy"], "gates": ["em>=0"]}
        for text in ("q", " q\n")  # white space makes no other query
    ]
    found = gated(groups, [], config=str(config), options={"level": 0.9})
    assert found.result.config["level"] == 0.9 and len(found.result.gates) == 1
    runs = [("1", name, at) for at in (0, 1) for name in "xy"]
    assert found.result.columns.identities == runs, "of each system by itself"
    told = {"history": [{"speaker": "user", "text": "Hi"}, {"speaker": "agent", "text": "Hello"}]}
    groups[1]["samples"] = [one | told]
    with pytest.raises(UsageError, match="two queries with the id '1'"):
        gated(groups, [])
