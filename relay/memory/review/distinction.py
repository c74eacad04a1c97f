"""Tells two similar facts apart: by names, numbers, “not”, dates, family. Pure.

Similarity is no help here: “Tom” and “Tim”, 5 mg and 15 mg, allowed and not allowed are nearly the same text. A model
decides how two facts relate; the result may lose none of these words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces. Each counts as a word, and may belong to a name: 京都 is not 東京."""
LETTER = re.compile(f"[{UNSPACED}]")
IN_WORD = rf"(?:[^\W\d_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0970-\u0dff])"
"""A letter, or a sign that belongs to one, such as the vowels of Hindi and Tamil."""
TOKEN = re.compile(rf"[{UNSPACED}]|[+-]?\d+(?:[.,:/-]\d+)*{IN_WORD}*|{IN_WORD}+(?:['’]{IN_WORD}+)*[+#]*|[$€£¥₹₽%°]")
NEGATION = re.compile(
    r"(?:not|no|never|none|nothing|without|cannot|\w+n't|nicht|nichts|nie|niemals|kein\w*|ohne|nunca|jamás|nada|sin|ne"
    r"|n'\w+|pas|jamais|rien|sans|non|mai|niente|senza|não|nem|sem|не|нет|никогда|ничего|без|[不没沒無无未非别勿]"
    r"|niet|nooit|geen|zonder|inte|ikke|aldrig|aldri|ingen|utan|uden|uten|nigdy|bez|ні|немає|değil|hiç|yok|δεν|μην|όχι"
    r"|לא|אין|בלי|لا|ليس|ليست|لم|لن|بدون|نه|बिना|नहीं|मत|안|못|않\w*|없\w*)"
)
MONTHS_AND_DAYS = """
today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday january february march april
june july august september october november december birthday
heute morgen gestern montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz april mai juni juli
august september oktober november dezember geburtstag
hoy mañana ayer lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto
septiembre octubre noviembre diciembre cumpleaños
aujourd'hui demain hier lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août
septembre octobre novembre décembre anniversaire
oggi domani ieri lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio
agosto settembre ottobre dicembre compleanno
hoje amanhã ontem segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho agosto setembro outubro
novembro dezembro aniversário
сегодня завтра вчера понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье январь января
февраль февраля март марта апрель апреля мая июнь июня июль июля август августа сентябрь сентября октябрь октября
ноябрь ноября декабрь декабря рождения
"""
NUMBER_WORDS = """
one two three four five six seven eight nine ten eleven twelve first second third fourth fifth half double twice once
eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf erste zweite dritte vierte fünfte halb doppelt einmal
uno dos tres cuatro cinco seis siete ocho nueve diez primero segundo tercero medio doble
deux trois quatre cinq sept huit neuf dix premier deuxième troisième demi
due tre quattro cinque sei sette otto nove dieci primo secondo terzo
dois três quatro sete oito nove dez primeiro terceiro meio
один два три четыре пять шесть семь восемь девять десять первый второй третий
"""
FAMILY = """
mother father mum mom dad parents sister brother daughter son wife husband aunt uncle niece nephew cousin grandmother
grandfather grandma grandpa granddaughter grandson partner fiancé fiancée girlfriend boyfriend stepmother stepfather
mutter vater mama papa eltern schwester bruder tochter sohn frau mann tante onkel nichte neffe cousine oma opa
großmutter großvater enkelin enkel freundin freund schwiegermutter schwiegervater
madre padre hermana hermano hija hijo esposa marido tía tío sobrina sobrino prima primo abuela abuelo nieta nieto
mère père sœur frère fille fils femme mari nièce neveu grand-mère grand-père
sorella fratello figlia figlio moglie zia zio nonna nonno nipote
mãe pai irmã irmão filha filho avó avô
мать отец мама папа сестра брат дочь сын жена муж тётя дядя бабушка дедушка
"""
UNITS = """
mg g kg ml cl dl l mm cm m km ft lb lbs oz kb mb gb tb w kw v hz h min
grams gram kilo kilos tons liters litres liter litre meters metres meter metre kilometers kilometres miles mile feet
inches pounds pound euros euro dollars dollar cents francs percent degrees
seconds minutes minute hours hour days day weeks week months month years year
stunden minuten tage wochen monate jahre segundos minutos horas hora días día semanas meses años gramos kilos litros
metros kilómetros dólares heures jours semaines mois ans ore giorni settimane mesi anni dias anos
"""
"""Words that belong to the number before them: 5 mg is not 5 g."""
SIGNS = frozenset("$€£¥₹₽%°")
DATES = frozenset(MONTHS_AND_DAYS.split())
MEASURES = frozenset(UNITS.split())
TELLING = DATES | SIGNS | frozenset(NUMBER_WORDS.split()) | frozenset(FAMILY.split())
MINIMAL = 0.6
"""The share of common words from which two facts count as one sentence with a few words changed."""
DENIED = 0.85
"""The share of common words from which a “not” on one side denies the other fact."""


