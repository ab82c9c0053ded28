"""Checks, from inside a fresh environment, that the core install stays small.

Run as a script by .ci/run: it needs an environment that holds nothing but ragassay.
"""

from __future__ import annotations

import importlib.metadata
import sys
import sysconfig
from pathlib import Path

MAX_DISTRIBUTIONS, MAX_MIB = 35, 320
NEVER = {"torch", "scipy", "pandas", "matplotlib", "langchain", "transformers", "scikit-learn"}
SETUP = {"pip", "setuptools", "wheel"}

names = {d.metadata["Name"].casefold() for d in importlib.metadata.distributions()} - SETUP
site = Path(sysconfig.get_path("purelib"))
size = sum(
    path.stat().st_size
    for path in site.rglob("*")
    if path.is_file()
    and "__pycache__" not in path.parts
    and path.relative_to(site).parts[0].split("-")[0] not in SETUP
)
print(f"{len(names)} distributions, {size / 2**20:.0f} MiB without bytecode")
if len(names) > MAX_DISTRIBUTIONS or size > MAX_MIB * 2**20 or names & NEVER:
    sys.exit(f"the core install is too large: {sorted(names)}")
