"""`ask`: from queries and a system to its answers; its plan; `evaluate`, which may ask first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ragassay import engine, formats
from ragassay.base.errors import InputError, UsageError, meant_or_all, warn_user
from ragassay.base.note import Note
from ragassay.base.printable import plural
from ragassay.base.sample import Sample
from ragassay.engine.run.source import Data
from ragassay.golden import QUERIES
from ragassay.golden.golden_folder import GoldenSet, check_output, is_golden
from ragassay.judges.ledger.ledger_store import MEMORY, Ledger, look_into
from ragassay.judges.ledger.system_answers import SystemAnswers
from ragassay.targets.asking.ask_summary import Answers, note_lines
from ragassay.targets.asking.system import ASKED, questions_of, read, request_of
from ragassay.targets.asking.systems_run import SystemsRun
from ragassay.targets.target import Target
from ragassay.targets.target_factory import AskOptions, make_targets
from ragassay.transport.sending import BURST_S

if TYPE_CHECKING:
    from ragassay.engine.results.result import Result
    from ragassay.metrics.core.metric import Metric
    from ragassay.suites import Suite

    _Suites = str | Suite | Metric | Mapping[str, Any]


ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
"""How names of files with answers end."""


def ask(
    queries: Data,
    target: Any,
    *,
    output: str | Path | None = None,
    ledger: str | Path | Ledger | None = None,
    progress: Callable[[int], None] | None = None,
    limit: int | None = None,
    **options: Any,
) -> Answers:
    """Asks a system, or several, every query.

    Examples:
        >>> import ragassay
        >>> def my_system(query):
        ...     return {"answer": f"I do not know: {query}", "passages": ["Dune is a novel."]}
        >>> answers = ragassay.ask([{"id": "1", "query": "Who wrote Dune?"}], my_system)
        >>> answers.complete, answers.samples[0].answer.text
        (True, 'I do not know: Who wrote Dune?')
        >>> ragassay.evaluate(answers.samples, "answer_words").scores[0].value > 0
        True

    Args:
        queries: a golden set (its accepted items), a file that `ragassay.load` reads, a folder with
            ``queries.jsonl``, or samples or mappings. Earlier answers in it are
            ignored.
        target: a Python object (a function, a LangChain runnable, a LlamaIndex query engine), words
            as of ``--target``, a list of these, or a mapping that names them.
        output: a file for the samples (native JSON Lines). With several systems, each has its own
            file, whose name ends in the system's. It is written at the end.
        ledger: keeps the answers, which are not asked for again. Left out: nothing is kept, because
            the code of a Python object may change under its name.
        progress: called with the number of samples done.
        limit: asks only the first N queries.
        options: further fields of `AskOptions`: ``repeat``, ``concurrency``, ``rpm``, ``timeout``,
            ``retries``, ``history``, ``refresh``, ``stream``, ``key_file``, ``budget``.

    Returns:
        The samples, with a summary per system. A query without an answer is a sample with a
        ``failure``. Works the same inside a running event loop.

    Raises:
        InputError: queries or a mapping file that cannot be read.
        UsageError: an unknown option or target, or a target that cannot be asked at all.
    """
    prepared = open_asking(queries, target, output=output, ledger=ledger, limit=limit, **options)
    with prepared as asking, asking:
        return asking.wait(progress)


@contextmanager
def open_asking(
    queries: Data,
    target: Any,
    *,
    output: str | Path | None = None,
    ledger: str | Path | Ledger | None = None,
    limit: int | None = None,
    tell_drafts: bool = True,
    **options: Any,
) -> Iterator[SystemsRun]:
    """Prepares what `ask` does, and raises as it does. ``with`` the `SystemsRun` that this yields
    it begins; its samples can be read while the rest is asked. For ``tell_drafts`` see there."""
    asked, targets, chosen, files = _prepared(queries, target, output, limit, tell_drafts, options)
    with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger(ledger or MEMORY) as kept:
        yield SystemsRun(asked, targets, chosen, kept, files)


def _prepared(
    queries: Data, target: Any, output: str | Path | None, limit: int | None, tell_drafts: bool,
    options: Mapping[str, Any],
) -> tuple[list[Sample], list[Target], AskOptions, dict[str, Path]]:  # fmt: skip
    """The queries, targets, options and files of `ask`; raises as it does."""
    chosen = _options(options)
    asked = questions_of(read_queries(queries, limit, tell_drafts=tell_drafts))
    targets = make_targets(target, chosen)
    files = {} if output is None else files_of(Path(output), [item.name for item in targets])
    data = formats.files_of(queries) if isinstance(queries, str | Path) else []
    for name, file in files.items():
        check_output(file, *data)
        _check_replaced(file, name, product((item.id for item in asked), range(chosen.repeat)))
    return asked, targets, chosen, files


def _check_replaced(file: Path, system: str, asked: Iterable[tuple[str, int]]) -> None:
    """Refuses a file that holds anything but earlier answers of the system to what is asked."""
    holds = f"other data than answers of the system {system!r}"
    with suppress(InputError, UsageError):
        has_content = file.is_file() and file.stat().st_size
        earlier = list(formats.read(file, notes=formats.Notes())) if has_content else []
        if all(item.system == system and ASKED in item.metadata for item in earlier):
            others = {(item.id, item.repeat) for item in earlier if item.answer} - {*asked}
            if not others:
                return
            holds = f"{plural(len(others), 'answer')} to other queries or repeats"
    raise UsageError(f"{file} holds {holds}. Choose another name, or move the file away.")


@dataclass(frozen=True)
class AskPlan:
    """What asking one system would do: ``to_send`` requests (retries come on top; maybe fewer where
    ``at_most``), in seconds and dollars by the ``known`` answers in the ledger."""

    system: str
    samples: int
    from_ledger: int
    to_send: int
    at_most: bool
    least_seconds: float | None
    dollars: float | None
    known: int


def plan_asking(
    queries: Data,
    target: Any,
    *,
    output: str | Path | None = None,
    ledger: str | Path | None = None,
    limit: int | None = None,
    **options: Any,
) -> list[AskPlan]:
    """What `ask` would send to each system. Sends nothing, and makes no ledger."""
    asked, targets, chosen, _ = _prepared(queries, target, output, limit, True, options)
    with look_into(ledger) as earlier:
        return [_plan_of(asked, item, chosen, earlier) for item in targets]


def _plan_of(
    queries: Sequence[Sample], target: Target, options: AskOptions, ledger: Ledger
) -> AskPlan:
    certain = [sample for sample in queries if options.history != "own" or not sample.history]
    measured: list[Mapping[str, Any]] = []
    answers = SystemAnswers(ledger, target.name, target.fingerprint)
    gold = options.gold_passages
    for query, repeat in product(certain, range(options.repeat)):
        record = answers.find(request_of(query, query.history, repeat, gold=gold).body())
        if record is not None:
            measured.append(read(record).metadata)
    samples = len(queries) * options.repeat
    from_ledger = 0 if options.refresh else len(measured)
    to_send = samples - from_ledger
    latencies = [row["latency"] for row in measured]
    costs = [row["cost"] for row in measured if "cost" in row]
    step = 0.0 if options.rpm is None else 60.0 / options.rpm
    bounds = [max(0.0, to_send * step - max(step, BURST_S))] if step else []
    bounds += [to_send * fmean(latencies) / options.concurrency] if latencies else []
    return AskPlan(
        system=target.name,
        samples=samples,
        from_ledger=from_ledger,
        to_send=to_send,
        at_most=len(certain) < len(queries) and not options.refresh,
        least_seconds=max(bounds, default=None) if to_send else 0.0,
        dollars=to_send * fmean(costs) if costs else None if to_send else 0.0,
        known=len(measured),
    )


def _options(options: Mapping[str, Any]) -> AskOptions:
    names = [field.name for field in fields(AskOptions)]
    for name in options:
        if name not in names:
            raise UsageError(f"ask has no option {name!r}. {meant_or_all(name, names)}")
    return AskOptions(**options)


def read_queries(
    queries: Data, limit: int | None = None, *, tell_drafts: bool = True
) -> list[Sample]:
    """The samples that hold the queries. ``tell_drafts`` warns of a golden set's drafts."""
    if limit is not None and limit < 1:
        raise UsageError(f"The limit must be at least 1, not {limit}.")
    if not isinstance(queries, str | Path):
        return list(formats.from_records(queries))[:limit]
    path = Path(queries)
    if is_golden(path):
        golden = GoldenSet.open(path)
        accepted = golden.with_status("accepted")
        if not accepted:
            hint = f"Accept some (ragassay golden review), or name {path / QUERIES}."
            raise InputError("none of its items is accepted", path=path, hint=hint)
        if tell_drafts and (drafts := golden.with_status("draft")):
            warn_user(str(Note("drafts_left_out", {"n": len(drafts), "folder": str(path)})))
        return [item.to_sample() for item in accepted][:limit]
    if path.is_dir() and (path / QUERIES).is_file():
        path = path / QUERIES
    elif path.is_dir() and not list(path.glob("*.tsv")) and not list(path.glob("*/*.tsv")):
        hint = "Name the file of the queries."
        raise InputError("is a folder without queries.jsonl", path=path, hint=hint)
    return formats.load(path, limit=limit)


