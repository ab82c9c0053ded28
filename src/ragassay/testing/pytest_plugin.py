"""pytest's plugin (entry point ``pytest11``). It adds options and the fixture ``rag_eval``; where
no test uses that, it does nothing, prints nothing, and imports no other part of ragassay."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragassay.testing.collected_samples import CollectedSamples, GatedSession

HANDED_IN: pytest.StashKey[CollectedSamples] = pytest.StashKey()
SENT = "ragassay_handed_in"  # an attribute of a test's report, which pytest-xdist's workers send on

_ENDED = pytest.ExitCode
NOT_RUN = (_ENDED.INTERRUPTED, _ENDED.INTERNAL_ERROR, _ENDED.USAGE_ERROR)


class Hooks:
    """Hooks for a conftest.py."""

    @pytest.hookspec(firstresult=True)
    def pytest_ragassay_options(self, config: pytest.Config) -> dict[str, Any] | None:
        """Keywords of `ragassay.evaluate` for the evaluation at the end, as ``judge``."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declares `Hooks`."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the options of the command line and of the configuration file."""
    group = parser.getgroup("ragassay", "ragassay: gates on the samples that tests add to rag_eval")
    group.addoption(
        "--ragassay-gate",
        action="append",
        default=[],
        metavar="METRIC>=VALUE",
        help="gate on all samples of the session: METRIC>=VALUE, or low(METRIC)>=VALUE on the "
        "one-sided bound of the true mean; repeatable",
    )
    group.addoption("--ragassay-judge", metavar="JUDGE", help="who is asked, as openai:gpt-4o")
    config = "configuration of a run (YAML): suites, judge, gates"
    group.addoption("--ragassay-config", metavar="FILE", help=config)
    output = "folder for the scores and reports of the session"
    group.addoption("--ragassay-output", metavar="DIR", help=output)
    parser.addini("ragassay_gates", "gates, one per line, as --ragassay-gate", type="linelist")
    parser.addini("ragassay_judge", "who is asked, as --ragassay-judge", default=None)
    parser.addini("ragassay_config", "configuration of a run, as --ragassay-config", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    """Gates where tests are reported: not in the workers of pytest-xdist."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SessionGate(config), "ragassay-session")


@pytest.fixture
def rag_eval(request: pytest.FixtureRequest) -> Iterator[CollectedSamples]:
    """Takes samples for one evaluation at the end of the session, and its gates.

    ``rag_eval.add(query=..., answer=..., passages=...)`` hands in a sample;
    ``rag_eval.gate("low(token_f1.f)>=0.6")`` adds a gate on all samples of all tests.
    """
    from ragassay.base.errors import RagassayError
    from ragassay.engine.comparison import gates
    from ragassay.testing.collected_samples import CollectedSamples

    try:
        for gate in _gates_of(request.config):
            gates.parse(gate, "gate")
    except RagassayError as error:
        pytest.fail(f"ragassay: {error}", pytrace=False)
    collected = CollectedSamples()
    request.node.stash[HANDED_IN] = collected
    yield collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Sends what a test handed in with the report of its end."""
    report = yield
    if report.when == "teardown" and "rag_eval" in getattr(item, "fixturenames", ()):
        collected = item.stash.get(HANDED_IN, None)  # none where another fixture failed first
        content = {"samples": [], "gates": []} if collected is None else collected.to_json()
        setattr(report, SENT, json.dumps(content))
    return report


class SessionGate:
    """Gathers what tests handed in, and gates it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.handed_in: dict[str, Any] = {}
        self.failed = set[str]()
        self.gated: GatedSession | None = None
        self.problem = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes in a test's samples; those of its last run, where it was run again."""
        if report.when == "setup":
            self.failed.discard(report.nodeid)
        if report.when != "teardown" and report.failed:
            self.failed.add(report.nodeid)
        if (sent := getattr(report, SENT, None)) is not None:
            self.handed_in[report.nodeid] = json.loads(sent)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Evaluates and decides. A gate that fails or is undecided fails the session."""
        tests = [self.handed_in[nodeid] for nodeid in sorted(self.handed_in)]
        if exitstatus in NOT_RUN or self.config.option.collectonly:
            self.problem = "The session was broken off: gates are undecided." if tests else ""
            return
        if not any(test["samples"] for test in tests):
            # Gates of the ini file are silent where no test of the session uses the fixture.
            configured = tests and (_gates_of(self.config) or _path_of_config(self.config))
            wanted = configured or self.config.getoption("--ragassay-gate")
            if wanted or any(test["gates"] for test in tests):
                self.problem = "No test added a sample (rag_eval.add): gates are undecided."
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            return
        from ragassay.base.errors import RagassayError
        from ragassay.testing.collected_samples import gated

        failed = [self.handed_in[key] for key in self.failed & self.handed_in.keys()]
        try:
            self.gated = gated(
                tests,
                _gates_of(self.config),
                config=_path_of_config(self.config),
                output=self.config.getoption("--ragassay-output"),
                options=self._options(),
                n_without=sum(not value["samples"] for value in failed),
            )
        except RagassayError as error:
            self.problem = str(error).replace("--fail-under", "gate")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        if not self.gated.passed and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints the evaluation and its gates; nothing where no test handed in a sample."""
        if self.gated is None and not self.problem:
            return
        numbers = [n for value in self.handed_in.values() if (n := len(value["samples"]))]
        terminalreporter.section(f"ragassay: samples={sum(numbers)} tests={len(numbers)}")
        if self.problem:
            terminalreporter.line(f"ragassay: {self.problem}", red=True)
        if self.gated is not None:
            for line in self.gated.lines:
                color = {"red": True} if line.startswith("gate ") and ": passed" not in line else {}
                terminalreporter.line(line, **color)
            if folder := self.config.getoption("--ragassay-output"):
                terminalreporter.line(f"reports: {folder}")

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Ends the output with what fails the session: pytest's own last line counts tests only."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        verdict = self.gated.verdict if self.gated else self.problem and "the gates are undecided"
        if verdict and reporter is not None:
            reporter.write_line(f"ragassay: {verdict}", red=True)

    def _options(self) -> dict[str, Any]:
        judge = self.config.getoption("--ragassay-judge") or self.config.getini("ragassay_judge")
        options = dict(self.config.hook.pytest_ragassay_options(config=self.config) or {})
        return options | ({"judge": judge} if judge else {})


def _gates_of(config: pytest.Config) -> list[str]:
    return [*config.getoption("--ragassay-gate"), *config.getini("ragassay_gates")]


def _path_of_config(config: pytest.Config) -> str | None:
    paths = config.getini("ragassay_config")
    option = config.getoption("--ragassay-config")
    return option or (str(paths[0]) if paths else None)
