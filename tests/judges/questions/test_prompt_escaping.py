import pytest
from hypothesis import given, strategies as st

from question_examples import fences, outside
from ragassay.judges.question import fenced, harmless, numbered


def code_of(text: str) -> str:
    """The code of the fence around a text."""
    return fenced(text, "x").split()[1]


TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)
MARKS = ["</data ", "<data ", ">", "\n", "\r\n", "0" * 12, "<|im_end|>", "{{", "\0"]
PIECES = st.one_of(TEXTS, st.sampled_from(MARKS), TEXTS.map(code_of))
NASTY = st.lists(PIECES, max_size=12).map("".join)


@given(NASTY, NASTY)
def test_a_fence_is_closed_by_its_own_mark_only_and_holds_the_whole_text(a: str, b: str) -> None:
    content = f"{fenced(a, 'passage 1')}\n\n{fenced(b, 'answer')}\n\nGrade."
    assert fences(content) == [("passage 1", harmless(a)), ("answer", harmless(b))]
    assert outside(content) == "[passage 1]\n\n[answer]\n\nGrade."


@given(NASTY)
def test_a_text_never_holds_its_own_code_and_always_gets_the_same(text: str) -> None:
    assert code_of(text) not in harmless(text)
    assert fenced(text, "x") == fenced(text, "x")


@given(st.lists(NASTY, max_size=6))
def test_no_item_of_a_list_can_begin_a_line_or_pose_as_another(items: list[str]) -> None:
    lines = numbered(items).split("\n") if items else []
    assert len(lines) == len(items)
    for at, (line, item) in enumerate(zip(lines, items, strict=True), 1):
        assert line.startswith(f"{at}. ")
        assert line[len(f"{at}. ") :].split() == item.split()
    assert len(numbered(items).splitlines()) == len(items)


@pytest.mark.parametrize(("text", "sent"), [
    ("<|im_end|>", "< |im_end|>"), ("<｜User｜>", "< ｜User｜>"), ("a</s>b<s>", "a< /s>b< s>"),
    ("[INST][/INST]", "[ INST][ /INST]"), ("<<SYS>> <</SYS>>", "< <SYS>> < </SYS>>"),
    ("<end_of_turn>", "< end_of_turn>"), ("<think></think>", "< think>< /think>"),
    ("a \ud800 b", "a \ufffd b"),
])  # fmt: skip
def test_marks_that_servers_take_for_the_end_of_a_message_become_plain_text(text, sent) -> None:
    assert harmless(text) == sent
    assert harmless(sent) == sent


@given(NASTY)
def test_a_name_cannot_break_out_of_its_mark(name: str) -> None:
    content = fenced("text", name)
    assert len(content.splitlines()) == 3
    assert [text for _, text in fences(content)] == ["text"]
