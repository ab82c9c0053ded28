"""What is wrong with a pipeline, its parameters or its data: one sentence with the place."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.compat.ultrarag import pipelines
from ragassay.compat.ultrarag.binding import parameter_file, written

pytestmark = pytest.mark.usefixtures("here")

SERVERS = "servers: {evaluation: servers/evaluation, benchmark: servers/benchmark}\n"
STEPS = f"{SERVERS}pipeline:\n- benchmark.get_data\n- evaluation.evaluate\n"
STEP = "p.yaml, line 3, field 'pipeline.0"
FILE = "parameters/p_parameter.yaml"
BENCHMARK = "benchmark:\n  benchmark: {path: d.jsonl, key_map: {pred_ls: p, gt_ls: g}}\n"
EVALUATION = "evaluation:\n  metrics: [em]\n  save_path: o.json\n"
Complaint = Callable[..., str]


def write(
    pipeline: str = STEPS,
    parameters: str | bytes | None = BENCHMARK + EVALUATION,
    data: str = '{"p": "a", "g": ["a"]}\n',
) -> None:
    Path("p.yaml").write_text(pipeline)
    Path("d.jsonl").write_text(data)
    if parameters is not None:
        Path("parameters").mkdir(exist_ok=True)
        content = parameters if isinstance(parameters, bytes) else parameters.encode()
        Path(FILE).write_bytes(content)


@pytest.fixture
def complaint(capfd: pytest.CaptureFixture[str]) -> Complaint:
    """The sentence that a run ends with."""

    def said(*words: str) -> str:
        assert call(list(words or ("run", "p.yaml"))) == 2
        shown = capfd.readouterr().err
        lines = [line for line in shown.splitlines() if not re.match(r"\d+/\d+ |note: ", line)]
        assert len(lines) == 1, shown
        assert lines[0].startswith("ragassay: ")
        return lines[0].removeprefix("ragassay: ")

    return said


@pytest.mark.parametrize(("body", "words"), [
    ("", "p.yaml: is not a pipeline. Begin with 'servers:' and 'pipeline:'."),
    ("- a\n", "p.yaml: is not a pipeline."),
    (f"{SERVERS}pipeline:\n", "line 2, field 'pipeline': is not a list of steps."),
    (f"{SERVERS}pipeline: []\n", "line 2, field 'pipeline': holds no step."),
    (f"{SERVERS}pipeline: 2020-01-01\n", "field 'pipeline': is not a list of steps."),
    (f"x: 1\n{SERVERS}pipeline: []\n", "line 1, field 'x': is not a known key."),
    ("servers: [a]\npipeline: [a.b]\n", "line 1, field 'servers': names no server."),
    ("pipeline: [\n", "p.yaml, line 2: is not YAML"),
])  # fmt: skip
def test_a_file_that_is_no_pipeline(body: str, words: str, complaint: Complaint) -> None:
    write(body)
    assert words in complaint("build", "p.yaml")


@pytest.mark.parametrize(("server", "words"), [
    ("", "': is not the name of a folder. Write a folder"),
    ("{url: 'http://a.example'}", "': is not the name of a folder."),
    ("nonesuch", "': there is no folder 'nonesuch'."),
    (f"{'x' * 300}/a", "': there is no folder 'xxx"), (".", "': the folder . has no src/"),
])  # fmt: skip
def test_a_server_that_is_none(server: str, words: str, complaint: Complaint) -> None:
    write(f"servers:\n  odd: {server}\npipeline: [odd.echo]\n")
    assert f"p.yaml, line 2, field 'servers.odd{words}" in complaint()


@pytest.mark.parametrize(("step", "words"), [
    ("5", "': is not a step. Write 'server.tool', or"), ("", "': is not a step."),
    ("evaluate", "': the step 'evaluate' is not 'server.tool'."),
    ("evaluation.", "': the step 'evaluation.' is not 'server.tool'."),
    ("evaluations.evaluate", "': the step 'evaluations.evaluate' names a server that 'servers' "
     "lacks. Did you mean 'evaluation'?"),
    ("evaluation.rank", "': the server 'evaluation' has no tool 'rank'. There are: evaluate, "),
    ("evaluation.evaluate", "': evaluation.evaluate takes 'pred_ls', and no earlier step "),
    ("evaluation.evaluate: []", ".evaluation.evaluate': is not a mapping. It takes 'input'"),
    ("evaluation.evaluate: {in: {}}", ".evaluation.evaluate.in': is not a known key."),
    ("evaluation.evaluate: {input: {5: a}}", ".evaluation.evaluate.input': is not a mapping"),
    ("evaluation.evaluate: {input: {pred_ls: ''}}", ".evaluation.evaluate.input': is not a ma"),
    ("evaluation.evaluate: {input: {pred: a}}", "': evaluation.evaluate has no input 'pred'. "
     "Did you mean 'pred_ls'?"),
    ("evaluation.evaluate_trec: {output: {res: a}}", "': evaluation.evaluate_trec has no output"
     " 'res'. There are: eval_res."),
    ("loop: {times: 0, steps: [a.b]}", ".loop.times': is 0. Write how often, 1 or more."),
    ("loop: {times: true, steps: [a.b]}", ".loop.times': is True. Write how often"),
    ("loop: {times: 2, steps: []}", ".loop.steps': holds no step."),
    ("loop: {times: 2}", ".loop': is not a mapping of times and steps"),
    ("branch: {router: []}", ".branch': is not a mapping of router and branches"),
    ("branch: {router: [], branches: {a: []}}", ".branch.router': holds no step."),
    ("branch: {router: [evaluation.evaluate_trec], branches: {}}", ".branch.branches': name"),
    ("branch: [a]", ".branch': is not a mapping of router and branches"),
    ("{evaluation.evaluate: , benchmark.get_data: }", "': is not a step."),
])  # fmt: skip
def test_a_step_that_is_none(step: str, words: str, complaint: Complaint) -> None:
    write(f"{SERVERS}pipeline:\n- {step}\n", None)
    said = complaint()
    assert said.startswith(STEP)
    assert words in said


@pytest.mark.parametrize("name", ["run_path", "metrics", "ir_metrics"])
def test_a_parameter_without_a_default_is_asked_for(complaint: Complaint, name: str) -> None:
    write(f"{SERVERS}pipeline:\n- evaluation.evaluate_trec: {{input: {{{name}: $other}}}}\n", None)
    assert complaint() == (
        "p.yaml, line 3, field 'pipeline.0.evaluation.evaluate_trec': evaluation.evaluate_trec "
        "takes the parameter 'other', which has no default. Write its value into the file that "
        "'ragassay build p.yaml' writes."
    )
    built = pipelines.build(Path("p.yaml"))
    assert built.notes[0] == f"{FILE}: evaluation.other has no default. Write its value."
    assert "field 'evaluation.other': " in complaint()


@pytest.mark.parametrize(("body", "words"), [
    (BENCHMARK + "evaluation: [a]\n", "line 3, field 'evaluation': is not a mapping of par"),
    ("hello", "is not a mapping of servers."), ("a: [", "line 1: is not YAML"),
    (b"\xff\xfe\0", "cannot be read (it is not text in UTF-8: byte 1 is 0xff)"),
    (BENCHMARK + EVALUATION + "evalution: {}\n", "line 6, field 'evalution': is not a server "
     "of the pipeline. Did you mean 'evaluation'?"),
    (BENCHMARK + EVALUATION + "  metics: []\n", "line 6, field 'evaluation.metics': the server "
     "'evaluation' has no such parameter. Did you mean 'metrics' or 'ir_metrics'?"),
    (BENCHMARK + EVALUATION + "  5: 1\n", "line 6, field 'evaluation.5': the server"),
    (BENCHMARK + "evaluation: {metrics: 5, save_path: a}\n", "line 3, field 'evaluation.metrics"
     "': must be a valid list, not 5 (step evaluation.evaluate)."),
    (BENCHMARK + "evaluation: {metrics: [emm], save_path: a}\n", "': names 'emm', which is "
     "unknown (step evaluation.evaluate). Did you mean 'em'?"),
    (BENCHMARK + "evaluation: {metrics: [em], save_path: [a]}\n", "not ['a']"),
    (BENCHMARK + 'evaluation: {metrics: [em], save_path: "\\0"}\n', "not '\\x00'"),
    ("benchmark: {benchmark: }\n" + EVALUATION, "line 1, field 'benchmark.benchmark': benchmark"
     " is not a mapping of keys: it takes 'path' and 'key_map' (step benchmark.get_data)."),
    ("benchmark: {benchmark: {path: a, key_map: {a: 5}}}\n" + EVALUATION, "benchmark.key_map.a "
     "must be a valid string, not 5 (step"),
    ("benchmark: {benchmark: {path: a, key_map: {a: b}, lmit: 3}}\n" + EVALUATION, "benchmark."
     "lmit is not a known key (step benchmark.get_data). Did you mean 'limit'?"),
])  # fmt: skip
def test_parameters_are_checked_before_the_first_step(body, words, complaint) -> None:
    write(parameters=body)
    said = complaint()
    assert said.startswith(FILE)
    assert words in said
    assert not Path("output").exists()


def test_build_leaves_an_older_file_and_prints_what_it_lacks(capsys) -> None:
    old = f"# mine\n{BENCHMARK}evaluation:\n  metrics: [em]  # later\n  note: 1\n"
    write(parameters=old)
    built = pipelines.build(Path("p.yaml"))
    lacking = "evaluation:\n  save_path: output/evaluate_results.json\n"
    assert built.lacking == lacking and not built.is_new
    assert "field 'evaluation.note': the server 'evaluation' has no such" in built.notes[0]
    assert call(["build", "p.yaml"]) == 0
    assert lacking in capsys.readouterr().out
    assert Path(FILE).read_text() == old
    # What a file lacks has the server's default.
    Path(FILE).write_text(old.replace("  note: 1\n", ""))
    assert call(["run", "p.yaml"]) == 0
    assert json.loads(Path("output/evaluate_results.json").read_bytes())["em"] == [1.0]
    Path(FILE).write_text(old.replace("  note: 1\n", "  save_path: o.json\n  ks: [1]\n"))
    built = pipelines.build(Path("p.yaml"))
    assert built.lacking == "" and "does not use evaluation.ks" in built.notes[0]
    assert pipelines.run(Path("p.yaml")).notes == built.notes
    made = written(Path("parameter/p_parameter.yaml"), {"s": {"text": "two\nlines"}})
    assert made.path.read_text() == "s:\n  text: |-\n    two\n    lines\n"
    assert parameter_file(Path("p.yaml")) == Path(FILE), "ours comes first"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "d.jsonl: the file is empty."),
        ('{"p": "a", "g": ["a"]}\n{', "d.jsonl, line 2: not valid JSON"),
        ("[1]\n", "d.jsonl, line 1: the number 1 was given where a record"),
        ('{"q": 1}\n', "d.jsonl, field 'p': no record has the field that key_map.pred_ls names. "),
    ],
)
def test_data_that_cannot_be_read(data: str, words: str, complaint: Complaint) -> None:
    write(data=data)
    said = complaint()
    assert f"p.yaml, line 3: step 1 (benchmark.get_data), server 'benchmark': {words}" in said


def test_a_place_that_no_result_can_be_written_to(complaint: Complaint) -> None:
    write(parameters=BENCHMARK + EVALUATION.replace("o.json", "d.jsonl/o.json"))
    said = complaint()
    assert "server 'evaluation': save_path: " in said
    assert "cannot be written (File exists). Name another file. Earlier results" in said
    write()
    Path("taken").write_text("mine")
    assert "taken: cannot be written (File exists)" in complaint("run", "p.yaml", "-o", "taken")
    assert not Path("o.json").exists()


KEPT = Path("output/p_steps/01_benchmark.get_data.json")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("0", "--from 0: there is no such step. There are: 1 benchmark.get_data, 2 evaluation."),
        ("evaluate", "--from evaluate: there is no such step. There are: 1 benchmark.get_data, "),
        ("2", "The step 1 (benchmark.get_data) has no kept output in output/p_steps. Run the "),
        ("evaluation.evaluate", ": this step occurs several times (2, 3). Give its number."),
    ],
)
def test_a_step_that_one_cannot_begin_with(wanted: str, words: str, complaint: Complaint) -> None:
    write(STEPS + "- evaluation.evaluate\n")
    assert words in complaint("run", "p.yaml", "--from", wanted)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"step": 5, "variables": {}}', '{"step": {}, "variables": [1]}']
)
def test_a_kept_file_that_is_damaged(content: str, complaint: Complaint) -> None:
    write()
    assert call(["run", "p.yaml"]) == 0
    KEPT.write_text(content)
    assert complaint("run", "p.yaml", "--from", "2") == (
        f"{KEPT}: is not the kept output of a step. Run the pipeline without --from, or with "
        "--from 1."
    )


def test_a_step_that_was_changed_is_not_gone_on_from(complaint: Complaint) -> None:
    write()
    assert call(["run", "p.yaml"]) == 0
    write(data='{"p": "b", "g": ["a"]}\n')
    said = complaint("run", "p.yaml", "--from", "2")
    assert "(benchmark.get_data) was kept with other files than it has now." in said
    write(parameters=BENCHMARK.replace("}}", "}, limit: 1}") + EVALUATION)
    said = complaint("run", "p.yaml", "--from", "2")
    assert (
        "The step 1 (benchmark.get_data) was kept with other parameters and files than it has now."
        in said
    )
    write(STEPS.replace("get_data", "get_data: {output: {pred_ls: pred_ls}}"))
    said = complaint("run", "p.yaml", "--from", "2")
    assert (
        "The step 1 (benchmark.get_data) was kept with other words and files than it has now."
        in said
    )


def test_a_run_deletes_only_its_own_files() -> None:
    write()
    mine = [Path("output/p_steps") / name for name in ("2024_report.json", "03_a.json", "9.json")]
    mine[0].parent.mkdir(parents=True)
    for path in mine:
        path.write_text('{"step": "up"}')
    old = [mine[0].with_name(f"0{n}_evaluation.gone.json") for n in (1, 2, 3)]
    assert call(["run", "p.yaml"]) == 0
    for path in old:
        path.write_bytes(KEPT.read_bytes())
    assert call(["run", "p.yaml", "--from", "2"]) == 0
    assert [path.exists() for path in (*mine, *old)] == [True] * 4 + [False] * 2


def test_options_of_a_run_that_a_pipeline_does_not_take(complaint: Complaint) -> None:
    write()
    assert "--suite would change nothing." in complaint("run", "p.yaml", "--suite", "qa")
    assert "nope.yaml: cannot be read" in complaint("run", "p.yaml", "--param", "nope.yaml")


def test_a_flow_of_a_tool_that_says_nothing_is_refused() -> None:
    from ragassay.compat.ultrarag.pipeline_tools import Flow

    assert Flow.declared("a, b -> c", ["x", "y"], ["b"]) == Flow({"x": "a", "y": "$b"}, ("c",))
    for text in ("a,b", "a,,b->c", "a->b,", "a,b,c->d"):
        with pytest.raises(UsageError, match=re.escape(repr(text))):
            Flow.declared(text, ["x", "y"], [])


@pytest.mark.parametrize(
    ("renamed", "words"),
    [
        ("{pred_ls: eval_res}", "pred_ls must be a valid list, not {'em': [1.0], 'avg_em': 1.0}"),
        ("{save_path: gt_ls}", "save_path: must be a valid string, not [['a']]."),
    ],
)
def test_a_variable_of_another_type(renamed: str, words: str, complaint: Complaint) -> None:
    write(STEPS + f"- evaluation.evaluate: {{input: {renamed}}}\n")
    assert f"step 3 (evaluation.evaluate), server 'evaluation': {words}" in complaint()
