"""YAML: what is filled in, anchors that stand for too much, and files of other programs."""

import pytest

from ragassay.base.errors import InputError
from ragassay.base.yaml_files import marked, text_of, value_of

FILLED = {"${N}": "5", "${L}": "[1, 2]", "${T}": "a: b", "${E}": "", "${H}": "a #b"}


def test_a_plain_scalar_that_is_filled_in_is_read_again_and_a_quoted_one_is_a_text() -> None:
    text = "n: ${N}\nquoted: '${N}'\nlist: ${L}\nin:\n  text: ${T}\ne: ${E}\n5: {5: x}\nh: ${H}\n"
    found = marked(text, "a.yaml", lambda scalar, place: FILLED.get(scalar, scalar))
    told = {"n": 5, "quoted": "5", "list": [1, 2], "in": {"text": "a: b"}, "e": None}
    assert found.value == {**told, 5: {5: "x"}, "h": "a #b"}
    places = [("quoted",), ("list", "1"), ("in", "text", "x"), ("5", "5"), ("nowhere",)]
    assert [found.line(place) for place in places] == [2, 3, 5, 7, None]


def test_anchors_are_counted_with_all_that_they_stand_for() -> None:
    assert value_of("a: &a [1, 2]\nb: [*a, *a]\n", "a.yaml")["b"] == [[1, 2], [1, 2]]
    levels = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 50)}]\n" for n in range(1, 5))
    with pytest.raises(InputError, match="expand to more than 100,000 values") as caught:
        value_of(f"a0: &a0 [1]\n{''.join(levels)}", "a.yaml")
    assert caught.value.line == 4
    with pytest.raises(InputError, match="an anchor contains itself"):
        value_of("a: &a [*a]\n", "a.yaml")


def test_a_byte_order_mark_is_no_part_of_the_text_and_half_a_character_is_none(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n", encoding="utf-8-sig")
    assert text_of(tmp_path / "a.yaml") == "a: 1\n"
    assert value_of(r'"\ud83d\ude00": "\ud83d\ude00"', "a.json") == {"😀": "😀"}
    with pytest.raises(InputError, match=r"half a character.*Write the whole character") as caught:
        value_of('a:\n  b: "\\ud83d"', "a.json")
    assert (caught.value.line, caught.value.field) == (2, "a.b")
