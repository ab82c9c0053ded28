"""What a word is: numbers, letters of any script with their marks, signs; Porter stems."""

import random
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ragassay.texts import porter_stem
from ragassay.texts.numbers import numerals
from ragassay.texts.word_cutting import words

CUT = {
    "北京在中国": ["北", "京", "在", "中", "国"],
    "カタカナとひらがな": list("カタカナとひらがな"),
    "서울은": ["서", "울", "은"],
    "GPT-4模型": ["gpt", "4", "模", "型"],
    "ＡＢＣ１２": ["abc12"],
    "Straße STRASSE": ["strasse", "strasse"],
    "हिन्दी भाषा": ["हिन्दी", "भाषा"],
    "माता मोती": ["माता", "मोती"],
    "ที่นี่ดี": ["ที่", "นี่", "ดี"],
    "مُحَمَّد كتـــاب": ["محمد", "كتاب"],
    "שָׁלוֹם": ["שלום"],
    "Ñandú café cafe\u0301": ["ñandú", "café", "café"],
    "soft\u00adhyphen \ufeffmark": ["softhyphen", "mark"],
    "zero\u200bwidth": ["zero", "width"],
    "don’t don't": ["don", "t", "don", "t"],
    "中文abc中": ["中", "文", "abc", "中"],
    "， 。！": [],
    "5 %, 5% and 20°C": ["5", "%", "5", "%", "and", "20", "°", "c"],
    "$5 or €5": ["$", "5", "or", "€", "5"],
    "C, C++ and C#; A+ (a+b)": ["c", "c++", "and", "c#", "a+", "a", "+", "b"],
    "-5 and 5-10, COVID-19": ["-5", "and", "5", "10", "covid", "19"],
    "5km in 1990s, B12": ["5", "km", "in", "1990", "s", "b12"],
    "12.05.2024, 1.2.3, 192.168.0.1": ["12.05.2024", "1.2.3", "192.168.0.1"],
    "2021-05-03 10:12, 3/4 or 1½": ["2021-05-03", "10:12", "3/4", "or", "1", "1/2"],
    "v1.5, GPT-4.1; 1,2,3": ["v1.5", "gpt", "4.1", "1", "2", "3"],
    "p<0.05 ≥ x → y = ±5 | a ~ b": ["p", "<", "0.05", "≥", *"x → y = ± 5 a b".split()],  # noqa: SIM905
    "B- or AB-, pre-war - .NET (.csv) no.More": [
        *("b-", "or", "ab-", "pre", "war", ".net", ".csv", "no", "more")
    ],
    "十二月 二个 二〇二一年 三百二十万": ["12", "月", "二", "个", "2021", "年", "3200000"],
    "万一五六个, 十分; 一万二千零五, 千万": [*"万 一 五 六 个 十 分 12005 千 万".split()],  # noqa: SIM905
    "-$5, 65+ or 5-10+; and A+": ["$", "-5", "65+", "or", "5", "10+", "and", "a+"],
    "555-123-4567 192.168.100.200": ["555", "123", "4567", "192.168.100.200"],
    "<b>Paris</b> <a href='x'>is</a> x<y and y>z": [*"paris is x < y and y > z".split()],  # noqa: SIM905
    "> quoted\n> 5": ["quoted", ">", "5"],
    "x >= 5 -> y": ["x", "≥", "5", "→", "y"],
    "half [1].": ["half", "1"],
    "٥٪ 12,34,56 1234,567,890": ["5", "%", "12", "34", "56", "1234", "567", "890"],
}


@pytest.mark.parametrize("given_text", CUT)
def test_a_text_is_cut_into_words_of_any_script(given_text: str) -> None:
    assert words(given_text) == CUT[given_text]


SAME = {
    "1250.50": ["1,250.50", "1.250,50", "1250,50", "1'250.50", "1 250,50".replace(" ", "\u202f"),
                "１，２５０．５０", "१२५०.५०", "١٢٥٠٫٥٠", "١٬٢٥٠٫٥٠"],
    "1234567": ["1,234,567", "1.234.567", "1\u00a0234\u00a0567", "1234567", "۱۲۳۴۵۶۷", "12,34,567"],
    "0.5": ["0.5", "0,5", ".5"],
    "-5": ["-5", "\u22125", "－5"],
    "5.3": ["5.3", "5,3"],
}  # fmt: skip


@pytest.mark.parametrize("number", SAME)
def test_a_number_is_one_word_in_one_form(number: str) -> None:
    for written in SAME[number]:
        assert words(f"It is {written}.") == ["it", "is", number], written


