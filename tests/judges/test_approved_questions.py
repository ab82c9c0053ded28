"""What is asked, and what is made of replies and labels, as it was approved.

``approved/replies.txt`` holds replies of a model (a line that begins with ``{`` or a word is a
reply, lines in a fence are one), ``approved/labels.txt`` lines of a file of labels. See `approved`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from approved import check, number, result
from question_examples import EXAMPLES, MODELS, name_of
from ragassay.judges.combining import RULES, combinable, combine, differ
from ragassay.judges.judge_factory import JudgeOptions, make_judge
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.replies import declines, read
from ragassay.judges.llm.token_estimate import estimate, of_question, of_schema
from ragassay.judges.questions.question_kinds import kinds
from ragassay.judges.recorded import replay_file
from ragassay.judges.recorded.replay_file import ReplayFile, example
from ragassay.transport.providers import providers
from valid_answers import largest, smallest

APPROVED = Path(__file__).parent / "approved"


def texts(name: str) -> list[str]:
    """The texts of a file: lines, and lines between fences as one."""
    content = (APPROVED / name).read_text(encoding="utf-8")
    found: list[str] = []
    for at, part in enumerate(content.split("```")):
        found += [f"```{part}```"] if at % 2 else part.removesuffix("\n").split("\n")
    return found


@pytest.fixture(autouse=True)
def only_our_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the questions that other tests define: their classes may still be there."""
    own = {kind: cls for kind, cls in kinds().items() if cls.__module__.startswith("ragassay.")}
    monkeypatch.setattr(sys.modules[__name__], "kinds", lambda: own)
    monkeypatch.setattr(replay_file, "kinds", lambda: own)


def asked() -> Iterator[str]:
    """The prompts of all questions."""
    for question in EXAMPLES:
        for model in MODELS:
            yield f"{name_of(question)}, {model}: {number(of_question(question, model))}"
        for message in question.messages(""):
            yield f"[{message['role']}]\n{message['content']}"
        yield f"{question.key} {question.template('')} {question.version} {question.output_tokens}"
        yield f"{number(question.parameters)} {number(of_schema(type(question)))}"
        yield f"{question.schema()}"
    for kind, cls in kinds().items():
        yield f"{kind}: {example(cls)}"
    for text in ("", "plain text", "a" * 9, "é" * 3, "漢字", "añ漢🙂", "x" * 1001):
        yield f"{text[:10]!r}: {number(estimate(text))}"


def replies() -> Iterator[str]:
    """What is read from replies, by each kind of question that a reply fits or nearly fits."""
    for text in texts("replies.txt"):
        yield f"{text!r} {declines(text)}"
        told: dict[str, list[str]] = {}
        for question in EXAMPLES:
            for cut in (False, True):
                found = result(lambda q=question, t=text, cut=cut: str(read(q, t, cut=cut)))
                told.setdefault(found, []).append(f"{name_of(question)}{' cut' * cut}")
        for found, names in told.items():
            yield f"  {', '.join(names)}: {found}"
    for told_text in (None, "a" * 1001 + "sorry", "sorry" + "a" * 995, "sorry" + "a" * 996):
        yield f"{(told_text or '')[:5]} {declines(told_text)}"


def votes() -> Iterator[str]:
    """What panels decide."""
    for question in EXAMPLES:
        least, most = smallest(question), largest(question)
        yield f"{name_of(question)}: {combinable(type(least))} {differ([least, most])}"
        for n, rule in itertools.product((1, 2, 3), RULES):
            for chosen in sorted({tuple(sorted(p)) for p in itertools.product((0, 1), repeat=n)}):
                for order in (chosen, chosen[::-1]):
                    given = [(least, most)[at] for at in order]
                    yield f"  {rule} {order}: {result(lambda g=given, r=rule: str(combine(g, r)))}"
    yield result(combine, [], "median")
    yield result(combine, [smallest(EXAMPLES[0])], "mean")
    grade = smallest(EXAMPLES[0])
    for rule in RULES:
        for grades in ((0, 1, 3), (0, 3), (3, 3, 0, 0, 1), (1, 2, 3, 3), (0, 2, 2, 3, 3)):
            made = [replace_fields(grade, one) for one in grades]
            yield f"{rule} {grades}: {combine(made, rule)}"


