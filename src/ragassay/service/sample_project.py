"""A project with the bundled example in it: something to look at."""

from __future__ import annotations

from dataclasses import replace

from ragassay.examples import SYSTEMS, path_of
from ragassay.formats import read
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Job
from ragassay.service.store.projects import TaskOptions, create_project, create_task, list_projects
from ragassay.service.store.records import add_records
from ragassay.service.store.reports import create_report

NAME = "sample"
START = 1_761_955_200.0
"""2025-11-01 00:00 UTC: the first record's time. The example has none of its own."""
APART_S = 3_600.0


def create_sample(store: Store) -> list[Job]:
    """Makes the project ``sample`` of the bundled example, where there is none of this name: the
    records of two systems, and a report of each by the offline judge; the jobs that compute
    them."""
    if any(item.name == NAME for item in list_projects(store)):
        return []
    project = create_project(store, NAME, "A small town's documents; everything is invented.")
    task = create_task(store, project.id, "town guide", TaskOptions(language="en"))
    jobs = []
    for system in reversed(SYSTEMS):  # the new one last
        samples = [
            replace(sample, timestamp=START + APART_S * number)
            for number, sample in enumerate(read(path_of(system)))
        ]
        add_records(store, task.id, samples)
        end = START + APART_S * len(samples)
        options = {"suite": ["rag"], "where": [f"system={system}"]}
        _, job = create_report(store, task.id, system, START, end, options)
        jobs.append(job)
    return jobs
