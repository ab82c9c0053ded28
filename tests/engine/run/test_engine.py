import pickle
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import yaml

import ragassay
from ragassay import suites
from ragassay.base.errors import InputError, RagassayError, RagassayWarning, UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome
from ragassay.cli.command_line import call
from ragassay.engine.comparison import gates
from ragassay.engine.comparison.derived_runs import by_system
from ragassay.engine.results.folders.run_folder import open_run
from ragassay.engine.run.config_reading import is_for_a_key, read_filled, refuse_keys
from ragassay.metrics.core.metric import SampleMetric, scored
from ragassay.suites.default_suite import default_suite

RECORDS = [
    {"id": "a", "query": "Who?", "answer": "Ann Lee", "references": ["Ann Lee"], "topic": "x"},
    {"id": "b", "query": "When?", "answer": "in 1966", "references": ["1965"], "topic": "y"},
    {"id": "c", "query": "Where?", "answer": "Rome, Italy", "references": ["Rome"], "topic": "x"},
    {"id": "d", "query": "Why?", "answer": "no idea", "references": [], "topic": "y"},
]
FILES = {"run.yaml", "samples.jsonl", "scores.jsonl", "slices.json", "summary.json"}
FILES |= {"report.html", "report.md", "scores.csv"}


@dataclass(frozen=True)
class Brittle(SampleMetric):
    """Breaks down on some samples."""

    name = "brittle"
    title = "Breaks on b"
    family = "test"
    source = "test"

    def score_sample(self, sample: Sample) -> Outcome:
        if sample.id.startswith("b"):
            raise ZeroDivisionError("oops")
        return scored(1.0)


def test_a_metric_that_breaks_down_costs_one_sample_and_the_mean_runs_over_what_was_scored():
    result = ragassay.evaluate(RECORDS, [Brittle(), "em", "f1"])
    found = [row.value for row in result.scores if row.metric == "brittle"]
    assert found == [1.0, None, 1.0, 1.0] and result.summary["brittle"].unscored == {"failed": 1}
    em, f1 = result["em"], result["f1"]
    assert (em.n_scored, em.n_total, em.unscored) == (3, 4, {"not_applicable": 1})
    assert (em.mean, f1.mean) == pytest.approx((1 / 3, (1 + 0 + 2 / 3) / 3))
    assert em.low < em.mean < em.high and result.summary.incomplete == 1


def test_where_nothing_was_scored_the_note_says_the_cause_or_points_to_the_data() -> None:
    data = [{"id": "a", "answer": "x"}, {"id": "b", "references": ["x"]}]
    note, second = ragassay.evaluate(data, ["em"]).summary.notes
    assert (note.kind, second.kind) == ("nothing_scored_look", "without_answer")
    assert note.counts["cause"] == ": the sample has no reference answer"  # of the first
    broken = ragassay.evaluate(RECORDS[1:2], [Brittle()]).summary
    assert [note.kind for note in broken.notes] == ["nothing_scored"]
    assert "ZeroDivisionError" in str(broken.notes[0])


