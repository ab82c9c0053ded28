"""What the service keeps: the same on SQLite and on PostgreSQL."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ragassay.base.errors import InputError, UsageError
from ragassay.client.service_shapes import Ingested
from ragassay.service.store import schema
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.jobs import CANCELLED, Queue, cancel_job, get_job, list_jobs, retry_job
from ragassay.service.store.projects import TaskOptions, create_model, create_project, create_task
from ragassay.service.store.records import (
    add_records,
    count_records,
    delete_records,
    read_batch,
    read_page,
    read_samples,
    read_versions,
    time_span,
)
from ragassay.service.store.reports import create_report
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable
from ragassay.service.store.tokens import create_token, find_token, is_closed, list_tokens
from stored_records import SEPARATOR, a_job, a_task, add, item

pytestmark = pytest.mark.both_stores


def test_a_record_that_changes_while_all_are_read_comes_once(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.service.store.records.PAGE", 2)
    task = a_task(store, *(item(n) for n in range(5)))
    found = read_samples(store, task.id)
    read = [next(found)]
    # Of a report that has begun: it has been read, and its new version would be read at the end.
    add(store, task, [item(0, timestamp=2000.0, response="Another answer.")])
    assert [one.id for one in [*read, *found]] == [f"r{n}" for n in range(5)]


def test_names_are_unique_where_they_have_to_be(store: Store) -> None:
    task = a_task(store)
    with pytest.raises(Conflict, match="There is already a project 'project'"):
        create_project(store, "project")
    with pytest.raises(Conflict, match="The project already has a task 'task'"):
        a_task(store)
    other = create_project(store, "other")
    assert create_task(store, other.id, "task", TaskOptions()).id != task.id
    create_model(store, task.id, "m", "1")
    with pytest.raises(Conflict, match="already has m@1"):
        create_model(store, task.id, "m", "1")


def test_a_record_is_stored_once_and_a_changed_one_is_a_new_version(store: Store) -> None:
    task = a_task(store)
    told = {"metadata": {"a": 1, "b": 2}}
    assert add(store, task, [item(1), item(2, **told)]) == Ingested(new=2)
    told["metadata"] = {"b": 2, "a": 1}
    assert add(store, task, [item(1), item(2, **told)]) == Ingested(unchanged=2)
    changed = item(1, response="It is one.")
    assert add(store, task, [changed, item(3)]) == Ingested(new=1, changed=1)
    versions = read_versions(store, task.id, "r1")
    assert [(one.version, one.is_latest) for one in versions] == [(2, True), (1, False)]
    assert versions[0].record["answer"] == "It is one."
    assert versions[1].record["answer"] == "It is 1."
    # What it was before is a version again.
    assert add(store, task, [item(1)]) == Ingested(changed=1)
    assert count_records(store, task.id) == 3
    other = a_task(store, name="other")
    assert add(store, other, [item(1)]) == Ingested(new=1)
    assert delete_records(store, task.id, ["r1"]) == 3
    assert len(read_versions(store, other.id, "r1")) == 1
    with pytest.raises(NotThere):
        read_versions(store, task.id, "r1")
    task = a_task(store, name="several")
    batch = [item(1, system="a"), item(1, system="b"), item(1, system="a", repeat=1)]
    assert add(store, task, batch).new == 3
    page, _ = read_page(store, task.id)
    assert {(one.system, one.repeat) for one in page} == {("a", 0), ("b", 0), ("a", 1)}


def test_empty_chunks_are_counted_and_keep_their_place(store: Store) -> None:
    task = a_task(store)
    done = add(store, task, [item(1, retrieved_context=f"a{SEPARATOR} {SEPARATOR}b{SEPARATOR}")])
    assert (done.new, done.empty_chunks) == (1, 2)
    (sample,) = read_samples(store, task.id)
    assert [one.text for one in sample.passages or ()] == ["a", " ", "b", ""]


@pytest.mark.parametrize("context", ["One.\n\nStill one.", "a<<sep>>b"])
def test_a_context_of_several_chunks_is_a_list_or_the_task_says_how_it_is_read(context) -> None:
    def chunks(context: Any, options: TaskOptions) -> list[str | None]:
        (one,) = read_batch([item(1, retrieved_context=context)], options)
        return [passage.text for passage in one.passages or ()]

    with pytest.raises(InputError, match="single_chunk of the task"):
        chunks(context, TaskOptions())
    assert chunks(["a", "b"], TaskOptions()) == ["a", "b"]
    assert chunks(context, TaskOptions(single_chunk=True)) == [context]
    with pytest.raises(ValueError, match="leave out either"):
        TaskOptions(single_chunk=True, separator="|")


def test_the_interval_holds_both_of_its_ends(store: Store) -> None:
    task = a_task(store, *(item(n) for n in range(10)))
    assert count_records(store, task.id, 1002.0, 1004.0) == 3
    assert create_report(store, task.id, "a moment", 1002.0, 1002.0)[0].from_timestamp == 1002.0
    assert [one.id for one in read_samples(store, task.id, 1002.0, 1004.0)] == ["r2", "r3", "r4"]


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(list(range(25))), size=st.integers(1, 30))
def test_pages_show_each_record_once_in_order(store: Store, order: list[int], size: int) -> None:
    task = a_task(store, name=new_id())
    # Times that are equal do not lose a record between two pages.
    add(store, task, [item(n, timestamp=1000.0 + n // 5) for n in order])
    seen, after = [], None
    while True:
        page, after = read_page(store, task.id, after=after, limit=size)
        seen += page
        assert 0 < len(page) <= size
        if after is None:
            break
    assert len({one.id for one in seen}) == len(seen) == 25
    assert [one.timestamp for one in seen] == sorted((x.timestamp for x in seen), reverse=True)


def test_a_page_can_be_searched_whatever_the_text_holds(store: Store) -> None:
    long = item(3, response=f"{'x' * 499}yz", system="Blue")
    task = a_task(store, item(1), item(2, response="100 % sure_of it"), long)
    for text, found in (
        ("NUMBER 2?", "r2"), ("100 %", "r2"), ("e_o", "r2"), ("e%f", ""), ("s_re", ""), ("zzz", ""),
        ("R1", "r1"), ("blue", "r3"), ("xxy", "r3"), ("xyz", ""), ("WHAT", "r3 r2 r1"),
    ):  # fmt: skip
        assert [one.id for one in read_page(store, task.id, text=text)[0]] == found.split(), text
    page, after = read_page(store, task.id, text="what", start=1002.0, end=1002.0)
    assert [one.id for one in page] == ["r2"] and after is None


def test_a_record_without_a_time_has_that_of_its_first_receipt(store: Store) -> None:
    task = a_task(store)
    batch = read_batch([{"id": "a", "user_input": "Why?"}], task.options)
    assert add_records(store, task.id, batch, received=50.0) == Ingested(new=1)
    assert add_records(store, task.id, batch, received=60.0) == Ingested(unchanged=1)
    twice = [read_batch([item(1, response=said)], task.options)[0] for said in ("So.", "Last.")]
    assert add_records(store, task.id, twice) == Ingested(new=1, unchanged=1)
    page, _ = read_page(store, task.id)
    assert [(one.id, one.timestamp) for one in page] == [("r1", 1001.0), ("a", 50.0)]
    assert page[0].record["answer"] == "Last." and time_span(store, task.id) == (50.0, 1001.0)


def test_writers_side_by_side_lose_and_double_nothing(store: Store) -> None:
    task = a_task(store)

    def write(worker: int) -> int:
        # Each writes its own records and some that all write.
        new = 0
        for at in range(5):
            mine = [item(1000 * worker + 10 * at + n) for n in range(10)]
            new += add(store, task, [*mine, item(9_000_000 + at)]).new
        return new

    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(write, range(1, 7)))
    assert sum(counts) == count_records(store, task.id) == 6 * 50 + 5


@pytest.mark.parametrize(("start", "end", "options", "message"), [
    (2.0, 1.0, {}, "ends before it begins"), (1.0, 2.0, {}, "has no record from 1970-01-01"),
    (float("nan"), 2.0, {}, "not a time"), (0.0, 1e9, {"sute": "qa"}, "Did you mean 'suite'"),
    (0.0, 1.8e12, {}, "not milliseconds"),
    (0.0, 1e9, {"level": 3}, "level"), (0.0, 1e9, {"output": "/etc"}, "no option 'output'"),
    (0.0, 1e9, {"key_file": "/etc/shadow"}, "no option 'key_file'"),
    (0.0, 1e9, {"rubric": ["/etc/shadow"]}, "no option 'rubric'"),
    *((0.0, 1e9, {name: "x"}, f"no option '{name}'") for name in (
        "data", "models", "from_timestamp", "to_timestamp", "separator", "single_chunk", "columns",
        "format", "judge_name", "key_variable", "retry_failed",
    )),
])  # fmt: skip
def test_an_impossible_report_is_refused(store: Store, start: float, end, options, message) -> None:
    task = a_task(store, item(1))
    with pytest.raises(UsageError, match=message):
        create_report(store, task.id, "x", start, end, options)


def test_workers_never_take_one_job_twice(store: Store) -> None:
    keys = {a_job(store, str(n)) for n in range(12)}
    taken: list[str] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        queue = Queue(store, f"worker{number}")
        while (job := queue.take()) is not None:
            with lock:
                taken.append(job.id)
            with store.writing() as connection:
                assert queue.end(connection, job.id)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(work, range(5)))
    assert sorted(taken) == sorted(keys)
    assert {one.status for one in list_jobs(store)} == {"completed"}


def test_jobs_are_taken_and_listed_oldest_first(store: Store) -> None:
    keys = [a_job(store, str(n)) for n in range(3)]
    assert [one.id for one in list_jobs(store)] == keys
    taken = [Queue(store, str(n)).take() for n in range(4)]
    assert [one and one.id for one in taken] == [*keys, None]
    assert [one.id for one in list_jobs(store, status="starting", key=keys[1])] == keys[1:2]
    assert list_jobs(store, status="idle") == list_jobs(store, project_id="other") == []


def test_a_job_of_a_dead_worker_is_taken_over_and_of_a_living_one_is_not(store: Store) -> None:
    key = a_job(store)
    first, second = Queue(store, "first", lease=0.0), Queue(store, "second", lease=1e9)
    assert first.take() is not None
    assert second.take() is None and second.take() is None
    assert first.beat(key)
    heir = Queue(store, "heir", lease=0.0)
    assert (job := heir.take()) is not None and job.attempts == 2
    # The first one may live after all, and notices.
    assert not first.beat(key)
    with store.writing() as connection:
        assert not first.end(connection, key)
        assert heir.end(connection, key)
    assert get_job(store, key).status == "completed"


def test_a_beat_that_moves_keeps_a_lease_whatever_the_time_of_day(store, monkeypatch) -> None:
    key = a_job(store)
    now = [0.0]
    monkeypatch.setattr("ragassay.service.store.jobs.time.monotonic", lambda: now[0])
    first, second = Queue(store, "first", lease=30.0), Queue(store, "second", lease=30.0)
    assert first.take() is not None
    for _ in range(5):  # two clocks that run apart do not matter: only beats count
        assert second.take() is None
        now[0] += 29.0
        monkeypatch.setattr("ragassay.service.store.jobs.time.time", lambda: -1e6)
        assert first.beat(key)
    assert second.take() is None
    now[0] += 30.0
    assert second.take() is not None


def test_a_job_whose_worker_did_not_learn_that_it_has_it_is_taken_again(store, monkeypatch) -> None:
    key = a_job(store)
    queue = Queue(store, "worker")
    unreachable = Mock(side_effect=StoreUnavailable("It restarts."))
    with monkeypatch.context() as patched:
        patched.setattr("ragassay.service.store.jobs.get_job", unreachable)
        with pytest.raises(StoreUnavailable):
            queue.take()
    assert get_job(store, key).status == "starting"
    assert Queue(store, "another").take() is None
    assert (job := queue.take()) is not None and job.id == key


def test_a_job_that_kills_its_workers_fails_in_the_end(store: Store) -> None:
    key = a_job(store)
    for number in range(5):
        assert Queue(store, f"worker{number}", lease=0.0).take() is not None
    assert Queue(store, "last", lease=0.0).take() is None
    job = get_job(store, key)
    assert job.status == "error" and "started 5 times" in str(job.error)
    retry_job(store, key)  # its attempts are counted anew
    assert Queue(store, "next").take() is not None


def test_a_job_that_two_try_again_at_once_is_not_taken_from_its_worker(store, monkeypatch) -> None:
    key, queue = a_job(store), Queue(store, "worker")
    failed = cancel_job(store, key)
    retry_job(store, key)
    assert queue.take() is not None
    # The second one looked before the first one was through.
    monkeypatch.setattr("ragassay.service.store.jobs.get_job", lambda *_: failed)
    with pytest.raises(Conflict):
        retry_job(store, key)
    assert queue.beat(key)


def test_jobs_are_cancelled_and_tried_again(store: Store) -> None:
    key = a_job(store)
    assert (ended := cancel_job(store, key)).status == "error" and ended.error == CANCELLED
    assert Queue(store, "idle").take() is None
    with pytest.raises(Conflict, match="has ended"):
        cancel_job(store, key)
    again = retry_job(store, key)
    assert (again.status, again.error, again.arguments) == ("idle", None, {"retry_failed": True})
    with pytest.raises(Conflict, match="this one is idle"):
        retry_job(store, key)
    queue = Queue(store, "worker")
    assert queue.take() is not None and queue.beat(key)
    assert cancel_job(store, key).status == "starting"
    assert not queue.beat(key)
    queue.give_back(key)
    assert get_job(store, key).status == "idle"


def test_tokens_are_kept_as_hashes_and_bound_to_what_they_may(store: Store) -> None:
    task = a_task(store)
    reader, value = create_token(store, "reader", "read", task.project_id)
    writer, other = create_token(store, "writer", "write")
    assert find_token(store, value) == reader and find_token(store, other) == writer
    assert all(one.used is not None and one.used >= one.created for one in list_tokens(store))
    for used, again in ((1000.0, True), (time.time() - 30.0, False)):
        with store.writing() as connection:
            connection.exec_driver_sql(f"UPDATE tokens SET used = {used}")
        assert find_token(store, value)
        (last,) = [one.used for one in list_tokens(store) if one.id == reader.id]
        assert (last != used) is again, "the last use, to the minute"
    assert find_token(store, value + "x") is None
    assert reader.may("read", task.project_id) and not reader.may("write", task.project_id)
    assert not reader.may("read", "other") and not reader.may("read", None)
    assert writer.may("write", None) and writer.may("read", task.project_id)
    with store.reading() as connection:
        row = connection.exec_driver_sql("SELECT * FROM tokens").all()
    assert value not in str(row) and other not in str(row)
    store.remove(schema.tokens, reader.id)
    assert find_token(store, value) is None
    assert [one.id for one in list_tokens(store)] == [writer.id]
    with pytest.raises(NotThere):
        store.remove(schema.tokens, reader.id)
    with pytest.raises(NotThere):
        create_token(store, "x", "read", "nowhere")


def test_a_token_expires(store: Store) -> None:
    now = time.time()
    old, gone = create_token(store, "old", "write", expires=now - 1.0)
    _, there = create_token(store, "new", "write", expires=now + 1e6)
    assert [find_token(store, one).is_over for one in (gone, there)] == [True, False]  # type: ignore[union-attr]
    assert [one.is_over for one in list_tokens(store)] == [True, False]
    assert list_tokens(store)[0].id == old.id and list_tokens(store)[0].used is None


def test_a_store_that_had_a_token_stays_closed(store: Store) -> None:
    assert not is_closed(store)
    project = create_project(store, "p")
    create_token(store, "t", "write", project.id)
    store.remove(schema.projects, project.id)
    assert list_tokens(store) == [] and is_closed(store)


def test_what_a_folder_keeps_is_its_owners(tmp_path: Path) -> None:
    store = Store(tmp_path / "made")
    create_project(store, "p")
    with store.reading() as connection:
        asked = [f"PRAGMA {name}" for name in ("synchronous", "journal_mode", "foreign_keys")]
        told = [connection.exec_driver_sql(one).scalar_one() for one in asked]
    assert told == [2, "wal", 1], "what is acknowledged is on the disk"
    modes = {one.name: one.stat().st_mode & 0o777 for one in (tmp_path / "made").iterdir()}
    store.close()
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600} and "ragassay.sqlite" in modes
