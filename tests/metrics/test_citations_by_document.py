"""Citations by the name, title or address of a passage's document, and marks that name nothing."""

from typing import Any

import pytest

import ragassay
from ragassay.base.sample import Passage
from ragassay.formats import from_records
from ragassay.metrics.citation import citation_parser
from ragassay.metrics.citation.citable import Citable

TEXT = "The depot is in Leeds."


def scores(answer: str, *passages: Any) -> dict[str, Any]:
    record = {"id": "1", "query": "Where?", "answer": answer, "passages": list(passages)}
    names = ["citation.recall", "citation.precision"]
    result = ragassay.evaluate([record], names)
    return {row.metric: row for row in result.scores}


PASSAGES = {
    "document": {"id": "c17", "document": "guide.pdf", "text": TEXT},
    "path": {"id": "c17", "document": "docs/manuals/guide.pdf", "text": TEXT},
    "metadata": {"id": "c17", "text": TEXT, "metadata": {"source": "guide.pdf"}},
    "label": f"guide.pdf#page=4: {TEXT}",
    "id with a page": {"id": "guide.pdf#page=4", "text": TEXT},
}


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=PASSAGES)
@pytest.mark.parametrize(
    "mark",
    [*("[guide.pdf]", "[guide.pdf#page=4]", "[Guide.PDF]", "【4:0†guide.pdf】"),
     *("[guide.pdf, p. 4]", "[Source: guide.pdf]", "[Quelle: Guide.pdf]")],
)  # fmt: skip
def test_a_document_is_cited_by_its_name(passage: Any, mark: str) -> None:
    found = scores(f"The depot is in Leeds {mark}.", passage)
    assert found["citation.recall"].value == found["citation.precision"].value == 1.0


