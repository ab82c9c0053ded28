"""The parts of the suite ``trecrag``, each as an object of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragassay.base.errors import InputError, UsageError, meant_or_all, warn_user
from ragassay.base.sample import Sample
from ragassay.base.yaml_files import Marked
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, judge_keywords

if TYPE_CHECKING:
    from ragassay.engine.run.source import Data
    from ragassay.judges import Judge
    from ragassay.metrics.core.metric import Metric


K_VALUES = (1, 3, 5)


class Part:
    """A part of the suite.

    Args:
        model: who is asked; the embedded judge where left out.
        model_kwargs: the model's sampling parameters in place of the questions' own:
            ``temperature``, ``top_p``, ``presence_penalty``, ``frequency_penalty``, ``seed``,
            ``max_tokens``.
        parameters: of its metrics (``shots="few"``, ``iterations=3``, ``partial=0.4`` ...).
    """

    metrics: ClassVar[tuple[str, ...]]
    columns: ClassVar[str | Mapping[str, str]]
    """The column that holds the published object, or one for each of its keys."""
    empty: ClassVar[str] = ""
    """The key that is ``None`` where that column is empty."""
    running: Mapping[str, Any] = {}
    """More of what `ragassay.evaluate` takes."""

    def __init__(
        self,
        model: LLMJudgeModel | Judge | str = "offline",
        model_kwargs: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        from ragassay.engine.config.run_config import sampling_key
        from ragassay.metrics.core import naming

        metrics = [naming.parse(name) for name in self.metrics]
        known = naming.parameters(*metrics)
        for name in parameters:
            if name not in known:
                hint = meant_or_all(name, sorted(known))
                raise UsageError(f"{type(self).__name__} has no option {name!r}. {hint}")
        for metric in metrics:
            with_options(metric, parameters)  # refuses impossible values now
        self.model = model
        self.parameters = parameters
        sampling = model_kwargs or {}
        self.running = {sampling_key(str(name), value): value for name, value in sampling.items()}

    def compute(self, data: Data | Mapping[str, Any] | Sample) -> Any:
        """The published object for one sample; a list of them for a path or several samples.

        Args:
            data: a path, one flat mapping or `Sample` (see the module), or several.

        What could not be scored is ``None``, and the key ``unscored`` says why.

        Raises:
            InputError: data that cannot be read.
            UsageError: a parameter that none of its metrics has, or a judge that cannot be had.
        """
        return self._compute(data, self.metrics)

    def _compute(self, data: Any, names: Sequence[str]) -> Any:
        from ragassay.engine import evaluate
        from ragassay.engine.results.score_rows import by_sample
        from ragassay.metrics.core import naming
        from ragassay.reports.tables.ore_values import RunColumns

        single = isinstance(data, Mapping | Sample)
        metrics = [with_options(naming.parse(name), self.parameters) for name in names]
        samples = [data] if single else data
        result = evaluate(samples, metrics, **judge_keywords(self.model), **self.running)
        values = RunColumns(result)
        objects = []
        for _, rows in by_sample(result):
            published = self._published(values.of(rows))
            lacking = {
                row.metric: f"{row.reason}: {row.explanation}"
                for row in rows.values()
                if row.value is None
            }
            objects.append({**published, "unscored": lacking} if lacking else published)
        return objects[0] if single else objects

    def _published(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The published object from the columns of a results file."""
        if isinstance(self.columns, str):
            value = columns[self.columns]
            return {self.empty: None} if value is None else dict(value)
        return {key: columns[name] for key, name in self.columns.items()}


