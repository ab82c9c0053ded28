"""Every shape of files of other tools, as their documentation has it, and the samples it gives.

The folder ``shapes`` has a file a format. A case is a file (``records`` of JSON Lines, one JSON
``record``, or ``text``), the options it is read with, and its samples as our own format has them.
``--approve`` writes what is read now: look at each sample that changed.
"""

from __future__ import annotations

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


def written(folder: Path, case: dict[str, Any]) -> Path:
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
def test_a_shape_is_recognised_and_read(
    name: str, at: int, tmp_path: Path, pytestconfig: Any
) -> None:
    case = CASES[name][at]
    path = written(tmp_path, case)
    assert detect(path).name == name, case["case"]
    found = samples(path, case)
    if pytestconfig.getoption("approve") and found != case["samples"]:
        case["samples"] = found
        dump(SHAPES / f"{name}.yaml", CASES[name])
    assert found == case["samples"], case["case"]


def test_what_a_request_took_is_scored(tmp_path: Path) -> None:
    (case,) = (one for one in CASES["otlp"] if one["case"] == "what a request took is read")
    found = ragassay.evaluate(written(tmp_path, case), "serving").summary.metrics
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
    path = written(tmp_path, {"file": "a.jsonl", "records": records})
    with contextlib.suppress(RagassayError):
        load(path, notes=Notes(), passages_from=data.draw(st.sampled_from(["retrieval", "tools"])))


class Written(yaml.SafeDumper):
    """A record or sample a line, as far as it fits."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_flow(self, data: dict[str, Any]) -> yaml.Node:
        return self.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)


class Flow(dict[str, Any]):
    """An object in braces."""


Written.add_representer(Flow, Written.represent_flow)


def dump(path: Path, cases: list[dict[str, Any]]) -> None:
    """Writes the cases of a format."""
    lists = ("records", "samples")
    flat = [
        {
            key: [Flow(each) if isinstance(each, dict) else each for each in value]
            if key in lists
            else Flow(value)
            if isinstance(value, dict)
            else value
            for key, value in one.items()
        }
        for one in cases
    ]
    path.write_text(yaml.dump(flat, Dumper=Written, sort_keys=False, allow_unicode=True, width=118))
