"""The plan before a run: what it says is what the run then asks."""

import dataclasses
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ragassay.base.json_data import dumps
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Outcome, Reason
from ragassay.engine.config.run_config import make_config
from ragassay.engine.run.cost_estimate import CallPlan, Planner, Range, Throughput, fit
from ragassay.engine.run.scoring import judge_all, judged_among
from ragassay.judges.asking import Ask, Asker
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.panel import Panel
from ragassay.judges.question import Question
from ragassay.judges.questions import NuggetList
from ragassay.judges.questions.answering import SaysIdk
from ragassay.judges.questions.checklists import Claims, ClaimSupport, ExtractClaims, ExtractNuggets
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric, scored
from ragassay.reports.views.plan_view import call_part
from ragassay.transport.providers_and_prices import Price, price_of
from ragassay.transport.sending import MOST
from valid_answers import largest, smallest


class _Ours(JudgedMetric):
    title = source = "a test's own"
    family = "tests"
    needs = ("query", "passages", "answer")
    high = None


@dataclass(frozen=True)
class Grades(_Ours):
    """Fixed: one question a passage."""

    shots: str = "zero"

    name = "grades"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        found = await ask.each([RelevanceGrade(sample.query, text) for text in _texts(sample)])
        return scored(float(sum(one.grade for one in found)))


@dataclass(frozen=True)
class Supported(_Ours):
    """Two questions, or one where nothing is claimed."""

    name = "supported"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        claims = (await ask(ExtractClaims(sample.query, sample.answer.text))).claims
        if not claims:
            return scored(0.0)
        return scored(float(sum((await ask(ClaimSupport(claims, _texts(sample)))).supported)))


@dataclass(frozen=True)
class Contrary(_Ours):
    """Asks more after the smaller answer."""

    name = "contrary"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        said = (await ask(SaysIdk(sample.query, sample.answer.text))).says_idk
        if said == "no":
            await ask.each([RelevanceGrade(sample.query, text) for text in _texts(sample)])
        return scored(said)


@dataclass(frozen=True)
class Probing(Contrary):
    """Asks about the first passage, and about the others where that is not relevant."""

    name = "probing"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        first, *rest = [RelevanceGrade(sample.query, text) for text in _texts(sample)]
        if (await ask(first)).grade == 0:
            await ask.each(rest)
        return scored(0.0)


@dataclass(frozen=True)
class Breaking(_Ours):
    name = "breaking"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        await ask(SaysIdk(sample.query, sample.answer.text))
        raise RuntimeError("no good")


EVERY = Grades(), Supported(), Contrary(), Grades(shots="few")
ALL: dict[str, Metric] = {str(one): one for one in EVERY}


def _texts(sample: Sample) -> tuple[str, ...]:
    return tuple(passage.text or "" for passage in sample.passages or ())


def make(n: int, *, systems: int = 1, depth: int = 3) -> list[Sample]:
    """Systems retrieve the same passages and answer in words of their own."""
    return [
        Sample(
            id=f"q{at}", system=f"s{system}", query=f"what is number {at}?",
            passages=tuple(Passage(id=f"d{at}.{rank}", text=f"number {at} has the factor {rank}")
                           for rank in range(depth)),
            answer=Answer(f"I, {system}, say that it is {at}."),
        )
        for at in range(n) for system in range(systems)
    ]  # fmt: skip


class Oracle(Judge):
    """Answers anything at random, counts what it is asked, and remembers as a ledger does."""

    def __init__(self, seed: int = 0, name: str = "openai:gpt-4o-mini", fails: float = 0) -> None:
        self.asked: list[Question[Any]] = []
        self.kept: dict[tuple[str, int], JudgeAnswer[Any] | Failure] = {}
        self.name, self.seed, self.fails = name, seed, fails
        self.price = price_of(name)

    @property
    def label(self) -> str:
        return self.name

    @property
    def model(self) -> str:
        return "gpt-4o-mini"

    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure | None:
        return self.kept.get((question.key, repeat))

    async def answer(self, question: Question[Any], repeat: int = 0) -> Any:
        held = self.known(question, repeat)
        if held is not None:
            return held
        self.asked.append(question)
        draw = random.Random(f"{self.seed} {question.key} {repeat}")
        made = Provenance(self.label, request="r")
        if draw.random() < self.fails:
            found: Any = Failure(question, Reason.REFUSED, "no", made, repeat)
        else:
            found = JudgeAnswer(question, self._answer(question, draw), made, repeat)
        self.kept[question.key, repeat] = found
        return found

    def _answer(self, question: Question[Any], draw: random.Random) -> Any:
        if isinstance(question, ExtractClaims):
            claims = [f"claim {draw.random()}" for _ in range(draw.randrange(4))]
            return Claims(claims=tuple(claims))
        return draw.choice([smallest, largest])(question)


