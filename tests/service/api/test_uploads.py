"""Uploaded files: sent, looked at, imported; the same on SQLite and on PostgreSQL."""

import gzip
import io
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample
from ragassay.client.service_shapes import Ingested
from ragassay.formats.records import field_names
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.projects import Task, TaskOptions, create_project, create_task
from ragassay.service.store.records import add_records, count_records, read_page, read_samples
from ragassay.service.store.store_errors import Conflict, NotThere
from ragassay.service.store.tokens import create_token, find_token, is_closed, list_tokens
from ragassay.service.store.uploads import (
    create_upload,
    fill_upload,
    get_upload,
    import_upload,
    preview_upload,
    upload_on_disk,
)
from stored_records import CSV


def a_task(store: Store, **options: Any) -> Task:
    return create_task(store, create_project(store, "p").id, "t", TaskOptions(**options))


def sent(store: Store, task: Task, content: bytes, name: str = "data.csv") -> str:
    made = create_upload(store, task.id, name)
    assert fill_upload(store, made.id, io.BytesIO(content)).size == len(content)
    return made.id


def lines(*records: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


@pytest.mark.both_stores
def test_a_preview_says_what_a_file_holds_and_the_import_stores_it(store: Store) -> None:
    task = a_task(store)
    key = sent(store, task, CSV)
    look = preview_upload(store, key, limit=1)
    assert look.format == "csv"
    assert look.columns == ["id", "timestamp", "question", "contexts", "answer", "team"]
    placed = {name: name for name in ("id", "timestamp", "answer")}
    assert look.placed == placed | {"query": "question", "passages": "contexts"}
    assert look.unplaced == ["team"] and look.rows[0]["question"] == "Why?"
    assert look.samples[0]["query"] == "Why?" and look.samples[0]["metadata"] == {"team": "x"}
    assert (look.lacks_ids, look.lacks_times, look.problem) == (False, False, None)
    assert count_records(store, task.id) == 0
    assert import_upload(store, key) == Ingested(new=2, empty_chunks=1)
    with pytest.raises(NotThere):
        get_upload(store, key)
    assert import_upload(store, sent(store, task, CSV)) == Ingested(unchanged=2, empty_chunks=1)


def test_a_file_that_nobody_imports_goes_after_a_day(store: Store) -> None:
    task = a_task(store)
    young, old = sent(store, task, CSV), sent(store, task, CSV)
    with store.writing() as connection:
        for key, age in ((young, 86_000), (old, 87_000)):
            aged = f"UPDATE uploads SET created = created - {age} WHERE id = '{key}'"
            connection.exec_driver_sql(aged)
    sent(store, task, CSV)
    assert get_upload(store, young).size == len(CSV)
    with pytest.raises(NotThere):
        get_upload(store, old)


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv", "parquet", "jsonl.gz"])
def test_every_container_is_read(store: Store, kind: str) -> None:
    rows = [{"id": f"r{n}", "timestamp": 1.0 + n, "question": "?", "answer": "!"} for n in range(3)]
    out = io.BytesIO()
    if kind == "parquet":
        pl.DataFrame(rows).write_parquet(out)
    elif kind in ("csv", "tsv"):
        pl.DataFrame(rows).write_csv(out, separator="," if kind == "csv" else "\t")
    else:
        out.write(json.dumps(rows).encode() if kind == "json" else lines(*rows))
    content = gzip.compress(out.getvalue()) if kind.endswith("gz") else out.getvalue()
    key = sent(store, a_task(store), content, f"x.{kind}")
    assert [one["id"] for one in preview_upload(store, key).samples] == ["r0", "r1", "r2"]
    assert import_upload(store, key).new == 3


def test_columns_are_mapped_and_what_they_leave_open_is_told(store: Store) -> None:
    task = a_task(store)
    content = lines({"Frage": "Why?", "Antwort": "So.", "wann": 5.0})
    key = sent(store, task, content, "x.jsonl")
    look = preview_upload(store, key)
    assert "none is recognised" in str(look.problem) and look.line == 1
    assert look.columns == look.unplaced == ["Frage", "Antwort", "wann"]
    assert look.samples == [] and look.rows == [{"Frage": "Why?", "Antwort": "So.", "wann": 5.0}]
    columns = {"query": "Frage", "answer": "Antwort"}
    look = preview_upload(store, key, columns=columns)
    assert (look.lacks_ids, look.lacks_times, look.unplaced) == (True, True, ["wann"])
    with pytest.raises(InputError, match="has no time") as caught:
        import_upload(store, key, columns=columns)
    assert (caught.value.line, caught.value.field) == (1, "timestamp")
    columns["timestamp"] = "wann"
    assert not preview_upload(store, key, columns=columns).lacks_times
    assert import_upload(store, key, columns=columns).new == 1
    (sample,) = read_samples(store, task.id)
    assert (sample.query, sample.timestamp) == ("Why?", 5.0)
    with pytest.raises(UsageError, match="there is no field 'qury'"):
        preview_upload(store, sent(store, task, content), columns={"qury": "Frage"})
    look = preview_upload(store, sent(store, task, content), columns={"query": "Fragen"})
    assert "there is no column 'Fragen'" in str(look.problem)
    look = preview_upload(store, sent(store, task, lines({"query": "Why?", "timestamp": "soon"})))
    assert (look.line, look.field) == (1, "timestamp") and look.problem


def test_a_record_without_an_id_is_known_by_its_content_however_often_it_comes(store) -> None:
    task = a_task(store)
    # Of one query, but not of one content: a hash of the query alone would refuse them.
    records = [{"question": "Why?", "answer": answer} for answer in ("A", "B", "A")]
    for count, order in ((2, list), (0, reversed)):
        written = lines(*({name: one[name] for name in order([*one])} for one in records))
        key = sent(store, task, written, "x.jsonl")
        assert import_upload(store, key, received_as_time=True).new == count
    assert count_records(store, task.id) == 2
    page, _ = read_page(store, task.id)
    assert all(one.timestamp == one.received for one in page)


@pytest.mark.parametrize(("content", "name", "message", "line", "field"), [
    (b"id,question\na,Why?\na,How?\n", "x.csv", "already given in line 2", 3, "id"),
    (b'{"id": "a", "question": 5}\n{"id":\n', "x.jsonl", "not valid JSON", 2, None),
    (b"id,question,timestamp\na,b,noon\n", "x.csv", "not a time", 2, "timestamp"),
    (b"id,question\na,b,c\n", "x.csv", "3 cells, the header 2", 2, None),
    (b"", "x.csv", "the file is empty", None, None), (b"\x00\x01\x02 ", "x", "UTF-16", None, None),
    (b"PAR1 no", "x.parquet", "not a readable Parquet file", None, None),
])  # fmt: skip
def test_a_faulty_file_is_refused(store, content, name, message, line, field, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.service.store.uploads.BATCH", 1)
    task = a_task(store)
    key = sent(store, task, content, name)
    with pytest.raises(InputError, match=message) as caught:
        import_upload(store, key, received_as_time=True)
    assert (caught.value.line, caught.value.field) == (line, field)
    # It is called by its owner's name; where it lay is the server's.
    assert str(caught.value).startswith(name) and "/" not in caught.value.problem
    assert count_records(store, task.id) == 0
    assert get_upload(store, key).size == len(content)


def test_joined_chunks_need_the_separator_of_the_task(store: Store) -> None:
    content = b"id,question,context\na,b,one.<<sep>>two.<<sep>> \n"
    task = a_task(store)
    with pytest.raises(InputError, match="separator"):
        import_upload(store, sent(store, task, content), received_as_time=True)
    look = preview_upload(store, sent(store, task, content))
    assert "separator" in str(look.problem) and look.samples == []
    cutting = create_task(store, task.project_id, "u", TaskOptions(separator="<<sep>>"))
    key = sent(store, cutting, content)
    assert import_upload(store, key, received_as_time=True) == Ingested(new=1, empty_chunks=1)


@pytest.mark.both_stores
def test_a_file_is_kept_in_parts_and_imported_in_batches(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.service.store.uploads.PART", 100)
    monkeypatch.setattr("ragassay.service.store.uploads.BATCH", 7)
    task = a_task(store)
    content = lines(*({"id": f"r{n}", "query": "?", "timestamp": n} for n in range(40)))
    key = sent(store, task, content, "../../etc/passwd.jsonl")
    with upload_on_disk(store, key) as (upload, path):
        assert path.read_bytes() == content and path.name == "data.jsonl"
        assert upload.file_name == "../../etc/passwd.jsonl"
    assert not path.exists()
    assert import_upload(store, key).new == 40
    monkeypatch.setattr("ragassay.service.store.uploads.MOST_RECORDS", 39)
    with pytest.raises(InputError, match="more than 39 records"):
        import_upload(store, sent(store, task, content, "x.jsonl"))


@pytest.mark.both_stores
def test_a_file_that_was_not_sent_or_whose_task_is_gone_is_not_there(store: Store) -> None:
    task = a_task(store)
    announced = create_upload(store, task.id, "x.csv", {"secret": "s"})
    create_upload(store, task.id, "y.csv")  # deletes none that is young
    with pytest.raises(Conflict, match="announced but not sent"):
        import_upload(store, announced.id)
    with pytest.raises(NotThere):
        fill_upload(store, announced.id, io.BytesIO(b"x"), secret="guess")
    key = sent(store, task, CSV)
    with pytest.raises(NotThere):  # it was announced without a secret: none stands for a token
        fill_upload(store, key, io.BytesIO(b"x"), secret="")
    store.remove(schema.uploads, key)
    kept = sent(store, task, CSV)
    store.remove(schema.tasks, task.id)
    for gone in (key, kept, announced.id):
        with pytest.raises(NotThere):
            get_upload(store, gone)
    with store.reading() as connection:
        parts = connection.exec_driver_sql("SELECT count(*) FROM upload_parts").scalar_one()
    assert parts == 0


@pytest.mark.both_stores
@pytest.mark.parametrize("n_tokens", [0, 2])
def test_a_store_of_the_first_version_is_brought_up_to_date(address: str, n_tokens: int) -> None:
    store = Store(address)
    for n in range(n_tokens):
        create_token(store, f"t{n}", "write")
    task = a_task(store)
    add_records(store, task.id, [Sample(id="old", query="Who KNOWS?")], received=0.0)
    with store.writing() as connection:  # as it was
        kind = "BLOB" if store.is_sqlite else "BYTEA"
        for statement in (
            "DROP TABLE upload_parts", "ALTER TABLE uploads DROP COLUMN size",
            f"ALTER TABLE uploads ADD COLUMN content {kind}",
            "ALTER TABLE records DROP COLUMN search", "ALTER TABLE tokens DROP COLUMN expires",
            "ALTER TABLE tokens DROP COLUMN used", "DROP TABLE closed",
            "ALTER TABLE report_files DROP COLUMN kept", "UPDATE schema_versions SET version = 1",
        ):  # fmt: skip
            connection.exec_driver_sql(statement)
    store.close()
    again = Store(address)
    assert is_closed(again) is (n_tokens > 0) and len(list_tokens(again)) == n_tokens
    _, value = create_token(again, "new", "read")
    assert find_token(again, value) is not None
    assert import_upload(again, sent(again, task, CSV)).new == 2
    found, _ = read_page(again, task.id, text="who knows")
    assert [one.id for one in found] == ["old"]
    with again.writing() as connection:
        connection.exec_driver_sql(f"UPDATE schema_versions SET version = {schema.VERSION + 1}")
    again.close()
    with pytest.raises(UsageError, match="was made by a newer ragassay"):
        Store(address)


def test_a_preview_cuts_long_cells_and_says_what_the_reader_noticed(store: Store) -> None:
    task, trace = a_task(store), {"x": {"y": 1}}
    first = {"name": "1", "question": "Why?", "when": 5.0, "long": "x" * 401, "trace": trace}
    content = gzip.compress(lines(first, {"name": "2", "question": "How?", "long": "y" * 400}))
    key = sent(store, task, content, "X.JSONL.GZ")
    columns = {"id": "name", "timestamp": "when"}
    look = preview_upload(store, key, columns=columns)
    assert [row["long"] for row in look.rows] == [f"{'x' * 400}…", "y" * 400]
    assert look.lacks_times and "question" not in look.unplaced and "name" not in look.unplaced
    done = import_upload(store, key, columns=columns, received_as_time=True)
    assert done.new == 2 and done.notes == look.notes
    assert len(done.notes) == 2 and "'trace'" in done.notes[0]


def test_a_separator_and_a_time_zone_are_named_where_a_file_shows_neither(store: Store) -> None:
    task = a_task(store)
    content = b"query, in full^answer^timestamp\nWhy?^So.^2026-07-01T12:00:00\n"
    content += b"When?^Then.^2026-01-01 12:00:00\nWho?^He.^2026-01-01T12:00:00+05:00\n"
    key = sent(store, task, content, "a.txt")
    columns = {"query": "query, in full"}
    with pytest.raises(UsageError, match="no time zone 'Europe/Berlyn'"):
        preview_upload(store, key, columns=columns, delimiter="^", zone="Europe/Berlyn")
    look = preview_upload(store, key, columns=columns, delimiter="^")
    assert (look.format, look.lacks_zone) == ("csv", True)
    assert preview_upload(store, key, format="jsonl").format == "jsonl"
    assert look.columns == ["query, in full", "answer", "timestamp"]
    reading: Any = {"columns": columns, "delimiter": "^", "zone": "Europe/Berlin"}
    assert not preview_upload(store, key, **reading).lacks_zone
    assert import_upload(store, key, **reading).new == 3
    found = {one.query: one.timestamp for one in read_samples(store, task.id)}
    hours = {query: datetime.fromtimestamp(at or 0, UTC).hour for query, at in found.items()}
    assert hours == {"Why?": 10, "When?": 11, "Who?": 7}, "summer, winter, and a zone of its own"


def test_the_upload_page_offers_the_fields_of_a_record() -> None:
    script = (resources.files("ragassay.service.web") / "assets/upload.js").read_text()
    listed = script.split("fields = [")[1].split("]")[0]
    offered = {*re.findall(r'"(\w+)"', listed)}
    assert offered <= set(field_names.ALIASES)
    assert {"id", "system", "repeat", "query_run", "passage_ids", "gold_ids", "failure"} <= offered


@pytest.mark.usefixtures("forked")
def test_files_come_over_rest_and_from_a_client(tmp_path: Path) -> None:
    pytest.importorskip("httpx2", reason="needs the extra 'client'")
    from ragassay.client.clients import Client
    from ragassay.client.service_shapes import RequestRefused
    from service_process import serving

    path = tmp_path / "data.csv"
    path.write_bytes(CSV)
    with serving(tmp_path / "store") as service:
        url = f"http://127.0.0.1:{service.port}"
        with Client(url) as client:
            task = client.create_task(client.create_project("p").id, "t")
            upload = client.upload_file(task.id, path)
            assert (upload.file_name, upload.size) == ("data.csv", len(CSV))
            assert client.preview_upload(upload.id).placed["query"] == "question"
            look = service.ask("POST", f"uploads/{upload.id}/preview?limit=1", {})
            assert [one["id"] for one in look["samples"]] == ["a"]
            assert client.import_upload(upload.id).new == 2
            path.write_bytes(b"name^Frage^wann\nc^Why, then?^2026-07-01 12:00\nd^How?^\n")
            other = client.upload_file(task.id, path).id
            columns = {"id": "name", "query": "Frage", "timestamp": "wann"}
            reading: dict[str, Any] = {"delimiter": "^", "zone": "Europe/Berlin"}
            look = client.preview_upload(other, columns, **reading)
            assert (look.placed, look.samples[0]["timestamp"]) == (columns, 1782900000.0)
            assert client.import_upload(other, columns, received_as_time=True, **reading).new == 2
            kept = service.ask("GET", f"tasks/{task.id}/records/c")
            assert [one["timestamp"] for one in kept] == [1782900000.0]
            path.write_bytes(CSV.replace(b"2026-11-02T00:00:00Z", b"noon"))
            faulty = client.upload_file(task.id, path)
            with pytest.raises(RequestRefused, match="line 3, field 'timestamp'") as caught:
                client.import_upload(faulty.id)
            assert (caught.value.field, caught.value.line) == ("timestamp", 3)
            client.delete_upload(faulty.id)
            with pytest.raises(RequestRefused, match="There is no upload"):
                client.preview_upload(faulty.id)
            for place, why in (("nothing.csv", "cannot be opened"), (".", "is a folder")):
                with pytest.raises(UsageError, match=why):
                    client.upload_file(task.id, tmp_path / place)


def test_a_line_or_a_cell_that_is_too_long_is_refused(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.service.store.uploads.MOST_READ_WHOLE", 1 << 16)
    task, text = a_task(store), "word\n" * 20_000
    files = {
        "line.jsonl": lines({"id": "1", "answer": text}),
        "cell.csv": f'id,answer\n1,"{text}"\n'.encode(),
    }
    for name, content in files.items():
        key = sent(store, task, content, name)
        with pytest.raises(InputError) as caught:
            import_upload(store, key, received_as_time=True)
        assert caught.value.path == name and preview_upload(store, key).problem
    many = lines(*({"id": str(at), "answer": text[: 1 << 15]} for at in range(5)))
    assert import_upload(store, sent(store, task, many, "m.jsonl"), received_as_time=True).new == 5