def find_telling_words(text: str) -> Counter[str]:
    """Returns the words of a fact that must not get lost: numbers with units, negations, dates, family, and names
    (capitalized words that don't begin a sentence)."""
    found: Counter[str] = Counter()
    plain, last = _plain(text), ""
    for match in TOKEN.finditer(plain):
        word, lower = match[0], match[0].lower()
        before = plain[: match.start()].rstrip(" \"'“„«(")
        begins = not before or before[-1] in ".!?:"
        if NEGATION.fullmatch(lower):
            found["not"] += 1
        elif (
            any(c.isdigit() for c in word)
            or lower in TELLING
            or (word[0].isupper() and not begins)
            or (lower in MEASURES and any(c.isdigit() for c in last))
        ):
            found[lower] += 1
        last = word
    return found


def difference(one: str, other: str) -> tuple[str, str]:
    """Returns the words that only one of two facts has, in order, to show a model."""
    first, second = _tokens(one), _tokens(other)
    of_first, of_second = Counter(map(str.lower, first)), Counter(map(str.lower, second))
    return _only(first, of_second), _only(second, of_first)


def tell_apart(one: str, other: str) -> bool:
    """Tests whether two facts differ in a distinguishing word, so that neither may stand for both. If only a few words
    of a sentence changed, each of these that may be a name distinguishes, even the first word. Other words, such as
    synonyms, are the model's to judge."""
    if loses(one, other) or loses(other, one):
        return True
    return bool(_find_changed_names(one, other))


def loses_in_merge(merged: str, one: str, other: str) -> bool:
    """Tests whether a merged sentence lacks a distinguishing word of either fact, or all words of one, or one fact
    denies the other, so that no sentence can say both."""
    if _is_unrelated(merged, one) or _is_unrelated(merged, other):
        return True
    if loses(merged, one, other) or not _find_changed_names(one, other) <= set(map(str.lower, _tokens(merged))):
        return True
    denied = find_telling_words(one)["not"] > 0, find_telling_words(other)["not"] > 0
    return denied[0] != denied[1] and _matcher(_find_words(one), _find_words(other)).ratio() >= DENIED


def _is_unrelated(merged: str, fact: str) -> bool:
    """Tests whether a sentence has no word of a fact, nor one that begins like it. Short words count if there are no
    others."""
    has = {word[:4] for word in map(str.lower, _tokens(merged))}
    words = set(map(str.lower, _tokens(fact)))
    long = {word for word in words if len(word) > 3 or LETTER.fullmatch(word)} or words
    return bool(long) and not has & {word[:4] for word in long}


def _find_changed_names(one: str, other: str) -> set[str]:
    """Returns the lower-case words that may be names and replace each other, if only a few words changed. Any word of a
    script without capitals may be one; without spaces, it need not replace another."""
    first, second = _tokens(one), _tokens(other)
    matcher = _matcher(first, second)
    if matcher.ratio() < MINIMAL:
        return set()
    return {
        word.lower()
        for change, a, b, c, d in matcher.get_opcodes()
        if change != "equal"
        for word in (*first[a:b], *second[c:d])
        if not word[0].islower() and (change == "replace" or LETTER.fullmatch(word))
    }


def _find_words(text: str) -> list[str]:
    """Returns the words of a text without negations."""
    return [word for word in _tokens(text) if not NEGATION.fullmatch(word.lower())]


def is_nearly_same(one: str, other: str) -> bool:
    """Tests whether two facts differ in a few words only."""
    return _matcher(_tokens(one), _tokens(other)).ratio() >= MINIMAL


def _matcher(first: list[str], second: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, [w.lower() for w in first], [w.lower() for w in second], autojunk=False)


def loses(merged: str, *facts: str) -> bool:
    """Tests whether a merged sentence lacks a distinguishing word of the facts."""
    has = Counter(word.lower() for word in _tokens(merged))
    has["not"] += sum(1 for word in list(has) if NEGATION.fullmatch(word))
    return any(not has[word] for fact in facts for word in find_telling_words(fact))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(_plain(text))


def _only(words: list[str], others: Counter[str]) -> str:
    return " ".join(word for word in words if not others[word.lower()])
