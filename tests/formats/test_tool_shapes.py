"""Every shape of files of other tools, as their documentation has it, and the samples it gives.

The folder ``shapes`` has a file a format. A case is a file (``records`` of JSON Lines, one JSON
``record``, or ``text``), the options it is read with, and its samples as our own format has them.
``--approve`` writes what is read now: look at each sample that changed.
"""

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

import ragassay
from ragassay.base.errors import RagassayError
from ragassay.formats import Notes, detect, load, to_record

SHAPES = Path(__file__).parent / "shapes"
CASES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(SHAPES.glob("*.yaml"))}


def export(folder: Path, case: dict[str, Any]) -> Path:
    """The file of a case."""
    path = folder / str(case["file"])
    content = case.get("text")
    if content is None:
        records = case["records"] if "records" in case else [case["record"]]
        content = "".join(json.dumps(one) + "\n" for one in records)
    path.write_text(content, encoding="utf-8")
    return path


def samples(path: Path, case: dict[str, Any]) -> list[Any]:
    found = load(path, notes=Notes(), **case.get("options", {}))
    return json.loads(json.dumps([to_record(one) for one in found]))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, cases in CASES.items() for at in range(len(cases))]
)
def test_a_shape_is_recognised_and_read(name: str, at: int, tmp_path, pytestconfig: Any) -> None:
    case = CASES[name][at]
    path = export(tmp_path, case)
    assert detect(path).name == name, case["case"]
    found = samples(path, case)
    if pytestconfig.getoption("approve") and found != case["samples"]:
        case["samples"] = found
        written = yaml.safe_dump(
            CASES[name], sort_keys=False, allow_unicode=True, width=118, default_flow_style=None
        )
        (SHAPES / f"{name}.yaml").write_text(written)
    assert found == case["samples"], case["case"]


def test_what_a_request_took_is_scored(tmp_path: Path) -> None:
    (case,) = (one for one in CASES["otlp"] if one["case"] == "what a request took is read")
    found = ragassay.evaluate(export(tmp_path, case), "serving").summary.metrics
    assert found["latency"].mean == 2.5 and found["cost"].mean == 0.25


JUNK = st.sampled_from([None, 3, 0.5, True, "x", "", [], {}, [1], ["x"], {"a": 1}, [None], [[]]])
RECORDS = [one["records"] for cases in CASES.values() for one in cases if "records" in one]


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return [above]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [above, *(place for key, one in inner for place in places(one, (*above, key)))]


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_export_of_another_shape_is_read_or_refused(tmp_path: Path, data: Any) -> None:
    records = copy.deepcopy(data.draw(st.sampled_from(RECORDS)))
    for _ in range(data.draw(st.integers(1, 2))):
        *above, last = data.draw(st.sampled_from([one for one in places(records) if one]))
        inner = records
        for key in above:
            inner = inner[key]
        inner[last] = copy.deepcopy(data.draw(JUNK))
    path = export(tmp_path, {"file": "a.jsonl", "records": records})
    with contextlib.suppress(RagassayError):
        load(path, notes=Notes(), passages_from=data.draw(st.sampled_from(["retrieval", "tools"])))
