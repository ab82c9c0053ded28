"""Prints the lowest versions that pyproject.toml allows, as requirements: ``numpy==2.0`` ..."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
wanted = [*project["dependencies"]]
for extra in sys.argv[1:]:
    wanted += project["optional-dependencies"][extra]
print("\n".join(re.sub(r">=", "==", one.split(",")[0]) for one in wanted))