def files_of(output: Path, systems: Iterable[str]) -> dict[str, Path]:
    """The file of each system: the output itself for one, else ``answers-SYSTEM.jsonl``."""
    end = next((ending for ending in ENDINGS if output.name.casefold().endswith(ending)), "")
    if not end and output.suffix:
        do = f"Choose a name with -o that ends in {', '.join(ENDINGS)}."
        raise UsageError(f"{output}: the answers are written as JSON Lines. {do}")
    stem = output.name[: len(output.name) - len(end)]
    names = list(systems)
    if len(names) == 1:
        return {names[0]: output}
    files, of = {}, dict[str, str]()
    for name in names:
        file = f"{stem}-{re.sub(r'[^a-zA-Z0-9_.-]', '-', name)}{end}"
        # Some file systems take names that differ in case for one.
        first = of.setdefault(file.casefold(), name)
        if first != name:
            shared = f"The targets {first!r} and {name!r} would share the file {file}"
            raise UsageError(f"{shared}. Rename one of them.")
        files[name] = output.with_name(file)
    return files


def evaluate(
    data: Data,
    suite: _Suites | Sequence[_Suites | Callable[..., Any]] | None = None,
    *,
    name: str = "",
    system: Any = None,
    metrics: str | Metric | Sequence[str | Metric | Callable[..., Any]] | None = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    progress: bool | Callable[[int], None] | None = None,
    ask_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric. With a system, asks it first.

    Examples:
        >>> import ragassay
        >>> data = [
        ...     {"id": "1", "query": "Who?", "answer": "Herbert", "references": ["Herbert"]},
        ...     {"id": "2", "query": "When?", "answer": "In 1966", "references": ["1965"]},
        ...     {"id": "3", "query": "Where?", "references": ["Oregon"]},
        ... ]
        >>> result = ragassay.evaluate(data, ["em", "answer_match"])
        >>> em = result.summary.metrics["em"]
        >>> em.mean, em.n_scored, em.n_total, dict(em.unscored)
        (0.5, 2, 3, {'missing_input': 1})
        >>> [(row.sample, row.value) for row in result.scores if row.metric == "answer_match"]
        [('1', True), ('2', False), ('3', None)]

        Your own judge, and a system that is asked first:

        >>> def judge(prompt):
        ...     return '{"reasoning": "a stand-in", "is_matching": true}'
        >>> judged = ragassay.evaluate(data, "answer_match", judge=judge, ledger=":memory:")
        >>> judged.scores[1].value, judged.scores[1].explanation
        (True, 'a stand-in')
        >>> asked = ragassay.evaluate(data, "em", system=lambda query: "Oregon")
        >>> [row.value for row in asked.scores]
        [0.0, 0.0, 1.0]

    Args:
        data: a path (any known format), an iterable of `Sample`s or mappings, or a data frame.
        suite: a suite's name (``qa``, ``retrieval``, ``trecrag`` ...) or several, joined with
            commas (``qa,serving``) or in a list; among them names of metrics, and in a list also
            metric objects, functions (see `ragassay.metric`) and rubrics as mappings (``{"name":
            "tone", "criteria": "Is it friendly?"}``). Left out: what suits the data's format.
        name: of the run in reports and comparisons. Left out: the data's name.
        system: a function, or any other target (see `ragassay.ask`), that is asked the queries of
            the data. Its answers replace those in the data. If the data are a golden set, its
            passages are found in the documents, as with ``golden``.
        metrics: metrics to compute instead of the suites', by name, as objects or as functions.
        judge: answers the questions of judged metrics: ``"openai:gpt-4o-mini"``, a base URL with
            ``#model``; a function that takes a prompt and returns a text; a chat model of LangChain
            or LlamaIndex; several of them for a panel; or a `Judge` of your own. Left out: the
            offline judge.
        environment: holds the judge's key, in place of the process's environment.
        save: a run folder to write; samples and scores then stay on disk, not in memory.
        progress: ``True`` writes the progress to standard error now and then, ``False`` does not;
            left out, a notebook shows it. Or a function, called with the number of samples done.
        ask_options: how the system is asked: ``repeat``, ``concurrency``, ``timeout`` ... (see
            `ragassay.ask`).
        options: further fields of `RunConfig`: ``columns``, ``format``, ``qrels``, ``ks``,
            ``limit``, ``slice_by``, ``cluster_by``, ``interval``, ``level``, ``seed``,
            ``published``, ``fail_under`` (see `Result.gates`) ...

    Returns:
        Scores and summary. Works the same inside a running event loop.

    Raises:
        InputError: data that cannot be read, with file, line and field.
        UsageError: an unknown suite, metric or option, or a system that cannot be asked.
    """
    if system is not None:
        limit = options.pop("limit", None)
        answers = ask(data, system, limit=limit, **dict(ask_options or {}))
        for note in note_lines(list(answers.summaries.values())):
            warn_user(note)
        if isinstance(data, str | Path) and is_golden(Path(data)):
            options.setdefault("golden", data)  # its documents show where passages are
        data = answers.samples
    return engine.evaluate(
        data, suite, metrics=metrics, judge=judge, environment=environment, save=save, name=name,
        progress=progress, **options,
    )  # fmt: skip