def run(samples: Sequence[Sample], metrics: dict[str, Metric], judge: Judge) -> None:
    """Asks everything that a run would, a few samples a window."""
    with Asker(judge) as asker:
        for at in range(0, len(samples), 5):
            work = judge_all(samples[at : at + 5], judged_among(metrics.values()), asker)
            asker.submit(work).result()


def plan_calls(
    samples: Sequence[Sample],
    metrics: Mapping[str, Metric],
    judge: Judge,
    *,
    throughput: Throughput | None = None,
    price: Price | None = None,
    window: int = 4,
) -> CallPlan:
    """What a `Planner` says of them."""
    with Planner(metrics, judge, throughput=throughput, price=price) as planner:
        for start in range(0, len(samples), window):
            planner.add(samples[start : start + window])
        return planner.plan()


def holds(found: Range, value: float) -> bool:
    return found.low <= value <= found.high


@given(
    seed=st.integers(0, 1000), n=st.integers(0, 12), systems=st.integers(1, 3),
    chosen=st.sets(st.sampled_from(sorted(ALL)), min_size=1), fails=st.sampled_from([0.0, 0.2]),
)  # fmt: skip
@settings(max_examples=60)
def test_the_interval_holds_the_questions_whatever_the_judge_says(seed, n, systems, chosen, fails):
    samples, oracle = make(n, systems=systems), Oracle(seed, fails=fails)
    metrics = {name: ALL[name] for name in sorted(chosen)}
    plan = plan_calls(samples, metrics, oracle)
    assert not oracle.asked
    run(samples, metrics, oracle)
    asked = len(oracle.asked)
    assert asked <= plan.total.calls.high
    # A refusal ends a metric early; without one the lower end holds as well.
    assert fails or plan.total.calls.low <= asked
    kinds = {question.kind for question in oracle.asked}
    assert kinds <= set(plan.questions)


def test_metrics_are_counted_alone_and_shared_questions_once() -> None:
    samples = make(10)
    plan = plan_calls(samples, {"a": Grades(), "b": Contrary(), "same": Grades()}, Oracle())
    exact = plan_calls(samples, {"a": Grades()}, Oracle())
    assert exact.questions == {"relevance_grade": Range(30, 30)} and exact.total.calls.exact
    alone = {names: amount.calls for names, amount in plan.metrics.items()}
    nothing = plan_calls([Sample(id="bare")], {"a": Grades()}, Oracle())
    assert [*nothing.metrics] == [("a",)] and nothing.total.calls == Range(0, 0)
    assert nothing.total.cost == Range(0, 0) and nothing.seconds == Range(0, 0)
    assert alone == {("a", "same"): Range(30, 30), ("b",): Range(10, 40)}
    assert plan.total.calls == Range(40, 40)
    most = plan_calls(make(10, systems=2, depth=1), {"b": Contrary()}, Oracle())
    assert [*most.questions] == ["says_idk", "relevance_grade"], "the most frequent first"
    assert plan_calls(samples, {"p": Probing()}, Oracle()).total.calls == Range(10, 30)


def test_the_ledgers_share_is_right_after_half_a_run() -> None:
    samples, oracle = make(16), Oracle()
    metrics: dict[str, Metric] = {"grades": Grades(), "contrary": Contrary()}
    run(samples[:8], metrics, oracle)
    half = len(oracle.asked)
    plan = plan_calls(samples, metrics, oracle)
    assert plan.total.held == Range(half, half)
    run(samples, metrics, oracle)
    assert holds(plan.total.calls, len(oracle.asked) - half)
    again = plan_calls(samples, metrics, oracle)
    assert again.total.calls == Range(0, 0)
    assert again.total.cost == Range(0, 0) and again.seconds == Range(0, 0)
    assert again.total.held == Range(len(oracle.asked), len(oracle.asked))


def test_a_panel_pays_each_member_that_is_asked() -> None:
    samples = make(6)
    panel = Panel([Oracle(name="openai:gpt-4o"), Oracle(name="openai:gpt-4o-mini")])
    plan = plan_calls(samples, {"grades": Grades()}, panel)
    assert plan.total.calls == Range(36, 36)
    tokens_in, tokens_out = plan.total.input_tokens.high / 2, plan.total.output_tokens.high / 2
    costs = [price.cost(tokens_in, tokens_out) for price in (Price(2.5, 10), Price(0.15, 0.6))]
    assert plan.total.cost is not None
    assert plan.total.cost.high == pytest.approx(sum(costs))
    run(samples, {"grades": Grades()}, panel.members[0])
    plan = plan_calls(samples, {"grades": Grades()}, panel)
    assert (plan.total.calls, plan.total.held) == (Range(18, 18), Range(18, 18))
    samples = make(5)  # the offline judge takes no calls
    plan = plan_calls(samples, ALL, OfflineJudge())
    assert not plan.asks and plan.total.calls == Range(0, 0) and plan.n_samples == 5
    with_one = Panel([OfflineJudge(), Oracle()])
    assert plan_calls(samples, {"grades": Grades()}, with_one).total.calls == Range(15, 15)


