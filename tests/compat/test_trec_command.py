"""``ragassay trec``: its options, what makes no sense, and the lines of trec_eval's own tests."""

import io
from pathlib import Path
from typing import Any

import orjson
import pytest

from ragassay.cli.command_line import call

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\n"
NEW = "q1 Q0 a 1 9 new\nq1 Q0 b 2 8 new\nq2 Q0 c 1 7 new\nq3 Q0 d 1 1 new\n"
TWICE = "q1 1 a 1\nq1 2 a 1\nq1 1 a 1\n"
CIRCLE = "q1 1 x a 2\nq1 1 x b 1\nq1 1 y b 2\nq1 1 y a 1\n"
BOTH = "q1 1 x a 2\nq1 1 x b 0\nq1 1 y b 2\nq1 1 y c 1\n"
OLD = "q1 Q0 b 1 9 old\nq1 Q0 a 2 8 old\nq2 Q0 c 1 7 old\n"


@pytest.fixture
def files(here: Path) -> Path:
    more = {"twice": TWICE, "circle": CIRCLE, "both": BOTH, "short": "q1 map 0.5\n"}
    for name in ("xba", "xub"):
        more[name] = "".join(f"q1 Q0 {one} {n} {9 - n} t\n" for n, one in enumerate(name))
    for name, text in ({"qrels": QRELS, "new.run": NEW, "old.run": OLD} | more).items():
        (here / name).write_text(text)
    return here


