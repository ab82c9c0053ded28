"""What a suite is, and the suites there are: a YAML file each, with the fields of `Suite`; and the
names of other tools' metrics: which of ours is the same, or comes nearest and how it differs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

from ragassay.base import packages
from ragassay.base.errors import UsageError, did_you_mean, warn_user
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, registered


@dataclass(frozen=True)
class PeerMetric:
    """A metric of another tool: what it calls it, how it ``differs`` from ours, the name of ours
    that is the same or comes nearest (empty where none does), whether it is the ``same`` for every
    sample, and whether it is ``reversed``: low where ours is high."""

    tool: str
    names: tuple[str, ...]
    differs: str
    ours: str = ""
    same: bool = False
    reversed: bool = False


@cache
def peer_metrics() -> tuple[PeerMetric, ...]:
    """All of them, in the order of the file."""
    rows = packages.table("ragassay.suites", "peers/peer_names.yaml")
    return tuple(PeerMetric(**{**row, "names": tuple(row["names"])}) for row in rows)


def peers_of(name: str) -> list[PeerMetric]:
    """The metrics of other tools that are called so; deepeval's first for a class `...Metric`."""
    found = [peer for peer in peer_metrics() if _folded(name) in map(_folded, peer.names)]
    return sorted(found, key=lambda peer: "Metric" in name and peer.tool != "deepeval")


def peer_of(name: str, local: Mapping[str, str]) -> PeerMetric | None:
    """The metric of another tool that a name means, where one of ours is measured for it, also
    where it is one of ours but for hyphens and underscores (ragas' ``ExactMatch``); ``None`` where
    the name is ours, with ``local`` as published names."""
    if naming.known(name, local):
        return None
    if naming.known(of_suite := name.replace(".", "_", 1)):  # ``ragreport.faithfulness``
        return PeerMetric("", (), "", of_suite, same=True)
    alike = sorted(our for our in naming.all_names() if _folded(our) == _folded(name))
    same = [PeerMetric("", (), "", re.sub(r"^[\w-]+", our, name), same=True) for our in alike]
    return next((peer for peer in (*peers_of(name), *same) if peer.ours), None)


def our_names(names: str | Sequence[str], local: Mapping[str, str]) -> list[str]:
    """Names, or a comma-separated string of them, with our name in the place of each metric of
    another tool; a warning says what differs. ``local`` are published names that hold."""
    ours = naming.split(names)
    for at, name in enumerate(ours):
        if peer := peer_of(name, local):
            facts = {"name": name, "ours": peer.ours, "tool": peer.tool, "differs": peer.differs}
            ours[at] = peer.ours
            if not peer.same:
                warn_user(str(Note("peer_name", facts)))
    return ours


def _folded(name: str) -> str:
    return re.sub(r"[(@.].*|[^a-z0-9]", "", name.casefold()).removesuffix("metric")


@dataclass(frozen=True)
class Total:
    """A figure of a run that is computed from its metrics' means: the canonical name of the metric
    for each argument of ``compute``."""

    title: str
    means: Mapping[str, str]
    compute: Callable[..., float]


