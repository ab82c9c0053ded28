"""Adding a metric, a format or a suite is one file: nothing else needs an edit."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ragassay
from ragassay import formats, metrics, suites
from ragassay.base.errors import UsageError
from ragassay.metrics.core import metric, naming

METRIC = '''
from dataclasses import dataclass
from ragassay.metrics.core.metric import SampleMetric, register, scored
from ragassay.metrics.core.metric import param

@register
@dataclass(frozen=True)
class Shout(SampleMetric):
    """Share of capitals.

    Formula: capitals / letters
    Source: a test
    """
    name = "shout"
    family = "answer"
    needs = ("answer",)
    least: int = param(1, "fewest letters", minimum=1)

    def score_sample(self, sample):
        letters = [c for c in sample.answer.text if c.isalpha()]
        return scored(sum(c.isupper() for c in letters) / max(len(letters), self.least))
'''
SUITE = """
from ragassay.suites import Suite
SUITE = Suite("loud", "Loudness", "a test", ("Noise", "em"), {"Noise": "shout"}, {"shout": "Noise"})
"""
FORMAT = """
from ragassay.formats.format import NO, SURE, Format
def sniff(head):
    return SURE if head.suffix == ".shout" else NO
def read(path, mapper):
    for line, text in enumerate(path.read_text().splitlines(), 1):
        yield mapper.sample({"id": str(line), "answer": text, "references": ["HI"]}, line)
FORMAT = Format("shout", "One answer a line", (".shout",), sniff, read)
"""


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    naming.metric_classes()  # ours are there before the additions, and stay after them
    for package, source in ((metrics, METRIC), (suites, SUITE), (formats, FORMAT)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "zz_added.py").write_text(source)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    before = dict(metric._CLASSES)
    caches = (metric.registered, naming._import_all, suites.all_suites, formats.all_formats)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    metric._CLASSES.clear()
    metric._CLASSES.update(before)
    for name in [name for name in sys.modules if name.rpartition(".")[2].startswith("zz_")]:
        del sys.modules[name]
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(("package", "source", "message"), [
    (suites, SUITE.replace('"loud"', '"qa"'), "Two suites are called 'qa'"),
    (formats, FORMAT.replace('"shout"', '"csv"'), "Two formats are called 'csv'"),
    (metrics, METRIC.replace('"shout"', '"em"'), "Two metrics are called 'em'"),
])  # fmt: skip
def test_a_name_that_is_taken_is_refused(added, package: ModuleType, source, message) -> None:
    folder = added / package.__name__
    (folder / "zz_again.py").write_text(source)
    for cache in (naming._import_all, suites.all_suites, formats.all_formats):
        cache.cache_clear()
    lists = {
        metrics: naming.metric_classes,
        suites: suites.all_suites,
        formats: formats.all_formats,
    }
    with pytest.raises(UsageError, match=message):
        lists[package]()


def test_one_file_each_is_enough(added: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = added / "data.shout"
    data.write_text("HI\nHello\n")
    result = ragassay.evaluate(data, "loud")
    assert result.config["format"] == "shout"
    assert result.summary.metrics["Noise"].mean == pytest.approx((1 + 1 / 5) / 2)
    assert result.summary.metrics["Noise"].metric == "shout"
    assert str(naming.parse("shout(least=3)")) == "shout(least=3)"
    from ragassay.cli.command_line import call

    assert call(["metrics", "shout"]) == 0
    assert "Share of capitals" in capsys.readouterr().out


ROW = """
teleprinter:
  title: What a teleprinter keeps (JSON Lines)
  suffixes: [.jsonl]
  signs: [tape.asked tape.typed]
  shapes:
    - span: {id: tape.number, inputs: tape.asked, outputs: tape.typed}
"""
NOTE = "\nloud: >-\n  {n:answer} {n:is/are} loud.\n"
RECORDS = [
    {"tape": {"number": f"t{at}", "asked": "Who?", "typed": text}}
    for at, text in enumerate(("ME", "You"))
]
PROGRAM = """
import json, ragassay
from ragassay.base.note import Note
result = ragassay.evaluate("tapes.jsonl", "answer_words")
print(json.dumps([ragassay.__file__, result.config["format"], result.summary.n_samples,
                  str(Note("loud", {"n": 2}))]))
"""


def test_a_format_of_other_names_and_a_note_are_a_row_and_a_sentence(tmp_path: Path) -> None:
    """In a copy of the package."""
    copy = tmp_path / "ragassay"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ragassay.__file__).parent, copy, ignore=ignored)
    for name, text in (("formats/exports.yaml", ROW), ("reports/text/note_words.yaml", NOTE)):
        with (copy / name).open("a") as stream:
            stream.write(text)
    (tmp_path / "tapes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    package, kind, n, sentence = json.loads(done.stdout.splitlines()[-1])
    assert Path(package).parent == copy
    assert (kind, n, sentence) == ("teleprinter", 2, "2 answers are loud.")