ANSWER = {"answer": "Ann", "references": ["Ann"], "query": "Who?"}
CASES: list[tuple[list[dict[str, Any]], list[Any], dict[str, dict[str, Any]], int]] = [
    (2 * (C := [{**ANSWER, "conversation": "c"}]), ["em"],
     {"one_cluster": {"n": 2, "by": "conversation"}}, 0), (C, ["em"], {}, 0),
    ([ANSWER, {"query": "?"}, {"failure": "down."}, *[{"failure": "late."}] * 2, {"answer": ""}],
     ["em"], {"without_answer": {"n": 4, "total": 6, "why": " (2 with late, 1 with down)"}}, 0),
    ([{"query": "?", "references": ["Ann"], "bot": "Ann"}], ["em"],
     {"columns_without_field": {"flags": "answer=COLUMN"}}, 0),
    ([{"query": "?", "answr": "A"}], ["answered"],
     {"columns_without_field": {"flags": "answer=answr"}}, 0),
    ([{"qestion": "?", "answer": "A"}], ["answer_words"],
     {"columns_without_field": {"flags": "query=qestion"}}, 0),
    ([ANSWER, ANSWER | {"metadata": {"asked": {"failure": "connection"}}}], ["em"],
     {"earlier_answers": (N := {"n": 1, "total": 2}),
      "without_answer": N | {"why": " (1 with connection: asked again)"}}, 0),
    ([{"passages": ["a"], "gold": ["a"], "x": "a"}], ["ChunkP@1"], {}, 0),  # it needs no answer
    (2 * [{"passages": ["a"], "gold": ["b"]}], ["ChunkP@1"], {"no_gold_found": {}}, 0),
    ([{"passages": ["a"], "gold": [text]} for text in "ab"], ["ChunkP@1"], {}, 0),
    ([ANSWER, *({**one, "answerable": True} for one in (ANSWER, {"answer": "a"})), {"failure": ""}],
     ["answerability_accuracy", "rb_llm_idk"],
     {"without_answer": {"n": 1, "total": 4, "why": ""}}, 1),  # one answer lacks its label
    ([ANSWER, ANSWER | {"id": "b2"}, ANSWER | {"id": "b"}], [Brittle(), "em"],
     {"metric_failed": {"sample": "'b2'", "why": "brittle broke down: ZeroDivisionError: oops"}},
     2),  # the first is named
    ([{"answer": f"{1 - (at > 57) / 30}"} for at in range(60)],
     [ragassay.metric(name="rate")(lambda answer: float(answer))], {"crowded": {}}, 0),
]  # fmt: skip


KINDS = {"mixed_systems", *(kind for *_, notes, _ in CASES for kind in notes)}


@pytest.mark.parametrize(("records", "metrics", "notes", "incomplete"), CASES)
def test_a_note_says_what_is_missing_and_of_how_many(records, metrics, notes, incomplete) -> None:
    data = [{"id": f"q{at}", **record} for at, record in enumerate(records)]
    summary = ragassay.evaluate(data, metrics).summary
    ours = [note for note in summary.notes if note.kind in KINDS]
    assert {note.kind: dict(note.counts) for note in ours} == notes
    above, _, _ = str(summary).partition("metric ")  # the head of the table
    assert ("Columns that were not read" in above) is ("columns_without_field" in notes)
    assert ("columns={'answer': 'answr'}" in above) is ("answr" in str(notes))
    assert summary.incomplete == incomplete


def test_samples_records_frames_and_files_give_the_same_scores(tmp_path: Path) -> None:
    import pandas
    import polars

    path = tmp_path / "data.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in RECORDS))
    samples = ragassay.load(path)
    sources = [RECORDS, samples, path, str(path), *(f.DataFrame(RECORDS) for f in (pandas, polars))]
    means = {ragassay.evaluate(s, ["f1"]).summary.metrics["f1"].mean for s in sources}
    assert len(means) == 1


def test_the_run_folder_reads_back_as_the_same_result(tmp_path: Path) -> None:
    streamed = ragassay.evaluate(RECORDS, ["em", "token_f1.f"], save=tmp_path / "streamed")
    kept = ragassay.evaluate(RECORDS, ["em", "token_f1.f"])
    kept.save(tmp_path / "kept")
    one, two = open_run(tmp_path / "streamed"), open_run(tmp_path / "kept")
    assert one.summary == two.summary == streamed.summary == kept.summary
    assert list(one.scores) == list(two.scores) == list(kept.scores)
    assert list(one.samples) == list(two.samples) == list(kept.samples)
    assert one.columns.slices == kept.columns.slices
    assert {path.name for path in (tmp_path / "kept").iterdir()} == FILES


def test_the_run_folder_keeps_its_contract(tmp_path: Path) -> None:
    ragassay.evaluate(RECORDS, ["em"], save=tmp_path / "run", seed=7)
    lines = (tmp_path / "run" / "scores.jsonl").read_bytes().splitlines()
    fields = "sample system repeat metric value status reason explanation parts evidence judge"
    assert [list(orjson.loads(line)) for line in lines] == [fields.split()] * 4
    assert orjson.loads(lines[3])["value"] is None and b"NaN" not in b"".join(lines)
    summary = orjson.loads((tmp_path / "run" / "summary.json").read_bytes())
    assert {"mean", "low", "high", "n_scored", "n_total"} <= summary["metrics"]["em"].keys()
    config = yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())
    # Who runs it again wants the same answers; the address of a database may hold a password.
    once = {"refresh": True, "retry_failed": True, "ledger": "postgresql://me:secret@host/db"}
    assert not once.keys() & ragassay.evaluate(RECORDS, ["em"], **once).config.keys()
    assert config["fingerprint"].startswith("sha256:") and config["seed"] == 7
    assert config["signatures"]["em"].startswith("em|v")


