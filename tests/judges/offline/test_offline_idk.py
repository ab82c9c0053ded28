"""What the offline judge takes for "I don't know", and what not, in eleven languages."""

from __future__ import annotations

import re

import pytest

from ragassay.judges.offline.refusals import says_idk
from ragassay.judges.offline.rules import answer_to
from ragassay.judges.question import source_of
from ragassay.judges.questions.answering import AnswerAttempted, SaysIdk

QUERY = "What does the museum cost?"

NEGATIONS = """
The contract does not specify a notice period for tenants.
Scientists do not know what causes the disease.
It is impossible to determine the sex of the bird by its colour.
The API does not return a context object.
The text field does not accept more than 80 characters.
Unfortunately, the museum closed in 1965.
I'm afraid it closed in 1965.
Le contrat ne mentionne aucune pénalité.
Non è disponibile il martedì.
Roken is niet toegestaan.
ペットは許可されていません。
Курить запрещено.
Goodbye Lenin is a 2003 film.
There is no evidence that coffee causes cancer.
Bonfires are not permitted at any time of the year.
Dental work is not covered by the basic plan.
Data is never shared with third parties; no data is sold.
The app collects no data.
Breakfast is not included.
The plan does not include any roaming.
It does not contain any milk.
The gas cannot be found in nature.
Dinosaurs are not mentioned in the Bible.
We have no branches in Berlin.
We do not offer refunds.
Blind users are unable to find the button.
It is not known for its beaches.
The records were destroyed in 1944.
There is no cure for the common cold.
There are no documents to sign.
No documents are required for the visit.
There is no access to the beach in winter.
There is no solution to this equation.
The results do not support the hypothesis.
The study did not show a benefit of vitamin C.
No vaccine is available for dengue.
The parking is outside our building.
The repair is outside the scope of the warranty.
The cause of the disease is unknown.
Visitors may not bring their own food.
Nobody knows why whales sing.
It is unclear who built Stonehenge.
It isn't clear who built Stonehenge.
The company is silent on its plans.
The text is silent film lore.
Visitors can't access the web in the library.
You cannot determine the sex of the bird.
No passengers were found.
No relevant experience is required.
Es gibt keine Hinweise darauf, dass Kaffee Krebs verursacht.
Das Frühstück ist nicht enthalten.
Das Dokument ist nicht gültig.
Hunde dürfen nicht an den Strand.
Il n'y a aucune preuve que le café cause le cancer.
Aucune donnée n'est transmise à des tiers.
Les documents ne sont pas nécessaires.
No hay pruebas de que el café cause cáncer.
No hay playa en Madrid.
No tengo coche.
Non ci sono prove che il caffè causi il cancro.
Non ho figli.
Não há evidências de que o café cause câncer.
Er is geen bewijs dat koffie kanker veroorzaakt.
没有任何证据表明咖啡会致癌。
他并未结婚。
酒店未提供早餐。
コーヒーが癌を引き起こすという証拠はありません。
커피가 암을 유발한다는 증거는 없습니다.
Нет доказательств того, что кофе вызывает рак.
Молоко не содержит глютена.
The train stops here whenever a passenger asks; you can board any time.
Vallabhbhai is pronounced vah-luhb-bye.
If I do not have information on a date I leave it out of the table.
Minors cannot be found guilty of that in Ohio.
The museum has no information desk.
""".strip().splitlines()

ALONE = """
Not specified.
Not mentioned.
not stated
Not explicitly mentioned.
None mentioned.
Unspecified.
Not found.
Information not available.
Not available in the documents.
Nicht angegeben.
Non précisé.
No especificado.
Non specificato.
Não mencionado.
Niet vermeld.
未提及。
記載なし
명시되지 않음
Не указано.
""".strip().splitlines()

ANSWERS_ALONE = """
Not included.
Not available.
Not required.
Not available until 2025.
Not specified by the contract but by the law of 1965.
Not mentioned in the Bible.
""".strip().splitlines()

