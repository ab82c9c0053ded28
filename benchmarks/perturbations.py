"""False copies of true sentences: how many of them does the offline judge still call supported?

Sentences are taken from the passages of MT-RAG's labelled tasks, where they are true as they stand.
Each kind of change makes a false one of it: a negation put in, a number, a name, a unit or a word
for its opposite exchanged, two names exchanged with each other, a passive turned into an active.
The numbers and names put in stand elsewhere in the same passages, so that looking a word up tells
nothing; "unknown" names and words stand in none. The words below are the benchmark's own: the
judge's lists are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragassay.base.sample import Sample
from ragassay.judges.offline.questions import answer_to
from ragassay.judges.questions import AssignNuggets, CitationSupport, ClaimSupport, ExtractClaims

PER_PASSAGE = 4
"""Sentences of a passage that are changed in one way at most."""

_SENTENCE = re.compile(r"(?<![\w.])[A-Z][^.!?\n|]{30,300}\.(?=\s|$)")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|do|did)\b"
)
_DENIED = re.compile(r"\b(?:not|no|never|none|nor|neither|without|cannot|nothing)\b|n['’]t\b", re.I)
_CONTRACTED = re.compile(
    r"\b(is|are|was|were|has|have|had|could|would|should|does|do|did)\b(?! not)"
)
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])(?![.,]\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
_VERB = re.compile(r"\b\w+(?:s|ed)\b")
_UNITS = (
    ("feet", "metres"), ("miles", "kilometers"), ("meters", "miles"), ("km", "miles"),
    ("kilometers", "feet"), ("years", "months"), ("months", "days"), ("days", "years"),
    ("weeks", "years"), ("hours", "minutes"), ("minutes", "seconds"), ("percent", "dollars"),
    ("%", " people"), ("pounds", "tons"), ("kg", "grams"), ("inches", "feet"),
    ("million", "billion"), ("billion", "million"), ("degrees", "hours"), ("acres", "square feet"),
)  # fmt: skip
_OPPOSITES = (
    ("increase", "decrease"), ("increased", "decreased"), ("increases", "decreases"),
    ("higher", "lower"), ("highest", "lowest"), ("high", "low"), ("more", "less"),
    ("most", "least"), ("larger", "smaller"), ("largest", "smallest"), ("large", "small"),
    ("before", "after"), ("first", "last"), ("early", "late"), ("earlier", "later"),
    ("north", "south"), ("northern", "southern"), ("east", "west"), ("eastern", "western"),
    ("best", "worst"), ("better", "worse"), ("good", "bad"), ("new", "old"), ("long", "short"),
    ("always", "never"), ("all", "none"), ("above", "below"), ("inside", "outside"),
    ("maximum", "minimum"), ("minimum", "maximum"), ("positive", "negative"), ("open", "closed"),
    ("opened", "closed"), ("begin", "end"), ("begins", "ends"), ("began", "ended"),
    ("public", "private"), ("legal", "illegal"), ("possible", "impossible"), ("win", "lose"),
    ("won", "lost"), ("buy", "sell"), ("left", "right"), ("male", "female"), ("hot", "cold"),
    ("internal", "external"), ("allowed", "forbidden"), ("true", "false"), ("major", "minor"),
)  # fmt: skip

_PAST = {
    "became": "become", "began": "begin", "bought": "buy", "broke": "break", "brought": "bring",
    "built": "build", "came": "come", "chose": "choose", "found": "find", "gave": "give",
    "got": "get", "grew": "grow", "held": "hold", "kept": "keep", "knew": "know", "led": "lead",
    "left": "leave", "lost": "lose", "made": "make", "met": "meet", "paid": "pay", "ran": "run",
    "rose": "rise", "said": "say", "saw": "see", "sent": "send", "sold": "sell", "spent": "spend",
    "stood": "stand", "taught": "teach", "thought": "think", "told": "tell", "took": "take",
    "went": "go", "won": "win", "wrote": "write",
    "added": "add", "agreed": "agree", "allowed": "allow", "announced": "announce",
    "appeared": "appear", "arrived": "arrive", "asked": "ask", "attended": "attend",
    "called": "call", "carried": "carry", "caused": "cause", "changed": "change",
    "claimed": "claim", "continued": "continue", "covered": "cover", "created": "create",
    "decided": "decide", "defeated": "defeat", "developed": "develop", "died": "die",
    "discovered": "discover", "divided": "divide", "ended": "end", "entered": "enter",
    "escaped": "escape", "established": "establish", "featured": "feature", "finished": "finish",
    "followed": "follow", "formed": "form", "helped": "help", "included": "include",
    "increased": "increase", "introduced": "introduce", "joined": "join", "killed": "kill",
    "launched": "launch", "lived": "live", "marked": "mark", "moved": "move", "offered": "offer",
    "opened": "open", "ordered": "order", "passed": "pass", "planned": "plan", "played": "play",
    "premiered": "premiere", "produced": "produce", "provided": "provide", "published": "publish",
    "reached": "reach", "received": "receive", "released": "release", "remained": "remain",
    "replaced": "replace", "reported": "report", "returned": "return", "revealed": "reveal",
    "served": "serve", "showed": "show", "signed": "sign", "spread": "spread",
    "started": "start", "stated": "state", "stayed": "stay", "stopped": "stop",
    "supplied": "supply", "supported": "support", "tried": "try", "turned": "turn",
    "used": "use", "visited": "visit", "voted": "vote", "wanted": "want", "worked": "work",
}  # fmt: skip
"""Past forms of verbs and their base forms."""
_NO_SUBJECT = (
    "a|an|the|its|his|her|their|of|in|on|at|by|for|with|from|to|and|or|as|be|been|being|is|are|was"
    "|were|has|have|had|not|that|which|it|more|most|who"
)
_SAID = re.compile(
    rf"(?<![\w-])(?!(?:{_NO_SUBJECT})\b)([A-Za-z]+) ({'|'.join(_PAST)}) (?!by\b)(?=[a-z0-9A-Z])"
)
_PASSIVE = re.compile(
    r"(?<= )(?:is|was|were) (?P<verb>\w+ed|written|built|won|led|held|made|taken) by "
    r"(?=(?:the|a|an) [a-z]|[A-Z])"
)
_STRANGE_NAMES = ("Quillborough", "Tarnwick", "Osvaldsen", "Brementhal", "Yukimura")
_STRANGE_WORDS = ("polonium", "umbrella", "trombone", "asphalt", "walnuts", "lantern", "violinist")
_NOUN = re.compile(r"(?<=\bthe )[a-z]{5,}(?= (?:of|in|is|was|are|were|and|to)\b)")

_SYNONYMS = (
    ("use", "utilize"), ("used", "utilized"), ("uses", "utilizes"), ("doctor", "physician"),
    ("buy", "purchase"), ("bought", "purchased"), ("began", "started"), ("begin", "start"),
    ("help", "assist"), ("large", "sizeable"), ("big", "large"), ("show", "demonstrate"),
    ("shows", "demonstrates"), ("need", "require"), ("needs", "requires"), ("get", "obtain"),
    ("many", "numerous"), ("important", "crucial"), ("often", "frequently"), ("about", "roughly"),
    ("children", "kids"), ("movie", "film"), ("car", "automobile"), ("house", "dwelling"),
    ("job", "occupation"), ("money", "funds"), ("keep", "retain"), ("make", "produce"),
    ("made", "produced"), ("build", "construct"), ("built", "constructed"), ("end", "conclude"),
    ("ended", "concluded"), ("problem", "issue"), ("area", "region"), ("city", "town"),
    ("answer", "reply"), ("choose", "select"), ("change", "alter"), ("changed", "altered"),
    ("famous", "renowned"), ("ill", "sick"), ("main", "chief"), ("students", "pupils"),
    ("company", "firm"), ("people", "persons"), ("find", "locate"), ("given", "provided"),
    ("create", "produce"), ("provide", "supply"), ("allow", "permit"), ("total", "overall"),
)  # fmt: skip
"""Words and others that mean about the same: such a copy stays true."""

Change = Callable[[str, str], str | None]
"""From a sentence and the text of its passages: the false sentence, or ``None``."""


def denied(sentence: str, _: str) -> str | None:
    """``not`` behind the first auxiliary."""
    if _DENIED.search(sentence):
        return None
    return _once(_AUXILIARY, lambda found: f"{found} not", sentence)


def contracted(sentence: str, _: str) -> str | None:
    """``n't`` at the first auxiliary."""
    if _DENIED.search(sentence):
        return None
    return _once(_CONTRACTED, lambda found: f"{found}n't", sentence)


