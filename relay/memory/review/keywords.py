"""A judge for when no model is available, based on keywords. Marks its findings as its own. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from relay.core.limits import TAGGED_FACT_LENGTH
from relay.memory.contexts.sentences import sentences_of
from relay.memory.review.calibration import is_question, weight
from relay.memory.review.findings import Finding, add_acknowledged, plain_sentence, rests_on_others
from relay.memory.rows.upkeep.judging import JudgedMessage

NAME, VERSION = "keyword judge", 3
WISH = (
    r"(?:\w+ ){0,2}(?:question|request|suggestion|doubt|idea|feeling|favou?r|moment|minute|frage|bitte|wunsch|idee"
    r"|vorschlag|gefühl|вопрос|просьба|идея)"
)
"""What people have when they are about to ask for something."""
PATTERNS = [
    (
        "decision",
        7,
        r"(?:i|we)(?:'ve| have)? decided|ich habe (?:mich )?(?:beschlossen|entschieden)"
        r"|wir haben beschlossen|(?:he|hemos) decidido|(?:j'ai|nous avons) décidé|(?:ho|abbiamo) deciso"
        r"|(?:decidi|decidimos)|я решила?|мы решили|(?:zdecydowa|postanowi)(?:łem|łam|liśmy|łyśmy)"
        r"|karar verdi[mk]|قررت|قررنا",
    ),
    (
        "goal",
        6,
        r"my goal is|i (?:want|plan|intend) to|mein ziel ist|ich (?:will|möchte|plane)|mi objetivo es"
        r"|quiero|mon objectif|je veux|il mio obiettivo|voglio|meu objetivo|quero|моя цель|я хочу"
        r"|я планирую|(?:moim|mój) cel|chcę|chciał[ao]?bym|planuję|hedefim|\w+ (?:istiyorum|planlıyorum)|هدفي|أريد أن"
        r"|أنوي|أخطط",
    ),
    (
        "preference",
        6,
        r"i (?:really )?(?:prefer|like|love|hate|dislike|can't stand)|my favou?rite"
        r"|ich (?:mag|liebe|hasse)|mein liebling\w*|prefiero|me gusta|no soporto|je préfère|j'aime"
        r"|je déteste|preferisco|mi piace|prefiro|eu gosto|я предпочитаю|мне нравится|я люблю|я ненавижу"
        r"|wolę|lubię|uwielbiam|nie znoszę|nie cierpię|nienawidzę|m(?:ój|oja|oje) ulubion\w+"
        r"|\w+ (?:tercih ederim|seviyorum|severim|sevmiyorum|sevmem|nefret ederim|bayılırım|hoşlanırım)|en sevdiğim"
        r"|أحب|أفضّل|أفضل أن|أكره|المفضل",
    ),
    (
        "event",
        7,
        r"i (?:just )?(?:moved|got married|got a new job|started at|was born|graduated)"
        r"|ich bin .{0,40}umgezogen|ich habe geheiratet|me mud[eé]|me casé|j'ai déménagé|je me suis marié"
        r"|mi sono trasferit[oa]|mi sono sposat[oa]|mudei|casei|я переехала?|я женился|я вышла замуж"
        r"|przeprowadzi(?:łem|łam|liśmy)|wyszłam za mąż|ożeniłem się|taşındı[mk]|evlendi[mk]|mezun oldum"
        r"|انتقلت|انتقلنا|تزوجت|تخرجت",
    ),
    (
        "person",
        6,
        r"my (?:wife|husband|son|daughter|mother|father|sister|brother|partner|boss) (?:is|was|has|lives)"
        r"|mein(?:e)? (?:frau|mann|sohn|tochter|mutter|vater|schwester|bruder|chef(?:in)?) (?:ist|hat|heißt|wohnt)"
        r"|mi (?:esposa|marido|hij[oa]|madre|padre|herman[oa]) "
        r"|m(?:a|on) (?:femme|mari|fils|fille|mère|père|sœur|frère) "
        r"|mi[ao] (?:moglie|marito|figli[oa]|madre|padre|sorella|fratello) "
        r"|minha (?:esposa|filha|mãe|irmã) |meu (?:marido|filho|pai|irmão) "
        r"|мо[йя] (?:жена|муж|сын|дочь|мама|папа|сестра|брат) "
        r"|m(?:oja|ój) (?:żona|mąż|syn|córka|mama|matka|tata|ojciec|siostra|brat|szef(?:owa)?) "
        r"|(?:eşim|karım|kocam|oğlum|kızım|annem|babam|kardeşim|ablam|abim|patronum) "
        r"|(?:زوجتي|زوجي|ابني|ابنتي|أمي|أبي|أختي|أخي|مديري) ",
    ),
    (
        "fact",
        6,
        r"my name is|call me|i(?: am|'m) (?:an?(?! (?:bit|little|lot)\b)|allergic|vegetarian|vegan|diabetic|pregnant)\b"
        rf"|i (?:live|work|study) (?:in|at|as)|i have (?:an?|two|three)\b(?! {WISH})"
        r"|ich hei(?:ß|ss)e|ich (?:wohne|lebe|arbeite) |ich bin (?:allergisch|vegetarier|vegan|diabetiker|schwanger)"
        rf"|ich habe (?:eine?n?|zwei|drei)\b(?! {WISH})|me llamo|vivo en"
        r"|soy (?:al[eé]rgic|vegetarian|vegan|cel[ií]ac|diab[eé]tic)|trabajo |je m'appelle|j'habite|je travaille"
        r"|je suis (?:allergique|végétari|végan|diabétique|enceinte)"
        r"|mi chiamo|abito a|vivo a|lavoro |sono (?:allergic|vegetarian|vegan|celiac)|meu nome é"
        r"|moro em|trabalho |sou (?:alérgic|vegetarian|vegan)|меня зовут|я живу|я работаю"
        rf"|у меня (?:аллергия|есть|дв[ае])\b(?! {WISH})|я (?:вегетариан|веган)|nazywam się|mam na imię|mieszkam"
        r"|pracuję|mam (?:alergię|uczulenie)|jestem (?:uczulon|wegetarian|wegan)|benim adım|oturuyorum"
        r"|(?<!sorun )(?<!sorunu )(?<!problem )yaşıyorum|olarak çalışıyorum"
        r"|alerjim var|vejetaryenim|اسمي|أسكن|أعيش|أعمل|أنا نباتي|عندي حساسية"
        r"|لدي حساسية",
    ),
    (
        "discovery",
        6,
        r"i(?:'ve| have)? (?:just |finally )?(?:found out|discovered|figured out|learn(?:ed|t) that|reali[sz]ed)"
        r"|(?:it )?turns out|ich habe .{0,40}(?:herausgefunden|entdeckt)|es stellte? sich heraus"
        r"|(?:he|hemos) descubierto|descubrí|resulta que|(?:j'ai|nous avons) (?:découvert|appris que)"
        r"|(?:ho|abbiamo) scoperto|descobri|я (?:узнала?|обнаружила?|выяснила?)|оказалось|оказывается"
        r"|dowiedzia(?:łem|łam) się|odkry(?:łem|łam)|okazało się|\w+ (?:öğrendim|keşfettim)|meğer|اكتشفت"
        r"|تبين أن|اتضح أن",
    ),
    (
        "issue",
        5,
        r"(?:it|this|that) (?:broke|doesn't work|failed)|funktioniert nicht|no funciona|ne marche pas"
        r"|non funziona|não funciona|не работает|nie działa|çalışmıyor|bozuldu|لا يعمل|لا تعمل|تعطل",
    ),
]
ASKS = re.compile(
    r"(?<!\w)(?:i (?:want|would like|'d like) to (?:ask|know)|ich (?:will|möchte)\b.{0,60} (?:fragen|wissen)\b"
    r"|quiero (?:preguntar|saber)|je (?:veux|voudrais) (?:(?:te|vous) )?(?:demander|savoir)|voglio (?:sapere|chieder)"
    r"|quero (?:saber|perguntar)|я хочу (?:узнать|знать|спросить)|chcę (?:wiedzieć|zapytać|spytać)"
    r"|\w+ (?:sormak|öğrenmek|bilmek) istiyorum|أريد أن (?:أسأل|أعرف)"
    r"|(?:noch ?einmal|nochmals?) (?:sehen|hören|lesen|haben)|antwort|respuesta|réponse|risposta|resposta"
    r"|ответ(?:а|ы|ов)?\b|odpowied(?:ź|zi)\b|cevap\b|إجابة|جواب"
    r"|(?:again|noch einmal|nochmals?|otra vez|encore une fois|ещё раз|jeszcze raz|tekrar|مرة أخرى)\W*$)",
    re.IGNORECASE,
)
"""A wish for an answer, which isn't a goal."""
ORDERS = re.compile(
    r"\W*(?:(?:please|can you|could you|bitte|kannst du|por favor|per favore|s'il te plaît|пожалуйста|proszę|lütfen)"
    r",? )?"
    r"(?:translate|rewrite|rephrase|proofread|correct|write|summari[sz]e|übersetz\w*|schreib\w*|korrigier\w*|formulier\w*"
    r"|tradu(?:is|isez|ce|zca|ci|ca|z|za)|écris|écrivez|corrige\w*|escrib[ae]|scriv[ia]|correggi|escrev[ae]"
    r"|перевед\w+|напиши\w*|исправь\w*|przetłumacz|napisz|popraw|çevir\w*|düzelt\w*)\b|\W*(?:翻[译譯訳]|ترجم|اكتب)",
    re.IGNORECASE,
)
"""The beginning of a request whose text need not be about its author."""
QUOTED = re.compile('["“”„«»「」『』]')
UNSPACED = {
    "decision": "我(?:们|們)?[决決]定|ことにした|ことにしました|に決めた|に決めました",
    "goal": "我的目[标標]|我打算|我[计計][划劃]|が目標|つもりです",
    "preference": "我(?:更|最|很)?(?:不)?喜[欢歡]|我[讨討][厌厭]|が(?:大)?好き|が(?:大)?嫌い|が苦手",
    "event": "我搬到|我[结結]婚了|引っ越しました|引っ越した|結婚しました|卒業しました",
    "person": "我(?:的)?(?:妻子|老婆|丈夫|老公|儿子|女儿|兒子|女兒|妈妈|爸爸|媽媽|姐姐|妹妹|哥哥|弟弟)(?:是|叫|住|在)"
    "|(?:妻|夫|息子|娘|母|父|姉|妹|兄|弟|上司)は",
    "fact": "我叫|我姓|我住在|我在.{1,20}(?:工作|上班)|[对對].{1,12}[过過]敏|我有(?:一|两|兩|三)[只隻个個]|我吃素"
    "|と申します|に住んでいます|に住んでる|で働いています|アレルギー|を飼っています|ベジタリアン",
    "discovery": "我(?:才|刚|剛)?[发發][现現]|原[来來](?!如此)|(?:ことが|と)(?:わか|分か)りました|気づきました",
    "issue": "[坏壞]了|不能用|動きません|動かない|壊れました|壊れた",
}
"""The same in Chinese and Japanese, which put no spaces between words."""
MOST = 5
"""The most findings per message."""