@pytest.mark.parametrize(("option", "file", "text"), [
    ("references", "queries.csv", "query_id,query,expected_answer\na,Who?,{}\n"),
    ("qrels", "qrels.txt", "a 0 {} 1\n"),
    ("golden", "queries.jsonl", '{{"id": "a", "query": "Who?", "references": ["{}"]}}\n'),
])  # fmt: skip
def test_the_fingerprint_is_that_of_the_data_and_of_what_is_joined(option, file, text, tmp_path):
    data, path = tmp_path / "data.jsonl", tmp_path / file
    data.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in RECORDS))
    given: dict[str, Any] = {option: str(tmp_path if option == "golden" else path)}
    given, prints = given | {"golden_drafts": True}, []
    for expected in ("Ann", "Bob", "Bob"):
        path.write_text(text.format(expected))
        prints.append(ragassay.evaluate(data, ["answer_words"], **given).config["fingerprint"])
    assert prints[0] != prints[1] == prints[2]
    data.write_bytes(data.read_bytes() + b"\n")
    again = ragassay.evaluate(data, ["answer_words"], **given).config["fingerprint"]
    assert again not in prints


def test_an_option_is_set_on_the_metrics_that_know_its_value() -> None:
    record = {"id": "q", "passages": ["a b"], "gold": ["a b"]}
    chosen = ["ChunkP@1", "SpanHit@1"]
    found = ragassay.evaluate([record], chosen, options={"by": "iou"}).summary.metrics
    assert {entry.metric for entry in found.values()} == {"ChunkP@1", "SpanHit(by=iou)@1"}
    with pytest.raises(UsageError, match="by"):
        ragassay.evaluate([record], chosen, options={"by": "nothing"})


def test_an_interrupted_run_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    def broken() -> Iterator[dict]:
        yield RECORDS[0]
        raise KeyboardInterrupt

    target = tmp_path / "run"
    ragassay.evaluate(RECORDS, ["em"], save=target)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        ragassay.evaluate(broken(), ["em"], save=target)
    with pytest.raises(UsageError, match="is the input"):
        ragassay.evaluate(target / "samples.jsonl", ["em"], save=target)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before


def test_a_folder_that_is_no_run_is_one_sentence(tmp_path: Path) -> None:
    for name in ("slices.json", "summary.json"):
        (tmp_path / name).write_text("{}")
        with pytest.raises(UsageError, match="not from ragassay"):
            ragassay.evaluate(RECORDS, ["em"], save=tmp_path)
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match=r"has no run\.yaml"):
        open_run(tmp_path)
    with pytest.raises(InputError, match="there is no such file or folder"):
        open_run(tmp_path / "absent")
    (tmp_path / "a file").touch()
    with pytest.raises(InputError, match="is a file"):
        open_run(tmp_path / "a file")


def _saved(tmp_path: Path) -> Path:
    return ragassay.evaluate(RECORDS, ["em", "f1"]).save(tmp_path / "run")


@pytest.mark.parametrize("harm", [
    lambda lines: lines[::-1], lambda lines: lines[:2] + lines[3:],
    lambda lines: [*lines, lines[-1]], lambda lines: [*lines[:-1], lines[-1][:20]],
])  # fmt: skip
def test_a_damaged_run_folder_is_an_error_and_never_a_wrong_number(harm: Any, tmp_path) -> None:
    run = _saved(tmp_path)
    path = run / "scores.jsonl"
    path.write_text("".join(harm(path.read_text().splitlines(keepends=True))))
    with pytest.raises(InputError, match=r"scores\.jsonl, line \d+"):
        open_run(run)