class Trec:
    """Runs ``ragassay trec`` with words that stand in one text."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def said(self, words: str) -> tuple[str, str]:
        """What is printed, and the notes in one line."""
        assert call(["trec", *words.split()]) == 0
        out, err = self._capsys.readouterr()
        return out, " ".join(err.split())

    def json(self, words: str) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.said(f"{words} --json")[0])
        return found

    def lines(self, words: str) -> list[list[str]]:
        out, _ = self.said(f"--format trec_eval {words}")
        return [line.split() for line in out.splitlines()]

    def complaint(self, words: str) -> str:
        """What is wrong: one sentence, in one line."""
        assert call(["trec", *words.split()]) == 2
        out, err = self._capsys.readouterr()
        assert not out and "Traceback" not in err and err.count("\n") == 1
        return err


@pytest.fixture
def trec(files: Path, capsys: pytest.CaptureFixture[str]) -> Trec:
    return Trec(capsys)


def test_the_mean_runs_over_common_queries_and_the_missing_ones_are_told(trec: Trec) -> None:
    out, err = trec.said("qrels old.run -m map")
    assert "0.7500" in out
    assert "2 queries in both files, of 3 judged" in out
    assert "1 of 3 judged queries not in the run" in err
    lines = trec.lines("qrels old.run -q -n -m map")
    assert lines == [["map", "q1", "0.5000"], ["map", "q2", "1.0000"]]
    assert not trec.lines("qrels old.run -n -m map")
    Path("new.run").write_text(NEW + "q9 Q0 a 1 1 new\n")
    assert "1 query of the run without judgements" in trec.said("qrels new.run")[1]


def test_c_averages_over_all_judged_queries(trec: Trec) -> None:
    found = trec.json("qrels old.run -c -m map -m num_rel,num_q -q")
    assert found["averaged_over"] == "judged queries"
    assert found["measures"]["map"]["all"] == pytest.approx(1.5 / 3)
    assert found["measures"]["map"]["queries"] == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert [found["measures"][name]["all"] for name in ("num_rel", "num_q")] == [3, 3]
    assert "not in the run: counted 0" in trec.said("qrels old.run -c -m map")[1]
    about = ("qrels", "run", "tag", "n_queries", "n_judged", "n_missing", "n_unjudged")
    assert [found[name] for name in about] == ["qrels", "old.run", "old", 3, 3, 1, 0]


@pytest.mark.parametrize(("words", "measure", "query", "value"), [
    ("old.run -c -m utility.0,0,-1,0", "utility_0,0,-1,0", "q3", 0.0),  # a query that is missing
    *(("old.run -c -m dcg", "dcg", *pair) for pair in (("q1", 0.6309297), ("q2", 2), ("q3", 0))),
    *(("old.run -c -m ideal_dcg", "ideal_dcg", f"q{n}", v) for n, v in ((1, 1), (2, 2), (3, 1))),
    *(("old.run -c -m yaap", "yaap", *pair) for pair in (("q2", 0.6931472), ("q3", -0.6931472))),
    # 100 documents but one relevant and one irrelevant retrieved.
    ("new.run -m utility.0,0,0,1 -N 100", "utility_0,0,0,1", "q1", 98),
    ("old.run -l 2 -M 1 -m num_rel", "num_rel", "all", 1),
    ("old.run -l 2 -M 1 -m num_ret", "num_ret", "all", 2),
    ("xba -m recip_rank", "recip_rank", "all", 1 / 3), ("xba -J -m num_ret", "num_ret", "all", 2),
    ("xba -J -m recip_rank", "recip_rank", "all", 1 / 2),
    ("xba -J -M 2 -m num_ret", "num_ret", "all", 1),  # as trec_eval: the depth comes first
    ("xub -l 0 -m num_rel,bpref", "num_rel", "all", 2),  # all but u, which has -1
    ("xub -l 0 -m recip_rank", "recip_rank", "all", 1 / 3),
])  # fmt: skip
def test_each_option_counts_in_the_values(trec: Trec, words: str, measure, query, value) -> None:
    if words.startswith("xub"):
        Path("qrels").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 u -1\n")
    found = trec.json(f"qrels {words} -q")["measures"][measure]
    assert ({"all": found["all"]} | found["queries"])[query] == pytest.approx(value)


def test_trec_eval_names_win_over_ours_and_both_work(trec: Trec) -> None:
    found = trec.json("qrels new.run -m nDCG@10 -m P.5 -m AP,mrr")
    assert list(found["measures"]) == ["P_5", "nDCG@10", "AP", "mrr"]
    plain = trec.json("qrels new.run -m recall")
    assert list(plain["measures"])[:2] == ["recall_5", "recall_10"]
    ours = trec.json("qrels new.run -m recall,precision --ks 1,3")
    assert list(ours["measures"]) == ["recall@1", "recall@3", "precision@1", "precision@3"]
    found = trec.json("qrels new.run -m official -m P.7,3 -m P.4")
    assert [name for name in found["measures"] if name.startswith("P_")] == ["P_3", "P_4", "P_7"]


def test_the_level_is_honoured_in_a_comparison(trec: Trec) -> None:
    (comparison,) = trec.json("qrels new.run old.run -l 2")["comparisons"]
    means = {d["name"]: d["A_mean"] for d in comparison["differences"]}
    assert means["AP"] == pytest.approx(1 / 3), "only c is relevant at level 2"
    assert "\t0.3333" in trec.said("--format trec_eval qrels new.run -l 2 -m P@1")[0]


def test_several_runs_are_compared_with_the_last_one_over_all_judged_queries(trec: Trec) -> None:
    found = trec.json("qrels new.run old.run -m map,num_q -m RR")
    (comparison,) = found["comparisons"]
    assert (comparison["a"], comparison["b"]) == ("new", "old")
    assert [d["name"] for d in comparison["differences"]] == ["map", "RR"]
    difference = comparison["differences"][0]
    assert difference["A_mean"] == pytest.approx(1.0)
    assert difference["B_mean"] == pytest.approx(0.5)
    assert difference["n"] == 3
    # Two of three differences are positive, one is 0: 2 of 4 sign patterns are as extreme.
    assert difference["p_value"] == pytest.approx(0.5)
    words = "qrels new.run old.run -R qrels_prefs"
    found = trec.json(words)["comparisons"][0]
    assert [d["name"] for d in found["differences"]] == ["prefs_simp", "prefs_pair", "prefs_avgjg"]
    # Only q1 has a preference, a before b, which new.run fulfils and old.run does not.
    assert [d["wins"] for d in found["differences"]] == [1, 1, 1]
    Path("old.run").write_text(OLD.replace(" old", " new"))
    found = trec.json("qrels new.run old.run -m map")
    assert found["comparisons"][0]["b"] == "old.run"
    assert found["n_missing"] == 1, "of the baseline"


@pytest.mark.parametrize(("words", "name"), [
    ("", "step-down max-T over 2 metrics"), ("--correction holm", "Holm over 2 metrics"),
    ("--correction bh", "Benjamini-Hochberg over 2 metrics"),
    ("--correction none", "without a correction"),
])  # fmt: skip
def test_a_comparison_says_its_correction_and_what_is_significant(trec, words, name) -> None:
    """Twenty queries: nDCG differs on all of them, RR on none."""
    queries = [f"q{at}" for at in range(20)]
    Path("qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 1\n" for q in queries))
    Path("new.run").write_text("".join(f"{q} Q0 a 1 2 n\n{q} Q0 b 2 1 n\n" for q in queries))
    Path("old.run").write_text("".join(f"{q} Q0 a 1 2 o\n" for q in queries))
    asked = f"qrels new.run old.run -m nDCG@2 -m RR {words}"
    out = " ".join(trec.said(asked)[0].split())
    assert name in out and "p, corrected" in out and "p, t-test" in out
    comparison = trec.json(asked)["comparisons"][0]
    assert comparison["correction"] == ((words.split() or ["maxt"])[-1])
    assert [d["significant"] for d in comparison["differences"]] == [True, False]


@pytest.mark.parametrize(("words", "parts"), [
    ("qrels new.run -m mpa", ["Unknown metric 'mpa'", "MAP"]),
    ("qrels new.run -m ndgc_cut.10", ["ndcg_cut"]), ("qrels new.run -m P.0", ["at least 1"]),
    ("qrels new.run -m P.x", ["'x' is not a number"]),
    ("qrels new.run -m bpref.3", ["takes no parameters"]),
    ("qrels new.run -m utility.1,2", ["four numbers"]),
    ("qrels new.run -m rbp.0.8", ["rbp takes p, as in rbp.p=0.8, not '0.8'"]),
    ("qrels new.run -m f1", ["f1 is not a measure of a ranking"]),
    ("qrels new.run -m iprec_at_recall.2", ["between 0 and 1"]),
    ("qrels new.run -l -1", ["at least 0"]), ("qrels new.run -N -1", ["at least 0"]),
    ("qrels new.run -D q1", ["write NUM or NUM.QUERY"]),
    ("qrels new.run -D 0.q9", ["Query 'q9' is not among"]),
    ("qrels new.run -y", ["no option '-y'"]), ("qrels - - -m map", ["Only one run"]),
    ("qrels new.run old.run -Z z", ["one run"]),
    ("qrels new.run -m map -R qrels_prefs", ["map cannot", "takes -R qrels."]),
    ("qrels new.run -m prefs_pair", ["takes -R qrels_prefs or prefs."]),
    ("qrels new.run -m prefs_pair.3 -R prefs", ["takes no parameters"]),
    ("qrels new.run -R prefs", ["line 1", "4 columns", "preferences file has 5"]),
    ("twice new.run -R qrels_jg", ["twice, line 3", "'a'", "group '1'", "query 'q1'"]),
    ("circle new.run -R prefs", ["query 'q1'", "contradict each other"]),
    ("both new.run -R prefs", ["query 'q1'", "level 0 and a level above 0"]),
    ("qrels new.run -Z qrels", ["qrels, line 1", "not a mean and a standard deviation"]),
    ("qrels new.run -Z short", ["short, line 1", "3 columns", "4"]),
    ("qrels new.run -M 0", ["at least 1"]), ("qrels new.run --ks 0 -m recall", ["at least 1"]),
    *((f"qrels new.run old.run {one}", ["take one run"]) for one in ("-q", "-n")),
    ("qrels new.run old.run -m num_q", ["None of these", "mean"]),
    ("qrels nwe.run", ["there is no such file", "new.run"]), ("qrels .", ["this is a folder"]),
    ("new.run new.run", ["this is a run, not qrels"]),
    ("qrels qrels", ["qrels, line 1", "4 columns", "6"]),
])  # fmt: skip
def test_what_makes_no_sense_is_one_sentence(trec: Trec, words: str, parts: list[str]) -> None:
    said = trec.complaint(words)
    assert all(part in said for part in parts), said


def test_one_query_can_be_looked_at(trec: Trec) -> None:
    out, err = trec.said("--format trec_eval qrels new.run -D 1.q1")
    assert "num_q                 \tall\t1" in out
    assert "no debug lines" in err
    assert "all 1 judged queries" in trec.said("qrels new.run old.run -D 0.q1")[0]
    counted = trec.json("qrels old.run -c -D 1.q1")
    assert (counted["n_queries"], counted["n_missing"]) == (1, 0)


def test_without_measures_those_come_that_suit_the_judgements(trec: Trec) -> None:
    assert trec.lines("qrels new.run -R qrels_prefs")[-1] == ["prefs_avgjg", "all", "0.3333"]
    assert ["map_avgjg", "all", "1.0000"] in trec.lines("qrels new.run -R qrels_jg")


def test_the_groups_of_a_query_are_averaged(trec: Trec) -> None:
    Path("qrels").write_text("q1 x a 1\nq1 y b 1\nq1 y c 1\nq2 x c 1\n")
    # Group x wants a (rank 1), group y b (rank 2) and c (not found): (1 + 1/4) / 2.
    assert trec.lines("qrels new.run -R qrels_jg -q -m map_avgjg")[0][1:] == ["q1", "0.6250"]
    # Of group 2 nothing was retrieved.
    Path("prefs").write_text("q1 1 x a 2\nq1 1 x b 1\nq1 2 x d 2\nq1 2 x e 1\n")
    assert trec.lines("prefs new.run -R prefs -m prefs_avgjg_ret")[-1][2] == "0.5000"
    # Preferences of sub-groups hold together: a before b and b before c: so a before c, too.
    Path("prefs").write_text("q1 1 x a 2\nq1 1 x b 1\nq1 1 y b 2\nq1 1 y c 1\n")
    Path("new.run").write_text("q1 Q0 c 1 9 t\nq1 Q0 a 2 8 t\n")
    lines = trec.lines("prefs new.run -R prefs -m all_prefs")
    found = {name: value for name, _, value in lines}
    assert found["prefs_num_prefs_poss"] == "3"
    assert found["prefs_num_prefs_ful"] == "1"  # a alone was retrieved, b was not
    assert found["prefs_simp"] == found["prefs_pair"] == "0.3333"
    assert found["prefs_simp_ret"] == "0.0000"  # c stands before a


def test_values_become_deviations_from_a_mean(trec: Trec) -> None:
    Path("z").write_text("q1 map 0.5 0.25\nq2 map 1 0\nq3 map 0.9 0\n")
    out, err = trec.said("--format trec_eval qrels new.run -q -m map,num_q -Z z")
    values = [" ".join(line.split()) for line in out.splitlines()]
    assert values[:3] == ["Zmap q1 2.0000", "Zmap q2 0.0000", "Zmap q3 -1000000.0000"]
    assert "Znum_q all 3.0000" in values
    assert "1 value without a mean" in err


def test_means_are_summed_in_the_order_of_the_queries(trec: Trec) -> None:
    """Ten times a tenth, one after the other, is less than 1; numpy's sum in pairs is not."""
    names = [f"q{at:03}" for at in range(10)]
    Path("qrels").write_text("".join(f"{name} 0 a 1\n" for name in names))
    other = "".join(f"{{0}} Q0 x{at} 1 {20 - at} t\n" for at in range(9))
    Path("new.run").write_text("".join(other.format(n) + f"{n} Q0 a 1 1 t\n" for n in names))
    found = trec.json("qrels new.run -m recip_rank")
    total = 0.0
    for _ in names:
        total += 1 / 10
    assert found["measures"]["recip_rank"]["all"] == total / 10 != 0.1


