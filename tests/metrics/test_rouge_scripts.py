"""ROUGE as published counts letters a-z only: a run of texts in other scripts says so."""

import ragassay

ARABIC = {"query": "كم؟", "answer": "عدد الأيام 30 يوما.", "references": ["30 يوما"]}
ENGLISH = {"query": "How many?", "answer": "There are 30 days.", "references": ["30 days"]}


def notes(records: list[dict], metrics: str) -> list[str]:
    """The warnings of a run on the scripts of its texts."""
    data = [{"id": f"{at}", **record} for at, record in enumerate(records)]
    warnings = ragassay.evaluate(data, metrics).summary.warnings
    return [one for one in warnings if "not recognise words" in one]


def test_texts_in_another_script_are_told_once_with_the_metric_that_counts_them() -> None:
    (said,) = notes([ARABIC, ARABIC, ENGLISH], "rouge-1,rouge-l,rouge1(tokens=unicode),em")
    assert "rouge-1, rouge-l do not recognise words" in said
    assert said.endswith("For these, use rouge1(tokens=unicode), rougeL(tokens=unicode).")
    (said,) = notes([ENGLISH, ENGLISH, ARABIC], "rouge-1")
    assert "1 of 3 samples" in said
    (said,) = notes([ARABIC], "rouge2")
    assert "rouge2.f does" in said and said.endswith("rouge2(tokens=unicode).")


def test_nothing_is_told_where_all_scripts_count() -> None:
    assert notes([ENGLISH], "rouge-1") == []
    assert notes([ARABIC], "em,rouge1(tokens=unicode)") == []