def keyword_findings(
    rows: Mapping[int, JudgedMessage], before: Mapping[int, JudgedMessage] | None = None
) -> list[Finding]:
    """Returns what keywords find in a person's own messages, quoted. `before`: the messages before them."""
    known = {**(before or {}), **rows}
    return [one for row in rows.values() if row.role == "user" for one in find_in_message(row, known)]


def find_in_message(row: JudgedMessage, known: Mapping[int, JudgedMessage]) -> list[Finding]:
    """Returns what keywords find in one message: what a short one expresses, else sentences of a known kind. Words that
    are quoted, or given to be translated or written, tell nothing about their author."""
    text, tainted = row.text.strip(), rests_on_others((row.id,), known)
    if short := weight(text):
        what, worth = short
        if what == "feeling":
            return [Finding("feeling", worth, quote(text), (row.id,), tainted)]
        return [add_acknowledged(Finding("success", worth, quote(text), (row.id,), tainted), row.id, known)]
    if ORDERS.match(text):
        return []
    told = [one for one in find_known_sentences(text) if not QUOTED.search(one[2])]
    return [Finding(kind, worth, quote(said), (row.id,), tainted) for kind, worth, said in told]


@functools.cache
def _known() -> list[tuple[str, int, re.Pattern[str]]]:
    # Compiling takes 5 ms, so not at each start.
    return [
        (kind, worth, re.compile(rf"(?<!\w)(?:{words})|{UNSPACED[kind]}", re.IGNORECASE))
        for kind, worth, words in PATTERNS
    ]


def find_known_sentences(text: str) -> list[tuple[str, int, str]]:
    """Returns a text's first sentences of known kinds: kind, weight and sentence."""
    found: list[tuple[str, int, str]] = []
    for sentence in sentences_of(text):
        said = plain_sentence(sentence.text).replace("’", "'")
        if is_question(said) or len(found) >= MOST:
            continue
        kind = next(((kind, worth) for kind, worth, words in _known() if words.search(said)), None)
        if kind and not (kind[0] == "goal" and ASKS.search(said)):
            found.append((*kind, said))
    return found


def tells_something(text: str) -> bool:
    """Tests whether a message contains words of a known kind, which makes it worth judging however short it is."""
    return weight(text) is not None or bool(find_known_sentences(text.strip()))


def quote(text: str) -> str:
    """Quotes a text within the length of a memory."""
    said = plain_sentence(text)
    return f"“{said if len(said) <= TAGGED_FACT_LENGTH - 2 else said[: TAGGED_FACT_LENGTH - 3].rstrip() + '…'}”"
