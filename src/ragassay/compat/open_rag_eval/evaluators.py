"""Open RAG Eval's evaluators, which are suites as objects, and the parts of its suite ``trecrag``,
each as an object of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragassay import suites
from ragassay.base.errors import InputError, UsageError, meant_or_all, warn_user
from ragassay.base.sample import Sample
from ragassay.base.yaml_files import Marked
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, judge_keywords

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run.source import Data
    from ragassay.judges import Judge
    from ragassay.metrics.core.metric import Metric

K_VALUES = (1, 3, 5)


class Part:
    """A part of the suite.

    Args:
        model: the judge; left out: offline.
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
        self, data: Data | Mapping[str, Any] | Sample, k_values: Sequence[int] = K_VALUES
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
    """Nuggets and the six scores made from them."""

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
        detection_threshold: accepted, without effect, as in the tool.
        max_chars: characters of the joined passages that are read.
        given: take the record's own value, if it has one.

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
        raise UsageError(f"k_values: {values!r} is not a list of whole numbers from 1 on.")
    return tuple(listed)


def with_options(metric: Metric, parameters: Mapping[str, Any]) -> Metric:
    """The metric with those of the parameters that it has."""
    from ragassay.metrics.core import naming

    own = naming.parameters(metric)
    return naming.with_parameters(metric, {k: v for k, v in parameters.items() if k in own})


class Evaluator:
    """Evaluates samples with suites, by keywords of `ragassay.evaluate` (``values``)."""

    def __init__(
        self,
        suites: Sequence[str],
        values: Mapping[str, Any],
        model: LLMJudgeModel | Judge | str | None = None,
    ) -> None:
        self._suites, self._values, self.model = suites, values, model

    def evaluate(
        self,
        data: Data | Mapping[str, Any] | Sample,
        *,
        save: str | Path | None = None,
        **options: Any,
    ) -> Result:
        """Evaluates samples with the metrics of the evaluator.

        Args:
            data: a path, one flat mapping or `Sample` (see the module), or several.
            save: a run folder to write.
            options: as for `ragassay.evaluate` (``nuggets="pooled"``, ``budget="5.00"``,
                ``models``, ``references`` ...).

        Raises:
            InputError: data that cannot be read.
            UsageError: an unknown option, or a judge that does not work.
        """
        from ragassay.engine import evaluate

        models = {**self._values.get("models", {}), **(options.get("models") or {})}
        return evaluate(
            [data] if isinstance(data, Mapping | Sample) else data,
            self._suites,
            save=save,
            **({} if self.model is None else judge_keywords(self.model)),
            **{**self._values, **options, "models": models},
        )


class TRECEvaluator(Evaluator):
    """The whole suite ``trecrag``.

    Args:
        model: the judge; left out: offline.
        options: ``k_values``, ``hallucination_metric`` (``model_name``, ``max_chars``),
            ``run_consistency`` (all runs of each query are judged and compared:
            `Result.consistency`; else only the first is judged) with
            ``metrics_to_run_consistency`` (all, where it is empty), ``model_kwargs`` (sampling
            parameters, see `Part`), and parameters of metrics
            (``rel`` for the threshold of relevance, ``shots``, ``iterations`` ...).

    Raises:
        UsageError: an unknown option or metric, or an impossible value.
    """

    def __init__(
        self,
        model: LLMJudgeModel | Judge | str = "offline",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        from ragassay.models.classifiers.hhem import HHEM

        chosen = dict(options or {})
        if chosen.get("k_values") is not None:
            cutoffs(chosen["k_values"])
        values = translated("trecrag", chosen)
        super().__init__(values.pop("suite"), values, model)
        self.k_values = tuple(values.get("ks", K_VALUES))
        self.options = values.get("options", {})
        for metric in suites.get("trecrag").resolve():
            with_options(metric, self.options)  # refuses impossible values now
        kwargs = chosen.get("model_kwargs")
        self.retrieval_metric = UMBRELAMetric(model, kwargs, **self._of(UMBRELAMetric))
        self.generation_metric = AutoNuggetMetric(model, kwargs, **self._of(AutoNuggetMetric))
        self.citation_metric = CitationMetric(model, kwargs, **self._of(CitationMetric))
        self.hallucination_metric = HallucinationMetric(
            values.get("models", {}).get(HHEM.name), **self._of(HallucinationMetric)
        )
        self.no_answer_metric = NoAnswerMetric(model, kwargs)

    evaluate_batch = Evaluator.evaluate

    def to_csv(self, result: Result, path: str | Path) -> None:
        """Writes the results in the columns of Open RAG Eval's page: unprefixed for a single run,
        ``run_1_`` ... where queries were run several times.

        ``ragassay report RUN --format ore`` writes the files of its tool.

        Args:
            result: of a run.
            path: of the file to write.

        Raises:
            UsageError: the file cannot be written.
        """
        from ragassay.reports.tables.published_csv import write_trecrag

        write_trecrag(result, path)

    def _of(self, metric: type[Part]) -> dict[str, Any]:
        """Those of the options that a part has."""
        from ragassay.metrics.core import naming

        own = naming.parameters(*map(naming.parse, metric.metrics))
        return {name: value for name, value in self.options.items() if name in own}


class ConsistencyEvaluator(Evaluator):
    """How similar the answers of repeated runs of a query are; asks no judge.

    Samples hold each query several times (``query_run`` or ``repeat``). The numbers are in the
    result's ``consistency``, not in its summary; printing the result shows them.

    Args:
        options: ``metrics``: a list of ``{"bert_score": {...}}`` (``model_type``, ``lang``,
            ``rescale_with_baseline``, ``layer``), ``{"rouge_score": {}}`` or names alone; both
            where left out.

    Raises:
        UsageError: an unknown option or metric, or an impossible value.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        from ragassay.compat.open_rag_eval.published_evaluators import Similarities

        chosen = dict(options or {})
        chosen["metrics"] = chosen.get("metrics") or list(Similarities.model_fields)
        names = translated("consistency", chosen)["consistency_metrics"]
        super().__init__(["consistency"], {"consistency_metrics": names})
        self.metrics = tuple(names)

    def to_csv(self, result: Result, path: str | Path) -> None:
        """Writes the results in the tool's columns (``consistency_rouge_score`` ...).

        Args:
            result: of a run.
            path: of the file to write.

        Raises:
            UsageError: the file cannot be written.
        """
        from ragassay.reports.tables.published_csv import write_consistency

        write_consistency(result, path)