class UMBRELAMetric(Part):
    """Grades of retrieved passages, and the retrieval metrics that follow from them."""

    metrics = ("umbrela", "umbrela_P@1", "umbrela_AP@1", "umbrela_MRR")
    columns: ClassVar[Mapping[str, str]] = {
        "umbrela_scores": "retrieval_score_umbrela_scores",
        "mean_umbrela_score": "retrieval_score_mean_umbrela_score",
        "retrieval_scores": "retrieval_score_precision_metrics",
    }

    def compute(
        self,
        data: Data | Mapping[str, Any] | Sample,
        k_values: Sequence[int] = K_VALUES,
    ) -> Any:
        """``umbrela_scores``, ``mean_umbrela_score`` and ``retrieval_scores`` (``precision@`` and
        ``AP@`` by cut-off, ``MRR``); see `Part.compute`.

        Args:
            data: a path, a sample or a record, or several; see `Part.compute`.
            k_values: cut-offs, from 1.

        Raises:
            UsageError: see there; or ``k_values`` that are no whole numbers of at least 1.
        """
        at = [f"umbrela_{name}@{k}" for name in ("P", "AP") for k in cutoffs(k_values)]
        return self._compute(data, ["umbrela", *at, "umbrela_MRR"])


class AutoNuggetMetric(Part):
    """Nuggets and the six scores made of them."""

    metrics = (
        *("nuggets.all", "nuggets.vital", "nuggets.weighted"),
        *("nuggets.all_strict", "nuggets.vital_strict", "nuggets.weighted_strict"),
    )

    columns, empty = "generation_score_autonugget_scores", "nuggetizer_scores"


class CitationMetric(Part):
    """Support of citations, by the formulas of Open RAG Eval's page."""

    metrics = ("citation.precision", "citation.recall", "citation.f1")

    columns, empty = "generation_score_citation_scores", "f1"


class HallucinationMetric(Part):
    """HHEM's consistency of the answer with the passages; asks no judge.

    Args:
        model_name: the published checkpoint, or a folder that holds it (see docs/models.md).
        detection_threshold: understood and without effect, as in the tool.
        max_chars: characters of the joined passages that are read.
        given: take the value that the record brings, where it has one.

    Raises:
        UsageError: another checkpoint, or an impossible number of characters.
    """

    metrics = ("hhem",)
    columns: ClassVar[Mapping[str, str]] = {"hhem_score": "generation_score_hallucination_score"}

    def __init__(
        self,
        model_name: str | Path | None = None,
        detection_threshold: float = 0.5,
        max_chars: int = 8192,
        *,
        given: bool = True,
    ) -> None:
        super().__init__(max_chars=max_chars, given=given)
        del detection_threshold
        values = translated("trecrag", {"hallucination_metric": {"model_name": model_name}})
        self.running = {"models": values.get("models", {})}


AutoNuggetizer = AutoNuggetMetric
"""The name that the page's text has for it."""


class NoAnswerMetric(Part):
    """Whether the system tried to answer."""

    metrics = ("no_answer",)

    columns, empty = "generation_score_no_answer_score", "query_answered"


def translated(evaluator: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a run for an evaluator's options, as for those in the tool's files. What has no
    meaning here is warned of."""
    from ragassay.compat.open_rag_eval.published_config import translate
    from ragassay.engine.run.config_reading import ConfigFile

    body = {"evaluator": {"name": evaluator, "options": dict(options)}}
    file = ConfigFile(Marked(body, {}), Path(), flags=("judge",))
    try:
        translate(file)
    except InputError as error:
        place = (error.field or "").removeprefix("evaluator.options.")
        raise UsageError(f"{place}: {error.problem}. {error.hint or ''}") from error
    for note in file.notes:
        warn_user(note)
    return file.values


def cutoffs(values: Any) -> tuple[int, ...]:
    """Checks ``k_values``."""
    listed = values if isinstance(values, list | tuple) else ()
    if not listed or any(type(value) is not int or value < 1 for value in listed):
        raise UsageError(f"k_values: {values!r} is no list of whole numbers of at least 1.")
    return tuple(listed)


def with_options(metric: Metric, parameters: Mapping[str, Any]) -> Metric:
    """The metric with those of the parameters that it has."""
    from ragassay.metrics.core import naming

    own = naming.parameters(metric)
    return naming.with_parameters(metric, {k: v for k, v in parameters.items() if k in own})