def test_numerals_have_their_value_and_a_sign_before_three_digits_is_read_by_the_language() -> None:
    written = (
        "万", "十", "二千零二十一", "三百二十万", "二〇二一", "一亿二千万", "一万二千亿", "一万万",
    )  # fmt: skip
    values = [10_000, 10, 2021, 3_200_000, 2021, 120_000_000, 1_200_000_000_000, 100_000_000]
    assert [*map(numerals, written)] == values
    assert words("1,250", "en") == words("1.250", "de") == ["1250"]
    assert words("1.250", "en") == words("1,250", "de") == ["1.250"]
    assert words("0,125", "en") == words("0.125", "de") == ["0.125"]  # no group begins with 0
    assert words("1,250") != words("1.250") != ["1250"]
    assert words("1,250", "es") == words("1.250", "es") == ["1250"]  # Spanish is written with both
    for code in ("fr", "ru", "sv"):
        assert words("1 250 000,50", code) == ["1250000.50"]
    assert words("1 250 000", "en") == ["1", "250", "000"]
    assert words("2020 300, 030 123", "fr") == ["2020", "300", "030", "123"]


DIFFERENT = [
    *(">5/<5", "≥ 5/≤ 5", "x = y/x ≠ y", "A→B/A←B", "B-/B+", "B-/B", ".NET/net", "±5/5"),
    *("2021-05-03|2021-03-05", "10:12|12:10", "3/4|4/3", "3:1|1:3", "v1.5|v5.1", "十二月|二月"),
]


@pytest.mark.parametrize("pair", DIFFERENT)
def test_what_differs_in_a_sign_or_in_the_order_within_a_number_is_other_words(pair: str) -> None:
    one, other = pair.split("|" if "|" in pair else "/")
    assert sorted(words(one)) != sorted(words(other))


def test_english_articles_are_told_from_a_letter() -> None:
    def without(text: str, language: str = "") -> list[str]:
        return words(text, language, articles=False)

    assert without("The cat sat on a mat") == ["cat", "sat", "on", "mat"]
    assert without("THE CAT SAT ON A MAT") == without("the cat sat on a mat")
    assert without("Vitamin A") == without("vitamin a") == ["vitamin", "a"]
    assert without("Vitamin A is good") == ["vitamin", "a", "is", "good"]
    assert without("The") == [] and without("A") == ["a"]
    assert without("il a mangé", "fr") == ["il", "a", "mangé"]


@given(st.text(), st.sampled_from(["", "en", "de"]), st.booleans())
def test_words_hold_no_space_and_nothing_private(sample: str, language: str, stem: bool) -> None:
    for word in words(sample, language, stem=stem):
        assert word and not any(one.isspace() for one in word)
        if not any(unicodedata.category(one) == "Co" for one in sample):
            assert not any(unicodedata.category(one) == "Co" for one in word)


@given(st.integers(-(10**9), 10**9), st.integers(0, 99))
def test_a_number_is_the_same_word_however_it_is_grouped(whole: int, cents: int) -> None:
    english = f"{whole:,}.{cents:02d}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert words(english) == words(german) == words(f"{whole}.{cents:02d}")
    assert words(f"{whole:,}", "en") == [str(whole)]


def test_long_runs_are_cut_in_time() -> None:
    for run in ("一" * 6_000, "1.2.3." + "4" * 6_000, "\n" * 100_000 + "> a", "1 000" * 20_000):
        assert words(run, "fr")


HERE = Path(__file__).parents[2]
SUFFIXES = re.findall(
    r"\w+",
    """
s es ies ed ing eed ied y ational tional enci anci izer bli alli entli eli ousli ization
ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize
iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous
ive ize e ll ly
""",
)


def written_words() -> set[str]:
    texts = [*(HERE / "docs").rglob("*.md"), *(HERE / "src").rglob("*.py")]
    return {word for path in texts for word in re.findall(r"[A-Za-z]+", path.read_text("utf-8"))}


def made_words() -> set[str]:
    rng = random.Random(1)
    words = {"".join(rng.choices("aeiouysdglznt'-1", k=rng.randint(0, 8))) for _ in range(20_000)}
    for _ in range(40_000):
        stem = "".join(rng.choices("aeiouybcdlnrstzwx", k=rng.randint(0, 6)))
        words.add(stem + "".join(rng.choices(SUFFIXES, k=rng.randint(1, 2))))
    return words


@pytest.mark.parametrize("words", [written_words, made_words])
def test_stems_are_nltks(words) -> None:
    stem = pytest.importorskip("nltk.stem.porter").PorterStemmer().stem
    chosen = words()
    assert len(chosen) > 5_000
    assert {word: porter_stem(word) for word in chosen} == {word: stem(word) for word in chosen}