@pytest.mark.parametrize("words", ["-m nDCG@10,AP", "--suite qa", "-m map"])
def test_ks_that_would_change_nothing_is_refused(files: Path, capsys, words: str) -> None:
    assert call(["run", "new.run", "--qrels", "qrels", *words.split(), "--ks", "1,3"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--ks: nothing in" in said and "name recall, ndcg or precision" in said


def test_ks_in_trec_acts_on_the_comparison_or_is_refused(trec: Trec) -> None:
    found = trec.json("qrels new.run old.run --ks 2")["comparisons"][0]
    assert [d["name"] for d in found["differences"]][:4] == ["nDCG@2", "AP", "RR", "P@2"]
    assert "none is named" in trec.complaint("qrels new.run --ks 2")
    assert "as in P.5" in trec.complaint("qrels new.run -m map,P --ks 2")


OFFICIAL = [
    ("out.test", "qrels.test results.test"),
    ("out.test", "qrels.test.with-comments results.test"),
    ("out.test.a", "-m all_trec qrels.test results.test"),
    ("out.test.aq", "-mall_trec -q qrels.test results.test"),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc"),
    ("out.test.aqcM", "-m all_trec -qc -M100 qrels.test results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test"),
    (
        "out.test.meas_params",
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
        "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
        "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
    ),
    ("out.comment.test", "qrels.comment.test results.comment.test.gz"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.test prefs.results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test"),
    ("out.test.qrels_prefs", "-m all_prefs -q -R qrels_prefs qrels.test results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.123 results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test"),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file qrels.test results.test"),
]
"""All fifteen lines of trec_eval 10's quicktest: the output, and the words that make it."""


@pytest.mark.parametrize(("output", "words"), OFFICIAL)
def test_every_line_of_official_output_comes(output, words, shared, monkeypatch, capsys) -> None:
    folder = shared / "data" / "trec_eval"
    monkeypatch.chdir(folder)
    assert call(["trec", "--format", "trec_eval", *words.split()]) == 0
    assert capsys.readouterr().out.splitlines() == (folder / output).read_text().splitlines()


def test_a_run_is_read_from_standard_input(shared: Path, monkeypatch, capsys) -> None:
    """The sixteenth use: trec_eval reads a run named '-' there; here it may be gzip, too."""
    folder = shared / "data" / "trec_eval"
    monkeypatch.chdir(folder)
    with (folder / "results.comment.test.gz").open("rb") as stream:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        assert call(["trec", "--format", "trec_eval", "qrels.comment.test", "-"]) == 0
    found = capsys.readouterr().out
    assert found.splitlines() == (folder / "out.comment.test").read_text().splitlines()