def test_money_follows_the_users_price_and_is_unknown_without_one() -> None:
    samples = make(3)
    plans = [plan_calls(samples, {"g": Grades()}, Oracle(), price=p) for p in (None, Price(1, 0))]
    assert [plan.listed_prices for plan in plans] == [True, False]
    assert ["list prices" in str(call_part(plan)) for plan in plans] == [True, False]
    listed, own = (plan.total for plan in plans)
    assert own.cost is not None
    assert own.cost.high == pytest.approx(own.input_tokens.high / 1e6)
    assert listed.cost is not None and listed.cost != own.cost
    unknown = Oracle(name="https://api.example.com/v1#model")
    assert plan_calls(samples, {"grades": Grades()}, unknown).total.cost is None
    local = Oracle(name="http://localhost:8000/v1#model")
    assert plan_calls(samples, {"grades": Grades()}, local).total.cost == Range(0, 0)


def test_time_follows_calls_concurrency_and_limits() -> None:
    calls, tokens = Range(0, 17), Range(0, 3000)
    assert Throughput(2.0, False, 8).span(calls, tokens) == Range(0, 6.0)
    assert Throughput(2.0, False, 8, rpm=17).span(calls, tokens) == Range(0, 60.0)
    assert Throughput(2.0, False, 8, tpm=1000).span(calls, tokens) == Range(0, 180.0)
    at_once = Throughput(concurrency=10)
    plan = plan_calls(make(10), {"grades": Grades()}, Oracle(), throughput=at_once)
    assert plan.seconds == Range(6.0, 6.0)
    both = {"grades": Grades(), "b": Contrary()}
    plan = plan_calls(make(10), both, Oracle(), throughput=Throughput(concurrency=10))
    times = [row.cells[-1].text for row in call_part(plan).blocks[0].rows]
    assert times == ["6 s", "2 s – 8 s", "8 s"]


@pytest.mark.parametrize(("names", "concurrency", "at_once"), [
    (["openai:gpt-4o"], 3, 3),
    (["openai:gpt-4o", "openai:gpt-4o-mini"], 3, 3),  # one endpoint
    (["openai:gpt-4o", "http://a:1/v1#m", "http://a:1/v1#n", "http://b:1/v1#m"], 3, 9),
    (["openai:gpt-4o", "http://a:1/v1#m"], None, 2 * MOST),
])  # fmt: skip
def test_each_endpoint_takes_requests_of_its_own(names, concurrency, at_once: int) -> None:
    config = make_config(concurrency=concurrency, rpm=7, tpm=8)
    found = Throughput.of(Panel([Oracle(name=name) for name in names]), config, None)
    assert found == Throughput(2.0, False, at_once, 7, 8)
    assert Throughput.of(OfflineJudge(), config, None).concurrency == (concurrency or MOST)


def test_the_slowest_model_of_a_panel_counts_by_its_median(monkeypatch) -> None:
    timed = {"gpt-4o-mini": [1.0, 1.0, 9.0], "slow": [2.0, 4.0, 3.0], "new": []}
    found = lambda ledger, model, most: timed[model]  # noqa: E731
    monkeypatch.setattr("ragassay.judges.ledger.ledger_admin.latencies", found)
    panel = Panel([type("Other", (Oracle,), {"model": name})() for name in timed])
    slowest = Throughput.of(panel, make_config(), object())  # type: ignore[arg-type]
    assert (slowest.seconds, slowest.measured) == (3.0, True)
    timed |= {name: [] for name in timed}
    assumed = Throughput.of(panel, make_config(), object())  # type: ignore[arg-type]
    assert (assumed.seconds, assumed.measured) == (2.0, False)


