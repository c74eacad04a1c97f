"""Weighs short messages: which to judge, and how much praise and assent count. Pure."""

from __future__ import annotations

import re
import unicodedata

from relay.memory.contexts.sentences import sentences_of
from relay.memory.review.telling_words import DATES, NEGATION

SENTIMENT = """
amazing awesome brilliant wonderful fantastic terrible awful horrible love hate happy sad angry afraid scared worried
excited proud lonely tired exhausted depressed grateful annoyed frustrated disappointed hurt miss sorry thrilled upset
incredible incredibly unbelievable impressed impressive impressing impresses appreciate appreciates appreciated
appreciating appreciation appreciative thankful fabulous superb delighted
toll großartig wunderbar fantastisch schrecklich furchtbar liebe hasse glücklich traurig wütend angst stolz einsam müde
erschöpft dankbar genervt enttäuscht froh vermisse schlimm
unglaublich beeindruckt beeindruckend begeistert fabelhaft
increíble maravilloso maravillosa genial horrible encanta amo odio feliz triste enfadado enfadada miedo preocupado
preocupada orgulloso orgullosa cansado cansada agradecido agradecida
génial incroyable merveilleux merveilleuse affreux adore aime déteste heureux heureuse triste peur inquiet inquiète fier
fière fatigué fatiguée reconnaissant déçu déçue
fantastico fantastica meraviglioso meravigliosa orribile amo odio felice triste arrabbiato arrabbiata paura preoccupato
orgoglioso stanco stanca grato grata deluso delusa
incrível maravilhoso maravilhosa horrível adoro amo odeio feliz triste medo preocupado preocupada orgulhoso cansado
cansada grato grata saudade
потрясающе потрясающий прекрасно чудесно ужасно люблю ненавижу счастлив счастлива грустно грустный злюсь боюсь страшно
волнуюсь горжусь устал устала благодарен благодарна скучаю рад рада
kocham uwielbiam nienawidzę szczęśliwy szczęśliwa smutny smutna smutno wściekły wściekła boję dumny dumna samotny
samotna zmęczony zmęczona wdzięczny wdzięczna rozczarowany rozczarowana niesamowite wspaniale wspaniałe cudownie
okropnie okropne
nefret mutlu mutluyum üzgün kızgınım korkuyorum endişeliyim gururluyum yalnızım yorgun yorgunum minnettarım harika
harikasın muhteşem inanılmaz berbat korkunç bayıldım özledim
أحبك رائع رائعة مذهل مذهلة سعيد سعيدة حزين حزينة غاضب غاضبة خائف خائفة فخور فخورة متعب متعبة ممتن ممتنة محبط محبطة
"""
POLITE = re.compile(
    r"\bliebe[nr]? gr[uü](?:ß|ss)e?|\bnicht (?:so )?schlimm|\bkeine angst|(?<!so )\bsorry\b"
    r"|(?<!i )(?<!we )\bmiss\b(?! you)|\bне страшно|\bsin miedo|\bniente paura|\bsem medo|\bnie szkodzi",
    re.IGNORECASE,
)
"""Phrases that sound like a feeling but aren't one: greetings, words of comfort, apologies."""
ACKNOWLEDGEMENT = """
exactly right|that's right|that is right|spot on|you nailed it|well done|that worked|it worked|it works|solved|exactly|
correct|precisely|good job|nicely done|great job|great work|excellent work|couldn't agree more|
genau|stimmt|richtig|das stimmt|gut gemacht|hat geklappt|es klappt|funktioniert|volltreffer|perfekt|
ausgezeichnet|einverstanden|du hast recht|sie haben recht|
exacto|exactamente|correcto|eso es|así es|bien hecho|funcionó|ha funcionado|funciona|perfecto|
excelente|de acuerdo|tienes razón|
exactement|c'est ça|c'est exact|tout à fait|bien joué|bravo|ça marche|ça a marché|parfait|
excellent|tu as raison|vous avez raison|
esatto|esattamente|giusto|proprio così|ben fatto|ha funzionato|funziona|perfetto|eccellente|
hai ragione|
exatamente|exato|correto|isso mesmo|bem feito|funcionou|deu certo|perfeito|concordo|
точно|именно|верно|правильно|так и есть|молодец|получилось|сработало|работает|отлично|идеально|
согласен|согласна|ты прав|ты права|
dokładnie|zgadza się|masz rację|świetnie|doskonale|działa|zadziałało|udało się|dobra robota|
aynen|kesinlikle|doğru|haklısın|haklısınız|işe yaradı|çalışıyor|mükemmel|aferin|
بالضبط|صحيح|أحسنت|نجح|نجحت|ممتاز|أنت محق|معك حق
"""
DOUBT = re.compile(
    r"\b(?:bad|badly|wrong|barely|hardly|partly|almost|schlecht|schlimm|falsch|kaum|selten|leider|fast|teilweise|halb"
    r"|mal|mala|peor|apenas|casi|pior|quase|pouco|male|peggio|poco|quasi|peu|presque|mauvais|faux|плохо|едва|почти|редко"
    r"|źle|prawie|słabo|kötü|yanlış|neredeyse)\b"
)
"""Words that take back an assent beside them: funciona mal."""
ASSENT = """
agree agrees agreed agreeing perfect perfectly great greatest excellent excellently exact exactly correct correctly
"""
"""Words that alone say that something was right."""
HALF_ASSENT = "yes yeah yep right rightly"
"""Words that say so only with others: a bare yes answers a question."""
AROUND = """
i you it that this is are was were it's that's you're i'm so totally absolutely completely quite very just really indeed
all answer done well job work thanks thank
"""
"""Words that may accompany them."""
THANKS = re.compile(
    r"\bthank(?:s| you)\b.{0,12}\b(?:much|lot|million|everything)\b|\b(?:vielen|tausend|herzlichen) dank\b"
    r"|\bmuchas gracias\b|\bmerci beaucoup\b|\b(?:mille grazie|grazie mille)\b|\bmuito obrigad[oa]\b"
    r"|\bбольшое спасибо\b|\bспасибо большое\b|\bbardzo dziękuję\b|\bdziękuję bardzo\b|\bçok teşekkür\w*"
    r"|\bçok sağ ?ol\b|\bشكر[اًا]+ جزيل[اًا]+",
    re.IGNORECASE,
)
"""Thanks that go beyond politeness."""
STARTS = """
i i'm i'll i've i'd ok okay yes no thanks thank hello hi hey please what how why who when where
ich ja nein danke hallo bitte was wie warum wer wann wo sie
sí no gracias hola por favor qué cómo por quién cuándo dónde yo
oui non merci bonjour salut je tu que quoi comment pourquoi qui
sì grazie ciao io che cosa come perché chi quando dove
sim não obrigado obrigada olá oi eu quem quando onde
да нет спасибо привет пожалуйста я что как почему кто когда где
"""
"""Capitalised words that are not names."""
GREETINGS = """
شكرا شكرًا شكراً مرحبا أهلا أهلًا وسهلا السلام عليكم وعليكم سلام نعم أجل لا حسنا حسنًا تمام طيب أوكي من فضلك
صباح مساء الخير النور
תודה רבה שלום כן לא בסדר בבקשה בוקר ערב לילה טוב
谢谢 谢谢你 謝謝 你好 您好 好的 嗯嗯 可以 可以的 没问题 明白了 知道了 哈哈 哈哈哈 早上好 晚安
ありがとう ありがとうございます こんにちは こんばんは おはよう おはようございます はい いいえ わかりました 分かりました
了解 了解です
감사합니다 고마워 고마워요 안녕 안녕하세요 네네 알겠습니다 धन्यवाद नमस्ते हाँ ठीक है
"""
"""Small talk in scripts without capitals."""

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
COMMON_STARTS = frozenset(STARTS.split())
SMALL_TALK = frozenset(GREETINGS.split())
FEELING = frozenset(SENTIMENT.split())
ASSENTS, HALF_ASSENTS, AROUND_ASSENT = (frozenset(words.split()) for words in (ASSENT, HALF_ASSENT, AROUND))
ANSWERS = tuple(one.strip() for one in ACKNOWLEDGEMENT.replace("\n", "").split("|"))
SHORT = 50
"""Messages with fewer characters are short; longer ones are always judged."""
CASELESS = 3
"""How many letters make a text in a script without capitals worth judging."""
LEAST = 5
"""The least importance of what is stored."""
PUNCTUATION = dict.fromkeys(map(ord, "،。！、，؟？.!,~～…"), " ")
EMPHASIS = re.compile(r"[❤♥😀-🙏🤗🤩🥰🥳🥺💔💕💖😭]")