def replace_fields(reply: object, grade: int) -> object:
    words = {"match": grade, "trust": 0, "grade": grade, "intent": f"said {grade}"}
    return reply.model_copy(update=words)  # type: ignore[attr-defined]


def labels(folder: Path) -> Iterator[str]:
    """What lines of labels say, or what is wrong with them."""
    path = folder / "labels.jsonl"
    for line in texts("labels.txt"):
        path.write_text(line, encoding="utf-8")
        read_file = result(lambda: shown(ReplayFile(path)))
        yield f"{line}\n  {read_file.replace(str(folder), 'FOLDER')}"
    content = "\n".join(line for line in texts("labels.txt")[:2])
    for begin, encoding in (("", "utf-8"), ("\ufeff\n", "utf-8"), ("\x1f\udc8b", "utf-8")):
        path.write_bytes((begin + content).encode(encoding, "surrogateescape"))
        yield result(lambda: shown(ReplayFile(path))).replace(str(folder), "FOLDER")
    path.write_text(content, encoding="utf-8")
    read_lines = ReplayFile(path)
    question = replace(EXAMPLES[0], query=" q ", passage="p")
    for repeat in (0, 1, 2):
        found = read_lines.find(question, repeat)
        yield f"{repeat}: {[(one.number, one.who, one.place) for one in found]}"
        yield f"  {[read_lines.record(one)['answer'] for one in found]}"


def shown(file: ReplayFile) -> list[object]:
    lines = [(one.number, one.who, one.model) for one in file.labels]
    return [dict(file.counts), lines, list(file.judges), file.hash]


WORDS = (
    *("offline", "Offline", "offline:x", "openai", "openai:gpt-5-mini", "openai:", "opneai:x"),
    *("anthropic:claude", "anthropic", "google:gemini-2.0-flash", "azure:mine", "ollama:qwen3"),
    *("http://localhost:8000/v1", "http://localhost:8000/v1#m", "https://u:p@example.org/v1#m"),
    *("http://localhost:8000/v1?x=1#m", "ftp://example.org#m", "localhost:8000#m", "gpt-4o", ""),
    *("replay:", "replay:nowhere.jsonl", "http://#m", "openrouter:a/b", "vllm:m", "litellm:m"),
)


def judges() -> Iterator[str]:
    """The judges that words name."""
    keys = {name: "sk-0123456789" for one in providers().values() for name in one.keys}
    options = [
        JudgeOptions(),
        JudgeOptions(rpm=0.0),
        JudgeOptions(concurrency=0),
        JudgeOptions(price="1,2", temperature=0.5, max_tokens=5),
        JudgeOptions(price="1,x"),
        JudgeOptions(quorum=2, rule="majority", dry=True),
        JudgeOptions(key_variable="NOT_SET"),
        JudgeOptions(timeout=-1.0),
    ]
    with Ledger(":memory:") as ledger:
        for environment in (keys, {"NOTHING": ""}):
            for words in [*((word,) for word in WORDS), ("offline", "ollama:a"), ("a", "offline")]:
                for option in options[:1] if environment is keys else (options[0], options[5]):
                    told = result(
                        lambda w=words, e=environment, o=option: described(
                            make_judge(
                                w, options=o, default_model="gpt-4o", ledger=ledger, environment=e
                            )
                        )
                    )
                    yield f"{words} {len(environment) > 1} {option.dry}: {told}"
        for option in options:
            told = result(
                lambda o=option: described(
                    make_judge(
                        ("openai:gpt-4o", "offline"),
                        options=o,
                        default_model="gpt-4o",
                        ledger=ledger,
                        environment=keys,
                    )
                )
            )
            yield f"{option}: {told}"


def described(judge: object) -> list[object]:
    leaves = judge.leaves()  # type: ignore[attr-defined]
    known = [(one.label, one.model, one.endpoint.url, one.price) for one in leaves]
    return [judge.label, known]  # type: ignore[attr-defined]


@pytest.mark.parametrize("made", [asked, replies, votes, judges])
def test_questions_and_replies_are_as_they_were_approved(
    made: Callable[[], Iterator[str]], request: pytest.FixtureRequest
) -> None:
    approve = request.config.getoption("--approve")
    check(APPROVED / f"{made.__name__}_approved.txt", made(), approve)


def test_labels_are_read_as_it_was_approved(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    approve = request.config.getoption("--approve")
    check(APPROVED / "labels_approved.txt", labels(tmp_path), approve)
