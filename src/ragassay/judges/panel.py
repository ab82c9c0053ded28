"""A panel: several judges answer the same question. A question whose answers cannot be combined (a
list of claims) is put to the first member, and to the next only where that one fails.

Each field of the reply is decided on its own, by what it holds:

================  ==============================================================================
whole number      the middle vote (median), the lower of the two middle ones where their number is
                  even
label             its words are in order in the reply's type, so the same holds; "lower" is the word
                  that is named later there (``full, partial, none``)
yes or no         more than half the votes: a tie is no
list of labels    entry by entry
or of yes and no
list of numbers   a set of indices: those that more than half the votes name, ascending
list of texts     cannot be combined (two judges' claims do not pair up): the first judge's list
text              the words of the first judge who voted for the whole outcome, else for the field
                  that the text explains, else the votes themselves: ``votes: 4, 2``
================  ==============================================================================

A field that half the replies or more have no valid value for (`ReplyInParts`) has none.

A tie therefore never raises a score. A text ``usefulness_explanation`` explains the field
``usefulness``; any other text explains all the fields that are voted on.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from typing_extensions import override

from ragassay.base.errors import LedgerError, UsageError
from ragassay.base.printable import plural
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.question import Lost, Question, R_co, Reply, ReplyInParts, about

R = TypeVar("R", bound=Reply)
Vote = JudgeAnswer[Any] | Failure


class JudgeGroup(Judge):
    """Several judges that act as one: they are opened, drained and closed together, each once."""

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
    """Several judges (at least one), asked side by side; one that sits several times asks
    independently each time. A member without an answer is a lost vote; the answer's ``votes`` keep
    what each said.

    A `UsageError` for no members, or a ``quorum`` (votes that make an answer; more than half of the
    members where left out) that cannot be reached."""

    def __init__(self, members: Sequence[Judge], quorum: int | None = None) -> None:
        if not members:
            raise UsageError("A panel needs at least one judge.")
        super().__init__(members)
        self.quorum = len(members) // 2 + 1 if quorum is None else quorum
        if not 1 <= self.quorum <= len(members):
            raise UsageError(
                f"No quorum can be {quorum}: the panel has {plural(len(members), 'member')}."
            )
        self.width = max(member.width for member in self.members)
        self._signatures = [member.signature for member in members]

    @property
    @override
    def label(self) -> str:
        return f"panel({', '.join(member.label for member in self.members)})"

    @property
    @override
    def signature(self) -> str:
        members = ", ".join(member.signature for member in self.members)
        return f"panel(median, quorum={self.quorum}: {members})"

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
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        seated = self._seated(repeat)
        if combinable(question.reply):
            asking = [_vote(member, question, own) for member, own in seated]
            return self._decided(question, repeat, await asyncio.gather(*asking))
        votes: list[Vote] = []
        for member, own in seated:
            votes.append(await _vote(member, question, own))
            if isinstance(votes[-1], JudgeAnswer):
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
            if isinstance(vote, JudgeAnswer) and not combinable(question.reply):
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
    ) -> JudgeAnswer[R_co] | Failure:
        needed = self.quorum if combinable(question.reply) else 1
        return decided(question, votes, needed, len(self.members), self.label, repeat)


def decided(
    question: Question[R_co],
    votes: Sequence[Vote],
    needed: int,
    members: int,
    label: str,
    repeat: int = 0,
) -> JudgeAnswer[R_co] | Failure:
    """One answer from votes (at least one, in the order of the members), which it keeps; a failure
    for the most frequent reason of the lost votes where fewer than ``needed`` members answered."""
    judge_answers = [vote for vote in votes if isinstance(vote, JudgeAnswer)]
    lost = [vote for vote in votes if isinstance(vote, Failure)]
    latency = max(vote.provenance.latency for vote in votes)
    cached = all(vote.provenance.cached for vote in votes)
    provenance = Provenance(label, latency=latency, attempts=0, cached=cached)
    if len(judge_answers) < needed:
        reason = Counter(vote.reason for vote in lost).most_common(1)[0][0]
        why = "; ".join(f"{vote.provenance.judge}: {vote.detail}" for vote in lost)
        detail = f"{len(judge_answers)} of {members} judges answered, {needed} needed; {why}"
        return Failure(question, reason, detail, provenance, repeat, tuple(votes))
    try:
        answer = question.check(combine([vote.answer for vote in judge_answers]))
    except ValueError as error:
        detail = f"the votes do not combine into one answer: {error}"
        return Failure(question, Reason.FAILED, detail, provenance, repeat, tuple(votes))
    return JudgeAnswer(question, answer, provenance, repeat, tuple(votes))


def disagreed(asked: Vote) -> bool:
    """Whether the members of a panel who answered a question gave different answers. Other words
    for the same answer are no disagreement, nor is a lost vote."""
    return differ([vote.answer for vote in asked.votes if isinstance(vote, JudgeAnswer)])


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


def combine(replies: Sequence[R]) -> R:
    """One answer from several (at least one) to the same question; a `ValueError` for lists of
    labels of different lengths."""
    first = replies[0]
    if len(replies) == 1:
        return first
    kinds = type(first).fields()
    deciders = {name: _decider(kind) for name, kind in kinds.items()}
    decided: dict[str, Any] = {}
    lost: dict[str, Lost] = {}
    for name, decide in deciders.items():
        votes = [vote for reply in replies if (vote := getattr(reply, name)) is not None]
        if decide is not None and 2 * len(votes) > len(replies):
            decided[name] = decide(votes)
        elif decide is not None:
            losses = (reply.lost for reply in replies if isinstance(reply, ReplyInParts))
            lost[name] = next(each[name] for each in losses if name in each)
    words: dict[str, Any] = {}
    for name in (name for name, decide in deciders.items() if decide is None):
        if kinds[name] is not str:
            words[name] = getattr(first, name)
        elif about(name) in lost:
            words[name] = None
        else:
            fields = [about(name)] if about(name) in decided else list(decided)
            speaker = _voter(replies, decided, decided) or _voter(replies, decided, fields)
            said = ", ".join(_words_of(reply, fields) for reply in replies)
            words[name] = getattr(speaker, name) if speaker else f"votes: {said}"
    if isinstance(first, ReplyInParts):
        words |= {**dict.fromkeys(lost), "lost": lost}
    return first.model_copy(update={**decided, **words})


def differ(replies: Sequence[Reply]) -> bool:
    """Whether replies to one question differ in what they say. Other words for the same answer do
    not count, nor do lists of texts, which are not voted on."""
    if len(replies) < 2:
        return False
    voted = [name for name, kind in type(replies[0]).fields().items() if _decider(kind)]
    votes = ({repr(getattr(reply, name)) for reply in replies} - {"None"} for name in voted)
    return any(len(different) > 1 for different in votes)


def combinable(reply: type[Reply]) -> bool:
    """Whether several replies of a type say more than the first: not where all fields are free
    text."""
    return any(_decider(kind) for kind in reply.fields().values())


Decider = Callable[[Sequence[Any]], Any]


def _decider(kind: Any) -> Decider | None:
    """The function that combines votes of a type; ``None`` for words."""
    if kind is bool:
        return lambda votes: 2 * sum(votes) > len(votes)
    if kind is int:
        return _middle
    if get_origin(kind) is Literal:
        words = get_args(kind)[::-1]  # ascending: the last named is the lowest
        return lambda votes: words[_middle([words.index(vote) for vote in votes])]
    if get_origin(kind) is not tuple:
        return None
    (entry, *_) = get_args(kind)
    entry = get_args(entry)[0] if get_origin(entry) is Annotated else entry
    if entry is int:
        return _indices
    decide = _decider(entry)
    if decide is None:
        return None
    return lambda votes: tuple(decide(column) for column in zip(*votes, strict=True))


def _middle(votes: Sequence[int]) -> int:
    return sorted(votes)[(len(votes) - 1) // 2]


def _indices(votes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    counts = Counter(index for vote in votes for index in set(vote))
    return tuple(sorted(index for index, count in counts.items() if 2 * count > len(votes)))


def _voter(replies: Sequence[R], outcome: Mapping[str, Any], fields: Iterable[str]) -> R | None:
    """The first who voted for an outcome, in some of its fields."""
    names = list(fields)
    voted = (reply for reply in replies if all(getattr(reply, n) == outcome[n] for n in names))
    return next(voted, None)


def _words_of(reply: Reply, names: Sequence[str]) -> str:
    """A vote as a text, where no member's own words fit the result."""
    values = [getattr(reply, name) for name in names]
    shown = [json.dumps(each) if isinstance(each, tuple | bool) else str(each) for each in values]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
