"""Languages are told by small words and scripts; each list of words tells of groups and opinions in
its own language; `golden check` works in each, and says what it cannot tell."""

import pytest

from golden_checked import check
from ragassay.base.sample import Sample
from ragassay.golden.golden_folder import GoldenSet, with_contexts
from ragassay.golden.golden_item import GoldenItem, GoldSpan
from ragassay.golden.judged_checks import coverage
from ragassay.texts.languages import (
    code_of,
    decimal_signs,
    language_in,
    language_of,
    likely_languages,
    without_yes_or_no,
    word_lists,
)


@pytest.mark.parametrize(("text", "code"), [
    ("When does the pool open?", "en"), ("Wann öffnet das Bad?", "de"),
    ("Quand ouvre la piscine ?", "fr"), ("¿Cuándo abre la piscina?", "es"),
    ("泳池几点开门？", "zh"), ("泳池在 Northport Pool 几点开门？", "zh"),
    ("プールは何時に開きますか", "ja"), ("Het zwembad is open voor kinderen", "nl"),
    ("A piscina não abre para os adultos", "pt"), ("Northport 1234", ""), ("", ""),
    ("Бассейн открыт", ""), ("Бассейн открыт для детей, но не для собак", "ru"),
    ("المكتبة مفتوحة من التاسعة في أيام الأسبوع", "ar"),
    ("पुस्तकालय सुबह नौ बजे खुलता है", "hi"), ("ห้องสมุดเปิดเก้าโมง", "th"),
    ("도서관은 아홉 시에 엽니다", "ko"), ("alpha α and beta β are letters", "en"), ("i w", ""),
    ("泳池在夏天早上九点开门の", "zh"),  # one kana in ten characters makes no Japanese
])  # fmt: skip
def test_small_words_and_scripts_tell_a_language(text: str, code: str) -> None:
    assert language_of(text) == code


def test_the_letters_of_a_script_tell_its_language_where_they_are_the_most() -> None:
    letters = {
        "el": "αβγ", "hy": "աբգ", "he": "אבג", "hi": "कख", "bn": "কখ", "ta": "கங", "te": "కఖ",
        "th": "กข", "lo": "ກຂ", "my": "ကခ", "ka": "აბ", "am": "አበ", "km": "កខ", "ko": "한국",
    }  # fmt: skip
    assert {code: language_of(text) for code, text in letters.items()} == {c: c for c in letters}
    assert language_of("αβ zz") == "" and language_of("αβγ zz") == "el"
    assert language_of("der " + "qwrt " * 30) == "" != language_of("nicht " * 3 + "qwrt " * 47)
    polish = "Nie wiem, że to jest i w"  # three small words of more than one letter
    assert [likely_languages(polish, least) for least in (3, 4)] == [("pl",), ()]
    assert [decimal_signs(code) for code in ("any", "de", "en", "xx")] == [",.", ",", ".", ""]


def test_a_language_is_known_by_code_and_name() -> None:
    said = ["de", "de-CH", "German", " Deutsch ", "zh_TW", "Français", "Klingon"]
    assert [code_of(one) for one in said] == ["de", "de", "de", "de", "zh", "fr", "klingon"]


@pytest.mark.parametrize(("code", "sentence", "names"), [
    ("en", "Women's groups can't and can’t enter.", {"women"}),
    ("en", "The blind may enter with their mothers' consent.",
     {"people with disabilities", "women", "permission"}),
    ("de", "Kinder und ältere Menschen müssen nicht zahlen.",
     {"children", "older people", "duty and prohibition"}),
    ("de", "Man kauft die Karte an der Kasse.", set()),
    ("fr", "L'enfant d'une grand-mère peut entrer.", {"children", "women", "permission"}),
    ("es", "Las personas mayores no pagan tasas.", {"older people", "duty and prohibition"}),
    ("zh", "未成年人和老人可以免费进入。", {"children", "older people", "permission"}),
    ("zh", "游泳池夏天九点开门。", set()),
])  # fmt: skip
def test_a_sentence_mentions_groups_and_opinions(code: str, sentence: str, names: set[str]) -> None:
    assert {name for _, name in word_lists()[code].mentioned(sentence)} == names


