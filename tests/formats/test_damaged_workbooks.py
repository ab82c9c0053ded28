"""Any damage of a workbook is one error, in every reader of workbooks."""

import io
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ragassay import InputError, formats
from ragassay.formats import table_files, to_record
from ragassay.review.review_sheets import cells_of

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'excel'")
xlsxwriter = pytest.importorskip("xlsxwriter", reason="needs the extra 'excel'")

Change = Callable[[random.Random, bytes], bytes]


def by_openpyxl() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["id", "query", "answer", "when", "share", "references"])
    for n in range(5):
        row = [n, f"Who wrote book {n}?", f"Ann {n} did.", date(2024, 1, n + 1), n / 4]
        sheet.append(row)
    sheet["E2"].number_format = "0.0%"
    sheet["F2"] = '="a"&"b"'
    book.create_sheet("second").append(["x", "y"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def by_xlsxwriter() -> bytes:
    """With the texts in a part of their own, as Excel writes them."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet("answers")
        for n, row in enumerate(
            [["id", "query", "answer"], [1, "Who?", "She."], [2, "When?", "In"]]
        ):
            sheet.write_row(n, 0, row)
    return file.getvalue()


def packed(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The workbook with its members changed; ``None`` removes one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if (content := change(name, old.read(name))) is not None:
                new.writestr(name, content)
    return out.getvalue()


def one_member(rng: random.Random, data: bytes, change: Callable[[bytes], bytes | None]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        chosen = rng.choice(archive.namelist())
    return packed(data, lambda name, content: change(content) if name == chosen else content)


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def flipped(rng: random.Random, data: bytes) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice([1, 3, 20])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def lacking(rng: random.Random, data: bytes) -> bytes:
    return one_member(rng, data, lambda content: None)


def unlike(rng: random.Random, data: bytes) -> bytes:
    return one_member(rng, data, lambda content: flipped(rng, content))


def broken(rng: random.Random, data: bytes) -> bytes:
    """A number, a tag or an attribute of the XML is lost or becomes another, or it is cut."""

    def change(content: bytes) -> bytes:
        text = content.decode()
        spots = [*re.finditer(r'\d+| [\w:]+="[^"]*"|<[^>]+>', text)]
        if not spots or rng.random() < 0.2:
            return text[: rng.randrange(len(text) + 1)].encode()
        spot = rng.choice(spots)
        put = rng.choice(["", "-1", "99999999999", "abc", "NaN", "<", "&", "\0", "<a>"])
        return f"{text[: spot.start()]}{put}{text[spot.end() :]}".encode()

    return one_member(rng, data, change)


def records(path: Path) -> list[Any]:
    return [to_record(one) for one in formats.read(path)]


READERS: list[Callable[[Path], list[Any]]] = [
    records,
    lambda path: [*table_files.guarded_rows(cells_of(path), path)],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS, ids=["samples", "sheet"])
@pytest.mark.parametrize("damage", [cut, flipped, lacking, unlike, broken])
@pytest.mark.parametrize("made", [by_openpyxl, by_xlsxwriter])
def test_a_damaged_workbook_is_read_as_it_was_or_is_one_error(
    tmp_path: Path, made: Callable[[], bytes], damage: Change, reader: Callable[[Path], list[Any]]
) -> None:
    path, data, rng = tmp_path / "book.xlsx", made(), random.Random(7)
    path.write_bytes(data)
    right, wrong = reader(path), 0
    for _ in range(60):
        path.write_bytes(damage(rng, data))
        try:
            found = reader(path)
        except InputError as error:
            wrong += 1
            said = str(error)
            assert str(path) in said and "\n" not in said and len(said) < 500, said
        else:
            # What is well-formed may say something else.
            assert found == right or damage in (broken, unlike)
    assert wrong > 8


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/worksheets/sheet1.xml"])
def test_a_part_without_which_values_would_be_others_is_missed(tmp_path: Path, part: str) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(packed(by_openpyxl(), lambda name, content: None if name == part else content))
    with pytest.raises(InputError, match=f"its part {part} is missing"):
        records(path)


@pytest.mark.parametrize("error", [NotImplementedError("x"), RecursionError(), OSError(22, "no")])
def test_whatever_a_library_raises_is_the_one_error(tmp_path: Path, error: Exception) -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise error

    found = table_files.guarded_rows(rows(), tmp_path / "book.xlsx")
    assert next(found) == 1
    with pytest.raises(InputError, match=r"book\.xlsx: this is not a readable XLSX file"):
        next(found)
