"""``ragassay golden synthesize``: items of a golden set from documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.printable import dollars, plural
from ragassay.cli import show
from ragassay.cli.command import YAML, Given, command
from ragassay.cli.golden.files_commands import warn_of_left_out
from ragassay.cli.show import progress_bar

if TYPE_CHECKING:
    from ragassay.synthesis.draft import Outcome, Rejection, Wish

OFFLINE = "offline"
_REASONS = 3
"""Reasons of rejections that are printed."""
_ABOUT_RUNS = ("judge", "quorum", "nuggets", "rubric", "judge_prompt", "prompts", "language")


@command("golden synthesize", "Judging", without=_ABOUT_RUNS)
def synthesize(given: Given) -> int:
    """Write queries with references, wrong answers and gold spans from DOCUMENTS.

    Every item has status draft until a person accepts it. Rejected drafts are in rejected.jsonl
    with the reason; scorecard.md has the figures. Run the same command again to continue.

    ```sh
    ragassay golden synthesize docs -o golden --n 30
    ragassay golden synthesize docs -o golden --generator openai:gpt-4o --checker openai:o3
    ragassay golden synthesize docs -o golden --n 200 --mix type=factual:2,comparison:1
    ```

    A YAML file of Open RAG Eval's query generation (document_source, model, generation, output) may
    replace the folder. The queries then also go into its output file.
    """
    no_answers = given.no_answers
    output = given.output
    import ragassay
    from ragassay.base.yaml_files import text_of
    from ragassay.engine.config.run_config import make_config
    from ragassay.synthesis.draft import Mix, Wish
    from ragassay.synthesis.query_generation import read_query_generation
    from ragassay.synthesis.synthesizing import Synthesis

    is_yaml = given.documents.suffix.casefold() in YAML
    published = read_query_generation(given.documents) if is_yaml else None
    settings: dict[str, Any] = {}
    if published is not None:
        show.warn(published.notes)
        generation = published.config.generation
        output = output or Path(published.config.output.base_filename)
        settings = {
            "n": generation.n_questions,
            "generator": published.generator or OFFLINE,
            "words": (generation.min_words, generation.max_words),
            "mix": published.mix,
        }
        if given.generator is None:
            given.run_options.setdefault("key_variable", published.key_variable)
    if output is None:
        raise UsageError("No folder is named for the golden set: -o DIR.")
    flags = given.of("n", "generator") | {"mix": given.mix and Mix.parse(given.mix)}
    settings |= {name: value for name, value in flags.items() if value is not None}
    if published is not None and settings["generator"] != OFFLINE:
        no_answers = no_answers or not published.config.generation.generate_expected_answers
    with ExitStack() as stack:
        folder = given.documents
        if published is not None:
            folder = stack.enter_context(published.documents(None if given.dry_run else output))
        wish = Wish(
            documents=folder,
            output=output,
            guide="" if given.style_guide is None else text_of(given.style_guide).strip(),
            given=[] if given.queries is None else list(ragassay.load(given.queries)),
            answers=not no_answers,
            **given.of("checker", "seed", "like", "same_model", "skip_unreadable"),
            **settings,
        )
        synthesis = Synthesis(wish, make_config(**given.run_options), dry=given.dry_run)
        warn_of_left_out(synthesis.golden.left_out)
        show.warn(
            str(Note("language_left_out", {"n": n, "language": code}))
            for code, n in synthesis.left_out.items()
        )
        if given.dry_run:
            _show_plan(synthesis.plan(), as_json=given.json)
            return show.OK
        with progress_bar("synthesizing") as progress:
            outcome = synthesis.run(progress)
    if published is not None:
        published.save_queries(synthesis.made)
    return _show(outcome, output, wish, given.json)


def _show(outcome: Outcome, output: Path, wish: Wish, as_json: bool) -> int:
    reasons = outcome.reasons()
    target = len(wish.given) if wish.given else wish.n
    if as_json:
        show.json(
            {
                "items": [item.id for item in outcome.items],
                "total": outcome.total,
                "wanted": target,
                "drafts": outcome.n_drafts,
                "rejected": len(outcome.rejections),
                "rejected_for": {ones[0].why: len(ones) for ones in reasons},
                "not_asked": len(outcome.unasked),
                "not_chosen": outcome.n_not_chosen,
                "calls": outcome.calls,
                "cached": outcome.cached,
                "cost": outcome.cost,
            }
        )
    else:
        not_asked = f"{len(outcome.unasked)} not asked, " if outcome.unasked else ""
        show.lines(
            f"{output}: {plural(len(outcome.items), 'draft')} added; the set has {outcome.total} "
            f"of {plural(target, 'item')}. {plural(len(outcome.rejections), 'draft')} rejected, "
            f"{not_asked}{outcome.n_not_chosen:,} not needed"
        )
        if outcome.calls or outcome.cached:
            sent = f"{plural(outcome.calls, 'call')} sent, {outcome.cached} from the ledger"
            show.lines(f"{sent}, {dollars(outcome.cost)}")
        show.lines(f"Figures: {output / 'scorecard.md'}. Review the drafts before you use them.")
    if outcome.stopped:
        show.warn([str(_not_finished(outcome))])
    if outcome.total < target:
        notes = [
            Note(
                "rejected_for",
                {"n": len(ones), "why": ones[0].why, "detail": ones[0].detail.rstrip(".")},
            )
            for ones in reasons[:_REASONS]
        ]
        counts = ", ".join(f"{ones[0].why} {len(ones)}" for ones in reasons)
        rejected = f"{len(outcome.rejections)} rejected ({counts})" if counts else "none rejected"
        told: dict[str, float | str] = {"wanted": target, "total": str(outcome.total)}
        told |= {"n": outcome.n_drafts, "rejected": rejected}
        short = [Note("fewer_than_wanted", told)]
        short += [] if outcome.stopped else [_advice(reasons, wish)]
        show.warn([*map(str, notes), " ".join(map(str, short))])
    return show.INCOMPLETE if outcome.stopped or outcome.total < target else show.OK


def _not_finished(outcome: Outcome) -> Note:
    """What kept the run from its end, and what to do."""
    if outcome.unasked:
        # Each may have been given up for its own reason: the most frequent one is shown.
        ((reason, _),) = Counter(rejection.detail for rejection in outcome.unasked).most_common(1)
        reason = f"{plural(len(outcome.unasked), 'draft')} not asked: {reason}"
    else:
        reason = min(rejection.detail for rejection in outcome.rejections if rejection.passing)
    has_hint = "run the same command again" in reason.casefold()
    kind = "not_finished" if has_hint else "not_finished_run_again"
    return Note(kind, {"reason": reason.rstrip(".")})


def _advice(reasons: Sequence[Sequence[Rejection]], wish: Wish) -> Note:
    """What a user can do where there are fewer items than were wanted."""
    worst = reasons[0][0] if reasons else None
    if worst is not None and worst.why == "not-written" and "declined" in worst.detail:
        return Note("generator_declines")
    if worst is not None and worst.failure is not None:
        return Note("mend", {"who": "checker" if worst.why == "not-checked" else "generator"})
    if wish.given:
        return Note("reasons_in_file")
    if wish.generator == OFFLINE:
        return Note("rules_find_no_more")
    return Note("another_seed", {"seed": str(wish.seed + 1)})


def _show_plan(plan: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        show.json(plan)
        return
    cost = "" if plan["unpriced"] and not plan["cost"] else f", {dollars(plan['cost'])}"
    tokens = f"{plan['input_tokens']:,} tokens in, {plan['output_tokens']:,} out{cost}"
    show.lines(
        f"{plural(plan['drafts'], 'draft')}: at least {plural(plan['calls'], 'call')} "
        f"({tokens}), {plan['held']} from the ledger; at most {plan['most_calls']} calls"
    )
