"""Tab-separated text with a header and known column names."""

from __future__ import annotations

from dataclasses import replace

from ragassay.formats import csv
from ragassay.formats.format import NO, Head


def _sniff(head: Head) -> int:
    return csv.FORMAT.sniff(head) if b"\t" in head.start.split(b"\n", 1)[0] else NO


FORMAT = replace(
    csv.FORMAT,
    name="tsv",
    title="Tab-separated text with a header and known column names",
    suffixes=(".tsv",),
    sniff=_sniff,
)