def test_an_answer_without_its_yes_or_no() -> None:
    said = ["No, never.", "Nein.", "Oui: toujours.", "Sí, siempre.", "是的，可以。", "Nobody."]
    assert [without_yes_or_no(one) for one in said] == [
        "never.", "", "toujours.", "siempre.", "可以。", "Nobody.",
    ]  # fmt: skip


POOLS = {
    "de": (
        "Das Freibad öffnet im Sommer um neun Uhr. Hunde sind auf dem Gelände nicht erlaubt.",
        "Wann öffnet das Freibad im Sommer?", "Wann öffnet das Freibad im Sommer denn?",
        "Öffnet das Freibad um neun Uhr?", "um neun Uhr",
        ("Nein, Hunde sind nicht erlaubt.", "Ja, sie sind erlaubt."), "Der Eintritt kostet 7 Euro.",
    ),
    "zh": (
        "游泳池夏天早上九点开门。狗不允许进入场地。", "游泳池夏天几点开门？",
        "游泳池夏天是几点开门？", "游泳池早上九点开门吗？", "早上九点",
        ("不是，狗不允许进入场地。", "是，狗可以进入。"), "成人门票是七十二元，学生免费。",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", POOLS)
def test_golden_check_works_in_each_language_and_says_what_it_cannot_tell(code, tmp_path) -> None:
    text, first, alike, leaks, answer, (no, yes), foreign = POOLS[code]
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "pool.md").write_text(text, encoding="utf-8")
    gold = [GoldSpan(document="pool", start=0, end=len(text), text=text)]

    def item(name: str, query: str, *references: str) -> GoldenItem:
        return GoldenItem(id=name, query=query, references=list(references), gold=gold)

    items = [
        item("first", first, answer), item("alike", alike, answer), item("leaks", leaks, answer),
        item("both", foreign, no, yes), item("foreign", first + "?", foreign),
        GoldenItem(id="nobody", query=foreign, answerability="unanswerable"),
    ]  # fmt: skip
    made = GoldenSet(tmp_path, items)
    with_contexts(items, made.documents())
    found = check(made)
    told = {(one.check, one.item) for one in found.findings}
    assert {("duplicate", "alike"), ("leak", "leaks"), ("contradiction", "both")} <= told
    assert {one for one in told if one[0] == "leak"} == {("leak", "leaks")}
    assert ("support", "foreign") in told and ("support", "first") not in told
    assert not [one for one in found.findings if one.check == "support" and no in one.sentence]
    assert found.skipped.keys() == {"complete", "answered"}
    lengths = coverage(items, made.documents())["length of the query"]
    assert "over 15 words" not in lengths and sum(lengths.values()) == len(items)


@pytest.mark.parametrize("text", [
    "A Balaton Közép-Európa legnagyobb tava. A ház a tó partján áll, és a kert is nagy.",
    "Praha je hlavní město a leží na řece Vltavě. Do města jezdí vlaky, a to je důležité.",
    "København er Danmarks hovedstad. For at komme til byen kan man tage toget.",
    "Helsinki on Suomen pääkaupunki. Se on myös tärkeä satama, ja se on suuri.",
    "Jakarta adalah ibu kota Indonesia dan kota ini berada di pulau Jawa.",
    "Kaapstad is die oudste stad in Suid-Afrika. Die stad is by die see.",
    "Zagreb je glavni grad Hrvatske. Do grada vozi vlak, a to je najbolje.",
    "Bu bir test ve on kişi var. Ankara en kalabalık ikinci ildir.",
])  # fmt: skip
def test_small_words_that_english_has_too_make_no_english(text: str) -> None:
    assert language_of(text) != "en"


def test_a_sample_is_in_its_language_by_its_field_else_by_its_words() -> None:
    words = {"query": "When does the pool open?", "answer": "At nine in the morning."}
    # What is the language of a program is no language of a text.
    said = {"": "en", "German": "de", "tr-TR": "tr", "fil": "fil", "python": "en"}
    for language, code in said.items():
        for told in ({"language": language}, {"metadata": {"lang": language}}):
            assert language_in(Sample(id="1", **told, **words)) == code  # type: ignore[arg-type]
    assert language_in(Sample(id="1")) == ""