def did_not(sentence: str, _: str) -> str | None:
    """``did not`` and the base form for the first past form of a verb, behind a word that may end
    its subject."""
    if _DENIED.search(sentence):
        return None
    found = _SAID.search(sentence)
    if found is None:
        return None
    at = found.start(2)
    return f"{sentence[:at]}did not {_PAST[found[2]]}{sentence[found.end(2) :]}"


def framed(sentence: str, _: str) -> str | None:
    """``It is not true that`` before the sentence."""
    return f"It is not true that {sentence[0].lower()}{sentence[1:]}"


def active(sentence: str, _: str) -> str | None:
    """The first passive with "by" made active, as it stands: who did it is exchanged."""
    return _once(_PASSIVE, lambda found: f"{found.split()[1]} ", sentence)


def unknown_name(sentence: str, passages: str) -> str | None:
    """The first name exchanged for one that stands in no passage."""
    found = _NAME.findall(sentence)
    other = next((name for name in _STRANGE_NAMES if name not in passages), None)
    return sentence.replace(found[0], other, 1) if found and other else None


def unknown_word(sentence: str, passages: str) -> str | None:
    """The first noun between an article and a small word exchanged for one of no passage."""
    other = next((word for word in _STRANGE_WORDS if word not in passages.lower()), None)
    return None if other is None else _once(_NOUN, lambda _: other, sentence)