def lower_words(text: str) -> list[str]:
    """Returns the words of a text in lower case; İ becomes i."""
    return words_of(text.replace("İ", "I").lower())


def words_of(text: str) -> list[str]:
    """Returns the words of a text as written, with plain apostrophes."""
    return [word.replace("’", "'") for word in WORD.findall(text)]


FEELING_WORTH, ACKNOWLEDGEMENT_WORTH = 6, 5


def worth_judging(text: str) -> bool:
    """Tests whether to judge a message: long ones, and short ones with a feeling, an acknowledgement, a name, a number
    or a date; in a script without capitals, where names can't be recognised, any with a few letters."""
    text = text.strip()
    if len(text) >= SHORT or EMPHASIS.search(text) or says_feeling(text) or is_acknowledgement(text):
        return True
    timed = any(map(str.isdigit, text)) or DATES.intersection(lower_words(text))
    return bool(timed) or holds_name(text) or tells_no_names(text)


def weight(text: str) -> tuple[str, int] | None:
    """Returns a short message's kind, `feeling` or `acknowledgement`, and its weight; None: neither, or not short.
    A question is neither: “Is that right?” confirms nothing. An emoji is a feeling only by itself."""
    if len(text.strip()) >= SHORT:
        return None
    said = " ".join(one.text for one in sentences_of(text) if not is_question(one.text))
    if is_acknowledgement(said):
        return "acknowledgement", ACKNOWLEDGEMENT_WORTH
    alone = EMPHASIS.search(said) and not any(map(str.isalnum, said))
    return ("feeling", FEELING_WORTH) if alone or says_feeling(said) else None