HEDGED = """
I believe it was 1965, but I'm not sure.
It was probably 1965, though I can't say for sure.
Maybe 1965? I'm not certain.
I'm not sure, but it may be 1965.
I'm not certain, but I think Lena Brandt designed it.
I don't know for sure, but it probably opened in 1965.
Not sure, maybe 1965.
Ich bin mir nicht sicher, aber es war wohl 1965.
Je ne suis pas sûr, mais c'était peut-être en 1965.
No estoy seguro, pero puede ser 1965.
Non sono sicuro, ma potrebbe essere il 1965.
Não tenho certeza, mas pode ser 1965.
Ik weet het niet zeker, maar het was misschien in 1965.
我不确定,但可能是1965年。
確かではありませんが、1965年かもしれません。
확실하지 않지만 1965년일 수 있습니다.
Я не уверен, но возможно в 1965 году.
""".strip().splitlines()

BESIDE = """
The documents do not mention the price, but it opened in 1965.
The documents do not mention the price, but it is in Bergen.
Die Dokumente nennen keinen Preis, aber es wurde 1965 eröffnet.
Der Text enthält keine Angaben zum Preis, aber er nennt das Jahr 1965.
Les documents ne mentionnent pas le prix, mais il a ouvert en 1965.
Los documentos no mencionan el precio, pero abrió en 1965.
I documenti non menzionano il prezzo, ma ha aperto nel 1965.
Os documentos não mencionam o preço, mas abriu em 1965.
De documenten vermelden de prijs niet, maar het ging open in 1965.
文档没有提到价格,但它于1965年开业。
文書には価格の記載がありませんが、1965年に開館しました。
문서에는 가격 정보가 없지만, 1965년에 문을 열었습니다.
В документах нет информации о цене, но он открылся в 1965 году.
I don't know exactly when, but it opened in the sixties, under mayor Brandt.
""".strip().splitlines()

REFUSALS = """
No answer found.
No answer was found.
Beats me.
Hmm, no idea.
Sorry, no idea.
I'm not able to help with that.
We're unable to answer.
It isn't clear from the text.
As an AI language model, I can't browse the web.
The provided context is silent on this.
No relevant passages were found.
No passages were found.
Cannot determine.
Cannot be determined.
Cannot determine the price from the passages.
Sorry for the inconvenience.
There is no information on this.
The answer is "I don't know".
'I don't know.'
There's nothing in the documents about the price.
The information you are looking for is not in the documents.
Based on the context, the price is unknown.
This is not something I have information about.
Hmm, hard to say.
Darüber steht im Text nichts.
Aucune information n'est disponible à ce sujet.
El texto no lo dice.
Il testo non lo dice.
De tekst zegt daar niets over.
В тексте об этом не говорится.
I'm not sure.
I'm not certain about that. You could ask the port office.
Not sure! Is there anything else you would like to know?
I don't know, sorry.
There is no evidence in the provided documents that coffee causes cancer.
The price is not covered in the documents.
It is not known from the given passages who built it.
I'm not sure, but the documents do not mention it.
No information is available on this topic.
I do not have access to that information.
We have no information about that.
The provided passages do not contain any information about the museum.
Ich weiß es nicht.
Das steht nicht im Text; die Dokumente enthalten dazu keine Angaben.
Je suis désolé, mais je n'ai pas d'informations à ce sujet.
Lo siento, no tengo información sobre eso.
Mi dispiace, non ho informazioni su questo.
Desculpe, não tenho informações sobre isso.
Het spijt me, ik heb daar geen informatie over.
抱歉,我没有相关信息。
文档中没有提供相关信息。
申し訳ありませんが、その情報は見つかりませんでした。
わかりません。
죄송합니다. 관련 정보가 없습니다.
모르겠습니다.
К сожалению, я не знаю.
В документе нет информации об этом.
""".strip().splitlines()

COURTEOUS = """
Sorry, the museum is closed on Mondays.
Hello, the museum is closed.
Thanks, the museum opens at 9.
There is no information desk at this station.
He said 'I don't know' and left the room.
The clerk said “I don’t know” and left the room.
""".strip().splitlines()

SMALL_TALK = """
You're welcome! Stay safe!
Gern geschehen!
De nada, ¡hasta luego!
Goodbye! Have a great weekend!
谢谢,再见!
""".strip().splitlines()


