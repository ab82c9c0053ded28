"""One synthesis, written into a folder. The same command again continues: the folder has what was
written, the ledger what was asked."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any

import orjson

from ragassay.base.errors import InputError, UsageError
from ragassay.base.files import write_bytes
from ragassay.engine.config.run_config import Judging
from ragassay.engine.run.judge_session import options_of
from ragassay.golden import QUERIES
from ragassay.golden.documents import Document, readable_documents
from ragassay.golden.golden_folder import GoldenSet, alone, check_output
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges import Judge
from ragassay.judges.asking import Ask, Asker, Usage
from ragassay.judges.judge_factory import make_judge, named_judges
from ragassay.judges.ledger.ledger_store import DEFAULT, Ledger, look_into
from ragassay.judges.planning_judge import PlanningJudge
from ragassay.judges.questions.answering import WriteAnswer, WriteQuery
from ragassay.synthesis import offline_generator
from ragassay.synthesis.draft import OFFLINE, Draft, Kind, Outcome, Rejection, Wish, chosen
from ragassay.synthesis.filters import Checks, Filters
from ragassay.synthesis.llm_generator import LLMGenerator
from ragassay.synthesis.offline_generator import OfflineGenerator
from ragassay.synthesis.scorecard import save_scorecard, scorecard
from ragassay.synthesis.sections import Corpus
from ragassay.transport.budget import Budget

REJECTED, SCORECARD = "rejected.jsonl", "scorecard.md"
OVER = 1.5
"""Drafts that are checked for each item that is wanted."""
_DRAFTS_PER_ITEM = 10
"""Drafts that the rules wrote among which each item is chosen, at most."""


class Synthesis:
    """A synthesis that is ready to run: documents and golden set are read."""

    def __init__(self, wish: Wish, judging: Judging, *, dry: bool = False) -> None:
        if wish.n < 1:
            raise UsageError(f"--n {wish.n}: ask for at least 1 item.")
        self.wish, self._judging, self._dry = wish, judging, dry
        if wish.generator == OFFLINE:
            offline_generator.check(wish.mix)
            if wish.given or wish.guide or not wish.answers:
                raise UsageError(
                    "The offline generator takes no queries and no style guide, and always "
                    "writes answers. Name a model with --generator."
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
        names = [self.corpus.language(document) for document in self.corpus.documents]
        others = Counter(name for name in names if name not in offline_generator.READS)
        if others.total() == len(names):
            languages = ", ".join(f"{code} ({n})" for code, n in others.most_common())
            raise UsageError(
                f"The offline generator reads and writes English only, and the documents of "
                f"{self.wish.documents} are in {languages}. Name a model with --generator."
            )
        return dict(others)

    def run(self, progress: Callable[[int], None] | None = None) -> Outcome:
        """Writes, checks, chooses, and adds the items to the folder."""
        kinds = self._kinds()
        if not self.wish.given and not kinds:
            return Outcome([], len(self.made))
        with self._judges() as (writer, checker, made):
            drafts, against, written = self._drafts(writer, progress)
            n_drafts = len(drafts) + sum(not rejection.unasked for rejection in against)
            known = {item.id for item in self.golden.items}
            passed, by_words = self._by_words([draft for draft in drafts if draft.id not in known])
            checks, worth = Checks(self.corpus), self._worth_checking(passed, kinds)
            results, read = _each(
                checker, [partial(_checked, checks, draft) for draft in worth], progress
            )
        accepted, by_checker = _divided(results)
        against += [*by_words, *by_checker]
        taken = accepted if self.wish.given else chosen(accepted, kinds)
        items = [draft.to_item(made) for draft in taken]
        rejections = [rejection for rejection in against if not rejection.unasked]
        self._save(items, made, rejections)
        card = scorecard(
            made,
            self.corpus,
            taken,
            len(accepted) - len(taken),
            rejections,
            kinds=kinds,
            not_tried=checks.not_tried,
        )
        save_scorecard(self.wish.output / SCORECARD, card)
        return Outcome(
            items,
            len(self.made),
            n_drafts,
            rejections,
            [rejection for rejection in against if rejection.unasked],
            len(passed) - len(taken) - len(by_checker),
            written.calls + read.calls,
            written.cached + read.cached,
            written.cost + read.cost,
        )

    def plan(self) -> dict[str, Any]:
        """What `run` would ask: ``drafts``; certain ``calls``, their tokens and ``cost`` (US
        dollars); answers ``held`` in the ledger; ``most_calls`` with all that may follow."""
        with self._judges() as (writer, checker, _):
            offline = writer is None
            plans = [PlanningJudge(judge, None) for judge in (writer, checker) if judge is not None]
            drafts, rejections, _ = self._drafts(None if offline else plans[0])
            asked = drafts
            if offline:
                passed, _ = self._by_words(drafts)
                asked = self._worth_checking(passed, self._kinds())
            _each(plans[-1], [partial(_checked, Checks(self.corpus), draft) for draft in asked])
            n = len(drafts) + len(rejections)
            # An answer leads to one more by the generator and up to five by the checker.
            steps = len((writer or checker).leaves()) and (5 if offline else 7)
            names = ("calls", "held", "input_tokens", "output_tokens", "cost", "unpriced")
            demands = [demand for plan in plans for demand in plan.demands.values()]
            totals = {name: sum(getattr(demand, name) for demand in demands) for name in names}
            most = max(totals["calls"], n * steps)
            return {"drafts": n, "most_calls": most, **totals}

    @contextmanager
    def _judges(self) -> Iterator[tuple[Judge | None, Judge, dict[str, Any]]]:
        """The generator (``None``: by rules), the checker, and what goes into each item's
        provenance."""
        wish = self.wish
        place = self._judging.ledger or DEFAULT
        budget = None if self._judging.budget is None else Budget.parse(self._judging.budget)
        with ExitStack() as stack:
            offline = wish.generator == wish.checker == OFFLINE
            looks = offline or self._dry
            ledger = look_into(None if offline else place) if looks else Ledger(place)
            stack.callback(ledger.close)
            shared: dict[str, Any] = {"default_model": "gpt-4o-mini", "ledger": ledger}
            shared |= {"budget": budget, "options": options_of(self._judging, dry=self._dry)}

            def judge(words: str) -> Judge:
                return make_judge(named_judges(words.split(",")), **shared)

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
            yield writer, checker, made

    def _drafts(
        self, writer: Judge | None, progress: Callable[[int], None] | None = None
    ) -> tuple[list[Draft], list[Rejection], Usage]:
        wish = self.wish
        if writer is None:
            return list(OfflineGenerator(self.corpus, wish.seed).drafts(wish.mix)), [], Usage()
        generator = LLMGenerator(self.corpus, wish, self._examples)
        if wish.given:
            wanted = list(generator.answering(wish.given))
        else:
            wanted = list(generator.wanted(wish.mix.kinds(math.ceil(OVER * wish.n), wish.seed)))
        written, usage = _each(
            writer, [partial(generator.draft, draft) for draft in wanted], progress
        )
        return *_divided(written), usage

    def _by_words(self, drafts: Sequence[Draft]) -> tuple[list[Draft], list[Rejection]]:
        """The drafts that words do not reject, and the rejections of the others."""
        existing = [item.query for item in (*self.golden.items, *self._examples)]
        filters = Filters(list(dict.fromkeys(existing)), self.wish.words)
        return _divided([filters.against(draft) or draft for draft in drafts])

    def _worth_checking(self, drafts: list[Draft], kinds: Sequence[Kind]) -> list[Draft]:
        """Half as many again as are wanted, because checks reject some: the rules find much more,
        and no checker is paid for all of it."""
        wish = self.wish
        if wish.given:
            return drafts
        most = _DRAFTS_PER_ITEM * wish.n  # the time of a choice grows with drafts and items
        if len(drafts) > most:
            places = random.Random(wish.seed).sample(range(len(drafts)), most)
            drafts = [drafts[at] for at in sorted(places)]
        more = wish.mix.kinds(math.ceil((OVER - 1) * len(kinds)), wish.seed + 1)
        return chosen(drafts, [*kinds, *more])

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
        lacking = Counter(self.wish.mix.kinds(self.wish.n, self.wish.seed))
        made = self.made
        lacking -= Counter(tuple(sorted(item.provenance["wanted"].items())) for item in made)
        return list(lacking.elements())[: max(0, self.wish.n - len(made))]

    def _save(
        self, items: Sequence[GoldenItem], made: dict[str, Any], rejections: Sequence[Rejection]
    ) -> None:
        """Writes the set and what became no item."""
        golden = self.golden
        is_new = not (golden.folder / QUERIES).is_file()
        with nullcontext() if is_new else alone(golden.folder):
            if not is_new:
                # People may have reviewed items while others were written.
                golden.items = GoldenSet.open(golden.folder).items
            existing = {item.id for item in golden.items}
            golden.items = [*golden.items, *(item for item in items if item.id not in existing)]
            golden.save()
        golden.save_manifest(self.corpus.documents)
        path = self.wish.output / REJECTED
        earlier = path.read_bytes().splitlines() if path.exists() else []
        lines = dict.fromkeys(
            [*earlier, *(orjson.dumps(rejection.to_record(made)) for rejection in rejections)]
        )
        write_bytes(path, b"".join(line + b"\n" for line in lines))


def _each(
    judge: Judge,
    work: Sequence[Callable[[Ask], Awaitable[Any]]],
    progress: Callable[[int], None] | None = None,
) -> tuple[list[Any], Usage]:
    """The results of coroutines that ask a judge side by side, in their order, and what it cost."""
    if not work:
        return [], Usage()
    with Asker(judge) as asker:
        asker.progress, scope = progress, Ask(asker)
        asking = [partial(function, Ask(asker, scope.memory)) for function in work]
        futures = [asker.submit(asker.finish_sample(item)) for item in asking]
        return [future.result() for future in futures], asker.usage


async def _checked(checks: Checks, draft: Draft, ask: Ask) -> Draft | Rejection:
    against = await checks.against(draft, ask)
    draft.evidence = (*draft.evidence, *ask.evidence)
    return against or draft


def _divided(results: Iterable[Draft | Rejection]) -> tuple[list[Draft], list[Rejection]]:
    listed = list(results)
    drafts = [draft for draft in listed if isinstance(draft, Draft)]
    return drafts, [against for against in listed if isinstance(against, Rejection)]


def _opened(wish: Wish, documents: dict[str, Document]) -> GoldenSet:
    if not (wish.output / QUERIES).exists():
        check_output(wish.output, wish.documents)
        return GoldenSet(wish.output, [], wish.documents)
    golden = GoldenSet.open(wish.output)
    hashes = golden.known_documents()
    changed = [
        name
        for name, digest in hashes.items()
        if name not in documents or documents[name].sha256 != digest
    ]
    if changed:
        raise InputError(
            f"was made from other documents than {wish.documents}: {changed[0]} differs",
            path=wish.output,
            hint=f"Find its spans again first: ragassay golden anchor {wish.output}.",
        )
    return golden


def _refuse_same(generator: Judge, checker: Judge) -> None:
    writers = {leaf.model.casefold() for leaf in generator.leaves() if leaf.model}
    for leaf in checker.leaves():
        if leaf.model.casefold() in writers:
            raise UsageError(
                f"{leaf.model} is generator and checker: a model does not see its own mistakes. "
                "Name another model with --checker, or add --same-model."
            )


def _prompts(writer: Judge) -> str:
    """Twelve digits that change when a prompt of the generator changes."""
    models = [leaf.model for leaf in writer.leaves()] or [""]
    hashes = [
        kind.blank({}).prompt_hash(model) for kind in (WriteQuery, WriteAnswer) for model in models
    ]
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]
