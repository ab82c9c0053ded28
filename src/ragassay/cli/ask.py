"""``ragassay ask``: ask the system under test."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch, listed

if TYPE_CHECKING:
    from rich.table import Table

    from ragassay.targets import Answers, AskSummary


def ask(
    queries: Path,
    /,
    *,
    target: Annotated[list[str], Parameter(name=["--target", "-t"], negative=())],
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("answers.jsonl"),
    repeat: int = 1,
    concurrency: Annotated[int, Parameter(name=["--concurrency", "-j"])] = 8,
    rpm: float | None = None,
    timeout: float = 120.0,
    retries: int = 2,
    history: Literal["given", "own"] = "given",
    warm_up: int = 0,
    limit: int | None = None,
    suite: Annotated[list[str] | None, Parameter(name=["--suite", "-s"], negative=())] = None,
    judge: str | None = None,
    save: Path | None = None,
    ledger: str | None = None,
    key_file: Path | None = None,
    stream: Switch = False,
    refresh: Switch = False,
    gold_passages: Switch = False,
    json: Switch = False,
) -> int:
    """Ask a system every query of QUERIES, and write its answers as samples.

    QUERIES is a golden folder, or any file that 'ragassay run' reads; what systems made of the
    queries before is left out. Each answer is kept before it is used: the same command again asks
    only what is missing. The exit code is 3 where answers are missing.

    ```sh
    ragassay ask queries.jsonl --target my_rag:answer -o answers.jsonl
    ragassay ask queries.jsonl --target keyword.yaml --target hybrid.yaml -j 4 --repeat 3
    ragassay ask queries.jsonl --target http://localhost:8000/v1#my-model --stream
    ragassay ask queries.jsonl --target 'command:python rag.py' --suite qa --save runs/new
    ```

    Args:
        queries: Golden folder, or file with queries.
        target: Whom to ask: module:function, a mapping file of an HTTP endpoint (.yaml), URL#MODEL,
            PROVIDER:MODEL, mcp:COMMAND_OR_URL#TOOL, vectara:CORPUS, command:PROGRAM. NAME= before
            it names the system. Repeatable: systems are asked side by side, and each has a file of
            its own (answers-NAME.jsonl).
        output: File for the answers.
        repeat: How many times each query is asked.
        concurrency: Requests in flight at most, over all systems.
        rpm: Requests a minute to one system at most.
        timeout: Seconds that one query may take, retries included.
        retries: Further attempts where a failure may pass.
        history: Earlier turns as the data have them (given), or with the system's own earlier
            answers in place of the agent's (own).
        warm_up: Queries that each system is asked before, which count nowhere.
        limit: Ask only the first so many queries.
        suite: Suites to evaluate the answers with. Repeat or join with commas.
        judge: Judge of these suites, as of 'ragassay run'.
        save: Run folder of the evaluation; of several systems its subfolders.
        ledger: Where answers are kept (default: .ragassay/ledger.sqlite).
        key_file: File with the key of an OpenAI-compatible chat.
        stream: Ask OpenAI-compatible chats for a stream, which tells the time to the first token.
        refresh: Ask again what was answered before.
        gold_passages: Give each system the gold passages to answer from, in place of what it would
            retrieve: what is wrong then, its generation does wrong ('ragassay golden isolate').
        json: Print the summary as JSON.
    """
    from ragassay.judges.ledger import DEFAULT
    from ragassay.suites import get
    from ragassay.targets import ask as asked, read_queries

    suites = listed("--suite", suite) or []
    for name in suites:
        get(name)
    options: dict[str, Any] = {
        "repeat": repeat,
        "concurrency": concurrency,
        "rpm": rpm,
        "timeout": timeout,
        "retries": retries,
        "history": history,
        "warm_up": warm_up,
        "refresh": refresh,
        "stream": stream,
        "key_file": key_file,
        "gold_passages": gold_passages,
    }
    samples = read_queries(queries, limit)
    gc.freeze()  # what is loaded by now need not be searched for garbage; the process is ours
    total = len({sample.id for sample in samples}) * len(target) * repeat
    with show.progress("asking", lambda: total) as progress:
        answers = asked(
            samples, target, output=output, ledger=ledger or DEFAULT, progress=progress, **options
        )
    summaries = list(answers.summaries.values())
    body: dict[str, object] = {"systems": [one.to_json() for one in summaries]}
    if not json:
        show.console().print(_table(summaries))
        for one in summaries:
            for kind, n in one.failed.items():
                show.lines(f"{one.system}: {n:,} {kind}: {one.details[kind]}")
        show.lines(*(f"answers of {name}: {path}" for name, path in answers.files.items()))
    codes = [show.OK if answers.complete else show.INCOMPLETE]
    if suites:
        codes += _evaluate(answers, suites, judge, save, json, body)
    if json:
        show.json(body)
    return max(codes)


def _evaluate(
    answers: Answers,
    suites: list[str],
    judge: str | None,
    save: Path | None,
    json: bool,
    body: dict[str, object],
) -> list[int]:
    """Evaluates the answers of each system, and gives the exit codes."""
    from ragassay.engine.config import make_config
    from ragassay.engine.run import prepare
    from ragassay.reports import folder

    codes = []
    results: dict[str, object] = {}
    for name, path in answers.files.items():
        place = save if save is None or len(answers.files) == 1 else save / path.stem
        config = make_config(
            data=str(path), suite=suites, judge=judge, output=None if place is None else str(place)
        )
        job = prepare(config)
        doing = job.session.doing if job.session is not None and job.session.costs else None
        with show.progress(f"scoring {name}", job.source.count, doing) as progress:
            result = job.run(progress, progress.compared, keep=False)
        if place is not None:
            folder.write_reports(result)
        if json:
            results[name] = show.result_json(result)
        else:
            show.result(result)
            if place is not None:
                show.lines(f"run folder: {place}")
        inner = () if result.consistency is None else (result.consistency.summary,)
        codes.append(show.exit_code(result.gates, result.summary, *inner))
    body["results"] = results
    return codes


def _table(summaries: list[AskSummary]) -> Table:
    """A line a system."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    rows = Table(box=SIMPLE_HEAD, pad_edge=False)
    rows.add_column("system")
    heads = ("asked", "answered", "no answer", "from ledger", "failed", "retries")
    for head in (*heads, "p50", "p95", "p99", "tokens", "cost"):
        rows.add_column(head, justify="right")
    for one in summaries:
        tokens = [n for n in (one.input_tokens, one.output_tokens) if n is not None]
        rows.add_row(
            one.system,
            f"{one.asked:,}", f"{one.answered:,}", f"{one.no_answer:,}", f"{one.from_ledger:,}",
            f"{sum(one.failed.values()):,}", f"{one.retries:,}",
            *(_seconds(one.latency.get(at)) for at in ("p50", "p95", "p99")),
            f"{sum(tokens):,}" if tokens else "-",
            "-" if one.cost is None else f"${one.cost:,.4f}",
        )  # fmt: skip
    return rows


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