@dataclass(frozen=True)
class Suite:
    """A named set of metrics.

    Attributes:
        name: what ``--suite`` takes.
        title: one line for people.
        source: the published system or paper.
        metrics: the names of its metrics, in order; local aliases may be used.
        headline: canonical names of the metrics that the terminal shows where all are computed;
            empty for all. The others are their published or older forms.
        aliases: published names that hold inside this suite only, with what they mean.
        columns: the published column name of a metric, by the metric's canonical name. Metrics
            without one are shown under their own name.
        published: what ``--published`` changes: canonical names of metrics (without parameters)
            with the one that takes its place. Parameters that both have are kept.
        otherwise: what is measured under a metric's name where the data lack what it needs.
        instead: what is measured under its own name where a metric cannot be.
        ranked: names (without parameters) of the metrics that ``--ks`` repeats at each of its
            cut-offs, in place of those listed.
        steps: a published step for metrics that have one, by the name used in ``metrics``.
        groups: the published heading above a metric, by the name used in ``metrics``.
        default_model: the model that the published system asks, for a judge of which only the
            provider is named.
        notes: what a reader of the numbers should know.
        totals: figures of a whole run that the system publishes, by name.
        elsewhere: a sentence on what else a published name means in the field."""

    name: str
    title: str
    source: str
    metrics: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    published: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    otherwise: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    instead: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ranked: tuple[str, ...] = ()
    steps: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    groups: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    default_model: str = ""
    notes: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
    totals: Mapping[str, Total] = field(default_factory=lambda: MappingProxyType({}))
    elsewhere: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def owned(self) -> frozenset[str]:
        """Names, without parameters, of all metrics that belong to the suite."""
        means = {**registered()[1], **self.aliases}
        targets = (*(means.get(name, name) for name in self.metrics), *self.aliases.values())
        bases = (re.split(r"[(@.]", target, maxsplit=1)[0] for target in targets)
        return frozenset({*bases, *self.published.values()})

    def resolve(
        self,
        names: str | Sequence[str] | None = None,
        *,
        ks: Sequence[int] | None = None,
        published: bool = False,
    ) -> list[Metric]:
        """The metrics of `metrics_by_name`."""
        return list(self.metrics_by_name(names, ks=ks, published=published).values())

    def metrics_by_name(
        self,
        names: str | Sequence[str] | None = None,
        *,
        ks: Sequence[int] | None = None,
        published: bool = False,
    ) -> dict[str, Metric]:
        """The metrics to compute, each under the name that results show it by (see
        `naming.metrics_by_name`): the named ones, or all of the suite's.

        Args:
            names: names, or a comma-separated string of them; all metrics of the suite by default.
            ks: cut-offs, each at least 1: for the suite's ranked metrics, and for names that need
                one and have none.
            published: take the published form of each metric that has one.

        Raises:
            UsageError: an unknown name, a parameter out of range, or one that a published form
                does not have.
        """
        wanted = self.metrics if names is None else names
        if names is None and ks:
            bases = {name: name.partition("@")[0] for name in self.metrics}
            wanted = list(
                dict.fromkeys(
                    at
                    for name, base in bases.items()
                    for at in ([f"{base}@{k}" for k in ks] if base in self.ranked else [name])
                )
            )
        read = naming.metrics_by_name if names is None else metrics_by_name
        by_name = read(wanted, ks=ks, local=self.aliases)
        if not published:
            return by_name
        swapped: dict[Metric, str] = {}
        for shown, metric in by_name.items():
            other = self._as_published(metric)
            swapped.setdefault(other, shown if shown != str(metric) else str(other))
        return {shown: metric for metric, shown in swapped.items()}

    def fitted(self, samples: Sequence[Sample], allowed: Callable[[Metric], bool]) -> Suite:
        """The suite with the metrics that are ``allowed`` and that some sample suits: each as it
        is, as `otherwise` says, or what is measured `instead`."""

        found: list[list[tuple[str, Metric]]] = []
        for name in self.metrics:
            options = [(name, self.aliases.get(name, name))]
            options += [(name, self.otherwise[name])] if name in self.otherwise else []
            options += [(self.instead[name],) * 2] if name in self.instead else []
            found.append([(shown, naming.parse(text)) for shown, text in options])
        possible = [
            [pair for pair in pairs if allowed(pair[1]) and any(map(pair[1].suits, samples))]
            for pairs in found
        ]
        # Where nothing can be measured, all are named, and each says what it lacks.
        chosen = [pairs[0] for pairs in (possible if any(possible) else found) if pairs]
        means = {shown: str(metric) for shown, metric in chosen if shown != str(metric)}
        return dataclasses.replace(
            self,
            metrics=tuple(shown for shown, _ in chosen),
            aliases={**self.aliases, **means},
            columns={**self.columns, **{text: shown for shown, text in means.items()}},
            otherwise={},
            instead={},
        )

    def _as_published(self, metric: Metric) -> Metric:
        if metric.name not in self.published:
            return metric
        cls = naming.metric_classes()[self.published[metric.name]]
        shared = {spec.name for spec in dataclasses.fields(cls)}
        carried = {}
        for spec in dataclasses.fields(metric):
            value = getattr(metric, spec.name)
            if spec.name in shared:
                carried[spec.name] = value
            elif value != spec.default and spec.metadata.get("role") != "cutoff":
                raise UsageError(
                    f"{metric} has no published form: {cls.name} takes no {spec.name!r}. Name the "
                    "published metric that you want, or leave out the option published."
                )
        return cls(**carried)


