"""What a user's own code is known by."""

import hashlib
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.user_code.code_sources import (
    _imported_names,
    is_as_written,
    is_defined_once,
    is_of_python,
    own_classes,
    source_of,
)
from ragassay.user_code.object_loading import has_module

FILES = {
    "desk_app/__init__.py": "",
    "desk_app/answers.py": "import json\nfrom .store import words\nfrom . import tone\n"
    "def answer(query):\n    from desk_lazy import late\n    return words() + late.LATE\n",
    "desk_app/store.py": "import desk_shared.texts as t\ndef words():\n    return t.WORDS\n",
    "desk_app/tone.py": "MILD = True\n", "desk_app/unused.py": "WORDS = 'unused'\n",
    "desk_shared/texts.py": "WORDS = 'words'\n",
    "desk_lazy/__init__.py": "", "desk_lazy/late.py": "LATE = ''\n",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def answer(home: Path) -> Any:
    for name in [one for one in sys.modules if one.startswith("desk_")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    return importlib.import_module("desk_app.answers").answer


def test_code_is_known_by_what_it_imports_at_whatever_depth(home: Path, answer: Any) -> None:
    before = source_of(answer)
    (home / "desk_app/unused.py").write_text("WORDS = 'other'\n")
    assert source_of(answer) == before
    seen = {before}
    for name in FILES.keys() - {"desk_app/unused.py"}:
        (home / name).write_text(FILES[name] + "# edited\n")
        seen.add(source_of(answer))
    assert len(seen) == len(FILES)
    # Reading imports runs none.
    assert "desk_lazy" not in sys.modules


def test_a_relative_import_is_of_the_package_at_its_level() -> None:
    source = b"from ..x import y\nfrom . import z\nimport p.q\nfrom ...m import n"
    found = _imported_names("a.b.c.d", Path("d.py"), source)
    within = {"a", "a.b", "a.b.c", "a.b.c.d", "a.b.c.z", "a.b.x", "a.b.x.y", "a.m", "a.m.n"}
    assert found == {*within, "p", "p.q"}
    assert _imported_names("a.b", Path("__init__.py"), b"from .z import w") == {
        "a", "a.b", "a.b.z", "a.b.z.w",
    }  # fmt: skip


def test_what_is_loaded_beside_it_changes_nothing(home: Path, answer: Any) -> None:
    before = source_of(answer)
    answer("a question")
    importlib.import_module("desk_app.unused")
    assert "desk_lazy.late" in sys.modules and source_of(answer) == before


def test_an_object_is_known_by_its_class_and_the_module_that_makes_it(home, answer: Any) -> None:
    (home / "desk_made.py").write_text("from desk_app import tone\nsystem = {'mild': tone.MILD}\n")
    made = importlib.import_module("desk_made").system
    alone, before = source_of(made), source_of(made, "desk_made:system")
    (home / "desk_app/tone.py").write_text("MILD = False\n")
    assert alone == "" and before and source_of(made, "desk_made:system") != before


def test_installed_packages_and_python_do_not_count(home: Path, answer: Any) -> None:
    (home / "desk_link.py").symlink_to(pytest.__file__)
    text = "import orjson, json, ragassay.base.sample, desk_link\ndef f(): pass\n"
    (home / "desk_libs.py").write_text(text)
    (home / "desk_bare.py").write_text("def f(): pass\n")
    libs, bare = (importlib.import_module(one).f for one in ("desk_libs", "desk_bare"))
    (home / "desk_bare.py").write_bytes((home / "desk_libs.py").read_bytes())
    assert source_of(libs) == source_of(bare) == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert source_of(importlib.import_module) and is_of_python(Path("/usr/dist-packages/a.py"))
    own = type("Own", (importlib.import_module("json").JSONDecoder,), {"__module__": "desk_bare"})
    assert own_classes(type("Owner", (own,), {"__module__": "desk_bare"}))[1:] == [own]


def test_imports_that_lead_nowhere_or_in_circles_end(home: Path, answer: Any) -> None:
    (home / "desk_round.py").write_text("def f(): pass\nimport desk_back\n")
    (home / "desk_back.py").write_text("import desk_round, desk_nowhere.at_all\n")
    (home / "desk_nowhere.py").write_text("from .... import above\n")
    (home / "desk_wrong.py").write_text("def (\n")
    sys.modules.pop("desk_back", None)
    try:
        found = importlib.import_module("desk_round")
    except ImportError:
        found = None
    assert found is None
    (home / "desk_back.py").write_text("import desk_round\n")
    found = importlib.import_module("desk_round")
    before = source_of(found.f)
    (home / "desk_back.py").write_text("import desk_round, desk_nowhere.at_all, desk_wrong\n")
    assert source_of(found.f) not in ("", before)


def test_a_module_is_found_here_wherever_code_is_looked_for(home: Path, monkeypatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in (str(home), "")])
    found = [has_module(word) for word in (" desk_app.answers:answer", "json:x", "desk_gone:x")]
    assert found == [True, True, False] and str(home) not in sys.path


def test_an_import_that_was_edited_after_it_was_loaded_is_told(home: Path, answer: Any) -> None:
    assert is_as_written(answer)
    (home / "desk_shared/texts.py").write_text("WORDS = 'others'\ndef f(): return 1\n")
    assert is_as_written(answer)  # what it runs in place of it cannot be told from values
    (home / "desk_app/store.py").write_text("def words():\n    return 'others'\n")
    assert not is_as_written(answer)
    shape = "class A:\n    @property\n    def f(self): return {}\n\ndef f(): pass\n"
    (home / "desk_shape.py").write_text(shape.format(1))
    made = importlib.import_module("desk_shape")
    assert is_as_written(made.A) and is_defined_once(made.f), "that of a class is another one"
    (home / "desk_shape.py").write_text(shape.format(2))
    assert not is_as_written(made.A) and not is_as_written(made.f)
