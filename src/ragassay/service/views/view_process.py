"""Makes a view in a process of its own: a long one must not hold the server up.

``python -m ragassay.service.views.view_process FOLDER REPORT FACTS`` exits with 2 where FOLDER
holds no run folder, and says why. FACTS is JSON (see `ragassay.service.store.report_facts`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ragassay.errors import RagassayError
from ragassay.service.views.report_view import build_view


def main(folder: str, report: str, facts: str) -> int:
    """Makes the view; the exit code.

    Args:
        folder: of the view.
        report: its id.
        facts: JSON.
    """
    try:
        build_view(Path(folder), report, json.loads(facts))
    except RagassayError as error:
        sys.stderr.write(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