def is_question(text: str) -> bool:
    """Tests whether a sentence ends with a question mark, before closing signs. Reads it once, from its end."""
    last = next((sign for sign in reversed(text) if sign in "?？؟_" or sign.isalnum()), "_")
    return not (last == "_" or last.isalnum())


def says_feeling(text: str) -> bool:
    """Tests for a word of a feeling, or thanks beyond politeness."""
    return bool(THANKS.search(text) or FEELING.intersection(lower_words(POLITE.sub(" ", text))))


def is_acknowledgement(text: str) -> bool:
    """Tests whether a message says that something was right or worked, and little else."""
    words = lower_words(text)
    if ASSENTS.union(HALF_ASSENTS, AROUND_ASSENT).issuperset(words) and (
        ASSENTS.intersection(words) or (len(words) > 1 and HALF_ASSENTS.intersection(words))
    ):
        return True
    said = " ".join(words)
    rests = (said[len(one) :] for one in ANSWERS if said == one or said.startswith(f"{one} "))
    return any(
        len(rest) <= 12 and not any(map(NEGATION.fullmatch, rest.split())) and not DOUBT.search(rest) for rest in rests
    )


def holds_name(text: str) -> bool:
    """Tests for a word written like a name: capitalised other than at the start of a sentence; the first word only if
    it stands alone."""
    for sentence in re.split(r"[.!?…\n]+", text):
        words = words_of(sentence)
        later = words[1:] if len(words) > 1 else words
        if any(word[0].isupper() and word.lower() not in COMMON_STARTS for word in later):
            return True
    return False


def tells_no_names(text: str) -> bool:
    """Tests for a script without capitals, such as Chinese, Korean, Arabic, Hebrew, Thai or Hindi, and more than small
    talk."""
    letters = sum(unicodedata.category(character) == "Lo" for character in text)
    return letters >= CASELESS and not SMALL_TALK.issuperset(text.translate(PUNCTUATION).split())
