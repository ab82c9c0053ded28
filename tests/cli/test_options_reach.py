"""What a command line says reaches what does the work: every value, and none of another option."""

import shlex
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.cli.command_line import call
from ragassay.compat.mtrag.mtrag_steps import StepOptions
from ragassay.engine.diagnosis.decision_table import Thresholds
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem
from ragassay.golden.judged_checks import Checked
from ragassay.golden.rule_checks import CheckOptions, Finding
from ragassay.judges.asking import Asker
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.models.model_options import ModelOptions
from ragassay.synthesis.draft import Mix, Wish
from ragassay.targets.target_factory import AskOptions

Taken = tuple[Sequence[Any], dict[str, Any]]
ITEMS = [GoldenItem(id=name, query="Who?", type="factual", status=status, metadata={"t": name})
         for name, status in (("a", "accepted"), ("d", "draft"), ("r", "rejected"))]  # fmt: skip


@pytest.fixture
def taken(here: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a command up to the function that does its work, and gives what that is called with."""
    golden = GoldenSet(Path("golden"), list(ITEMS), Path("documents"))
    monkeypatch.setattr(GoldenSet, "open", lambda folder: golden)
    monkeypatch.setattr("ragassay.engine.results.open_run", lambda folder: f"run {folder}")
    monkeypatch.setattr("ragassay.review.review_store.ReviewStore", str)
    for name in ("log.txt", "guide.txt", "queries.jsonl", "in.jsonl"):
        Path(name).write_text('{"query": "Who runs the ferry?"}\n' if "jsonl" in name else "Why?\n")
    with Ledger("l.sqlite"):
        pass

    def run(words: str, place: str) -> Taken:
        found: list[Taken] = []

        def take(*arguments: Any, **options: Any) -> None:
            found.append((arguments, options))
            raise UsageError("far enough")

        with monkeypatch.context() as patched:
            patched.setattr(f"ragassay.{place}", take)
            assert call(shlex.split(words)) == 2
        arguments, options = found[0]
        shared = (Ledger, Asker)
        return [o for o in arguments if not callable(o) and not isinstance(o, shared)], options

    return run


ASKED = asdict(AskOptions(3, 4, 5.0, 6.0, 7, "own", True, True, Path("k"), True, "8 calls"))
LIMITS = Thresholds(low_rank=5, max_contradicted=0.1, min_supported=0.6, min_cited=0.7,
                    min_right=0.8, min_complete=0.3)  # fmt: skip
FLAGS = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in vars(LIMITS).items())


@pytest.mark.parametrize(("words", "place", "arguments", "options"), [
    (f"diagnose new old --headline em --below 0.4 --headline-only --examples 1 {FLAGS}",
     "engine.diagnosis.moved_classes.diagnose", ("run new", "run old"),
     {"headline": "em", "below": 0.4, "headline_only": True, "thresholds": LIMITS,
      "n_examples": 1}),
    ("explain new q17 em --system s --repeat 2", "engine.run.rescoring.explain",
     ("run new", "q17", "em"), {"system": "s", "repeat": 2}),
    ("golden isolate full alone -m em --threshold 0.7",
     "engine.diagnosis.isolated_run.isolated", ("run full", "run alone", "em", 0.7), {}),
    ("models check hhem --device cpu --dtype float16",
     "engine.models.model_survey.check",
     ("hhem", ModelOptions(device="cpu", dtype="float16")), {}),
    ("ask queries.jsonl -t a:b -t c:d -o out.jsonl --repeat 3 -j 4 --rpm 5 --timeout 6"
     " --retries 7 --history own --refresh --stream --key-file k --gold-passages"
     " --budget '8 calls' --limit 9 --ledger l.sqlite", "targets.ask_run.open_asking",
     (Path("queries.jsonl"), ["a:b", "c:d"]),
     {**ASKED, "limit": 9, "ledger": "l.sqlite", "output": Path("out.jsonl"),
      "tell_drafts": True}),
    ("ledger export --ledger l.sqlite --failed --messages",
     "judges.ledger.ledger_admin.export", (Selection(failed=True),), {"messages": True}),
    ("mtrag idk tasks.jsonl -i in.jsonl -o out.jsonl --evaluators c.yaml --published"
     " --cluster-by topic --refresh --device cpu --judge offline",
     "compat.mtrag.mtrag_steps.run_steps",
     (StepOptions("idk", Path("in.jsonl"), Path("out.jsonl"), Path("tasks.jsonl"),
                  Path("c.yaml"), True, {}, True, ModelOptions(device="cpu"), "topic"),), {}),
    ("golden sample golden 1 -o part --by type,style --seed 7 --where t=a,r",
     "golden.golden_parts.sampled", (ITEMS[:1], 1, ["type", "style"], 7), {}),
    ("golden split golden --into x=0.3,y=0.7 --by style --seed 7 --where t!=a",
     "golden.golden_parts.split", (ITEMS[1:2], {"x": 0.3, "y": 0.7}, ["style"], 7, [0]), {}),
    ("golden import in.jsonl --documents documents -o new --accept --encoding cp1252"
     " --columns references=a --columns references=b", "golden.golden_import.imported",
     (Path("in.jsonl"), ANY),
     {"accept": True, "columns": {"references": ["a", "b"]}, "encoding": "cp1252"}),
    ("golden export golden -o out.jsonl --format ragas --drafts --where t!=r",
     "golden.golden_export.exported", (ITEMS[:2], "ragas"), {}),
    ("golden review golden --answers in.jsonl --metrics em,f1 --suite rag,qa",
     "review.answer_labels.AnswerLabels.of",
     (Path("golden"), Path("in.jsonl"), ["em", "f1"], ["rag", "qa"]), {}),
    ("golden review golden --xlsx s.xlsx --overwrite --where t=a",
     "review.review_sheets.write_sheet", ("golden", Path("s.xlsx")),
     {"overwrite": True, "where": ["t=a"]}),
    ("golden review golden --read s.xlsx --reviewer ann", "review.review_sheets.read_sheet",
     ("golden", Path("s.xlsx"), "ann"), {}),
    ("golden review golden --reviewer ann --where t=a", "review.review_page.create_review_app",
     ("golden", "ann", None, ["t=a"]), {}),
    ("report new --fail-under 'em>=0.4' --fail-under 'f1>=0.1' --trust-offline",
     "engine.comparison.gates.results_of", ("run new", ["em>=0.4", "f1>=0.1"]),
     {"trust_offline": True}),
    ("validate in.jsonl --format csv --columns answer=a --encoding cp1252 --sheet s"
     " --separator ';' --single-chunk --passages-from tools", "formats.place", ("in.jsonl",),
     {"format": "csv", "columns": {"answer": "a"}, "encoding": "cp1252", "sheet": "s",
      "separator": ";", "single_chunk": True, "passages_from": "tools"}),
])  # fmt: skip
def test_every_option_reaches_what_does_the_work(taken, words, place, arguments, options) -> None:
    if "page" in place:
        pytest.importorskip("fastapi", reason="needs the extra 'service'")
    Path("documents").mkdir()
    (Path("documents") / "ferry.md").write_text("The town runs it.")
    assert taken(words, place) == (list(arguments), options)


def test_what_is_pruned_checked_and_synthesized_is_what_was_said(taken) -> None:
    check = "judges.ledger.ledger_admin.Selection.check"
    which = "--ledger l.sqlite --model m --kind k --failed"
    assert taken(f"ledger export {which}", check) == ([Selection("m", "k", failed=True)], {})
    prune = f"ledger prune {which} --system s --older-than"
    for said, seconds in (("12h", 43_200), ("90d", 7_776_000), ("6w", 3_628_800)):
        (selection,), _ = taken(f"{prune} {said}", check)
        assert selection == Selection("m", "k", selection.before, failed=True, system="s")
        assert time.time() - selection.before == pytest.approx(seconds, abs=60)
    (selection,), _ = taken(f"{prune} 2026-01-31", check)
    assert selection.before == datetime(2026, 1, 31).astimezone().timestamp()
    words = "golden check golden --judge openai:a --budget 5.00 -m em,f1 --max-age 30 --log log.txt"
    (_, options), _ = taken(words, "golden.judged_checks.check")
    assert options == CheckOptions("openai:a", "5.00", ["em", "f1"], 30, ["Why?"])
    make = "golden synthesize documents -o new --n 5 --generator openai:a --checker openai:b"
    make += " --seed 7 --mix type=factual:2,yes-no:1 --style-guide guide.txt --budget 5.00"
    make += " --like old --queries queries.jsonl --no-answers --same-model --skip-unreadable"
    (wish, config), named = taken(f"{make} --dry-run", "synthesis.synthesizing.Synthesis")
    mix = Mix.parse(["type=factual:2,yes-no:1"])
    assert replace(wish, given=()) == Wish(
        Path("documents"), Path("new"), 5, "openai:a", "openai:b", mix, 7, "Why?", Path("old"),
        answers=False, same_model=True, skip_unreadable=True,
    )  # fmt: skip
    assert [one.query_text for one in wish.given] == ["Who runs the ferry?"]
    assert (named, config.budget) == ({"dry": True}, "5.00")


@pytest.mark.parametrize(("words", "said"), [
    ("golden split golden --into x", "write NAME=SHARE, as in dev=0.3,test=0.7"),
    ("golden sample golden 1 -o old", "old is a golden set already"),
    ("golden review golden --metrics em", "--metrics and --suite need --answers FILE"),
    ("golden review golden --read s.xlsx", "--read needs --reviewer NAME"),
    ("golden synthesize documents", "No folder is named for the golden set: -o DIR"),
    *((f"golden review golden --answers in.jsonl {more}", "leave --answers out")
      for more in ("--where t=a", "--xlsx s.xlsx", "--read s.xlsx")),
    ("mtrag idk in.jsonl", "A step needs a file to write"),
    ("run in.jsonl --param p.yaml", "--param is for a pipeline"),
])  # fmt: skip
def test_options_that_do_not_fit_are_refused(taken, words, said, monkeypatch, capsys) -> None:
    monkeypatch.setattr("ragassay.review.answer_labels.AnswerLabels.of", lambda *_: None)
    Path("old").mkdir()
    Path("old/queries.jsonl").touch()
    assert call(shlex.split(words)) == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize(("severity", "codes"), [("error", [1, 1, 0]), ("look", [0, 1, 0])])
def test_what_fails_a_check_is_chosen(severity: Any, codes: list[int], monkeypatch, capsys) -> None:
    finding = Finding(Note("never_verified", {}, ("a",)), severity=severity)
    checked = Checked(1, [finding] * 21, {}, {}, None, {"support": "no budget"})
    monkeypatch.setattr(GoldenSet, "open", lambda folder: None)
    monkeypatch.setattr("ragassay.golden.judged_checks.check", lambda *_, **__: checked)
    words = ["golden", "check", "golden", "--fail-on"]
    assert [call([*words, on]) for on in ("error", "look", "never")] == codes
    said = capsys.readouterr()
    assert said.out.count("and 1 more (--json has all)") == 3
    assert said.err.count("note: support was not fully checked: no budget.") == 3


def test_a_comparison_is_of_what_was_said(taken, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = "ragassay.engine.results.open_run"
    monkeypatch.setattr(opened, lambda path: SimpleNamespace(folder=path))
    subset = "ragassay.engine.comparison.derived_runs.subset_of"
    monkeypatch.setattr(subset, lambda result, where: (str(result.folder), where))
    where = ["type=short", "turn!=1"]
    assert taken(
        "compare new old --where type=short --where turn!=1 -m em,f1 --primary em --level 0.9"
        " --fail-if-drop em>0.1 --fail-if-drop f1>0.2 --correction holm --n-resamples 7 --seed 3"
        " --trust-offline --unpaired --force", "engine.comparison.compare_runs.compare"
    ) == (
        [("new", where), ("old", where)],
        {"metrics": ["em,f1"], "primary": ["em"], "level": 0.9, "correction": "holm",
         "fail_if_drop": ["em>0.1", "f1>0.2"], "n_resamples": 7, "seed": 3,
         "trust_offline": True, "unpaired": True, "force": True},
    )  # fmt: skip


def test_a_token_is_for_what_was_said_and_as_long(tmp_path: Path, capsys) -> None:
    pytest.importorskip("fastapi", reason="needs the extra 'service'")
    from ragassay.service.store.database import Store
    from ragassay.service.store.projects import create_project
    from ragassay.service.store.tokens import list_tokens

    with closing(Store(tmp_path / "s")) as store:
        project = create_project(store, "support").id
        assert call(["token", "list", "--store", str(tmp_path / "s")]) == 0
        assert "There are no tokens: only this machine is served." in capsys.readouterr().out
        create = ["token", "create", "--store", str(tmp_path / "s")]
        narrow = ["--scope", "read", "--days", "90", "--project", "support"]
        assert call([*create, "ann", *narrow]) == call([*create, "bob"]) == 0
        assert call([*create, "cid", "--project", "missing"]) == 2
        found = {one.name: (one.scope, one.project_id, one.expires) for one in list_tokens(store)}
    in_90_days = pytest.approx(time.time() + 7_776_000, abs=60)
    assert found == {"ann": ("read", project, in_90_days), "bob": ("write", None, None)}
    assert call(["token", "list", "--store", str(tmp_path / "s")]) == 0
    ann, bob = capsys.readouterr().out.splitlines()[-2:]
    assert "ann  read  support, until " in ann and "bob  write  all projects  never used" in bob
