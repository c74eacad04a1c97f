"""Tells two similar facts apart: by names, numbers, “not”, dates, family. Pure.

Similarity is no help here: “Tom” and “Tim”, 5 mg and 15 mg, allowed and not allowed are nearly the same text. A model
decides how two facts relate; the result may lose none of these words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher

from relay.core.text import plain_digits

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces. Each counts as a word, and may belong to a name: 京都 is not 東京."""
LETTER = re.compile(f"[{UNSPACED}]")
IN_WORD = rf"(?:[^\W\d_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0970-\u0dff])"
"""A letter, or a sign that belongs to one, such as the vowels of Hindi and Tamil."""
TOKEN = re.compile(rf"[{UNSPACED}]|[+-]?\d+(?:[.,:/-]\d+)*{IN_WORD}*|{IN_WORD}+(?:['’]{IN_WORD}+)*[+#]*|[$€£¥₹₽₺%°]")
NEGATION = re.compile(
    r"(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|\w+n't|nicht|nichts|nie|niemals|niemand\w*|kein\w*"
    r"|weder|ohne|nunca|jamás|nada|nadie|ni|ning[uú]n\w*|tampoco|sin|ne|n'\w+|pas|jamais|rien|aucune?|sans|non|mai"
    r"|niente|nulla|nessun\w*|senza|não|nem|nenhum\w*|ninguém|sem|не|нет|нету|ни|нельзя|никто|никогда|ничего|без"
    r"|[不没沒無无未非别勿]|niet|nooit|geen|zonder|inte|ikke|aldrig|aldri|ingen|utan|uden|uten|nigdy|nic|nikt|ani|żadn\w+"
    r"|brak|bez|ні|немає|değil\w*|hiç\w*|asla|hayır|yok|yoktur|δεν|μην|όχι|לא|אין|בלי"
    r"|[وف]?(?:لا|ما|ليس|ليست|لست|ليسوا|لسنا|لم|لن|غير|مش|مو)|بدون|دون|بلا|نه|बिना|नहीं|मत|안|못|않\w*|없\w*"
    # Turkish says “not” within the word: seviyorum, sevmiyorum; şekerli, şekersiz.
    r"|\w+m[ıiuü]yor\w*|(?!g[oó]mez)\w+m[ae]z(?:s[ıi]n\w*|l[ae]r|d[ıi]\w*)?|\w+m[ae]m|\w+(?:medi|madı)(?:[mnk]|n[ıi]z|l[ae]r)?"
    r"|\w+(?:memiş|mamış|meyece[kğ]|mayaca[kğ]|memeli|mamalı|meyen|mayan|mesin|masın)\w*|\w+(?:meden|madan|memek|mamak)"
    r"|\w{2,}s[ıiuü]z)"
)
MONTHS_AND_DAYS = """
today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday january february march april
june july august september october november december birthday noon midnight daily weekly monthly yearly
morgens mittags abends nachts vormittags nachmittags täglich wöchentlich monatlich jährlich
heute morgen gestern übermorgen vorgestern montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar
jänner februar märz april mai juni juli august september oktober november dezember geburtstag
hoy mañana ayer anteayer lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
agosto septiembre octubre noviembre diciembre cumpleaños
aujourd'hui demain hier lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août
septembre octobre novembre décembre anniversaire
oggi domani ieri lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio
agosto settembre ottobre dicembre compleanno
hoje amanhã ontem segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho agosto setembro outubro
novembro dezembro aniversário
сегодня завтра вчера послезавтра позавчера среда среду среды май мая мае рождения
dziś dzisiaj jutro wczoraj pojutrze przedwczoraj poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela
niedzielę styczeń stycznia styczniu luty lutego lutym marzec marca marcu kwiecień kwietnia kwietniu maj maja maju
czerwiec czerwca czerwcu lipiec lipca lipcu sierpień sierpnia sierpniu wrzesień września wrześniu październik
października październiku listopad listopada listopadzie grudzień grudnia grudniu urodziny
bugün yarın dün salı cuma pazar ocak mart ekim doğum
اليوم غدا غدًا أمس الاثنين الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد يناير فبراير مارس أبريل مايو يونيو
يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر ميلاد
"""
NUMBER_WORDS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand first second third fourth fifth half
double twice once
eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig
neunzig hundert tausend halb doppelt einmal zweimal dreimal
uno dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien mil primero
primer primera segundo segunda tercero tercer tercera cuarto medio media doble
deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente quarante cinquante cent mille premier première
deuxième troisième quatrième demi demie double
due tre quattro cinque sei sette otto nove dieci venti cento primo prima secondo seconda terzo terza
dois duas três quatro sete oito nove dez vinte cem primeiro primeira terceiro terceira meio
один одна два две двух три трёх трех четыре семь восемь двадцать тридцать сорок сто полтора половина
jeden jedna dwa dwie dwóch trzy trzech cztery czterech pięć pięciu sześć siedem osiem dziewięć dziesięć dwadzieścia sto
pół
iki üç dört beş altı yedi sekiz dokuz yirmi otuz kırk elli yüz yarım buçuk birinci ikinci üçüncü dördüncü
واحد اثنان اثنين ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية ثماني تسعة تسع عشرة عشر عشرين نصف الأول الأولى
الثاني الثانية الثالث الثالثة
"""
COMPOUND = re.compile(
    r"\w*(?:zehn|zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|hundert|tausend|einhalb)\w*"
    r"|trece|catorce|(?:dieci|veinti|treinta|cuarenta|sesenta|setenta|ochenta|noventa)\w*|\w+cient[oa]s|quinient[oa]s"
    r"|treize|quatorze|seize|quarante|cinquante|soixante|tre(?:dici|ze)|quattordici|quindici|sedici|dici\w+"
    r"|(?:vent|trent|quarant|cinquant|sessant|settant|ottant|novant)[ai]?(?:uno?|due|tr[eé]|quattro|cinque|sei|sette"
    r"|otto|nove)?"
    r"|quinze|dezess?\w+|dezanove|dezoito|trinta|quarenta|cinquenta|sessenta|oitenta"
    r"|\w+надцат\w+|тридцат\w+|\w+десят\w*|\w+сот|двести|триста|четыреста|\w+na(?:ście|stu)|\w+dzie(?:ści|siąt)\w*"
)
"""Number words that are made of others, by language."""
FAMILY = """
mother father mum mom dad parents sister brother daughter son wife husband aunt uncle niece nephew cousin law
grandmother grandfather grandma grandpa granddaughter grandson partner fiancé fiancée
girlfriend boyfriend stepmother stepfather
mutter vater mama papa eltern schwester bruder tochter sohn frau mann tante onkel nichte neffe cousine oma opa
großmutter großvater enkelin enkel freundin freund schwiegermutter schwiegervater
madre padre hermana hermano hija hijo esposa marido tía tío sobrina sobrino prima primo abuela abuelo nieta nieto
suegra suegro cuñada cuñado nuera yerno
mère père sœur frère fille fils femme mari nièce neveu grand-mère grand-père
sorella fratello figlia figlio moglie zia zio nonna nonno nipote
mãe pai irmã irmão filha filho avó avô
мать матери отец отца отцу дочь дочери сын сына сыну муж мужа мужу мужем
matka ojciec mama mamę mamie tata tatę tacie syn syna synowi mąż męża mężowi
أمي أبي أختي أخي ابني ابنتي زوجي زوجتي جدي جدتي عمي عمتي خالي خالتي والدي والدتي
"""
INFLECTED = re.compile(
    r"((?:erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt)(?=e[nrsm]?$)"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)(?=s$)"
    r"|(?:schwester|bruder|brüder|tochter|töchter|söhne|schwager|schwägerin)(?=[ns]{0,2}$)"
    r"|(?:hij|herman|sobrin|prim|abuel|niet)[oa](?=s$)"
    r"|(?:понедельник|вторник|четверг|пятниц|суббот|воскресень|январ|феврал|март|апрел|июн|июл|август|сентябр|октябр"
    r"|ноябр|декабр|сестр|брат|мам|пап|дочер|дочк|жен|т[её]т|дяд|бабуш|дедуш|внук|внуч|перв|треть|четв[её]рт|пят|шест"
    r"|девят|десят)(?=\w{1,4}$)|второ(?=[йем]|го|му)|(?:брат|март|август|четверг|вторник|понедельник)$"
    r"|(?:siostr|brat|córk|żon|ciotk|babci|dziad[ek]|wnucz|szwagr|pierwsz|drug|trzec|czwart)(?=\w{1,5}$)|brat$"
    r"|(?:anne|baba|kardeş|abla|ağabey|oğl|oğul|kız|eş|teyze|dayı|amca|yeğen|dede|torun|pazartesi|çarşamba|perşembe"
    r"|cumartesi|şubat|nisan|mayıs|haziran|temmuz|ağustos|eylül|kasım|aralık)(?='?(?:[iıuüynsmldt]\w{0,6})?$))"
    r".*"
)
"""Such words with the endings of their language; the group is what stays the same."""
UNITS = """
mg g kg ml cl dl l mm cm m km ft lb lbs oz kb mb gb tb w kw v hz h min
grams gram kilo kilos tons liters litres liter litre meters metres meter metre kilometers kilometres miles mile feet
inches pounds pound euros euro dollars dollar cents francs percent degrees
seconds minutes minute hours hour days day weeks week months month years year
stunden minuten tage wochen monate jahre segundos minutos horas hora días día semanas meses años gramos kilos litros
metros kilómetros dólares heures jours semaines mois ans ore giorni settimane mesi anni dias anos
uhr stunde tag tagen woche monat monaten jahr jahren pfund grad prozent zentimeter kilometer
мг г кг мл л мм см м км ч час часа часов мин минут день дня дней неделя недели недель неделю месяц месяца месяцев год
года лет руб рублей градусов процентов
godz godzin godziny minut dni dzień tygodni tygodnie miesiące miesięcy lat lata zł złotych
saat dakika gün hafta ay yıl yaşında lira tl derece
ملغ ملغم مغ غ غرام جرام كغ كجم مل لتر متر كم ساعة ساعات دقيقة دقائق يوم أيام يوما أسبوع أسابيع شهر أشهر شهرا سنة سنوات
ريال درهم دينار جنيه ليرة درجة
"""
"""Words that belong to the number before them: 5 mg is not 5 g."""
SIGNS = frozenset("$€£¥₹₽₺%°")
DATES = frozenset(MONTHS_AND_DAYS.split())
MEASURES = frozenset(UNITS.split())
TELLING = DATES | SIGNS | frozenset(NUMBER_WORDS.split()) | frozenset(FAMILY.split())
MINIMAL = 0.6
"""The share of common words at which two facts count as one sentence with a few words changed."""
DENIED = 0.85
"""The share of common words at which a “not” on one side denies the other fact."""


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
        if (
            any(c.isdigit() for c in word)
            or lower in TELLING
            or COMPOUND.fullmatch(lower)
            or (_holds_capital(word) and not (begins and word[0].isupper()))
            or (lower in MEASURES and any(c.isdigit() for c in last))
        ):
            found[lower] += 1
        elif stem := _stem(lower):
            found[stem] += 1
        last = word
    return found


def _holds_capital(word: str) -> bool:
    """Tests whether a word or a part of it behind an apostrophe is written like a name: d'Anna."""
    return any(part[:1].isupper() for part in word.split("'"))


def _stem(lower: str) -> str:
    """Returns a word of `INFLECTED` without its ending, as сестр…; empty for other words."""
    match = INFLECTED.fullmatch(lower)
    return f"{match[1]}…" if match else ""


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
        if (not word[0].islower() or _holds_capital(word)) and (change == "replace" or LETTER.fullmatch(word))
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
    has = Counter(form for word in map(str.lower, _tokens(merged)) for form in (word, _stem(word)))
    has["not"] += sum(1 for word in list(has) if NEGATION.fullmatch(word))
    return any(not has[word] for fact in facts for word in find_telling_words(fact))


def _plain(text: str) -> str:
    return plain_digits(unicodedata.normalize("NFKC", text).replace("’", "'").replace("İ", "I"))


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(_plain(text))


def _only(words: list[str], others: Counter[str]) -> str:
    return " ".join(word for word in words if not others[word.lower()])
