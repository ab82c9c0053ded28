"""``ragassay golden``: golden sets, from a file of questions to a set that people trust."""

from __future__ import annotations

from cyclopts import App

from ragassay.cli.golden.anchor_command import anchor
from ragassay.cli.golden.check_command import check
from ragassay.cli.golden.diff_command import diff
from ragassay.cli.golden.export_command import export
from ragassay.cli.golden.import_command import import_
from ragassay.cli.golden.isolate_command import isolate
from ragassay.cli.golden.parts_commands import sample, split
from ragassay.cli.golden.review_command import agreement, review
from ragassay.cli.golden.synthesize_command import synthesize

golden = App(
    name="golden",
    help="""Make and look after golden sets.

A golden set is a folder: queries with references and gold spans, a line each, and the documents in
which the spans stand. `ragassay run ANSWERS --golden DIR` scores a system by it.

```sh
ragassay golden import questions.jsonl --documents docs -o golden
ragassay golden anchor golden
ragassay golden split golden --into dev=0.5,test=0.5
```
""",
    help_format="markdown",
)
golden.command(import_, name="import")
_COMMANDS = (anchor, diff, sample, split, export, check, isolate, review, agreement, synthesize)
for _command in _COMMANDS:
    golden.command(_command)
