"""One synthesis: drafts, what is rejected of them and why, and the choice; written into a folder.

The same command again goes on: what was written is there already, and what was asked is in the
ledger.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Container, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ragassay.engine.config import Judging
from ragassay.engine.run import options_of
from ragassay.errors import InputError, UsageError
from ragassay.files import write_bytes, write_text
from ragassay.golden import (
    QUERIES,
    Document,
    GoldenItem,
    GoldenSet,
    alone,
    check_output,
    readable_documents,
)
from ragassay.judges import (
    Ask,
    Asker,
    Judge,
    PlanningAsker,
    PlanningJudge,
    Usage,
    make_judge,
    named_judges,
)
from ragassay.judges.ledger import DEFAULT, MEMORY, Ledger, is_there
from ragassay.judges.questions import WriteAnswer, WriteQuery
from ragassay.samples import Sample
from ragassay.synthesis import offline_generator
from ragassay.synthesis.choosing import chosen
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.filters import WORDS, Checks, Filters
from ragassay.synthesis.llm_generator import LLMGenerator
from ragassay.synthesis.mix import Kind, Mix
from ragassay.synthesis.offline_generator import OfflineGenerator
from ragassay.synthesis.scorecard import scorecard
from ragassay.synthesis.sections import Corpus
from ragassay.synthesis.target_judge import is_target, refuse_panel, target_judge
from ragassay.synthesis.two_judges import TwoJudges
from ragassay.transport import Budget

OFFLINE = "offline"
PILOT = 20
REJECTED, SCORECARD = "rejected.jsonl", "scorecard.md"
OVER = 1.5
"""Drafts that are checked for each item that is wanted."""
_LOOKED_AT = 10
"""Drafts that the rules wrote among which each item is chosen, at most."""


@dataclass(frozen=True)
class Wish:
    """What is to be synthesized.

    Attributes:
        documents: folder of the documents.
        output: folder of the golden set; items are added to one that is there.
        n: items that it is to hold in the end, those made before included.
        generator: ``offline``, a judge's word, or a target's.
        checker: likewise.
        mix: which kinds.
        seed: of everything that is drawn.
        guide: how queries and answers are to be written.
        like: a golden set whose accepted items are shown as examples.
        real: queries of users, for comparison.
        given: queries that only need answers; then ``n`` and ``mix`` do not count.
        answers: whether the generator writes answers.
        words: fewest and most words of a query.
        same_model: whether generator and checker may be one model.
        pilot: only the first 20, for review.
        skip_unreadable: whether documents that cannot be read are left out.
    """

    documents: Path
    output: Path
    n: int = 200
    generator: str = OFFLINE
    checker: str = OFFLINE
    mix: Mix = field(default_factory=lambda: Mix.parse(()))
    seed: int = 0
    guide: str = ""
    like: Path | None = None
    real: Sequence[str] = ()
    given: Sequence[Sample] = ()
    answers: bool = True
    words: tuple[int, int] = WORDS
    same_model: bool = False
    pilot: bool = False
    skip_unreadable: bool = False

    @property
    def target(self) -> int:
        """Items that the folder is to hold after this run."""
        return min(PILOT, self.n) if self.pilot else self.n


@dataclass(frozen=True)
class Outcome:
    """What a synthesis gave.

    Attributes:
        items: added now.
        total: synthetic items in the folder, rejected ones left out.
        n_drafts: that were written, or asked for in vain, in this run.
        rejections: of this run.
        usage: what was asked and paid.
        stopped: whether a passing reason kept drafts from being written or checked.
        n_not_chosen: drafts with which nothing is wrong and that became no item.
        n_lines: of ``rejected.jsonl`` now; 0 where nothing was written.
        unasked: drafts that nobody was asked for or about, because nothing more was sent; they
            are no rejections.
    """

    items: Sequence[GoldenItem]
    total: int
    n_drafts: int
    rejections: Sequence[Rejection]
    usage: Usage
    stopped: bool
    n_not_chosen: int = 0
    n_lines: int = 0
    unasked: Sequence[Rejection] = ()


@dataclass(frozen=True)
class Planned:
    """What a synthesis would ask.

    Attributes:
        drafts: that would be written.
        calls: requests that are certain; ``held`` are in the ledger.
        most_calls: with all that may follow from answers.
        input_tokens, output_tokens: of the certain requests.
        cost: US dollars of them; ``unpriced`` have no known price.
    """

    drafts: int
    calls: int
    held: int
    most_calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int


class Synthesis:
    """A synthesis that is ready to run: documents, golden set and judges are there.

    Args:
        wish: what is wanted.
        judging: how judges are asked: limits, budget, ledger.
        dry: nothing will be asked, so no key is needed.

    Attributes:
        left_out: documents by language that the offline generator does not read.

    Raises:
        UsageError: generator and checker are one model, an impossible mix, an unknown judge, no
            document in English for the offline generator.
        InputError: documents or golden set cannot be read, or do not belong together.
    """

    def __init__(self, wish: Wish, judging: Judging, *, dry: bool = False) -> None:
        if wish.n < 1:
            raise UsageError(f"--n {wish.n}: at least 1 item must be wanted.")
        self.wish, self._judging, self._dry = wish, judging, dry
        if wish.generator == OFFLINE:
            offline_generator.check(wish.mix)
            if wish.given or wish.guide or not wish.answers:
                raise UsageError(
                    "The offline generator answers no given queries, follows no style guide and "
                    "always writes answers. Name a model with --generator."
                )
        documents, unreadable = readable_documents(wish.documents, skip=wish.skip_unreadable)
        self.golden = _opened(wish, documents)
        self.golden.left_out = unreadable
        self.corpus = Corpus(documents)
        self.left_out = self._left_out()
        self._examples = self.golden.with_status("accepted")
        if wish.like is not None:
            self._examples += GoldenSet.open(wish.like).with_status("accepted")

    def _left_out(self) -> dict[str, int]:
        """Documents by language that the offline generator does not read."""
        if self.wish.generator != OFFLINE:
            return {}
        names = [self.corpus.language(one) for one in self.corpus.documents]
        found = Counter(one for one in names if one not in offline_generator.READS)
        if found.total() == len(names):
            told = ", ".join(f"{code} ({n})" for code, n in found.most_common())
            raise UsageError(
                f"The offline generator reads and writes English only, and the documents of "
                f"{self.wish.documents} are in {told}. Name a model with --generator."
            )
        return dict(found)

    def run(self, progress: Callable[[int], None] | None = None) -> Outcome:
        """Writes, checks, chooses, and adds the items to the folder.

        Args:
            progress: is called with the number of drafts that were written or checked so far.
        """
        if not self.wish.given and not self._kinds():
            return Outcome([], len(self.made), 0, [], Usage(), False)
        with self._judges() as (judge, made), Asker(judge) as asker:
            asker.progress = progress
            drafts, rejections = self._drafts(asker)
            unasked = [one for one in rejections if one.unasked]
            rejections = [one for one in rejections if not one.unasked]
            n_drafts = len(drafts) + len(rejections)
            filters = self._filters()
            there = {item.id for item in self.golden.items}
            passed = []
            for draft in (one for one in drafts if one.id not in there):
                if (rejection := filters.against(draft)) is None:
                    passed.append(draft)
                else:
                    rejections.append(rejection)
            kinds = self._kinds()
            unused = passed
            if not self.wish.given:
                # The rules find much more than is wanted; no checker is paid for all of it.
                passed = chosen(self._part(passed), _more(self.wish.mix, kinds, self.wish.seed))
            checks = Checks(self.corpus)
            found = self._each(asker, [_checked(checks, one, asker) for one in passed])
            unasked += [one for one in found if one is not None and one.unasked]
            rejections += [one for one in found if one is not None and not one.unasked]
            accepted = [d for d, against in zip(passed, found, strict=True) if against is None]
            taken = accepted if self.wish.given else chosen(accepted, kinds)
            usage = asker.usage
        items = [one.to_item(made) for one in taken]
        spare = [one for one in accepted if one not in taken]
        told = {id(one) for one in (*taken, *(one.draft for one in found if one is not None))}
        not_chosen = [
            Rejection("not-chosen", "Nothing is wrong with it; other drafts were chosen.", one)
            for one in unused
            if id(one) not in told
        ]
        n_lines = self._save(items, made, [*rejections, *not_chosen])
        card = scorecard(
            made,
            self.corpus,
            taken,
            spare,
            rejections,
            kinds=kinds,
            real=self.wish.real,
            not_tried=checks.not_tried,
        )
        _save_section(self.wish.output / SCORECARD, card)
        stopped = any(one.passing for one in (*rejections, *unasked))
        return Outcome(
            items,
            len(self.made),
            n_drafts,
            rejections,
            usage,
            stopped,
            n_not_chosen=len(not_chosen),
            n_lines=n_lines,
            unasked=unasked,
        )

    def plan(self) -> Planned:
        """What `run` would ask, as far as that is known without an answer."""
        with self._judges() as (judge, _):
            planning = PlanningJudge(judge, None, fresh=False)
            with PlanningAsker(planning) as asker:
                drafts, rejections = self._drafts(asker)
                checks = Checks(self.corpus)
                if self.wish.generator == OFFLINE:
                    filters = self._filters()
                    kinds = _more(self.wish.mix, self._kinds(), self.wish.seed)
                    passed = [one for one in drafts if not filters.against(one)]
                    drafts = chosen(self._part(passed), kinds)
                self._each(asker, [_checked(checks, one, asker) for one in drafts])
            demands = list(planning.demands.values())
            n = len(drafts) + len(rejections)
            # An answer leads to one more by the generator and up to five by the checker.
            steps = len(judge.leaves()) and (5 if self.wish.generator == OFFLINE else 7)
            calls = sum(one.calls for one in demands)
            return Planned(
                drafts=n,
                calls=calls,
                held=sum(one.held for one in demands),
                most_calls=max(calls, n * steps),
                input_tokens=sum(one.input_tokens for one in demands),
                output_tokens=sum(one.output_tokens for one in demands),
                cost=sum(one.cost for one in demands),
                unpriced=sum(one.unpriced for one in demands),
            )

    @contextmanager
    def _judges(self) -> Iterator[tuple[Judge, dict[str, Any]]]:
        """Generator and checker as one judge, and what goes into each item's provenance."""
        wish = self.wish
        place = self._judging.ledger or DEFAULT
        budget = None if self._judging.budget is None else Budget.parse(self._judging.budget)
        with ExitStack() as stack:
            offline = wish.generator == wish.checker == OFFLINE
            ledger = Ledger(MEMORY if offline or (self._dry and not is_there(place)) else place)
            stack.callback(ledger.close)

            options = options_of(self._judging, dry=self._dry)

            def judge(words: str) -> Judge:
                if is_target(words):
                    return target_judge(words, options, ledger=ledger, budget=budget)
                refuse_panel(words)
                return make_judge(
                    named_judges(words.split(",")),
                    default_model="gpt-4o-mini",
                    ledger=ledger,
                    budget=budget,
                    options=options,
                )

            checker = judge(wish.checker)
            writer = None if wish.generator == OFFLINE else judge(wish.generator)
            label = offline_generator.LABEL if writer is None else writer.label
            if writer is not None and not wish.same_model:
                _refuse_same(writer, checker)
            made = {
                "generator": label,
                "checker": checker.label,
                "prompts": "none" if writer is None else _prompts(writer),
                "seed": wish.seed,
            }
            yield TwoJudges(writer, checker), made

    def _drafts(self, asker: Asker) -> tuple[list[Draft], list[Rejection]]:
        wish = self.wish
        if wish.generator == OFFLINE:
            return list(OfflineGenerator(self.corpus, wish.seed).drafts(wish.mix)), []
        generator = LLMGenerator(
            self.corpus,
            wish.seed,
            wish.guide,
            self._examples,
            answers=wish.answers,
            words=wish.words,
        )
        if wish.given:
            wanted = list(generator.given(wish.given))
        else:
            every = list(generator.wanted(wish.mix.kinds(math.ceil(OVER * wish.n), wish.seed)))
            wanted = every[: math.ceil(OVER * wish.target)]
        scope = asker.scope()
        written = self._each(asker, [generator.draft(one, scope.ask()) for one in wanted])
        drafts = [one for one in written if isinstance(one, Draft)]
        return drafts, [one for one in written if isinstance(one, Rejection)]

    def _each(self, asker: Asker, work: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        async def one(each: Coroutine[Any, Any, Any]) -> Any:
            return await asker.finish_sample(lambda: each)

        return [future.result() for future in [asker.submit(one(each)) for each in work]]

    def _part(self, drafts: list[Draft]) -> list[Draft]:
        """A random part where there are many more drafts than are wanted: the time of a choice
        grows with both."""
        most = _LOOKED_AT * self.wish.target
        if len(drafts) <= most:
            return drafts
        places = random.Random(self.wish.seed).sample(range(len(drafts)), most)
        return [drafts[at] for at in sorted(places)]

    def _filters(self) -> Filters:
        existing = [item.query for item in (*self.golden.items, *self._examples)]
        return Filters(self.corpus, list(dict.fromkeys(existing)), self.wish.real, self.wish.words)

    @property
    def made(self) -> list[GoldenItem]:
        """The items that count: made here, and not rejected by a person."""
        return [
            item
            for item in self.golden.items
            # Other tools write provenance of their own.
            if isinstance(item.provenance.get("wanted"), dict) and item.status != "rejected"
        ]

    def _kinds(self) -> list[Kind]:
        """What is wanted of each item that is lacking."""
        lacking = Counter(self.wish.mix.kinds(self.wish.target, self.wish.seed))
        have = self.made
        lacking -= Counter(tuple(sorted(item.provenance["wanted"].items())) for item in have)
        return list(lacking.elements())[: max(0, self.wish.target - len(have))]

    def _save(
        self, items: Sequence[GoldenItem], made: dict[str, Any], rejections: Sequence[Rejection]
    ) -> int:
        """Writes the set and what became no item; returns how many lines the latter are."""
        golden = self.golden
        is_new = not (golden.folder / QUERIES).is_file()
        with nullcontext() if is_new else alone(golden.folder):
            if not is_new:
                # People may have reviewed items while others were written.
                golden.items = GoldenSet.open(golden.folder).items
            there = {item.id for item in golden.items}
            golden.items = [*golden.items, *(one for one in items if one.id not in there)]
            golden.save()
        golden.save_manifest(self.corpus.documents)
        golden.save_card(
            f"synthesized by {made['generator']}, checked by {made['checker']} "
            f"({SCORECARD} has the figures)."
        )
        path = self.wish.output / REJECTED
        kept = path.read_bytes().splitlines() if path.exists() else []
        records = [one.to_record(made) for one in rejections]
        # What was not chosen before may be an item now, or not chosen again.
        settled = {item.id for item in golden.items}
        settled |= {str(one.get("id")) for one in records if one["why"] == "not-chosen"}
        kept = [line for line in kept if not _is_settled(line, settled)]
        lines = dict.fromkeys([*kept, *map(orjson.dumps, records)])
        write_bytes(path, b"".join(line + b"\n" for line in lines))
        return len(lines)


def _is_settled(line: bytes, ids: Container[str]) -> bool:
    """Whether a line tells a draft with one of some ids as not chosen."""
    if not line.startswith(b'{"why":"not-chosen"'):
        return False
    return orjson.loads(line)["id"] in ids


async def _checked(checks: Checks, draft: Draft, asker: Asker) -> Rejection | None:
    ask: Ask = asker.scope().ask()
    against = await checks.against(draft, ask)
    draft.evidence = (*draft.evidence, *ask.evidence)
    return against


def _more(mix: Mix, kinds: Sequence[Kind], seed: int) -> list[Kind]:
    """The kinds that are wanted, and half as many again, because checks reject some."""
    return [*kinds, *mix.kinds(math.ceil((OVER - 1) * len(kinds)), seed + 1)]


def _opened(wish: Wish, documents: dict[str, Document]) -> GoldenSet:
    if not (wish.output / QUERIES).exists():
        check_output(wish.output, wish.documents)
        return GoldenSet(wish.output, [], wish.documents)
    golden = GoldenSet.open(wish.output)
    known = golden.known_documents()
    changed = [key for key in known if key not in documents or documents[key].sha256 != known[key]]
    hint = f"Find its spans again first: ragassay golden anchor {wish.output}."
    if changed:
        problem = f"was made from other documents than {wish.documents}: {changed[0]} differs"
        raise InputError(problem, path=wish.output, hint=hint)
    for (then, now), names in golden.read_otherwise(documents).items():
        problem = f"was made from {names[0]} as {then} read it, and {now} may read it otherwise"
        raise InputError(problem, path=wish.output, hint=hint)
    return golden


def _refuse_same(generator: Judge, checker: Judge) -> None:
    writes = {leaf.model.casefold() for leaf in generator.leaves() if leaf.model}
    for leaf in checker.leaves():
        if leaf.model.casefold() in writes:
            raise UsageError(
                f"{leaf.model} is generator and checker: a model finds its own mistakes right. "
                "Name another one with --checker, or add --same-model."
            )


def _prompts(writer: Judge) -> str:
    """Twelve digits that change when a prompt of the generator changes."""
    models = [leaf.model for leaf in writer.leaves()] or [""]
    hashes = [
        kind.blank({}).prompt_hash(one) for kind in (WriteQuery, WriteAnswer) for one in models
    ]
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]


def _save_section(path: Path, section: str) -> None:
    """Writes a section into a scorecard, in place of the one with the same heading."""
    head = "# Scorecard\n\n"
    old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
    kept = [f"## {one}" for one in re.split("^## ", old, flags=re.MULTILINE)[1:]]
    heading = section.splitlines()[0]
    kept = [one for one in kept if one.splitlines()[0] != heading]
    write_text(path, head + "\n".join([*kept, section]).rstrip() + "\n")