def test_a_later_minor_contract_reads_and_a_newer_one_says_so(tmp_path: Path) -> None:
    run = _saved(tmp_path)
    body = orjson.loads((run / "summary.json").read_bytes())
    body["added"] = body["metrics"]["em"]["added"] = 1
    (run / "summary.json").write_bytes(orjson.dumps(body))
    rows = [orjson.loads(line) | {"added": 1} for line in (run / "scores.jsonl").open("rb")]
    (run / "scores.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    assert open_run(run).summary.metrics["em"].n_total == 4
    (run / "summary.json").write_bytes(orjson.dumps(body | {"schema_version": 2, "metrics": []}))
    with pytest.raises(InputError, match="newer ragassay"):
        open_run(run)


def test_the_same_identity_twice_is_an_error_in_memory_too() -> None:
    sample = Sample(id="q", answer="a", references=("a",))
    with pytest.raises(InputError, match="q"):
        ragassay.evaluate([sample, sample], ["em"])
    mixed = ragassay.evaluate([sample, {"id": "p", "answer": "b", "references": ["a"]}], ["em"])
    assert mixed.summary.n_samples == 2


def test_slices_carry_their_n_and_a_column_that_nobody_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"column 'topik' of --cluster-by.*topic"):
        ragassay.evaluate(RECORDS, ["em"], cluster_by="topik")
    records = [RECORDS[0] | {"doc": "d"}, *RECORDS[1:]]
    said = ragassay.evaluate(records, ["em"], cluster_by="doc").summary.warnings
    assert any("3 of 4 samples have no doc" in warning for warning in said)
    records = [{**one, "answerable": at < 2} for at, one in enumerate(RECORDS)]
    slices = ragassay.evaluate(records, ["em"]).summary.slices
    found = [(s.column[:5], s.value[:5], s.n, s.metrics["em"].mean) for s in slices]
    labels = [("answe", "answe", 2, 0.5), ("answe", "unans", 2, 0.0)]
    assert found == [*labels, ("topic", "x", 2, 0.5), ("topic", "y", 2, 0.0)]
    with pytest.raises(UsageError, match=r"column 'topik' of --slice-by.*topic"):
        ragassay.evaluate(RECORDS, ["em"], slice_by="topik")