NAMED = {
    "title": {"id": "c17", "title": "Depot guide", "text": TEXT},
    "url": {"id": "c17", "url": "https://ex.org/depot", "text": TEXT},
    "metadata": {"id": "c17", "text": TEXT,
                 "metadata": {"title": "Depot guide", "url": "https://ex.org/depot"}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mark"),
    [("title", "[Depot guide]"), ("title", "[depot guide](https://elsewhere.org)"),
     ("url", "[https://ex.org/depot]"), ("url", "([Depot guide](https://ex.org/depot))"),
     ("metadata", "[Depot guide]"), ("metadata", "[here](https://ex.org/depot)")],
)  # fmt: skip
def test_a_passage_is_cited_by_its_title_or_address(name: str, mark: str) -> None:
    found = scores(f"The depot is in Leeds {mark}.", NAMED[name])
    assert found["citation.recall"].value == 1.0
    (sample,) = from_records([{"id": "1", "passages": [NAMED[name]]}])
    (again,) = from_records([ragassay.formats.to_record(sample)])
    assert again.passages == sample.passages


def test_of_several_passages_of_a_document_the_best_one_counts() -> None:
    others = [{"id": str(n), "document": "guide.pdf", "text": f"Rain fell {n}."} for n in "ab"]
    good = {"id": "g", "document": "guide.pdf", "text": TEXT}
    found = scores("The depot is in Leeds [guide.pdf].", *others, good)
    assert found["citation.recall"].value == 1.0
    assert found["citation.recall"].parts["statements"][0]["citations"][0]["passage"] == "g"


def test_a_mark_that_names_no_passage_is_told_and_not_scored_0() -> None:
    found = scores(
        "The depot is in Leeds [guide.pdf]. It is big [plan.docx].", {"id": "c17", "text": TEXT}
    )
    for row in found.values():
        assert row.value is None and row.reason == "missing_input"
        assert "2 marks such as [guide.pdf] name no passage" in row.explanation
    # Where passages have documents, a name that is none of them was not retrieved.
    named = {"id": "c17", "document": "other.pdf", "text": TEXT}
    found = scores("The depot is in Leeds [guide.pdf].", named)
    assert found["citation.recall"].value == 0.0
    (cited,) = found["citation.recall"].parts["statements"][0]["citations"]
    assert cited["support"] == "not_retrieved"
    # Where passages have no ids, only a rank can be found.
    said = {"text": TEXT, "statements": [{"text": TEXT, "citations": ["given-0"]}]}
    data = [{"id": "1", "query": "Where?", "answer": said, "passages": [TEXT]}]
    assert ragassay.evaluate(data, ["citation.f1"])["citation.f1"].mean is None


@pytest.mark.parametrize("document", [None, "other.pdf"])
def test_a_run_counts_the_marks_that_name_no_passage_once(document: str | None) -> None:
    passages = [{"id": "c17", "document": document, "text": TEXT}]
    records = [
        {"id": f"{at}", "query": "Where?", "answer": answer, "passages": passages}
        for at, answer in enumerate(["In Leeds [a.pdf][b.pdf].", "In Leeds [c17].", "Big [c.md]."])
    ]
    records.append({"id": "none", "query": "Where?", "answer": "Here [7].", "passages": []})
    names = ["citation.recall", "citation.precision", "citation_sentences"]
    told = ragassay.evaluate(records, names).summary.warnings
    (said,) = [one for one in told if "no passage" in one]
    assert said.startswith("4 marks such as [a.pdf] ")


def test_what_open_rag_eval_does_not_read_as_a_citation_is_counted() -> None:
    passages = [{"id": "1", "text": TEXT}, {"id": "2", "text": TEXT}]
    records = [
        {"id": f"{at}", "query": "Where?", "answer": answer, "passages": passages}
        for at, answer in enumerate(["In Leeds [doc 1].", "In Leeds [1, 2].", "Big."])
    ]
    stated = {"text": "In Leeds [doc 1].", "statements": [{"text": "So.", "citations": ["1"]}]}
    records.append({**records[0], "id": "stated", "answer": stated})
    told = ragassay.evaluate(records, ["citation_ore"]).summary.warnings
    (said,) = [one for one in told if "citation_ore" in one]
    assert said.startswith("1 answer ") and "[doc1]" in said
    told = ragassay.evaluate(records, ["citation"]).summary.warnings
    assert not [one for one in told if "citation_ore" in one]


@pytest.mark.parametrize(
    ("text", "n"),
    [("The depot is in Leeds (docs/guide.pdf).", 1), ("In Leeds (Source: guide.pdf, p. 4).", 1),
     ("In Leeds (guide.pdf; plan.docx).", 2), ("In Leeds (see plan.docx).", 1),
     ("In Leeds (other.pdf).", 0), ("In Leeds (Guide).", 0)],
)  # fmt: skip
def test_parentheses_cite_a_file_that_was_retrieved(text: str, n: int) -> None:
    passages = (
        Passage(TEXT, id="Guide", document="docs/guide.pdf"), Passage(TEXT, document="plan.docx"),
    )  # fmt: skip
    (cited,) = citation_parser.parts(text, passages)
    assert len(cited.citations) == n


@pytest.mark.parametrize(
    ("mark", "ranks"),
    [("[1，2]", [0, 1]), ("【1、2】", [0, 1]), ("[文档1]", [0]), ("[来源: 2]", [1]),
     ("[Quelle 1]", [0]), ("①", [0]), ("①②", [0, 1]), ("[②]", [1]), ("[fuente 2]", [1]),
     ("［１］", [0]), ("[資料1]", [0]), ("[источник 1]", [0]), ("[مصدر 1]", [0]), ("[문서 2]", [1]),
     ("[source n° 1]", [0]), ("[来源：1]", [0]), ("〔1〕", [0]), ("（1）", [0]), ("（文档2）", [1]),
     ("[参考文献1]", [0]), ("[资料一]", [0]), ("[١، ٢]", [0, 1]), ("[स्रोत 2]", [1]), ("²", [1]),
     ("¹,²", [0, 1]), ("<sup>2</sup>", [1]), ("<sup>1, 2</sup>", [0, 1]),
     ("❷", [1]), ("[1.]", [0])],
)  # fmt: skip
def test_marks_of_other_languages_are_citations(mark: str, ranks: list[int]) -> None:
    passages = tuple(Passage(text) for text in ("a", "b"))
    (statement, *_) = citation_parser.parts(f"仓库在利兹{mark}。", passages)
    citable = Citable(passages)
    found = [at for key in statement.citations for at in citable.find_all(key)]
    assert found == ranks


def test_a_place_in_a_document_is_cited_where_passages_say_theirs() -> None:
    passages = [Passage("x", id="guide.pdf#page=3"), Passage("y", document="guide.pdf")]
    citable = Citable(passages)
    assert citable.find_all("guide.pdf#page=9") == (1,)  # it may stand there
    assert (
        citable.find_all("guide.pdf:3")
        == citable.find_all("guide.pdf, p. 3")
        == citable.find_all("guide.pdf")
        == (0, 1)
    )
    assert Citable(passages[:1]).find_all("guide.pdf#page=9") == ()


@pytest.mark.parametrize(
    "text",
    [*("It has 5 km².", "It weighs mc².", "See Table¹² here.", "An <https://other.org/a> is."),
     *("It has 10<sup>2</sup>.", "It has km<sup>2</sup>.", "See https://other.org/a.")],
)  # fmt: skip
def test_raised_digits_and_addresses_cite_only_what_was_retrieved(text: str) -> None:
    passages = (Passage(TEXT, names=("https://ex.org/depot",)), Passage(TEXT))
    assert not any(one.citations for one in citation_parser.parts(text, passages))
    for mark in ("<https://ex.org/depot>", "https://ex.org/depot", "[b](https://ex.org/depot)"):
        (cited, *_) = citation_parser.parts(f"It is so {mark}.", passages)
        assert Citable(passages).find_all(*cited.citations) == (0,)


CITED_AS = {
    ("guide.pdf", "Depot Guide"): [
        *("[guide.pdf, section 2]", "[guide.pdf†L3-L9]", "[guide.pdf:12-15]", "(see guide.pdf)"),
        *("(Depot Guide, p. 3)", "(source: Depot Guide)", "[see the Depot Guide]"),
        *("(see Document 1)", "[cf. source 1]", "(see guide.pdf, pages 3 and 4)"),
    ],
    ("Leitfaden.pdf", "Leitfaden Lager"): [
        *("[Leitfaden.pdf, S. 3]", "(Leitfaden.pdf S. 3)", "[Quelle: Leitfaden.pdf, Seite 3]"),
        *("[Leitfaden Lager, S. 3]", "(vgl. Quelle 1)", "[siehe Dok. 1]", "[Abschnitt 1]"),
    ],
    ("指南.pdf", "仓库指南"): [
        "（来源：指南.pdf）", "[指南.pdf，第3页]", "（见文档1）", "【参考资料1】", "[检索结果1]",
        "[仓库指南 第3页]"],
    ("دليل.pdf", ""): ["[دليل.pdf، ص 3]"], ("गाइड.pdf", ""): ["[गाइड.pdf, पृष्ठ 3]"],
}  # fmt: skip
"""Names of a document and its title, and marks that cite it as people write them."""


@pytest.mark.parametrize(
    ("names", "mark"), [(names, mark) for names, marks in CITED_AS.items() for mark in marks]
)
def test_a_mark_cites_the_document_that_it_names_whatever_stands_beside(names, mark) -> None:
    passages = (Passage("x", id="c17", document=names[0], names=names[1:]), Passage("y", id="z"))
    (cited, *_) = citation_parser.parts(f"The depot is in Leeds {mark}.", passages)
    found = {at for key in cited.citations for at in Citable(passages).find_all(key)}
    assert found == {0}


@pytest.mark.parametrize(
    "mark", ["(Paris)", "(Paris, 2020)", "[5 of 10]", "(see Figure 1)", "(about 3 documents)"]
)
def test_parentheses_that_mention_a_title_or_a_number_cite_nothing(mark: str) -> None:
    passages = (Passage("x", document="data.csv", names=("Paris",)), Passage("y"))
    assert not any(one.citations for one in citation_parser.parts(f"So {mark}.", passages))


def test_the_address_of_a_link_goes_before_its_words_and_names_of_documents_are_read_alike() -> (
    None
):
    passages = (Passage("x", document="guide.pdf"), Passage("y", id="https://ex.org/a"))
    (cited, *_) = citation_parser.parts("So it is [Guide](https://ex.org/a).", passages)
    assert Citable(passages).find_all(*cited.citations) == (1,)
    passages = [Passage("x", document=one) for one in ("docs/a/pool.md", "docs/b/pool.md", "sauna")]
    citable = Citable(passages)
    assert citable.find_all("a/pool.md") == citable.find_all("/srv/docs/a/pool") == (0,)
    assert citable.find_all("pool.md") == (0, 1)  # all that it may name
    assert citable.find_all("docs/sauna.md") == (2,) and citable.find_all("pool.txt") == ()
