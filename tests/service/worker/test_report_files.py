"""Run folders as reports: uploaded, downloaded, compared; hostile archives are refused. Reports
over a part of a task's records, and the comparison of two of them."""

import io
import json
import shutil
import subprocess
import warnings
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

import ragassay
from ragassay.base.errors import RagassayError, UsageError
from ragassay.cli.command_line import call
from ragassay.examples import path_of
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.report_files import (
    keep_uploaded_run,
    opened_report,
    report_suffix,
    shown_time,
    write_report,
    write_report_comparison,
)
from ragassay.service.store.reports import (
    create_report,
    get_report,
    list_reports,
    preview_report,
    run_archive,
)
from ragassay.service.store.store_errors import NotThere, StoreUnavailable
from ragassay.service.views import separate_process
from ragassay.service.views.separate_process import make_file, repack_apart, run_in_process
from ragassay.service.web.report_pages import written_comparison_page
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import a_task, add, asking, item

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders of two systems, ``new`` and ``old``."""
    folder = tmp_path_factory.mktemp("runs")
    for name, system in (("new", "hybrid"), ("old", "keyword")):
        ragassay.evaluate(path_of(system), ["nDCG@10", "token_f1.f"], limit=12, save=folder / name)
    return folder


def zipped(folder: Path, above: str = "") -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, above + path.relative_to(folder).as_posix())
    out.seek(0)
    return out


def test_the_headline_says_what_stands_for_missing_parts(store: Store, tmp_path: Path) -> None:
    lacking = {"id": "x", "query": "?", "answer": "It has 180 ECTS."}
    own = ragassay.evaluate([lacking], "ragreport", save=tmp_path / "run").summary.metrics
    report = keep_uploaded_run(store, a_task(store).id, "x", zipped(tmp_path / "run"))
    headline = report.headline or {}
    assert headline["relevance"]["n_assumed"] == 1
    assert {name: (one["n_assumed"], one["mean_measured"]) for name, one in headline.items()} == {
        name: (one.n_assumed, one.mean_measured) for name, one in own.items()
    }


def test_times_have_the_fraction_of_a_second_where_there_is_one() -> None:
    assert shown_time(1764547199.0) == "2025-11-30 23:59:59 UTC"
    assert shown_time(1764547199.5) == "2025-11-30 23:59:59.5 UTC"
    assert shown_time(1764547199.000123) == "2025-11-30 23:59:59.000123 UTC"


@pytest.mark.parametrize("above", ["", "runs-new/"])
@pytest.mark.both_stores
def test_a_run_folder_that_was_made_elsewhere_becomes_a_report(store: Store, runs, above) -> None:
    task = a_task(store)
    report = keep_uploaded_run(store, task.id, "ü" * 200, zipped(runs / "new", above))
    own = ragassay.open_run(runs / "new").summary.metrics
    assert (report.status, report.name, report.from_timestamp) == ("completed", "ü" * 200, None)
    headline = report.headline or {}
    for name in ("mean", "low", "high", "n_scored", "n_total", "signature"):
        told = {n: getattr(metric, name) for n, metric in own.items()}
        assert {n: one[name] for n, one in headline.items()} == told
    found = ragassay.diagnose(ragassay.open_run(runs / "new"))
    right = {"mean": found.share_right, "low": found.low, "high": found.high}
    right["signature"] = own[found.headline].signature
    assert all(right.items() <= one["right"].items() for one in headline.values())
    assert list_reports(store, task.id) == [report]
    with opened_report(store, report.id) as result:
        assert result.summary.metrics == own
    store.remove(schema.reports, report.id)
    with pytest.raises(NotThere):
        run_archive(store, report.id)
    with store.reading() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM report_files").scalar_one()
    assert kept == 0


def test_a_report_is_written_and_compared_as_by_command(store, runs, tmp_path, capsys) -> None:
    task = a_task(store)
    new, old = (
        keep_uploaded_run(store, task.id, name, zipped(runs / name)).id for name in ("new", "old")
    )
    # A report's files have its name as their title, say its task, and name no files.
    named = tmp_path / "new"
    shutil.copytree(runs / "new", named)
    summary = json.loads((named / "summary.json").read_text())
    (named / "summary.json").write_text(json.dumps({**summary, "title": "new"}))
    own = yaml.safe_load((named / "run.yaml").read_text())
    paths = ("data", "output", "ledger", "rubric", "prompts")
    config = {name: value for name, value in own.items() if name not in paths}
    facts = {"report": "new", "task": task.name}
    (named / "run.yaml").write_text(yaml.safe_dump(facts | config, sort_keys=False))
    out = tmp_path / "out"
    forms = ["html", "markdown", "csv", "jsonl"]
    words = ",".join(forms).replace("markdown", "md")
    assert call(["report", str(named), "--format", words, "-o", str(out)]) == 0
    for form, name in zip(
        forms, ("report.html", "report.md", "scores.csv", "scores.jsonl"), strict=True
    ):
        written = write_report(store, new, form)  # type: ignore[arg-type]
        assert written == (out / name).read_bytes(), form
        assert report_suffix(form) == Path(name).suffix
    assert write_report(store, new, "xlsx")[:2] == b"PK"
    with pytest.raises(UsageError):
        write_report(store, new, "ragreport")
    capsys.readouterr()
    assert call(["compare", str(runs / "new"), str(runs / "old"), "--json"]) == 0
    (theirs,) = json.loads(capsys.readouterr().out)["comparisons"]
    page = tmp_path / "page.html"
    assert call(["compare", str(runs / "new"), str(runs / "old"), "-o", str(page)]) == 0
    assert len(write_report_comparison(store, new, old, "html")) > 10_000
    body = json.loads(write_report_comparison(store, new, old, "json"))
    assert body["differences"] == theirs["differences"]


def test_large_reports_are_made_by_other_processes(store, runs, tmp_path, monkeypatch) -> None:
    task = a_task(store)
    new, old = (
        keep_uploaded_run(store, task.id, name, zipped(runs / name)).id for name in ("new", "old")
    )
    ragassay.evaluate([{"id": "x", "query": "?", "answer": "a"}], ["BLEU"], save=tmp_path / "o")
    other = keep_uploaded_run(store, task.id, "other", zipped(tmp_path / "o")).id
    here = [
        make_file(write_report, store, new, form="csv"),
        make_file(write_report_comparison, store, new, old, form="json"),
        make_file(written_comparison_page, store, new, old, force=False),
    ]

    def refused() -> None:
        with pytest.raises(RagassayError, match="no metric in common"):
            make_file(write_report_comparison, store, new, other, form="json")
        for keys in (["nothing"], [new, "nothing"]):
            with pytest.raises(NotThere):
                make_file(write_report_comparison, store, *keys, form="json")

    refused()
    monkeypatch.setattr("ragassay.service.views.separate_process.LARGE", 0)
    processes: list[Any] = []
    begin = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: processes.append(a) or begin(*a, **k))
    assert make_file(write_report, store, new, form="csv") == here[0]
    assert make_file(write_report_comparison, store, new, old, form="json") == here[1]
    assert make_file(written_comparison_page, store, new, old, force=False) == here[2]
    assert len(processes) == 3
    refused()
    away = ("postgresql://nobody@127.0.0.1:9/x", "ragassay.service.store.reports", "get_report")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        run_in_process(separate_process._made, *away, ["x"], {}, died="x")


def hostile_zip(*names: str, link: bool = False, change: tuple[bytes, bytes] = (b"", b"")) -> Any:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that comes twice
        for name in names:
            one = zipfile.ZipInfo(name)
            one.external_attr = (0o120777 if link else 0o100644) << 16
            one.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(one, "/etc/passwd")
    return io.BytesIO(out.getvalue().replace(*change) if any(change) else out.getvalue())


@pytest.mark.parametrize(("archive", "message"), [
    (hostile_zip("../evil"), "not a file of a run folder"),
    (hostile_zip("a/../b"), "not a file of a run folder"),
    (hostile_zip("/etc/evil"), "not a file of a run folder"),
    (hostile_zip("run.yaml", link=True), "not a file of a run folder"),
    (io.BytesIO(b"PK nonsense"), "not a zip"), (io.BytesIO(b"nonsense" * 100), "not a zip"),
    (io.BytesIO(b""), "not a zip"), (hostile_zip("notes.txt"), "has no run.yaml"),
    (hostile_zip("run.yaml", "run.yaml"), "'run.yaml' twice"),
    (hostile_zip("x", change=(b"\x14\3\x14\0\0", b"\x14\3\x14\0\1")), "encrypted"),
    (hostile_zip("x", change=(b"x\xd3O-I\xd6", b"x\xff\xff\xff\xff\xff")), "damaged"),
])  # fmt: skip
def test_an_archive_that_is_hostile_or_no_run_folder_is_refused(store, archive, message) -> None:
    task = a_task(store)
    archive.seek(0)
    with pytest.raises(RagassayError, match=message) as caught:
        keep_uploaded_run(store, task.id, "x", archive)
    assert "/ragassay-run-" not in str(caught.value)
    assert list_reports(store, task.id) == []


def test_an_upload_is_read_apart_and_a_bomb_is_refused(store, runs, monkeypatch, tmp_path) -> None:
    task = a_task(store)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (runs / "new").iterdir():
            archive.write(path, path.name) if path.name != "summary.json" else None
        archive.writestr("summary.json", b" " * (33 << 20))
    bomb.seek(0)
    shutil.copytree(runs / "new", tmp_path / "long")
    (tmp_path / "long" / "samples.jsonl").write_bytes(b'{"id": "%s"}' % (b"x" * (33 << 20)))
    long_line = zipped(tmp_path / "long")
    with monkeypatch.context() as patch:
        # This process opens no archive itself.
        patch.setattr(zipfile, "ZipFile", None)
        with pytest.raises(RagassayError, match="32 MB"):
            keep_uploaded_run(store, task.id, "x", bomb, repack=repack_apart)
        with pytest.raises(RagassayError, match="32 MB"):
            keep_uploaded_run(store, task.id, "x", long_line, repack=repack_apart)
    assert list_reports(store, task.id) == []
    kept = keep_uploaded_run(store, task.id, "y", zipped(runs / "new"), repack=repack_apart)
    assert kept.status == "completed" and kept.headline


def test_an_archive_of_too_much_or_of_a_damaged_run_is_refused(store, runs, monkeypatch) -> None:
    task = a_task(store)
    damaged = io.BytesIO()
    with zipfile.ZipFile(damaged, "w") as archive:
        for path in (runs / "new").iterdir():
            content = path.read_bytes()
            archive.writestr(path.name, content[:-50] if path.name == "scores.jsonl" else content)
    damaged.seek(0)
    with pytest.raises(RagassayError, match=r"^scores.jsonl, line"):
        keep_uploaded_run(store, task.id, "x", damaged)
    sizes, fits = [path.stat().st_size for path in (runs / "new").iterdir()], nullcontext()
    for less_files, less_bytes in ((1, 0), (0, 1), (0, 0)):
        sent = zipped(runs / "new")
        with zipfile.ZipFile(sent, "a") as archive:
            archive.writestr("charts/", "")  # a folder is no file
        sent.seek(0)
        monkeypatch.setattr("ragassay.client.archives.MOST_FILES", len(sizes) - less_files)
        monkeypatch.setattr("ragassay.client.archives.MOST_BYTES", sum(sizes) - less_bytes)
        assert list_reports(store, task.id) == []
        with pytest.raises(UsageError, match="too large") if less_files + less_bytes else fits:
            keep_uploaded_run(store, task.id, "x", sent)
    monkeypatch.setattr("ragassay.client.archives.MOST_READ_WHOLE", 10)
    for name, said in (("a.json", "too large"), ("a.yaml", "too large"), ("a.csv", "no run.yaml")):
        with pytest.raises(RagassayError, match=said):
            keep_uploaded_run(store, task.id, "x", hostile_zip(name))


def test_runs_and_files_and_comparisons_travel_by_both_clients(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("httpx2", reason="needs the extra 'client'")
    import asyncio

    from ragassay.client.clients import AsyncClient, Client
    from ragassay.client.service_shapes import Report, RequestRefused
    from service_process import serving

    archive = tmp_path / "old.zip"
    archive.write_bytes(zipped(runs / "old").getvalue())
    with serving(tmp_path / "store", "--no-worker") as service:
        url = f"http://127.0.0.1:{service.port}"
        with Client(url) as client:
            task = client.create_task(client.create_project("p").id, "t")
            new = client.upload_run(task.id, "new", runs / "new")
            old = client.upload_run(task.id, "old", archive)
            assert [one.name for one in client.list_reports(task.id)] == ["new", "old"]
            page = client.download_report(new.id, "html", tmp_path / "a" / "report.html")
            assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
            found = client.compare_reports(new.id, old.id, trust_offline=True)
            assert "nDCG@10" in str(found["differences"])
            text = client.download_comparison(new.id, old.id, "markdown", tmp_path / "c.md")
            assert "nDCG@10" in text.read_text(encoding="utf-8")
            short = client.download_comparison(new.id, old.id, "md", tmp_path / "short.md")
            assert short.read_bytes() == text.read_bytes()
            short = client.download_report(new.id, "md", tmp_path / "report.md")
            assert short.read_text(encoding="utf-8").startswith("#")
            with pytest.raises(UsageError, match=r"a\.xlsx cannot be written: (Not a|File ex)"):
                client.export_rag_evaluation_report(new.id, short, "a")
            (tmp_path / "back").mkdir()
            back = client.download_run(new.id, tmp_path / "back")
            with pytest.raises(UsageError, match="back"):  # not empty any more
                client.download_run(new.id, back)
            assert ragassay.open_run(back).summary.n_samples > 0
            with pytest.raises(RequestRefused, match="form"):
                client.download_report(new.id, "exe", tmp_path / "x")

        async def asynchronous() -> Report:
            async with AsyncClient(url) as client:
                again = await client.upload_run(task.id, "again", runs / "new")
                assert (await client.compare_reports(again.id, old.id))["differences"]
                return again

        assert asyncio.run(asynchronous()).headline == new.headline


API = "/api/v1"


def test_two_systems_of_one_task_are_compared_by_reports_over_records(store, tmp_path) -> None:
    client = asking(store, views=tmp_path / "views")
    task = a_task(store)
    for system, answer in (("v1", "no"), ("v2", "yes")):
        more = {"system": system, "response": answer, "expected": "yes"}
        add(store, task, [item(n) | more for n in range(4)])
    keys = {}
    for system, n in {"v1": 4, "v2": 4, "": 8}.items():
        asked = {"metrics": ["exact_match"], "where": [f"system={system}"] * bool(system)}
        assert preview_report(store, task.id, 0.0, 1e9, asked).metrics == {"exact_match": n}
        keys[system] = create_report(store, task.id, f"of {system}", 0.0, 1e9, asked)[0].id
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    means = {}
    for key in keys.values():
        headline = (get_report(store, key).headline or {})["exact_match"]
        means[headline["system"]] = headline["mean"], headline["n_total"], headline["n_systems"]
    assert means == {"v1": (0.0, 4, 1), "v2": (1.0, 4, 1), "": (0.5, 8, 2)}
    for system, tags in (("v1", {""}), ("", {"v1", "v2"})):
        rows = client.get(f"/reports/{keys[system]}/samples").json()["rows"]
        assert {row["tag"] for row in rows} == tags
    places = {"new": keys["v2"], "old": keys["v1"]}
    answer = client.get(f"{API}/comparisons", params=places)
    assert 'filename="of v2 against of v1.json"' in answer.headers["content-disposition"]
    found = answer.json()
    (row,) = found["differences"]
    assert (row["name"], row["diff"], found["n_common"]) == ("exact_match", 1.0, 4)
    for word, status in (("unpaired", 422), ("force", 200)):  # they share their queries
        places |= {word: "true", "a": keys["v2"], "b": keys["v1"]}
        for path in (f"{API}/comparisons", "/compare"):
            assert client.get(path, params=places).status_code == status
    with pytest.raises(RagassayError, match="is not a condition"):
        create_report(store, task.id, "x", 0.0, 1e9, {"where": ["system"]})
    with pytest.raises(RagassayError, match="v9"):
        create_report(store, task.id, "x", 0.0, 1e9, {"where": ["system=v9"]})


def test_two_intervals_of_one_task_are_compared_by_their_means(store: Store, tmp_path) -> None:
    client = asking(store, views=tmp_path / "views")
    task = a_task(store)
    for week, n_right in ((0, 19), (100, 8)):
        said = ["yes"] * n_right + ["no"] * (20 - n_right)
        words = [{"response": answer, "expected": "yes"} for answer in said]
        add(store, task, [item(week + n) | more for n, more in enumerate(words)])
    asked = {"metrics": ["em", "answer_match"]}
    keys = [
        create_report(store, task.id, "r", 1000.0 + at, 1050.0 + at, asked)[0].id for at in (0, 100)
    ]
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    places = {"new": keys[1], "old": keys[0]}
    refused = client.get(f"{API}/comparisons", params=places)
    assert refused.status_code == 422 and "unpaired" in refused.json()["detail"]
    for trust, judged in ((False, "indicative"), (True, "worse")):
        words = {**places, "unpaired": True, "trust_offline": trust}
        found = client.get(f"{API}/comparisons", params=words).json()
        rows = [(row["a_mean"], row["b_mean"], row["verdict"]) for row in found["differences"]]
        assert rows == [(0.4, 0.95, "worse"), (0.4, 0.95, judged)]
    assert found["unpaired"] and (found["only_a"], found["only_b"]) == (20, 20)
    html = {"Accept": "text/html"}
    sides = {"a": keys[1], "b": keys[0]}
    for chosen in ({}, {"force": "true"}):  # the link adds to what was chosen
        assert client.get("/compare", params=sides | chosen).json()["status"] == 422
        refused = client.get("/compare", params=sides | chosen, headers=html)
        assert refused.status_code == 422 and "--unpaired" not in refused.text
        added = "".join(f"&amp;{option}=true" for option in (*chosen, "unpaired"))
        assert f"/compare?a={keys[1]}&amp;b={keys[0]}{added}" in refused.text
    page = client.get("/compare", params={**sides, "unpaired": True}, headers=html)
    assert page.status_code == 200 and "different queries" in page.text
    assert "&amp;unpaired=true" in page.text


def test_only_reports_that_can_be_compared_are_offered_for_it(store: Store, tmp_path: Path) -> None:
    client = asking(store, views=tmp_path / "views")
    task = a_task(store)
    for system in ("v1", "v2"):
        add(store, task, [item(n) | {"system": system, "expected": "yes"} for n in range(3)])

    def made(metric: str, *where: str) -> str:
        asked = {"metrics": [metric], "where": list(where)}
        key = create_report(store, task.id, "r", 0.0, 1e9, asked)[0].id
        Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
        return key

    html = {"Accept": "text/html"}
    both, mixed = made("em"), made("em")
    refused = client.get("/compare", params={"a": mixed, "b": both}, headers=html)
    assert refused.status_code == 422 and "where: system=v1" in refused.text
    made("em", "system=v1")
    made("nDCG@10", "system=v2")  # nothing is scored
    made("em", "system=v2")
    listed = client.get(f"/tasks/{task.id}", headers=html).text
    assert listed.count('name="a"') == 2 and f'value="{mixed}"' not in listed