def another_number(sentence: str, passages: str) -> str | None:
    """The last number exchanged for one that stands elsewhere in the passages."""
    found = _NUMBER.findall(sentence)
    if not found:
        return None
    others = [n for n in dict.fromkeys(_NUMBER.findall(passages)) if n not in found]
    alike = [n for n in others if len(n) == len(found[-1])] or others
    return _last(sentence, found[-1], alike[0]) if alike else None


def another_name(sentence: str, passages: str) -> str | None:
    """The last name exchanged for one that stands elsewhere in the passages."""
    found = _NAME.findall(sentence)
    if not found:
        return None
    words = set(sentence.split())
    others = (
        name for name in dict.fromkeys(_NAME.findall(passages)) if words.isdisjoint(name.split())
    )
    other = next(others, None)
    return None if other is None else _last(sentence, found[-1], other)


def exchanged_names(sentence: str, _: str) -> str | None:
    """Two names with a verb between them change places."""
    found = list(_NAME.finditer(sentence))
    for one, two in pairwise(found):
        between = sentence[one.end() : two.start()]
        listed = re.search(r"\b(?:and|or)\b|,", between)
        if one.group() != two.group() and _VERB.search(between) and not listed:
            before, behind = sentence[: one.start()], sentence[two.end() :]
            return f"{before}{two.group()}{between}{one.group()}{behind}"
    return None


def another_unit(sentence: str, _: str) -> str | None:
    """The unit of a number exchanged."""
    for unit, other in _UNITS:
        pattern = re.compile(rf"(?<=\d)(\s?){re.escape(unit)}(?!\w)")
        if pattern.search(sentence):
            return pattern.sub(rf"\g<1>{other}", sentence, count=1)
    return None