def test_a_budget_fits_by_its_worst_limit() -> None:
    total = plan_calls(make(10), {"contrary": Contrary()}, Oracle()).total
    assert total.calls == Range(10, 40)
    found = {text: fit(total, text) for text in ("40 calls", "39 calls", "9 calls")}
    assert list(found.values()) == ["fits", "may not fit", "does not fit"]
    assert fit(total, "5.00") == "fits"
    assert fit(total, "5.00, 9 calls") == "does not fit"
    assert fit(total, "10 tokens") == "does not fit"
    tokens = dataclasses.replace(total, input_tokens=Range(5, 5), output_tokens=Range(3, 9))
    assert [fit(tokens, f"{n} tokens") for n in (7, 8, 13, 14)] == [
        "does not fit", "may not fit", "may not fit", "fits",
    ]  # fmt: skip
    unpriced = dataclasses.replace(total, cost=None)
    assert fit(unpriced, "5.00") == "no price known"
    assert fit(unpriced, "40 calls") == "fits"


def test_a_plan_from_the_first_samples_is_extrapolated_and_says_so() -> None:
    with Planner({"grades": Grades(), "s": Supported()}, Oracle()) as planner:
        planner.add(make(10))
        plan = planner.plan(n_samples=25)
    assert (plan.n_walked, plan.n_samples) == (10, 25)
    assert plan.total.calls == Range(100, 125)
    with Planner({"grades": Grades()}, Oracle()) as planner:
        planner.add(make(3, systems=2, depth=1))  # three questions of six samples
        assert planner.plan(n_samples=7).total.calls == Range(3, 4), "rounded outwards"
    metrics = {"u": naming.parse("ragreport_usefulness"), "g": Grades()}
    plan = plan_calls(make(300), metrics, OfflineJudge())  # the first 256 of them are asked
    assert (plan.unsupported, plan.n_walked) == ({"u": 300}, 300)
    with Planner({}, Oracle()) as planner:
        planner.prepare("nugget bank", Grades(), make(300, depth=1))
        plan = planner.plan()
    assert plan.total.calls == plan.metrics[("nugget bank",)].calls == Range(300, 300)


def test_a_metric_that_breaks_down_is_told_and_costs_the_plan_nothing_else() -> None:
    samples, oracle = make(4), Oracle()
    metrics: dict[str, Metric] = {"breaking": Breaking(), "grades": Grades()}
    assert plan_calls(samples, metrics, oracle).total.calls == Range(16, 16)
    run(samples, {"breaking": Breaking()}, oracle)
    plan = plan_calls(samples, metrics, oracle)
    assert plan.total.calls == Range(12, 12)
    ((detail, n),) = plan.failed.items()
    assert n == 4 and "RuntimeError: no good" in detail and detail in str(call_part(plan))


def test_the_plan_is_strict_json() -> None:
    plan = plan_calls(make(4), ALL, Oracle(name="https://api.example.com/v1#m"))
    body = json.loads(dumps(plan.to_json()))
    assert body["total"]["calls"] == {"low": plan.total.calls.low, "high": plan.total.calls.high}
    assert body["total"]["cost"] is None
    assert {name for line in body["metrics"] for name in line["metrics"]} == set(ALL)


METRICS = ["nuggets.all", "nuggets.vital", "umbrela", "nuggets(window=1,batch=4,iterations=7).all"]
METRICS += [f"nuggets(window=3,iterations=7,refined={refined}).all" for refined in (True, False)]


class Lister(Oracle):
    """Finds most passages relevant, and names as many new nuggets as its habit is."""

    def __init__(self, seed: int, habit: str) -> None:
        super().__init__(seed)
        self.habit = habit

    def _answer(self, question: Question[Any], draw: random.Random) -> Any:
        if isinstance(question, RelevanceGrade):
            relevant = self.habit == "slow" or draw.random() < 0.9
            return largest(question) if relevant else smallest(question)
        if not isinstance(question, ExtractNuggets):
            return super()._answer(question, draw)
        room = max(0, question.most - len(question.known))
        habits = {"one": 1, "all": room, "some": draw.randint(1, 3), "any": draw.randint(0, room)}
        habits["slow"] = room > 1  # the last place stays free, so each window is read again
        new = range(min(room, habits[self.habit]) + len(question.known) * question.refined)
        return NuggetList(nuggets=tuple(f"n{draw.random()}" for _ in new))


@pytest.mark.parametrize("habit", ["one", "all", "some", "any", "slow"])
@pytest.mark.parametrize("depth", [1, 11, 40])
def test_however_a_judge_fills_a_list_the_interval_holds_its_questions(habit, depth: int) -> None:
    metrics = {name: naming.parse(name) for name in METRICS}
    for names in (METRICS, *([name] for name in METRICS[2:])):
        chosen = {name: metrics[name] for name in names}
        samples, judge = make(2, systems=2, depth=depth), Lister(depth, habit)
        plan = plan_calls(samples, chosen, judge)
        run(samples, chosen, judge)
        assert plan.total.calls.low <= len(judge.asked) <= plan.total.calls.high
        assert not plan.failed