def test_slices_by_turn_are_the_records_own_or_those_that_the_history_tells() -> None:
    def turns(records: list[dict[str, Any]], slice_by: str | None = None) -> dict[str, int]:
        found = ragassay.evaluate(records, ["em"], slice_by=slice_by).summary.slices
        return {s.value: s.n for s in found if s.column == "turn"}

    later = {"history": [{"speaker": "user", "text": "Hello."}]}
    told = [{**record, **(later if at > 1 else {})} for at, record in enumerate(RECORDS)]
    named = [{**one, "id": f"{at}", "turn": at // 2 + 1} for at, one in enumerate(RECORDS * 2)]
    assert turns(told) == turns(told, "turn") == {"first": 2, "later": len(RECORDS) - 2}
    assert turns(told, "topic") == {}
    # Of six with a turn four differ: too many for slices, however many records have none.
    few = [{**one, "id": f"{at}", **({"turn": at % 4} if at < 6 else {})}
           for at, one in enumerate(RECORDS * 3)]  # fmt: skip
    assert turns(few) == {}
    some = [*told[:1], *named]
    assert turns(some) == turns(some, "turn") == {str(turn): 2 for turn in (1, 2, 3, 4)}
    renamed = [{key.replace("tu", "Tu"): one[key] for key in one} for one in (*told, *named)]
    assert turns(renamed) == {}  # the records' own are in the column Turn


def test_repeats_of_a_query_are_one_cluster() -> None:
    rng = np.random.default_rng(0)
    records = [
        {"id": f"q{q}", "repeat": r, "answer": "yes", "references": [text]}
        for q, text in enumerate(rng.choice(["yes", "no"], 30)) for r in range(5)
    ]  # fmt: skip
    pooled = ragassay.evaluate([{**r, "id": f"{r['id']}-{r['repeat']}"} for r in records], ["em"])
    clustered = ragassay.evaluate(records, ["em"])
    one, many = clustered.summary.metrics["em"], pooled.summary.metrics["em"]
    assert one.mean == many.mean and one.n_clusters == 30
    assert one.high - one.low > 2 * (many.high - many.low)
    data = [{**record, "lot": "a"} for record in records]
    for options in ({}, {"level": 0.8}, {"interval": "t"}):
        sliced = ragassay.evaluate(data, ["em"], slice_by="lot", **options).summary
        assert sliced.slices[0].metrics == sliced.metrics  # by query, and at the run's level
        assert (sliced.metrics["em"] == one) == (not options)


def test_clustering_is_switched_off_on_request_and_stays_off_when_the_run_is_read(tmp_path) -> None:
    of = {"references": ["x"]}
    turns = [{"id": f"c{n // 4}::{n % 4}", "answer": "yx"[n > 3], **of} for n in range(12)]
    alone = ragassay.evaluate(turns, ["em"], cluster_by="none", save=tmp_path / "run")
    found = alone.summary.metrics["em"]
    assert found.n_clusters is None and "clustered" not in alone.summary.averaged_over
    again = ragassay.open_run(tmp_path / "run")
    assert again.config["cluster_by"] == "none" and again.columns.clusters is None
    assert ragassay.compare(again, again).clustered_by is None
    assert ragassay.evaluate(turns, ["em"]).summary.metrics["em"].n_clusters == 3
    with pytest.raises(UsageError, match="cluster_by"):
        ragassay.evaluate(turns, ["em"], cluster_by="")


SUITES = {"jsonl": "rag", "csv": "rag", "mtrag": "mtrag", "inspectorraget": "mtrag"}
SUITES |= {"mlcube": "ragreport", "open_rag_eval": "trecrag", "trec_rag": "trecrag"}


def test_where_no_suite_is_named_the_data_have_theirs() -> None:
    for data_format, name in (SUITES | {"trec_run": "retrieval", "beir": "retrieval"}).items():
        assert default_suite(data_format, qrels=False).name == name
    assert default_suite("jsonl", qrels=True).name == "retrieval"
    given = (suites.get("qa"), {}), ("qa", {"metrics": "all"})
    every, named = (ragassay.evaluate(RECORDS, suite, **of) for suite, of in given)
    assert every.summary.metrics == named.summary.metrics
    other = ragassay.evaluate(RECORDS, "qa", metrics="answer_words")  # not of the suite
    assert (every.summary.suite, other.summary.suite) == ("qa", "")
    alone, both = (ragassay.evaluate(RECORDS, s).summary for s in ("rag", ["rag", "em"]))
    with warnings.catch_warnings(action="error"):
        named = ragassay.evaluate(RECORDS, "rag", metrics="em", judge="offline").summary
    with (
        pytest.warns(RagassayWarning, match="er openai:e is"),
        pytest.warns(match="ge openai:m is"),
    ):
        ragassay.evaluate(RECORDS, "em", judge="openai:m", embedder="openai:e")
    assert [*both] == [*alone, "em"] and both.notes == alone.notes
    assert ([*named], named.notes) == (["em"], ())  # what is missing for the suite is not said


@pytest.mark.parametrize(("data", "suite", "says"), [
    (None, "em", "data is None"), ([], "em", "holds no samples"), (RECORDS, [], "No suite and no"),
    (RECORDS, "qaa", "neither a suite nor a metric. Did you mean 'qa'"),
])  # fmt: skip
def test_what_cannot_be_evaluated_is_refused(data, suite, says: str) -> None:
    with pytest.raises(RagassayError, match=says):
        ragassay.evaluate(data, suite)


def test_warnings_of_others_are_issued_again_at_the_end() -> None:
    def noisy(answer: str) -> float:
        warnings.warn("somebody's own", UserWarning, stacklevel=1)
        return 1.0

    with pytest.warns(UserWarning, match="somebody's own"):
        assert ragassay.evaluate(RECORDS, [noisy]).summary.warnings == ()


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'cluster_by'"):
        ragassay.evaluate(RECORDS, ["em"], clusterby="x")
    with pytest.raises(UsageError, match="limit"):
        ragassay.evaluate(RECORDS, ["em"], limit=0)
    with pytest.raises(UsageError, match="nothing in em takes separate cut-offs"):
        ragassay.evaluate(RECORDS, "retrieval", metrics="em", ks=[5])


def test_a_run_folder_can_be_run_again_from_its_own_configuration(here, monkeypatch) -> None:
    Path("data.jsonl").write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in RECORDS))
    words = ["--seed", "3", "--interval", "t", "--level", "0.9", "--where", "topic=x,y", "-n", "3"]
    words += ["--slice-by", "topic", "--cluster-by", "topic", "-m", "em,answer_match"]
    assert call(["run", "data.jsonl", *words, "-o", "runs/one"]) == 0
    config = yaml.safe_load(Path("runs/one/run.yaml").read_text())
    assert (config["level"], config["limit"], config["slice_by"]) == (0.9, 3, ["topic"])
    assert config["judged_by"] == ragassay.open_run("runs/one").summary.judging.signature
    monkeypatch.chdir("/")
    assert call(["run", str(here / "runs/one/run.yaml"), "-o", str(here / "two")]) == 0
    one, two = (ragassay.open_run(here / name) for name in ("runs/one", "two"))
    assert one.summary.metrics == two.summary.metrics and one.summary.slices == two.summary.slices
    assert [*one.scores] == [*two.scores]
    own = {"output": "../runs/one", "data": "../../data.jsonl"}
    assert {**two.config, **own} == {**one.config, **own}


