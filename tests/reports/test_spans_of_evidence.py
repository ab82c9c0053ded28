from __future__ import annotations

from ragassay.reports.views.evidence_view import AnswerPiece, answer_pieces

ANSWER = "It opened in 1968. Entry is free [2]."


def test_claims_stand_where_the_answer_has_them_and_rephrased_ones_nowhere() -> None:
    parts = {"claims": ["it opened in 1968.", "There is no fee."], "supported": [True, False]}
    assert answer_pieces(parts, ANSWER) == [
        AnswerPiece("it opened in 1968.", 0, 17, "yes"),
        AnswerPiece("There is no fee.", None, None, "no"),
    ]
    first = answer_pieces(parts, ANSWER)[0]
    assert ANSWER[first.start : first.end] == "It opened in 1968"
    (longer,) = answer_pieces({"claims": ["Open"], "supported": [True]}, "Straße. Open.")
    assert longer.start is None, "in lower case ß is two letters, and places would be others'"


def test_statements_tell_the_best_support_of_their_citations() -> None:
    cited = [{"citation": "2", "support": "none"}, {"citation": "3", "support": "partial"}]
    statements = [{"text": "It opened in 1968.", "citations": []},
                  {"text": "Entry is free", "citations": cited}]  # fmt: skip
    one, two = answer_pieces({"statements": statements}, ANSWER)
    assert (one.held, one.by) == ("no", "cites nothing")
    assert (two.held, two.by) == ("partly", "2: none, 3: partial")
    assert ANSWER[two.start : two.end] == "Entry is free"


def test_other_parts_hold_no_pieces() -> None:
    for parts in ({"values": [1.0]}, {"statements": [3]}):
        assert answer_pieces(parts, ANSWER) == []
