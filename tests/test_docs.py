"""Every command and every snippet in the documentation runs as it is printed."""

import importlib.util
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

import ragassay
import tiny_hhem
from llm_server import LLMServer
from ragassay.base.printable import grouped
from ragassay.cli.command_line import call
from ragassay.suites.suite import peer_metrics

pytestmark = pytest.mark.usefixtures("no_metric_left")

ROOT = Path(__file__).resolve().parents[1]
FRONT = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
PAGES = sorted([*FRONT, *(ROOT / "docs").rglob("*.md")])
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PAGES_WITH_DATA = (
    *("judges", "labels", "nuggets", "plots", "consistency", "embeddings", "pipelines", "golden"),
    *("golden-review", "ask", "exports", "mt-rag"),
)
PAGES_WITH_FILES = (
    "tutorial",
    *("configuration", "own-metrics", "open-rag-eval", "trec", "pipelines", "golden"),
    *("golden-review", "golden-synthesize", "ask", "judges"),
)
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.M | re.S)
QRELS = "".join(f"q{q} 0 d{d} {int(d % 3 == q % 3)}\n" for q in range(6) for d in range(9))
RUN = "".join(f"q{q} Q0 d{d} 0 {(d * 7 + q) % 11} tag\n" for q in range(6) for d in range(9))


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(info.strip(), body) for kind, info, body in found if kind == language]


def commands(page: Path) -> list[str]:
    lines = [line for _, body in blocks(page, "sh") for line in body.splitlines()]
    return [line for line in lines if line.startswith(("ragassay ", "cat "))]


def concatenated(line: str) -> None:
    """Does what ``cat A B > C`` does, also where there is no cat."""
    *sources, arrow, target = shlex.split(line)[1:]
    assert arrow == ">"
    Path(target).write_text("".join(Path(source).read_text() for source in sources))


def placed(path: Path, body: str) -> None:
    """Writes a file that a page prints."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(body)


@pytest.fixture(scope="module")
def judge() -> Iterator[LLMServer]:
    """Stands in for the endpoints of ``openai:`` and ``vllm:``."""
    with LLMServer() as server:
        yield server


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the documentation speaks of."""
    folder = tmp_path_factory.mktemp("files")
    for page in ("README", *(f"docs/{name}" for name in PAGES_WITH_DATA)):
        for name, body in blocks(ROOT / f"{page}.md", "jsonl"):
            placed(folder / name, body)
    for page in PAGES_WITH_FILES:
        for language in ("yaml", "text", "csv", "md", "python"):
            for name, body in blocks(ROOT / "docs" / f"{page}.md", language):
                if name:
                    placed(folder / name, body)
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "run.txt").write_text(RUN)
    (folder / "old.txt").write_text(RUN.replace("d1 0", "d1 9"))
    with chdir(folder):
        assert call(["run", "answers.jsonl", "-s", "qa", "-o", "runs/old"]) == 0
    shutil.copytree(folder / "runs/old", folder / "runs/new")
    documents = Path(ragassay.__file__).parent / "examples" / "town" / "documents"
    shutil.copytree(documents, folder / "town")
    return folder


@pytest.fixture
def desk(
    files: Path, here: Path, monkeypatch: pytest.MonkeyPatch, judge: LLMServer, town: str
) -> Path:
    """A copy of these files as the working directory, and judges that the documentation names."""
    shutil.copytree(files, here, dirs_exist_ok=True)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("TOWN_URL", town)
    for variable in ("OPENAI_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.setenv(variable, judge.url)
    return here


def hhem(folder: Path) -> None:
    """The folder of a model, as it was fetched; empty where there is nothing to run it."""
    folder.mkdir()
    if importlib.util.find_spec("torch") is not None:
        tiny_hhem.save_foundation(tiny_hhem.save_hhem(folder))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.name
)
def test_every_command_on_a_page_succeeds(page: Path, desk: Path, capsys) -> None:
    if page.name == "models.md":
        hhem(desk / "hhem")
    elif page.name == "ask.md":
        (desk / "answers.jsonl").unlink()  # it is made there
    for line in commands(page):
        if line.startswith("cat "):
            concatenated(line)
            continue
        words = shlex.split(line, comments=True)[1:]
        assert call(words) == 0, f"{line}\n{capsys.readouterr().err}"
    if page.name == "tutorial.md":
        check_what_the_tutorial_says_of_its_systems(desk)