KEYS = [
    ("${oc.env:K}", True), ("${oc.env:K,null}", True), ("${K:-}", True), ("", True),
    ("${K:-sk-1}", False), ("sk-1", False), ("Bearer ${K}", False),
]  # fmt: skip


def test_flags_win_over_a_file_and_keys_are_named_there_only(tmp_path, capsys) -> None:
    config = tmp_path / "c.yaml"
    text = "metrics: [em]\nseed: ${UNSET_SEED}\nmodel_kwargs: {top_p: 0.5, seed: 1}\n"
    config.write_text(text + "models:\ncolumns:\noptions:\nprompts:\n")
    (tmp_path / "data.jsonl").write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in RECORDS))
    words = ["run", str(tmp_path / "data.jsonl"), "--config", str(config)]
    assert call(words) == 2 and "line 2: names the environment variable" in capsys.readouterr().err
    words += ["--seed", "3", "--judge-seed", "9", "-o", str(tmp_path / "run")]
    assert call(words) == 0
    stored = ragassay.open_run(tmp_path / "run").config
    assert (stored["seed"], stored["judge_seed"], stored["top_p"]) == (3, 9, 0.5)
    for text, allowed in KEYS:
        for key in ("api_key", "Api-Key"):
            content = read_filled(f"judge: {{{key}: '{text}'}}", "c.yaml", leave=is_for_a_key)
            with nullcontext() if allowed else pytest.raises(InputError, match="must not be in"):
                refuse_keys(content)


def test_reports_of_an_older_run_do_not_stay_beside_a_newer_one(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in RECORDS))
    run = ["run", str(tmp_path / "data.jsonl"), "-o", str(tmp_path / "run"), "-m"]
    assert call([*run, "em"]) == 0
    assert call(["report", str(tmp_path / "run"), "--format", "parquet,png,long-csv"]) == 0
    assert call([*run, "f1"]) == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


def test_unanswered_queries_are_said_and_pass_no_gate() -> None:
    records = [{"id": str(n), "answer": "yes", "references": ["yes"]} for n in range(5)]
    records += [{"id": f"x{n}", "failure": "API_ERROR", "references": ["yes"]} for n in range(5)]
    result = ragassay.evaluate(records, ["em"], fail_under=["em>=0.9", "em>=0.4"])
    assert result.summary.metrics["em"].mean == 1.0
    assert [gate.passed for gate in result.gates] == [None, True]
    assert [gate.gate for gate in gates.results_of(result, ["em>=0.1"])] == ["em>=0.1"]
    assert any("have no answer (5 with API_ERROR)" in w for w in result.summary.warnings)


@pytest.mark.parametrize("suite", [["trecrag"], ["mtrag", "consistency"]])
@pytest.mark.parametrize("saved", [False, True])
def test_a_result_can_be_pickled(suite: list[str], saved: bool, tmp_path: Path) -> None:
    records = [
        {"id": f"q{n}", "query": "What?", "answer": f"a b {n}", "references": ["a"]}
        | {"passages": ["a b"], "system": system, "repeat": repeat}
        for n in range(2) for system in "xy" for repeat in range(2)
    ]  # fmt: skip
    result = ragassay.evaluate(records, suite, save=tmp_path / "run" if saved else None)
    alone = by_system(result)[0] if result.summary.metrics else result
    for one in (result, alone):
        again = pickle.loads(pickle.dumps(one))
        assert str(again) == str(one) and again.name == one.name
        assert list(again.scores) == list(one.scores)
        assert list(again.samples) == list(one.samples)
        assert list(again.judge_answers.values()) == list(result.judge_answers.values())
        assert (again.consistency is None) == (one.consistency is None)
        if one.consistency is not None:
            assert list(again.consistency.scores) == list(one.consistency.scores)


