"""The offline judge's answer_match against people's labels of right and wrong answers.

``python -m benchmarks.answer_match NQ.json TQ.json``: the two files of EVOUNA (Wang et al. 2023,
github.com/wangcunxiang/QA-Eval, Apache-2.0): answers of five systems to questions of Natural
Questions and TriviaQA, whose references are short. Questions that its authors call improper are
left out. Intervals are percentile bootstraps over questions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ragassay.judges.offline.questions import match
from ragassay.judges.questions import AnswerMatch

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def main(paths: list[str]) -> None:
    """Prints, for each system and for all, the shares of right and wrong answers that are found."""
    records = [one for path in paths for one in json.loads(Path(path).read_text(encoding="utf-8"))]
    records = [one for one in records if not one.get("improper")]
    # question x system: right by people, right by the judge; NaN where there is no label.
    labels = np.full((len(records), len(SYSTEMS), 2), np.nan)
    for at, one in enumerate(records):
        references = tuple(filter(None, map(str.strip, one["golden_answer"].split("/"))))
        for number, system in enumerate(SYSTEMS):
            answer, right = one.get(f"answer_{system}"), one.get(f"judge_{system}")
            if answer and right is not None:
                said = match(AnswerMatch(one["question"], answer, references))
                labels[at, number] = right, said is not None and said.is_matching
    print(
        "system   n       share right  judge   right found  wrong found  balanced accuracy [95 %]"
    )
    for name, part in (*((s, labels[:, [n]]) for n, s in enumerate(SYSTEMS)), ("all", labels)):
        rng = np.random.default_rng(0)
        drawn = (part[rng.integers(len(part), size=len(part))] for _ in range(500))
        low, high = np.percentile([_shares(one)[4] for one in drawn], [2.5, 97.5])
        n, people, judge, right, balanced, wrong = _shares(part)
        print(
            f"{name:8} {n:6.0f}  {people:.3f}        {judge:.3f}   {right:.3f}        {wrong:.3f}"
            f"        {balanced:.3f} [{low:.3f}, {high:.3f}]"
        )


def _shares(labels: np.ndarray) -> tuple[float, ...]:
    right, said = labels.reshape(-1, 2)[~np.isnan(labels[..., 0]).ravel()].T
    found, wrong = said[right == 1].mean(), 1 - said[right == 0].mean()
    return len(right), right.mean(), said.mean(), found, (found + wrong) / 2, wrong


if __name__ == "__main__":
    main(sys.argv[1:])