def metrics_by_name(
    names: str | Sequence[str],
    *,
    ks: Sequence[int] | None = None,
    local: Mapping[str, str] | None = None,
) -> dict[str, Metric]:
    """The metrics of `naming.metrics_by_name` by shown name; where only another suite publishes a
    name, the error says which. ``local`` are a suite's published names, which win over the general
    ones.

    A published name is valid inside its suite only, even where no other suite uses it: systems mean
    different things by ``f1`` or ``MRR``, and a number must not change its meaning when a suite is
    added. Canonical names in another case (``RB_agg``) are valid everywhere, and so are UltraRAG's
    names for rankings (``Recall``), which no suite has."""
    local = {**general_aliases(), **(local or {})}
    wanted = our_names(names, local)
    here = {*naming.ULTRARAG_RANKED, *map(str.casefold, local)}
    try:
        found = naming.metrics_by_name(wanted, ks=ks, local=local)
    except UsageError as error:
        wrong = next((name for name in wanted if not naming.known(name, local)), "")
        advice = advice_on(wrong) if wrong else ""
        if not advice:
            raise
        unknown = isinstance(error, naming.UnknownMetric)
        raise UsageError(advice if unknown else f"{error} {advice}") from error
    for name in () if ks else wanted:
        # A name that lacks its cut-off is not in ``found``; its metrics with cut-offs are.
        is_bare = name not in found and name.casefold() not in here
        if is_bare and naming.lacks_cutoff(name) and (advice := published_elsewhere(name)):
            raise UsageError(f"{name} needs a cut-off, as in {name}@10. {advice}")
    return found


def advice_on(name: str) -> str:
    """What to write instead of a name that is none of ours; empty where no suite publishes it and
    no other tool is known to have it."""
    if name in all_suites():
        return f"{name!r} is a suite, not a metric. Name it with --suite {name}."
    peers = [f"{name!r} is a metric of {peer.tool}. {peer.differs}." for peer in peers_of(name)[:1]]
    return " ".join(filter(None, (published_elsewhere(name), *peers)))


def published_elsewhere(name: str) -> str:
    """Where a name is published, and what to write instead; empty where no suite publishes it."""
    base = re.split(r"[(@.]", name, maxsplit=1)[0].casefold()
    matches = [
        (alias, target, suite.name)
        for suite in all_suites().values()
        for alias, target in suite.aliases.items()
        if alias.casefold() == base and alias not in general_aliases()
    ]
    if not matches:
        return ""
    means = " and ".join(f"of {target} in the suite {suite}" for _, target, suite in matches)
    metric = " or ".join(dict.fromkeys(target for _, target, _ in matches))
    inside = " or ".join(dict.fromkeys(suite for *_, suite in matches))
    stands_for = f"{matches[0][0]!r} is the published name {means}"
    return f"{stands_for}: write {metric}, or add the suite {inside}."


@cache
def all_suites() -> Mapping[str, Suite]:
    """Every suite by name."""
    files = sorted(resources.files("ragassay.suites").iterdir(), key=lambda file: file.name)
    ours = [_read(file) for file in files if file.name.endswith(".yaml")]
    modules = packages.modules("ragassay.suites")
    ours += [module.SUITE for module in modules if hasattr(module, "SUITE")]
    every = [*ours, *packages.added("suites").values()]
    return packages.by_name("suite", ((suite.name, suite) for suite in every))


def _read(file: Traversable) -> Suite:
    """The suite of a file, which has its name; ``compute`` of a total is ``MODULE:FUNCTION``."""
    content = packages.table("ragassay.suites", file.name)
    fixed: dict[str, Any] = {
        key: tuple(group) if isinstance(group, list) else group for key, group in content.items()
    }
    fixed["totals"] = {
        name: Total(**total | {"compute": resolve_name(total["compute"])})
        for name, total in content.get("totals", {}).items()
    }
    return Suite(file.name.removesuffix(".yaml"), **fixed)


def aliases_of(suites: Iterable[Suite]) -> dict[str, str]:
    """The published names of some suites, each with the canonical name that it means. A name that
    several publish has the meaning that the last one gives it."""
    return {alias: target for suite in suites for alias, target in suite.aliases.items()}


@cache
def general_aliases() -> Mapping[str, str]:
    """The names of the suite ``rag`` that hold everywhere, each with the canonical name: all but
    UltraRAG's ``ndcg``, which means several cut-offs."""
    aliases = all_suites()["rag"].aliases
    return {name: aliases[name] for name in aliases if name not in naming.ULTRARAG_RANKED}


@cache
def every_alias() -> Mapping[str, str]:
    """Published names of all suites that are no general names of metrics, with their metrics."""
    general = naming.all_names()
    every = aliases_of(all_suites().values())
    return MappingProxyType({name: every[name] for name in every if name not in general})


def get(name: str) -> Suite:
    """The suite called ``name``; the `UsageError` where there is none names the nearest match."""
    suites = all_suites()
    if name not in suites:
        hint = did_you_mean(name, suites)
        raise UsageError(f"Unknown suite {name!r}. {hint} There are: {', '.join(suites)}.")
    return suites[name]
