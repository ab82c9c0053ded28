"""Files that other tools wrote themselves.

The folder ``exports`` holds what the packages that its files are named after wrote, in the versions
named there, about the same two questions: promptfoo with its echo provider, Inspect AI with a mock
model (words in place of tokens), deepeval and ragas with metrics that ask nobody. Only the folder
and the user that MLflow notes were renamed.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from ragassay.formats import Notes, detect, load

EXPORTS = Path(__file__).parent / "exports"

BORN, CAPITAL = "When was Ada Lovelace born?", "What is the capital of France?"
DOCS = ("Ada Lovelace was born on 10 December 1815.", "Dune is a novel.")


class Written(NamedTuple):
    """What a file holds of the first question."""

    format: str
    n_samples: int
    passages: tuple[str, ...] | None = DOCS
    references: tuple[str, ...] = ("In 1815.",)
    answer: str | None = "She was born in 1815."
    gold: bool = False


WRITTEN = {
    "deepeval-4.3.1-test-run.json": Written("deepeval", 2, gold=True),
    "deepeval-4.3.1-result.json": Written("deepeval", 2, gold=True),
    "deepeval-4.3.1-dataset.csv": Written("deepeval", 2, gold=True),
    "inspect-0.3.285-log.json": Written("inspect_log", 2, None, ("1815",)),
    "inspect-0.3.285-log.eval": Written("inspect_log", 2, None, ("1815",)),
    "mlflow-3.17.2-trace.json": Written("mlflow", 1),
    "mlflow-3.17.2-search-traces.csv": Written("mlflow", 2),
    "promptfoo-0.123.1-results.json": Written("promptfoo", 2, ("\n".join(DOCS),)),
    "ragas-0.4.3-result.csv": Written("csv", 2, gold=True),
    "ragas-0.4.3-multi-turn.jsonl": Written("jsonl", 1, None),
    "ragas-0.4.3-testset.jsonl": Written("jsonl", 2, None, answer=None, gold=True),
}


def test_every_export_is_read_by_a_test() -> None:
    assert {path.name for path in EXPORTS.iterdir()} == set(WRITTEN)


@pytest.mark.parametrize("name", WRITTEN)
def test_an_export_is_recognised_and_read(name: str) -> None:
    path, written = EXPORTS / name, WRITTEN[name]
    assert detect(path).name == written.format
    samples = {sample.query: sample for sample in load(path, notes=Notes())}
    assert len(samples) == written.n_samples and set(samples) <= {BORN, CAPITAL}
    born = samples[BORN]
    passages = None if born.passages is None else tuple(one.text for one in born.passages)
    assert passages == written.passages
    assert born.references == written.references
    assert (born.answer and born.answer.text) == written.answer
    gold = ["Ada Lovelace was born in 1815."] * written.gold
    assert [one.text for one in born.gold or ()] == gold
    if CAPITAL in samples:
        assert samples[CAPITAL].references[0] == "Paris"


def test_tools_of_a_conversation_of_ragas_become_passages_on_request() -> None:
    path = EXPORTS / "ragas-0.4.3-multi-turn.jsonl"
    (sample,) = load(path, notes=Notes(), passages_from="tools")
    assert [one.text for one in sample.passages or ()] == [DOCS[0]]


def test_metadata_of_a_test_of_promptfoo_are_the_samples() -> None:
    first = load(EXPORTS / "promptfoo-0.123.1-results.json", notes=Notes())[0]
    assert first.metadata["topic"] == "people" and first.system == "echo"
