"""What Open RAG Eval's evaluators have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, asked
from ragassay.compat.open_rag_eval.query_data import samples_of
from ragassay.samples import Sample

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run import Data
    from ragassay.judges import Judge


class Evaluator:
    """Evaluates samples with suites.

    Args:
        suites: their names.
        values: keywords of `ragassay.evaluate` that they are evaluated with.
        model: who is asked; nobody where left out.
    """

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
            InputError: data that cannot be read, or a mapping with an unknown nested field.
            UsageError: an option that there is not, or a judge that cannot be had.
        """
        from ragassay.engine import evaluate

        models = {**self._values.get("models", {}), **(options.get("models") or {})}
        return evaluate(
            samples_of(data, options.get("columns")),
            self._suites,
            save=save,
            **({} if self.model is None else asked(self.model)),
            **{**self._values, **options, "models": models},
        )
