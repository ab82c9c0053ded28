"""Drives ML cube's published client through its whole life; run in an environment of its own.

``python published_mlcube_client.py URL FOLDER`` prints what it saw as JSON. The client is a program
that talks to ours over HTTP; nothing of it is imported elsewhere.
"""

import csv
import json
import sys
from pathlib import Path


def main(url: str, folder: Path) -> None:
    from ml3_platform_sdk.client import ML3PlatformClient
    from ml3_platform_sdk.enums import (
        ColumnRole,
        ColumnSubRole,
        DataStructure,
        DataType,
        FileType,
        StoragePolicy,
        TaskType,
        TextLanguage,
    )
    from ml3_platform_sdk.models import ColumnInfo, DataSchema, LocalDataSource, TextData

    client = ML3PlatformClient(url, "any-key")
    project = client.create_project("support", "a test", StoragePolicy.MLCUBE)
    task = client.create_task(
        project, "bot", [], TaskType.RAG, DataStructure.TEXT, optional_target=True,
        text_language=TextLanguage.ENGLISH, rag_contexts_separator="<<sep>>",
        llm_default_answer="I do not know.", multi_turn=False,
    )  # fmt: skip
    columns = [
        ("sample", ColumnRole.ID, DataType.STRING, None),
        ("when", ColumnRole.TIME_ID, DataType.FLOAT, None),
        ("question", ColumnRole.INPUT, DataType.STRING, ColumnSubRole.RAG_USER_INPUT),
        ("chunks", ColumnRole.INPUT, DataType.STRING, ColumnSubRole.RAG_RETRIEVED_CONTEXT),
    ]
    schema = DataSchema(
        columns=[
            ColumnInfo(name=name, role=role, is_nullable=False, data_type=kind, subrole=subrole)
            for name, role, kind, subrole in columns
        ]
    )
    client.add_data_schema(task, schema)
    model = client.create_model(task, "gpt", "v1", False, None)
    inputs, answers = folder / "inputs.csv", folder / "answers.csv"
    with inputs.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow([name for name, *_ in columns])
        for n in range(3):
            rows.writerow(
                [f"s{n}", 1000.0 + n, "How many ECTS has it?", "It has 180 ECTS.<<sep>>No."]
            )
    with answers.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["sample", "when", "gpt@v1"])
        for n in range(3):
            rows.writerow([f"s{n}", 1000.0 + n, f"It has 180 ECTS, {n}."])

    def data(path: Path) -> TextData:
        source = LocalDataSource(file_type=FileType.CSV, is_folder=False, file_path=str(path))
        return TextData(source=source)

    sent = client.add_production_data(
        task, inputs=data(inputs), predictions=[(model, data(answers))]
    )
    client.wait_job_completion(sent)
    job = client.compute_rag_evaluation_report(task, "november", 1000.0, 2000.0)
    client.wait_job_completion(job)
    reports = client.get_rag_evaluation_reports(task)
    (folder / "out").mkdir()
    client.export_rag_evaluation_report(reports[-1].id, str(folder / "out"), "report")
    refused = ""
    try:
        client.create_task(project, "other", [], TaskType.REGRESSION, DataStructure.TABULAR)
    except Exception as error:
        refused = f"{error!r} {vars(error)}"
    print(  # noqa: T201
        json.dumps(
            {
                "projects": [one.name for one in client.get_projects()],
                "tasks": [one.name for one in client.get_tasks(project)],
                "models": [f"{one.name}@{one.version}" for one in client.get_models(task)],
                "columns": [one.name for one in client.get_data_schema(task).columns],
                "jobs": [
                    str(getattr(one.status, "value", one.status))
                    for one in client.get_jobs(task_id=task)
                ],
                "reports": [
                    [one.name, str(getattr(one.status, "value", one.status))] for one in reports
                ],
                "from": reports[-1].from_datetime.timestamp(),
                "refused": refused,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