def check_what_the_tutorial_says_of_its_systems(folder: Path) -> None:
    """Its steps 4 and 6: the largest class of the first system, and what the second one moved."""
    first, second = (
        {name: n for name, _, n in ragassay.diagnose(ragassay.open_run(folder / run)).counts}
        for run in ("runs/v1", "runs/v2")
    )
    assert max(first, key=lambda name: first[name]) == "not_retrieved"
    assert (first["not_retrieved"], second["not_retrieved"]) == (28, 17)
    assert second["ignored"] > first["ignored"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_command_that_an_issue_form_asks_for_succeeds(form: Path, desk: Path, capsys) -> None:
    asked = re.findall(r"`ragassay ([^`]+)`", form.read_text(encoding="utf-8"))
    assert asked or form.name == "config.yml"
    for words in asked:
        assert call(shlex.split(words)) == 0, f"{words}\n{capsys.readouterr().err}"


def test_the_readme_shows_the_main_commands_on_a_page_and_a_half() -> None:
    page = ROOT / "README.md"
    assert {"run", "compare", "diagnose", "validate", "metrics"} <= {
        shlex.split(line)[1] for line in commands(page)
    }
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_readme_shows_what_the_demo_prints(tmp_path, request, capsys, monkeypatch) -> None:
    """Its comparison: the table, the verdict below it, and the slice that fell."""
    monkeypatch.setenv("COLUMNS", "80")
    assert call(["demo", "-o", str(tmp_path / "demo")]) == 0
    table, below = capsys.readouterr().out.split("(new) against ")[1].split("\n\n")[1:3]
    shown = [line.rstrip() for line in (*table.splitlines(), "", *below.splitlines()[:4])]
    check_made(request, ROOT / "README.md", "demo", "\n".join(["```text", *shown, "```"]))


def check_made(request: pytest.FixtureRequest, path: Path, mark: str, text: str) -> None:
    """That the part of a page between ``<!-- mark -->`` and ``<!-- end -->`` is this text."""
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(f"<!-- {mark} -->\n")
    now = f"{before}<!-- {mark} -->\n{text}\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    if request.config.getoption("--approve"):
        path.write_text(now, encoding="utf-8")
    else:
        assert now == page, "run pytest tests/test_docs.py --approve"


@pytest.mark.parametrize(("name", "printed"), [
    ("README.md", "faithfulness"), ("docs/python.md", "em"),
    ("docs/judges.md", "1.0 python:my_judges"),
])  # fmt: skip
def test_the_python_of_a_page_runs(name, printed, desk, capsys, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(desk))
    found = blocks(ROOT / name, "python")
    for file, body in found:
        if not file:
            exec(compile(body, f"<{name}>", "exec"), {"__name__": "__main__"})
    assert found and printed in capsys.readouterr().out


def test_the_template_of_the_labels_page_becomes_labels_that_answer_every_question(
    desk: Path, capsys
) -> None:
    """The page's own lines: a run, the template, and the labels of people in its shape."""
    page = ROOT / "docs" / "labels.md"
    assert call(shlex.split(commands(page)[0])[1:]) == 0
    ((_, body),) = blocks(page, "python")
    exec(compile(body, "<labels.md>", "exec"), {})
    template = [json.loads(line) for line in Path("template.jsonl").read_text().splitlines()]
    assert {line["question"] for line in template} == {"relevance_grade", "answer_attempted"}
    given = {"relevance_grade": 3, "answer_attempted": "yes"}
    filled = [json.dumps({**line, "answer": given[line["question"]]}) for line in template]
    Path("filled.jsonl").write_text("\n".join(filled))
    for labels in ("filled.jsonl", "people.jsonl"):
        result = ragassay.evaluate(
            "answers.jsonl", ["umbrela", "no_answer"], judge=f"replay:{labels}"
        )
        assert all(row.value is not None for row in result.scores)
    empty = ragassay.evaluate("answers.jsonl", "umbrela", judge="replay:template.jsonl")
    assert {row.reason for row in empty.scores} == {"missing_input"}


def test_the_labels_page_lists_every_kind_of_question_with_its_fields() -> None:
    from ragassay.judges.question import kinds

    page = (ROOT / "docs" / "labels.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .+? \| (.+?) \| (.+) \|$", page, re.M)
    told = {kind: (named(data), named(answer)) for kind, data, answer in rows}
    real = {}
    for kind, cls in kinds().items():
        if cls.__module__.startswith("ragassay."):
            data = {f.name: f.default is not MISSING for f in fields(cls)}
            answer = {
                name: name in cls.reply.implied or kind is str  # an explanation
                for name, kind in cls.reply.fields().items()
            }
            real[kind] = (data, answer)
    assert told == real


def named(cell: str) -> dict[str, bool]:
    """The fields of a cell, each with whether it may be left out; values stand in parentheses."""
    found = re.findall(r"`(\w+)(\??)`", re.sub(r"\([^()]*\)", "", cell))
    return {name: mark == "?" for name, mark in found}


def test_the_page_of_names_has_every_name_of_another_tool(request: pytest.FixtureRequest) -> None:
    check_made(request, ROOT / "docs" / "metric-names.md", "names", names_of_peers())


def names_of_peers() -> str:
    """A list for each tool, and its names that need a rubric."""
    lines: list[str] = []
    for tool, peers in grouped((peer.tool, peer) for peer in peer_metrics()).items():
        lines += [f"## {tool}", ""]
        for peer in peers:
            theirs = ", ".join(f"`{name}`" for name in peer.names)
            if peer.ours:
                same = " (the same)" * peer.same
                lines.append(f"- {theirs} → `{peer.ours}`{same}: {peer.differs}")
        if own := [f"`{name}`" for peer in peers if not peer.ours for name in peer.names]:
            lines.append(f"- A rubric of your own: {', '.join(own)}.")
        lines.append("")
    return "\n".join(lines).rstrip()


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_but_the_list_of_metrics_is_read_in_a_few_minutes(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= 1500 or page.name == "metrics.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["architecture", "where-to-add"])
def test_every_file_that_a_page_for_developers_names_exists(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "ragassay"
    names = set(re.findall(r"`([a-z_/]+\.(?:py|yaml))`", page))
    assert len(names) > 20
    missing = {name for name in names if not (ROOT / name).is_file()}
    assert not {name for name in missing if not list(source.rglob(name))}


def test_every_benchmark_that_is_named_exists() -> None:
    listed = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = re.findall(r'^    "(\w+)",$', listed, re.M)
    named += re.findall(r"python -m benchmarks\.(\w+)", pages)
    missing = {name for name in named if not (ROOT / "benchmarks" / f"{name}.py").is_file()}
    assert not missing


def test_the_run_folder_page_names_every_field() -> None:
    from ragassay.engine.results.score_rows import ROW_FIELDS
    from ragassay.engine.results.summary import MetricSummary, Slice, Spending, Summary

    page = (ROOT / "docs" / "run-folder.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", page))
    for shape in (Summary, MetricSummary, Spending, Slice):
        assert {spec.name for spec in fields(shape)} - {"name"} <= told, shape
    assert set(ROW_FIELDS) <= told


def test_the_formats_page_says_which_suite_a_format_runs() -> None:
    from ragassay.suites.default_suite import DEFAULT_SUITES

    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"^Where neither .*?\n\n", page, re.M | re.S)
    told: dict[str, str] = {}
    for formats_of, suite in re.findall(
        r"((?:`\w+`(?: and )?)+)\s+runs?\s+(?:the suite )?`(\w+)`", said
    ):
        told |= dict.fromkeys(re.findall(r"\w+", formats_of.replace(" and ", " ")), suite)
    assert told == DEFAULT_SUITES
