"""A panel: several judges answer the same question, and their votes become one answer.

`ragassay.judges.combining` says how votes become one answer. A question whose answers cannot be
combined (a list of claims or nuggets) is put to the first member, and to the next only where that
one fails.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from typing import Any

from typing_extensions import override

from ragassay.base.counts import plural
from ragassay.base.errors import LedgerError, UsageError
from ragassay.base.score import Reason
from ragassay.judges.combining import RULES, combinable, combine, differ
from ragassay.judges.judge import Judge
from ragassay.judges.question import Question
from ragassay.judges.reply import R_co
from ragassay.judges.verdict import Failure, Provenance, Verdict

Vote = Verdict[Any] | Failure


class JudgeGroup(Judge):
    """Several judges that act as one: they are opened, drained and closed together.

    Args:
        members: the judges; one that occurs twice is opened and closed once.
    """

    def __init__(self, members: Iterable[Judge]) -> None:
        self.members = tuple(members)
        self._distinct = tuple({id(member): member for member in self.members}.values())

    @override
    def remarks(self) -> tuple[str, ...]:
        return tuple(remark for member in self._distinct for remark in member.remarks())

    @override
    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        asked = tuple(names)
        lost = {name for member in self.members for name in member.without(asked)}
        return tuple(sorted(lost))

    @override
    def leaves(self) -> tuple[Judge, ...]:
        return tuple(leaf for member in self.members for leaf in member.leaves())

    async def open(self) -> None:
        """Opens the members; closes them again where one will not open."""
        try:
            await _all(member.open() for member in self._distinct)
        except BaseException:
            await self.close()
            raise

    @override
    async def drain(self) -> None:
        await _all(member.drain() for member in self._distinct)

    @override
    async def close(self) -> None:
        await _all(member.close() for member in self._distinct)


class Panel(JudgeGroup):
    """Several judges, asked side by side.

    A member without an answer is a lost vote. The verdict's ``votes`` keep what each member said,
    in the order of the members: the disagreement stays visible.

    Args:
        members: at least one. The same judge may sit several times: each seat asks independently
            (with a ``repeat`` of its own).
        rule: ``median`` or ``majority``.
        quorum: votes that make an answer; more than half of the members where left out.

    Raises:
        UsageError: no members, an unknown rule, or a quorum that cannot be reached.
    """

    def __init__(
        self, members: Sequence[Judge], rule: str = "median", quorum: int | None = None
    ) -> None:
        if not members:
            raise UsageError("A panel needs at least one judge.")
        if rule not in RULES:
            raise UsageError(f"A panel decides by {' or '.join(RULES)}, not by {rule!r}.")
        super().__init__(members)
        self.rule = rule
        self.quorum = len(members) // 2 + 1 if quorum is None else quorum
        if not 1 <= self.quorum <= len(members):
            raise UsageError(
                f"A quorum of {quorum} cannot be: the panel has {plural(len(members), 'member')}."
            )
        self._signatures = [member.signature for member in members]

    @property
    @override
    def label(self) -> str:
        return f"panel({', '.join(member.label for member in self.members)})"

    @property
    @override
    def signature(self) -> str:
        members = ", ".join(member.signature for member in self.members)
        return f"panel({self.rule}, quorum={self.quorum}: {members})"

    @property
    @override
    def width(self) -> int:
        return max(member.width for member in self.members)

    @override
    def requests(self, question: Question[Any], repeat: int = 0) -> tuple[tuple[Judge, int], ...]:
        together = combinable(question.reply)
        requests: list[tuple[Judge, int]] = []
        for member, own in self._seated(repeat):
            requests += member.requests(question, own)
            if not together and not isinstance(member.known(question, own), Failure):
                break
        return tuple(requests)

    @override
    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        seated = self._seated(repeat)
        if combinable(question.reply):
            asking = [_vote(member, question, own) for member, own in seated]
            return self._decided(question, repeat, await asyncio.gather(*asking))
        votes: list[Vote] = []
        for member, own in seated:
            votes.append(await _vote(member, question, own))
            if isinstance(votes[-1], Verdict):
                break
        return self._decided(question, repeat, votes)

    @override
    def known(self, question: Question[Any], repeat: int = 0) -> Vote | None:
        votes = []
        for member, own in self._seated(repeat):
            vote = member.known(question, own)
            if vote is None:
                return None
            votes.append(vote)
            if isinstance(vote, Verdict) and not combinable(question.reply):
                break
        return self._decided(question, repeat, votes)

    def _seated(self, repeat: int) -> Iterator[tuple[Judge, int]]:
        """Each member with the repeat that it is asked with: the seats of one judge have different
        ones."""
        for at, signature in enumerate(self._signatures):
            seat, seats = self._signatures[:at].count(signature), self._signatures.count(signature)
            yield self.members[at], repeat * seats + seat

    def _decided(
        self, question: Question[R_co], repeat: int, votes: Sequence[Vote]
    ) -> Verdict[R_co] | Failure:
        needed = self.quorum if combinable(question.reply) else 1
        return decided(question, votes, self.rule, needed, len(self.members), self.label, repeat)


def decided(
    question: Question[R_co],
    votes: Sequence[Vote],
    rule: str,
    needed: int,
    members: int,
    label: str,
    repeat: int = 0,
) -> Verdict[R_co] | Failure:
    """One verdict from votes (at least one, in the order of the members), which it keeps.

    Where fewer than ``needed`` of the ``members`` answered, the most frequent reason of the lost
    votes is the failure's (of equally frequent ones the first). ``label`` is that of the judge that
    speaks for them; `ragassay.judges.combining` has the rules.
    """
    verdicts = [vote for vote in votes if isinstance(vote, Verdict)]
    lost = [vote for vote in votes if isinstance(vote, Failure)]
    provenance = Provenance(
        label,
        latency=max(vote.provenance.latency for vote in votes),
        attempts=0,
        cached=all(vote.provenance.cached for vote in votes),
    )
    if len(verdicts) < needed:
        reason = Counter(vote.reason for vote in lost).most_common(1)[0][0]
        why = "; ".join(f"{vote.provenance.judge}: {vote.detail}" for vote in lost)
        detail = f"{len(verdicts)} of {members} judges answered, {needed} needed; {why}"
        return Failure(question, reason, detail, provenance, repeat, tuple(votes))
    try:
        answer = question.check(combine([vote.answer for vote in verdicts], rule))
    except ValueError as error:
        detail = f"the votes do not combine into one answer: {error}"
        return Failure(question, Reason.FAILED, detail, provenance, repeat, tuple(votes))
    return Verdict(question, answer, provenance, repeat, tuple(votes))


def disagreed(asked: Vote) -> bool:
    """Whether the members of a panel who answered a question gave different answers. Other words
    for the same answer are no disagreement, nor is a lost vote."""
    return differ([vote.answer for vote in asked.votes if isinstance(vote, Verdict)])


async def _vote(member: Judge, question: Question[Any], repeat: int) -> Vote:
    try:
        return await member.answer(question, repeat)
    except LedgerError:
        raise
    except Exception as error:
        # A judge must not raise; one that does costs its own vote only.
        detail = f"{type(error).__name__} in the judge"
        return Failure(question, Reason.FAILED, detail, Provenance(member.label), repeat)


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Waits for all, then raises the first error."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome
