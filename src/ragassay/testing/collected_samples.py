"""The samples that the tests of a session hand in, and the gates that all of them must pass."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.base.json_data import dumps
from ragassay.base.printable import either, plural
from ragassay.base.sample import Sample
from ragassay.engine.comparison import gates
from ragassay.formats import from_records, to_record
from ragassay.testing.score_assertion import evidence_of

if TYPE_CHECKING:
    from ragassay.engine.results.comparison_result import GateResult
    from ragassay.engine.results.result import Result

WORST = 3  # samples that a gate which did not pass shows


@dataclass
class CollectedSamples:
    """What one test hands in: the object of the fixture ``rag_eval``."""

    samples: list[Sample] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)

    def add(self, sample: Sample | Mapping[str, Any] | None = None, /, **fields: Any) -> Sample:
        """Hands in one sample. It is scored at the end of the session, with those of all tests.

        Args:
            sample: a `Sample`, or a mapping with the keys that a line of a file has.
            fields: keys as keywords: ``query``, ``answer``, ``passages``, ``references`` ... They
                win over those of the mapping.

        Returns:
            The sample as it was read; an `InputError` where it is none.
        """
        if isinstance(sample, Sample) if fields else sample is None:
            raise UsageError("Give rag_eval.add a sample, or a mapping, keywords, or both.")
        record = sample if isinstance(sample, Sample) else {**(sample or {}), **fields}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RagassayWarning)
            (read,) = from_records([record])
        self.samples.append(read)
        return read

    def gate(self, *conditions: str) -> None:
        """Adds gates on all samples of the session, as the option ``--ragassay-gate`` does.

        Args:
            conditions: METRIC>=VALUE on the mean, low(METRIC)>=VALUE or high(METRIC)<=VALUE on the
                one-sided bound of the true mean; a `UsageError` for another form.
        """
        for condition in conditions:
            gates.parse(condition, "gate")
        self.gates += conditions

    def to_json(self) -> dict[str, Any]:
        """The samples and gates as plain values."""
        content = {"samples": [to_record(sample) for sample in self.samples], "gates": self.gates}
        # A `Sample` holds whatever its test put in: dates, numbers of numpy.
        return dict(json.loads(dumps(content)))


@dataclass(frozen=True)
class GatedSession:
    """The evaluation of all samples of a session, with its gates."""

    result: Result

    @property
    def passed(self) -> bool:
        """Whether every gate passed (one that is undecided did not) and no score is missing."""
        return all(gate.passed for gate in self.result.gates) and not self.lack

    @property
    def lack(self) -> str:
        """Why the evaluation is incomplete; empty where it is not."""
        from ragassay.reports.ci_reports import lack_of

        return lack_of([step.summary for step in self.result.steps])

    @property
    def verdict(self) -> str:
        """What keeps the session from passing, in a few words; empty where it passes."""
        passed = [gate.passed for gate in self.result.gates]
        counts = {"failed": passed.count(False), "undecided": passed.count(None)}
        said = [f"{plural(n, 'gate')} {state}" for state, n in counts.items() if n]
        return ", ".join([*said, "the evaluation is incomplete"] if self.lack else said)

    @property
    def lines(self) -> list[str]:
        """The table, the gates, and for those that did not pass the samples that fare worst."""
        lines = [str(self.result.summary), ""]
        for gate in self.result.gates:
            lines.append(gate.sentence)
            if not gate.passed:
                lines += self._worst(gate)
        if self.lack:
            lines.append(f"The evaluation is incomplete: {self.lack}")
        return [*lines, *(f"note: {warning}" for warning in self.result.summary.warnings)]

    def _worst(self, gate: GateResult) -> list[str]:
        from ragassay.reports.ci_reports import worst_rows

        metric, scores = gate.metrics[0], self.result.scores
        rows = [row for row in scores if row.metric == metric and row.value is None]
        rows += [row for _, row in worst_rows(self.result, gate, WORST)]
        chosen = [row.identity for row in rows[:WORST]]
        by_identity = {
            sample.identity: sample for sample in self.result.samples if sample.identity in chosen
        }
        text = [evidence_of(self.result, by_identity[pair], [metric]) for pair in chosen]
        return [f"  {line}".rstrip() for name in text for line in name.splitlines()]


def gated(
    handed_in: Iterable[Mapping[str, Any]],
    conditions: Sequence[str],
    *,
    config: str | None = None,
    output: str | None = None,
    options: Mapping[str, Any] | None = None,
    n_without: int = 0,
) -> GatedSession:
    """Evaluates what the tests of a session handed in (`CollectedSamples.to_json`), by a
    configuration (YAML) and ``options``, which win over it, and decides the gates.

    A query that several tests hand in becomes several runs of it (`Sample.repeat`); queries that
    differ may not have one id. Where tests (``n_without``) failed and handed in no sample, no gate
    passes."""
    from ragassay.compat.open_rag_eval.published_config import read_config
    from ragassay.engine import evaluate
    from ragassay.engine.run.config_reading import checked
    from ragassay.reports.run_reports import write_reports

    samples, merged = [], list(conditions)
    seen: Counter[tuple[str, str]] = Counter()
    queries: dict[str, str] = {}
    for record in handed_in:
        merged += record["gates"]
        for sample in from_records(record["samples"]):
            turns = "\n".join([*(turn.text for turn in sample.history), sample.query or ""])
            if queries.setdefault(sample.id, turns).split() != turns.split():
                raise UsageError(
                    f"Tests added two queries with the id {sample.id!r}: "
                    f"{queries[sample.id]!r} and {turns!r}. Give each an id of its own, or none."
                )
            samples.append(replace(sample, repeat=seen[sample.id, sample.system]))
            seen[sample.id, sample.system] += 1
    values: dict[str, Any] = {}
    if config is not None:
        # The samples are those of the tests: the configuration's own data need not be there.
        instead = {"data": config, "format": "jsonl"}
        values = checked(read_config(config, instead), instead).model_dump(exclude_unset=True)
        del values["data"], values["format"]
    values |= options or {}
    merged += values.pop("fail_under", [])
    if not merged:
        raise UsageError(
            "Tests added samples, but there is no gate: give --ragassay-gate METRIC>=VALUE, "
            "ragassay_gates in the configuration of pytest, or call rag_eval.gate."
        )
    if not values.get("suite") and not values.get("metrics"):
        metrics = (gates.parse(text, "gate").metric for text in merged)
        values["metrics"] = list(dict.fromkeys(metrics))
    configured = values.pop("output", None)
    target = configured if output is None else output
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RagassayWarning)
        suite = values.pop("suite", None)
        result = evaluate(samples, suite or None, fail_under=[*dict.fromkeys(merged)], save=target,
                          **values)  # fmt: skip
        if n_without:
            it = either(n_without, "it", "they")
            why = f"{plural(n_without, 'test')} failed before {it} added a sample"
            undecided = (replace(g, passed=None, why=why) if g.passed else g for g in result.gates)
            result = replace(result, gates=tuple(undecided))
        if target is not None:
            write_reports(result)
    return GatedSession(result)