def opposite(sentence: str, _: str) -> str | None:
    """A word exchanged for its opposite."""
    for one, two in _OPPOSITES:
        for word, other in ((one, two), (two, one)):
            pattern = re.compile(rf"\b{word}\b")
            if pattern.search(sentence) and not re.search(rf"\b{other}\b", sentence):
                return pattern.sub(other, sentence, count=1)
    return None


def synonym(sentence: str, passages: str) -> str | None:
    """The first word that has a synonym of no passage exchanged for it."""
    for word, other in _SYNONYMS:
        pattern = re.compile(rf"\b{word}\b")
        if pattern.search(sentence) and other not in passages.lower():
            return pattern.sub(other, sentence, count=1)
    return None


CHANGES: dict[str, Change] = {
    "nothing": lambda sentence, _: sentence,
    "synonym (true)": synonym,
    "not": denied,
    "n't": contracted,
    "did not": did_not,
    "not true that": framed,
    "number": another_number,
    "unit": another_unit,
    "name": another_name,
    "unknown name": unknown_name,
    "unknown word": unknown_word,
    "exchanged names": exchanged_names,
    "passive as active": active,
    "opposite": opposite,
}


def _once(pattern: re.Pattern[str], to: Callable[[str], str], sentence: str) -> str | None:
    found = pattern.search(sentence)
    if found is None:
        return None
    return sentence[: found.start()] + to(found.group()) + sentence[found.end() :]


def _last(sentence: str, old: str, new: str) -> str:
    at = sentence.rindex(old)
    return sentence[:at] + new + sentence[at + len(old) :]


@dataclass(frozen=True)
class Case:
    """A sentence, changed or not, the one it was made from, and the passages of its task."""

    kind: str
    sentence: str
    source: str
    passage: str
    passages: tuple[str, ...]


def cases(samples: Sequence[Sample]) -> Iterator[Case]:
    """Changed sentences of all passages; each passage is used once."""
    seen: set[str] = set()
    for sample in samples:
        passages = tuple(p.text or "" for p in sample.passages or ())
        everything = "\n".join(passages)
        for passage in passages:
            if passage in seen:
                continue
            seen.add(passage)
            for kind, change in CHANGES.items():
                n = 0
                for source in _SENTENCE.findall(passage):
                    changed = change(source, everything) if n < PER_PASSAGE else None
                    if changed is not None and (changed in everything) == (kind == "nothing"):
                        n += 1
                        yield Case(kind, changed, source, passage, passages)


def share_supported(case: Case) -> float | None:
    """rl_f of an answer that is the sentence; ``None`` where it claims nothing."""
    claims = answer_to(ExtractClaims("", case.sentence))
    assert claims is not None
    if not claims.claims:
        return None
    verdicts = answer_to(ClaimSupport(claims.claims, case.passages))
    assert verdicts is not None
    supported: tuple[bool, ...] = verdicts.supported
    return sum(supported) / len(supported)


def perturbed(samples: Sequence[Sample]) -> None:
    """Prints, for each kind of change, how many sentences are still supported in full."""
    counted: dict[str, list[int]] = {}
    for case in cases(samples):
        row = counted.setdefault(case.kind, [0] * 5)
        share = share_supported(case)
        cited = answer_to(CitationSupport(case.sentence, case.passage))
        held = answer_to(AssignNuggets("", case.sentence, (case.source,)))
        assert cited is not None and held is not None
        if share is None:
            continue
        row[0] += 1
        row[1] += share == 1.0
        row[2] += share == 0.0
        row[3] += cited.support == "full"
        row[4] += held.labels[0] == "support"
    print("\nsentences of the passages with one change: share that is still supported")
    print(f"  {'change':<18}{'n':>5}  rl_f = 1  rl_f = 0  citation full  nugget held")
    for kind, (n, *found) in counted.items():
        ones = [f"{count / n:.3f}" for count in found]
        print(f"  {kind:<18}{n:>5}  {ones[0]:>8}  {ones[1]:>8}  {ones[2]:>13}  {ones[3]:>11}")
