"""What the tools give back, as types: their schemas tell an agent what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison


class Evaluated(BaseModel):
    """What one of UltraRAG's evaluations found."""

    eval_res: dict[str, Any] = Field(description="Values and means by metric")


class MetricEntry(BaseModel):
    """A metric that can be computed."""

    name: str
    title: str
    kind: str = Field(description="arithmetic, model or judge")
    needs: list[str] = Field(description="Parts of a record that it needs")
    range: str
    higher_is_better: bool | None
    suites: list[str]
    recommended_for: str


class Metrics(BaseModel):
    """Metrics that can be computed."""

    metrics: list[MetricEntry]


class ValidatedFile(BaseModel):
    """What a file holds."""

    format: str
    n_samples: int
    n_queries: int
    systems: dict[str, int] = Field(description="Samples by system")
    parts: dict[str, int] = Field(description="How many samples have each part")
    applicable: dict[str, int] = Field(description="For each metric how many samples it can score")
    not_here: dict[str, str] = Field(
        description="Metrics whose model or package is missing, and why"
    )
    notes: list[str]


class MetricMean(BaseModel):
    """A metric over all samples."""

    name: str
    mean: float | None
    low: float | None = Field(description="Lower end of the 95 % interval")
    high: float | None = Field(description="Upper end of the 95 % interval")
    n_scored: int
    n_total: int
    higher_is_better: bool | None
    unscored: dict[str, int] = Field(description="Why samples have no score, and how many")


class RunDone(BaseModel):
    """An evaluation that was run."""

    run: str = Field(description="Folder of the run, for explain_score and compare_runs")
    report: str | None = Field(description="HTML report for a person")
    n_samples: int
    metrics: list[MetricMean]
    notes: list[str]

    @classmethod
    def of(cls, result: Result, reports: Mapping[str, Any]) -> RunDone:
        """The same in short.

        Args:
            result: of the run, with a folder.
            reports: paths of those that were written, by format; HTML is among them.
        """
        summary = result.summary
        return cls(
            run=str(result.folder),
            report=str(reports["html"]),
            n_samples=summary.n_samples,
            metrics=[
                MetricMean.model_validate(one, from_attributes=True)
                for one in summary.metrics.values()
            ],
            notes=list(summary.warnings),
        )


class Difference(BaseModel):
    """A metric of two runs."""

    name: str
    a_mean: float | None
    b_mean: float | None
    diff: float | None = Field(description="A - B")
    low: float | None
    high: float | None
    p_adjusted: float | None = Field(description="Corrected for the number of metrics")
    n: int
    verdict: str
    why: str = Field(description="Why there is no verdict, where there is none")


class Compared(BaseModel):
    """Two runs, query by query."""

    a: str
    b: str
    differences: list[Difference]
    notes: list[str]

    @classmethod
    def of(cls, comparison: Comparison) -> Compared:
        """The same in short.

        Args:
            comparison: of two runs.
        """
        notes = [str(note) for note in comparison.notes if note.severity != "detail"]
        return cls(**{**comparison.to_json(), "notes": [*comparison.warnings, *notes]})


class ExplainedScores(BaseModel):
    """Why a sample has the scores it has."""

    sample: str
    query: str
    answer: str | None
    references: list[str]
    passages: list[dict[str, Any]]
    scores: list[dict[str, Any]] = Field(
        description="Value, explanation and parts of each metric, and the verdicts it rests on"
    )