READ = [
    *(("a negation about the world", answer, "no") for answer in NEGATIONS),
    *(("a hedge before an answer", answer, "no") for answer in HEDGED),
    *(("a courtesy or a quotation", answer, "no") for answer in COURTEOUS),
    ("a refusal in a condition", "If I don't know an answer I ask the harbour office.", "no"),
    *(("a refusal beside an answer", answer, "partial") for answer in BESIDE),
    *(("a refusal", answer, "yes") for answer in REFUSALS),
    *(("a refusal of few words", answer, "yes") for answer in ALONE),
    *(("an answer of few words", answer, "no") for answer in ANSWERS_ALONE),
    *(("small talk alone", answer, "yes") for answer in SMALL_TALK),
]


@pytest.mark.parametrize(("kind", "answer", "says"), READ)
def test_an_answer_is_a_refusal_in_full_in_part_or_not(kind: str, answer: str, says: str) -> None:
    assert says_idk(answer) == says
    reply = answer_to(SaysIdk(f"user: {QUERY}", answer))
    assert reply is not None and reply.says_idk == says
    attempt = answer_to(AnswerAttempted(QUERY, answer))
    assert attempt is not None and attempt.answered == ("no" if says == "yes" else "yes")


def test_the_query_decides_whether_a_statement_beside_a_refusal_answers() -> None:
    answer = "There is no mention of the opening year. However, the tower was completed in 1889."
    assert says_idk(answer, "user: When was the Eiffel Tower completed?") == "partial"
    assert says_idk(answer, "user: What does it cost, who built it and when did it open?") == "yes"
    assert says_idk(answer) == "partial"


@pytest.mark.parametrize("answer", SMALL_TALK)
def test_small_talk_answers_small_talk(answer: str) -> None:
    reply = answer_to(SaysIdk("user: Thank you!", answer))
    assert reply is not None and reply.says_idk == "yes"
    attempt = answer_to(AnswerAttempted("Thank you!", answer))
    assert attempt is not None and attempt.answered == "yes"


EXAMPLES = re.findall(
    r"^Inquiry: (.*)\nResponse: (.*)\nsays_idk: (\w+)$", source_of("says_idk"), re.MULTILINE
)


@pytest.mark.parametrize(("inquiry", "response", "says"), EXAMPLES)
def test_the_rule_says_what_the_prompts_examples_say(
    inquiry: str, response: str, says: str
) -> None:
    reply = answer_to(SaysIdk(inquiry.replace(" / ", "\n"), response))
    assert reply is not None and reply.says_idk == says


def test_the_prompt_says_how_small_talk_negations_and_hedges_are_read() -> None:
    assert len(EXAMPLES) >= 10
    prompt = source_of("says_idk")
    _, yes, _, no = re.split(r"^(?=yes: |partial: |no: )", prompt, maxsplit=3, flags=re.MULTILINE)
    assert "small talk" in yes and "small talk" not in no.partition("Examples:")[0]
    assert "negation about the world" in no and "hedge" in no
    assert "small talk" in source_of("answer_attempted")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("No information is available about a fee, as there is none: entry is free.", "no"),
        ("There are no details on a fee because there is no such fee.", "no"),
        ("The documents do not mention a fee since none is charged.", "no"),
        ("There is no information on ghosts, as they do not exist.", "no"),
        ("No information is available about a fee.", "yes"),
        ("No information is available, as the documents only cover parking.", "yes"),
        ("I cannot answer, as there is no such information in the documents.", "yes"),
        ("I cannot answer, because there are none of these details in the text.", "yes"),
    ],
)
def test_that_there_is_no_such_thing_is_an_answer(answer: str, says: str) -> None:
    assert says_idk(answer, "user: Is there a fee for entry?") == says


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("I'm not sure, unfortunately.", "yes"),
        ("I'm not sure, based on the context.", "yes"),
        ("I'm not sure, but based on the context it costs 5 euros.", "no"),
    ],
)
def test_a_hedge_with_nothing_but_an_introduction_is_no_answer(answer: str, said: str) -> None:
    assert says_idk(answer) == said