def test_slices_stand_in_a_file_of_their_own_and_older_folders_are_read(tmp_path: Path) -> None:
    records = [
        {"id": str(n), "answer": "a", "references": ["a"], "topic": f"t{n % 3}", "x": n % 2}
        for n in range(9)
    ]
    folder = tmp_path / "run"
    result = ragassay.evaluate(records, ["em", "f1"], slice_by=["topic"], save=folder)
    summary = orjson.loads((folder / "summary.json").read_bytes())
    assert "slices" not in summary
    values = [one["value"] for one in orjson.loads((folder / "slices.json").read_bytes())]
    assert values == ["t0", "t1", "t2"]
    again = ragassay.open_run(folder)
    assert (again.summary, again.columns.slices) == (result.summary, result.columns.slices)
    older = summary | {"slices": orjson.loads((folder / "slices.json").read_bytes())}
    (folder / "summary.json").write_bytes(orjson.dumps(older))
    (folder / "slices.json").unlink()
    assert ragassay.open_run(folder).summary == result.summary
    for body in (b"[{}]", b"{", b"3"):
        (folder / "slices.json").write_bytes(body)
        with pytest.raises(InputError, match=r"slices\.json: is not a list of slices"):
            ragassay.open_run(folder)
    ragassay.evaluate(records, ["em"], slice_by=[], save=folder)
    assert not (folder / "slices.json").exists()
    assert ragassay.open_run(folder).summary.slices == ()


def test_qrels_judge_records_in_memory_as_they_judge_a_file(tmp_path: Path) -> None:
    qrels, data = tmp_path / "qrels.txt", tmp_path / "data.jsonl"
    qrels.write_text("q1 0 d1 1\nq2 0 d9 1\n")
    record = {"id": "q1", "query": "Who?", "passages": [{"id": "d1", "text": "Ann."}], "gold": []}
    data.write_bytes(orjson.dumps(record))
    of_file = ragassay.evaluate(data, "RR", qrels=str(qrels)).summary
    in_memory = ragassay.evaluate([record], ["RR", "F1@1"], qrels=qrels).summary
    means = [of_file["RR"].mean, in_memory["RR"].mean, in_memory["F1@1"].mean]
    assert means == [0.5] * 3  # F1 of the ranking, and not of the answer's words
    assert any("judged queries that the data lacks: 1" in one for one in in_memory.warnings)
    with pytest.raises(InputError, match="there is no such file"):
        ragassay.evaluate([record], "RR", qrels=str(tmp_path / "nowhere.txt"))


def test_expected_answers_of_a_file_need_their_id_and_agree(tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    path.write_text("query_id,query,expected_answer\na,Who?,Ann Lee\n,Who?,Bob\nb,When?,\n")
    assert ragassay.evaluate(RECORDS, ["em"], references=str(path)).summary["em"].n_scored > 0
    path.write_text("query_id,query,expected_answer\na,Whom?,Ann Lee\n,When?,Bob\n")
    said = " ".join(ragassay.evaluate(RECORDS, ["em"], references=str(path)).summary.warnings)
    for fact in ("1 by id, 1 by query", "nothing for 2 samples", "a different query for 1 sample"):
        assert fact in said
    path.write_text("query_id,query,expected_answer\na,Who?,Ann Lee\na,Who?,Bob\n")
    with pytest.raises(InputError, match=r"line 3.*'a'"):
        ragassay.evaluate(RECORDS, ["em"], references=str(path))


def test_intervals_stay_inside_the_range_of_the_metric() -> None:
    em = ragassay.evaluate(RECORDS[:2], ["em"], interval="t").summary.metrics["em"]
    assert (em.mean, em.low, em.high) == (0.5, 0.0, 1.0)
    em = ragassay.evaluate(RECORDS[:2], ["em"]).summary.metrics["em"]
    assert 0.0 < em.low < 0.02 and em.interval == "effective-n"
