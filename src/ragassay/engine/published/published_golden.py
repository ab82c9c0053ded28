"""The golden-answer evaluator of Open RAG Eval's configurations: the suite ``golden``."""

from __future__ import annotations

from ragassay import suites
from ragassay.engine.config import ConfigFile
from ragassay.engine.published.published_judge import embedder_word, translate_judge
from ragassay.engine.published.published_options import Evaluator, JudgeModel
from ragassay.yaml_files import Place


def translate_golden(file: ConfigFile, one: Evaluator, place: Place) -> None:
    """Translates a golden-answer evaluator: its judge and its embedder.

    Args:
        file: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an option (it has none), or an impossible model.
    """
    translate_judge(file, one.model, suites.get("golden").default_model, (*place, "model"))
    for key in one.options or {}:
        raise file.wrong((*place, "options", key), "is not a key that is known", "It has none.")
    where = (*place, "embedding_model")
    if "embedder" in file.given:
        return
    if one.embedding_model is None:
        file.note(
            place,
            "names no embedding_model, so the semantic similarity is unscored; --embedder names "
            "one.",
        )
        return
    model = file.validated(JudgeModel, one.embedding_model, where)
    file.put("embedder", embedder_word(file, model, where), where)
