"""Lists and objects that texts hold: as JSON, or as Python prints them; and the prints of objects
and arrays, which are no text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from contextlib import suppress
from typing import Any

import orjson

from ragassay.base.errors import InputError
from ragassay.formats.format_words import wrong
from ragassay.formats.sources.json_values import refuse_repeats

_LIST_CELL = re.compile(r"\s*\[\s*([\"'{\]]|\[\s*[\"'\]]|-?\d+\s*[,\]]|(?:None|nan|null)\s*[,\]])")
_OBJECT_CELL = re.compile(r"\s*\{\s*[\"'}]")
_PRINTED = re.compile(
    r"""\s*(?:
        \[\s*-?\d[\d.]*(?:\s+-?\d[\d.]*)+\s*\]  # [1 2 3]
        | \[?\s*array\(\s*\[.*\)\s*\]?          # array(['a'], dtype=object), a list of them
        | \[\s*np\.\w+\(.*\)\s*\]               # [np.str_('a'), np.str_('b')]
        | \(\s*['"].*['"]\s*,?\s*\)              # ('a', 'b')
    )\s*""",
    re.DOTALL | re.VERBOSE,
)
_CALL = r"(?:[\[(][\[(\s]*)?(?:\w+\.)*[A-Z]\w*\(\s*"
_END = r"(?:.*(?:\)\s*\]?|(?:\.\.\.|…)\s*\]?)|[^)]*)"  # closed, or cut off
_OBJECTS = rf"""
    {_CALL}(?:[a-z_]\w*[=:].*\b)?(?:(?:page_)?content|metadata|response)[=:]{_END}
    | (?:page_)?content=(['"]).*\1\s+\w+=.*          # a document or message of LangChain
    | Node\ ID:\ [-\w]+\nText:.*                   # a node of LlamaIndex
    | .*\ndtype:\ \w+|.*\nName:\ .*,\ dtype:\ \w+  # a column of pandas
    | (?:\[\s*)?(?:<[\w.]+\ object\b[^<>]*\ at\ 0x[0-9a-fA-F]+>(?:,\s*)?)+\]?
"""
_OBJECT = re.compile(rf"\s*(?:{_OBJECTS})\s*", re.DOTALL | re.VERBOSE)
"""The prints of objects that hold a text, and of any whose class prints no more than its name."""
_ANY_OBJECT = re.compile(
    rf"\s*(?:{_OBJECTS} | {_CALL}[a-z_]\w*[=:](?!=){_END} | (?:\[\s*)?<[A-Z]\w*:\ .*>\s*\]?)\s*",
    re.DOTALL | re.VERBOSE,
)
"""The prints of any object, which code that is an answer looks like, too: ``Point(x=1)``."""

_MOST = 1_000_000
"""Characters of a text that is read as Python, whose parser takes some hundred times as much
memory."""


def unpacked(value: Any) -> Any:
    """The JSON that a text holds; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    return value


def unpack(value: Any, field: str) -> Any:
    """A list or object that a cell holds as JSON, or as Python prints it; any other value
    unchanged.

    A text is parsed only where it begins like a list of texts, objects, lists, whole numbers or
    missing values; ``[1] Paris is ...`` stays a text. One that begins so and is no list, or names a
    key twice, is an error.
    """
    if type(value) is not str or value[:1] not in "[{ \n\t" or not value:
        return value
    if not _LIST_CELL.match(value) and not _OBJECT_CELL.match(value):
        return value
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        pass
    else:
        try:
            refuse_repeats(value.encode(), parsed)
        except InputError as error:
            raise error.but(field=field) from None
        return parsed
    if re.match(r"\s*\[\s*\d+\s*\]\s*\S", value):
        return value
    parsed = _evaluated(value)
    if isinstance(parsed, list | dict) and not _has_joined_texts(value):
        return parsed
    kind = "cell_no_list" if parsed is None else "cell_of_arrays"
    raise wrong(kind, field=field, cell=value[:60])


def opened(value: Any) -> Any:
    """As `unpack`, but a text that only begins like a list stays one."""
    with suppress(InputError):
        return unpack(value, "")
    return value


def opened_print(cell: str | None, column: str) -> Any:
    """What a cell of a table holds that a frame of pandas wrote: its list or object, else its text.
    Objects of Python in it (``Timestamp('2026-01-31')``) are an error."""
    value = unpacked(cell)
    if value is not cell or cell is None or cell.lstrip()[:1] not in ("[", "{"):
        return value
    if len(cell) > _MOST:
        if cell.lstrip()[:2] not in ("[{", "['", '["', "{'"):
            return cell
        raise wrong("long_print", field=column, n=len(cell), most=_MOST)
    try:
        tree = ast.parse(cell.strip(), mode="eval")
        return ast.literal_eval(_Missing().visit(tree))
    except (SyntaxError, MemoryError, RecursionError):
        return cell
    except ValueError:
        called = next((one for one in ast.walk(tree) if isinstance(one, ast.Call)), None)
        if called is None:
            return cell
        raise wrong("object_in_print", field=column, object=ast.unparse(called)[:60]) from None


class _Missing(ast.NodeTransformer):
    """Puts None where Python prints a missing number."""

    def visit_Name(self, node: ast.Name) -> ast.AST:  # the name that ast looks for
        return ast.Constant(None) if node.id in ("nan", "NaN", "NaT") else node


def refuse_object(value: Any, field: str, *, any_object: bool = False) -> None:
    """Refuses a text that is wholly what Python prints for an object or a list of objects, also cut
    off: its metadata would count as text. With ``any_object``, as is right for passages, objects of
    any class; else those of which it is known that they hold a text."""
    if type(value) is str and (_ANY_OBJECT if any_object else _OBJECT).fullmatch(value):
        raise wrong("printed_object", field=field, text=value[:60])


def refuse_printed(value: Any, field: str) -> None:
    """Refuses a text that is wholly what numpy or Python prints for an array, a tuple or an object:
    it would count as one passage, or as one id."""
    refuse_object(value, field, any_object=True)
    if type(value) is not str or value.lstrip()[:1] not in "[(a" or not _PRINTED.fullmatch(value):
        return
    # A passage may stand in brackets and quotes.
    if value.lstrip()[0] != "(" or isinstance(_evaluated(value), tuple):
        raise wrong("printed_list", field=field, text=value[:60])


def _evaluated(written: str) -> Any:
    """The value that a text writes as Python does; ``None`` where it writes none."""
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(written.strip())
    return None


def _has_joined_texts(value: str) -> bool:
    """Whether two quoted texts touch without a comma, as numpy prints them; Python would join them
    silently."""
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(value.strip()).readline):
        if token.type == tokenize.STRING and before == tokenize.STRING:
            return True
        if token.type != tokenize.NL:
            before = token.type
    return False
