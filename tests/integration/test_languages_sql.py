"""Tests what people write in other languages: words are found in every form and without accents, and standing
instructions are recognised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Sql
from tests.integration.test_find_sql import find
from tests.integration.turn_driver import ADA, BOT, TurnDriver, fact, private

MIGRATION = Path(__file__).parents[2] / "migrations" / "0051_other_languages.sql"
FORMS = {
    "Russian": (
        ("Вчера купили две книги и положили их на полку.", "книга"),
        ("Собаке сделали прививку в клинике.", "собака прививки"),
        ("Запасные ключи лежат под горшком.", "запасной ключ"),
        ("Купил чёрный зонт.", "черный зонты"),
    ),
    "Ukrainian": (("Ми забули книжки на столі.", "книжка столи"), ("Записався до лікаря на понеділок.", "лікар")),
    "Polish": (
        ("Książki leżą na półce w salonie.", "książka"),
        ("Umówiłem się do dentysty na piątek.", "dentysta"),
        ("Zapasowe klucze są pod doniczką.", "doniczka"),
        ("Mam już dużo tych starych książek.", "książka"),
        ("Zostawiłem zabawki u Marka.", "zabawek Marek"),
        ("Zgubiłem zółty parasol.", "parasole"),
        ("Pracownik magazynu kupił czerwoną walizkę na urodziny babci.", "pracownikami czerwonego urodzinach"),
    ),
    "Czech": (
        ("Soused říkal, že náhradní klíče jsou pod květináčem.", "sousedům klíčem"),
        ("Narozeniny babičky jsou na fotkách z dovolené.", "narozeninách fotky"),
        ("Neni mnoho fotek, ale dárky jsou tady.", "fotka dárek"),
    ),
    "Spanish": (
        ("Compré dos libros en la librería del centro.", "libro"),
        ("La niña canta canciones todas las tardes.", "canción"),
        ("Hemos reservado las habitaciones para agosto.", "habitación reservada"),
    ),
    "French": (
        ("Nous avons acheté des chevaux à la ferme.", "acheter"),
        ("Les clés de rechange sont sous le pot.", "cle"),
        ("Il travaillait dans une banque.", "travailler banques"),
    ),
    "German": (
        ("Die Übungen für den Rücken waren anstrengend.", "Übung"),
        ("Wir wohnen in der Hauptstraße am Park.", "Hauptstrasse"),
        ("Die Schlüssel liegen unter den Blumentöpfen.", "Blumentopf"),
    ),
    "Italian": (("Abbiamo comprato due biciclette per le bambine.", "bicicletta bambina"),),
    "Portuguese": (("As reuniões foram marcadas para segunda.", "reuniao marcada"),),
    "Dutch": (("We hebben de fietsen in de schuur gezet.", "fiets"),),
    "Arabic": (
        ("وضع كتاب المدرسة على الطاولة.", "مدرسة طاولة"),
        ("اشترى خبزا وقهوة للضيوف.", "القهوة ضيوف"),
    ),
    "Hebrew": (("הספר מונח על השולחן.", "ספר שולחן"), ("כתבתי מכתב לשרה ולדוד.", "שרה המכתב")),
    "Turkish": (("Kitapları rafa koydum ve çocuklar için oyuncak aldım.", "kitap çocuk"),),
    "English": (
        ("The meetings were moved to Friday.", "meeting moving"),
        ("We sat in a café near the river.", "cafes"),
    ),
}
ACCENTS = (
    ("We met in the café.", "cafe"), ("Meet me at the cafe.", "café"), ("La mañana fue muy fría.", "manana"),
    ("Ein schöner Gruß aus Zürich.", "Zurich"), ("Er steht auf der Straße.", "strasse"), ("Das Maß ist voll.", "mass"),
    ("Zażółć gęślą jaźń.", "gesla jazn"), ("İstanbul'da güneşli bir gün.", "gunesli"), ("Ёлка стоит в углу.", "елка"),
    ("Елка стоит в углу.", "ёлка"), ("Vi bor i Tromsø.", "tromso"), ("Chúng tôi ở Đà Nẵng.", "da nang"),
    ("Τα κλειδιά είναι στο τραπέζι.", "κλειδια"), ("The nai\u0308ve plan failed.", "naïve"),
)  # fmt: skip


@pytest.mark.parametrize("language", FORMS)
async def test_a_word_is_found_in_every_form(driver: TurnDriver, language: str) -> None:
    for said, _ in FORMS[language]:
        await driver.exchange(ADA, said, "OK.")
    for said, query in FORMS[language]:
        page = await find(driver, query)
        assert page.every, query
        shown = [row.text for row in page.found]
        assert said in [text.replace("\x02", "").replace("\x03", "") for text in shown], query
        assert "\x02" in shown[0], query
        rows = await driver.store.look_up(
            private(ADA), {"bot_id": BOT.id}, {"text": query, "vector": None, "model": ""}, 3
        )
        assert said in [row.snippet for row in rows or []], query


async def test_a_polish_or_czech_word_is_not_found_in_words_with_the_same_beginning(driver: TurnDriver) -> None:
    texts = ("Podróże są długie, a książki krótkie.", "Klíče jsou pod květináčem.", "Lékař říkal, že přijde.")
    others = (
        "Podrożały jajka.",
        "Książę już przyjechał.",
        "Klíčová je dobrá příprava.",
        "Lékárna zavírá v šest.",
        "Miał wiele wieków.",
    )
    for said in (*texts, *others):
        await driver.exchange(ADA, said, "OK.")
    for query, said in zip(("podróżą", "klíčem", "lékařem", "książek"), (*texts, texts[0]), strict=True):
        page = await find(driver, query)
        assert [row.text.replace("\x02", "").replace("\x03", "") for row in page.found] == [said], query
    await driver.teach(ADA, "Uwielbia podróżowanie pociągiem")
    assert "memory" in [row.kind for row in (await find(driver, "podróżow")).found], "the beginning of a word is enough"


@pytest.mark.parametrize(("said", "query"), ACCENTS)
async def test_accents_do_not_matter(driver: TurnDriver, said: str, query: str) -> None:
    await driver.exchange(ADA, said, "OK.")
    await driver.exchange(ADA, "Nothing of the kind.", "OK.")
    page = await find(driver, query)
    assert page.every
    assert [row.text.replace("\x02", "").replace("\x03", "") for row in page.found] == [said]


async def test_a_number_behind_a_dash_is_found_without_it(driver: TurnDriver) -> None:
    for said in ("Call Ben at 0170-1234567.", "The order is 4711-0815.", "Flat 3-12", "Nothing of the kind."):
        await driver.exchange(ADA, said, "OK.")
    for query, said in (("1234567", "Call Ben at 0170-1234567."), ("0815", "The order is 4711-0815."), ("12", None)):
        page = await find(driver, query)
        assert [row.text.replace("\x02", "").replace("\x03", "") for row in page.found] == ([said] if said else []), (
            query
        )
    await driver.exchange(ADA, "Ben: 0170 1234567", "OK.")
    assert [row.every for row in [await find(driver, "0170-1234567")]] == [True]
    assert (await find(driver, "0170-1234567")).total == 2


async def test_a_name_with_a_hyphen_is_found_without_it(driver: TurnDriver) -> None:
    for said in ("Anna-Lena calls.", "Anna Lena is here.", "Anna-Maria calls.", "The e-mail came.", "The mail came."):
        await driver.exchange(ADA, said, "OK.")
    for query, found in (("Anna-Lena", ["Anna-Lena calls.", "Anna Lena is here."]), ("e-mail", ["The e-mail came."])):
        page = await find(driver, query)
        assert page.every
        assert [row.text.replace("\x02", "").replace("\x03", "") for row in page.found] == found, query


async def test_an_address_and_a_word_with_a_hyphen_are_found_as_they_are_written(driver: TurnDriver) -> None:
    texts = ("See https://a.example/report-2026.pdf?x=1", "Mail to ben.miller@b.example", "The wi-fi is slow.")
    for said in (*texts, "See a.example", "The fi of wi."):
        await driver.exchange(ADA, said, "OK.")
    for query, said in zip(("a.example/report-2026.pdf?x=1", "ben.miller@b.example", "wi-fi"), texts, strict=True):
        page = await find(driver, query)
        found = [row.text.replace("\x02", "").replace("\x03", "") for row in page.found]
        assert (page.every, found) == (True, [said]), query


async def test_the_form_that_was_asked_for_comes_first(driver: TurnDriver) -> None:
    for said in ("We met at the university.", "The universe is big.", "Он живёт в доме.", "Вот дом.", "Кто в доме?"):
        await driver.exchange(ADA, said, "OK.")
    for query, total, first in (("university", 2, "We met at the university."), ("дом", 3, "Вот дом.")):
        page = await find(driver, query)
        assert (page.total, page.found[0].text.replace("\x02", "").replace("\x03", "")) == (total, first)


async def test_memories_documents_and_filters_know_forms_too(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "Mañana voy a comprar dos bicicletas rojas.", "Vale.")
    await driver.exchange(ADA, "Hola", "Hola.", actions=[fact(ADA, "La usuaria tiene dos gatos grises en su casa")])
    paper = {
        "unique_id": "u",
        "name": "a.pdf",
        "mime": "",
        "kind": "PDF",
        "pages": 1,
        "parts": ["Las lámparas del salón"],
    }
    await sql(
        "select relay.keep_documents(id, space_id, %s::jsonb) from message where text = 'Hola'", json.dumps([paper])
    )
    await sql("select relay_index_missing(100)")
    for query, expected in (
        ("comprado bicicleta from:me", "Mañana voy a \x02comprar\x03 dos \x02bicicletas\x03 rojas."),
        ("gato gris", "La usuaria tiene dos \x02gatos\x03 \x02grises\x03 en su casa"),
        ("lampara salones", "📄 a.pdf, part 1: Las \x02lámparas\x03 del \x02salón\x03"),
    ):
        page = await find(driver, query)
        assert (page.every, [row.text for row in page.found]) == (True, [expected]), query
    for query in ("bicicleta from:you", "bicicletas before:2001-01", "bicicleta kind:document", "gato kind:message"):
        assert (await find(driver, query)).found == (), query
    await sql("update session set private = true")
    assert (await find(driver, "bicicleta")).found == ()


STANDING = {
    "Italian": (
        ("Rispondi sempre in modo breve.", "Non usare mai emoji.", "Per favore, usa sempre il sistema metrico.",
         "Preferisco risposte brevi.", "D'ora in poi scrivimi in inglese.",
         "Quando mi rispondi, sii sempre conciso.", "Dammi sempre le misure in grammi.",
         "Vorrei che mi rispondessi sempre in italiano.", "Non darmi mai consigli medici.",
         "Per favore niente emoji, mai.", "Sempre unità metriche, per favore.",
         "Parlami sempre in modo informale, dammi del tu."),
        ("Mia nonna usa sempre il burro.", "Non ho mai mangiato sushi.", "Perché rispondi sempre in inglese?",
         "Siamo sempre stati amici.", "Scrivi una lettera alla banca.", "Vado sempre al mare d'estate.",
         "Mai visto un film così bello!", "Il treno è sempre in ritardo, purtroppo.", "Mi dici sempre la verità?",
         "Ho sempre voluto imparare a suonare.", "Scrivi a Marco che arrivo tardi.", "Grazie, sei sempre gentile."),
    ),
    "Portuguese": (
        ("Responda sempre em português.", "Nunca use emojis.", "Por favor, escreva sempre frases curtas.",
         "Prefiro respostas curtas.", "De agora em diante, use unidades métricas.",
         "Sempre responda de forma curta.", "Quero que você sempre responda em português.",
         "Não use nunca emojis, por favor.", "Fale sempre comigo de modo informal.",
         "Use sempre unidades métricas.", "A partir de agora responda só em inglês.", "Me dê sempre exemplos."),
        ("Eu nunca comi sushi.", "Ela sempre chega tarde.", "Você sempre usa isso?", "Escreva uma carta ao banco.",
         "A minha avó usa sempre manteiga.", "Sempre quis aprender violão.", "Nunca vi neve.",
         "O ônibus sempre atrasa na segunda.", "Meu pai sempre usa chapéu.", "Obrigado, você é sempre gentil.",
         "Por que o céu é azul?", "Explique a fotossíntese."),
    ),
    "Dutch": (
        ("Antwoord altijd kort.", "Gebruik nooit emoji's.", "Geef me graag altijd metrische eenheden.",
         "Ik heb liever korte antwoorden.", "Voortaan in het Nederlands schrijven.", "Geef altijd de bron erbij.",
         "Schrijf altijd in het Nederlands.", "Ik wil dat je altijd kort antwoordt.",
         "Gebruik alsjeblieft nooit emoji's.", "Graag altijd met voorbeelden.", "Vanaf nu graag kort.",
         "Spreek me altijd aan met je."),
        ("Ik heb nog nooit sushi gegeten.", "Hij komt altijd te laat.", "Waarom antwoord je altijd in het Engels?",
         "Schrijf een brief aan de bank.", "Mijn oma gebruikt altijd boter.", "Ik ga altijd met de fiets.",
         "Nooit gedacht dat het zo zou lopen.", "De trein is altijd te laat.", "Mijn broer schrijft nooit terug.",
         "Leg fotosynthese uit.", "Dank je, je bent altijd aardig.", "Ze zegt altijd nee."),
    ),
    "Polish": (
        ("Zawsze odpowiadaj krótko.", "Nigdy nie używaj emoji.", "Proszę, podawaj zawsze jednostki metryczne.",
         "Wolę krótkie odpowiedzi.", "Od teraz pisz po polsku.", "Odpowiadaj zawsze po polsku.",
         "Nie używaj nigdy emoji.", "Chcę, żebyś zawsze odpowiadał krótko.", "Od teraz odpowiadaj krótko.",
         "Proszę zawsze podawać źródła.", "Zawsze pisz po polsku.", "Wolałbym krótsze odpowiedzi."),
        ("Nigdy nie jadłem sushi.", "On zawsze się spóźnia.", "Dlaczego zawsze odpowiadasz po angielsku?",
         "Napisz list do banku.", "Moja babcia zawsze używa masła.", "Zawsze chciałem mieszkać nad morzem.",
         "Nigdy w życiu!", "Pociąg zawsze się spóźnia.", "Mój brat nigdy nie odpisuje.", "Wyjaśnij fotosyntezę.",
         "Dzięki, zawsze jesteś miły.", "Zawsze jeździmy tam latem."),
    ),
    "Russian": (
        ("Всегда отвечай коротко.", "Никогда не используй эмодзи.", "Пожалуйста, пиши всегда по-русски.",
         "Я предпочитаю короткие ответы.", "Впредь указывайте метрические единицы.",
         "Отвечай мне всегда на русском.", "Никогда не пиши длинные ответы.",
         "Хочу, чтобы ты всегда отвечал кратко.", "Не используй никогда эмодзи.", "Пиши всегда без смайликов",
         "С этого момента отвечай по-русски.", "Называй меня всегда Аней."),
        ("Я никогда не ел суши.", "Он всегда опаздывает.", "Почему ты всегда отвечаешь по-английски?",
         "Напиши письмо в банк.", "Моя бабушка всегда использует масло.", "Всегда мечтал жить у моря.",
         "Никогда не видел снега.", "Поезд всегда опаздывает.", "Брат никогда не отвечает.", "Объясни фотосинтез.",
         "Спасибо, ты всегда добр.", "Мы всегда ездим туда летом."),
    ),
    "Turkish": (
        ("Bana her zaman kısa cevap ver.", "Asla emoji kullanma.", "Lütfen her zaman metrik birimleri kullan.",
         "Kısa cevapları tercih ederim.", "Bundan sonra Türkçe yaz.", "Her zaman Türkçe yanıt ver.",
         "Lütfen asla emoji kullanmayın.", "Bundan böyle kısa yaz.", "Cevaplarını hep kısa tut.",
         "Bana hep Türkçe yaz.", "Ölçüleri daima metrik ver.", "Uzun cevap verme, asla."),
        ("Hiç suşi yemedim.", "O her zaman geç kalır.", "Neden her zaman İngilizce cevap veriyorsun?",
         "Bankaya bir mektup yaz.", "Büyükannem her zaman tereyağı kullanır.", "Her zaman denize gideriz.",
         "Asla kar görmedim.", "Tren hep gecikiyor.", "Kardeşim asla cevap vermez.", "Fotosentezi açıkla.",
         "Teşekkürler, hep naziksin.", "Babam hep şapka takar."),
    ),
}  # fmt: skip
"""For each language: what asks something of all answers, and what does not."""
ASKED = {
    "Italian": (("Puoi scrivermi una ricetta?", "Come posso fare il riso?", "Spiega Pitagora"), "Che cosa ho detto?"),
    "Portuguese": (("Você pode me explicar isso?", "Como faço arroz?", "Escreva uma receita"), "O que eu disse ontem?"),
    "Dutch": (("Kun je dat uitleggen?", "Hoe kan ik rijst koken?", "Schrijf een recept"), "Wat zei ik gisteren?"),
    "Polish": (("Czy możesz to wyjaśnić?", "Jak mogę ugotować ryż?", "Napisz przepis"), "Co wczoraj mówiłem?"),
    "Russian": (("Можешь объяснить это?", "Как приготовить рис?", "Напиши рецепт"), "Что я вчера говорил?"),
    "Turkish": (("Bunu açıklar mısın?", "Pilavı nasıl yaparım?", "Bir tarif yaz"), "Dün ne dedim?"),
}  # fmt: skip


@pytest.mark.parametrize("language", STANDING)
async def test_a_standing_instruction_is_recognised(sql: Sql, language: str) -> None:
    found = [
        [text for text in texts if await sql("select relay.is_standing_elsewhere(%s)", text) == [(True,)]]
        for texts in STANDING[language]
    ]
    assert found[1] == []
    assert len(found[0]) >= len(STANDING[language][0]) - 1, found[0]
    asks, other = ASKED[language]
    for text in asks:
        assert await sql("select relay.asks_for_help(%s)", text) == [(True,)], text
    assert await sql("select relay.asks_for_help(%s)", other) == [(False,)], other


async def test_an_upgrade_recognises_the_standing_instructions_that_are_there(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "Всегда отвечай коротко.", "Хорошо.")
    await driver.exchange(ADA, "Поезд всегда опаздывает.", "Да.")
    await sql("select relay_index_missing(100)")
    await sql("update entry set standing = false")
    migration = MIGRATION.read_text()
    await sql(migration[migration.index("update relay.entry") : migration.index("-- These know")])
    assert await sql("select source_id from entry where standing") == [(1,)]


async def test_a_standing_instruction_in_russian_is_recalled_for_a_request(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Всегда отвечай коротко.", "Хорошо.")
    query = {"vector": None, "model": "", "chat_id": 9_000_000, "topic_id": 0}
    for question, heard in (("Как приготовить рис?", 1), ("Что я вчера говорил?", 0)):
        rows = await driver.store.recall_for(private(ADA), {**query, "text": question}, 5)
        assert len(rows) == heard, question
