"""Detects a text's language by its script and its most common words. Pure.

Libraries that tell more languages apart take tens of megabytes of memory, which an answer of a sentence or two doesn't
need.
"""

from __future__ import annotations

import re
from collections import Counter

MOST = 2_000
"""How many characters of a text are examined."""
_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"),
    ("ko", "\uac00", "\ud7af"),
    ("zh", "\u4e00", "\u9fff"),
    ("th", "\u0e00", "\u0e7f"),
    ("hi", "\u0900", "\u097f"),
    ("el", "\u0370", "\u03ff"),
    ("he", "\u0590", "\u05ff"),
    ("arabic", "\u0600", "\u06ff"),
    ("cyrillic", "\u0400", "\u04ff"),
    ("latin", "A", "\u024f"),
    ("latin", "\u1e00", "\u1eff"),
)
"""A script's name, or the only language that (nearly) uses it, with its first and last letter."""
_COMMON = {
    "latin": {
        "en": "the and of to is in that it you for with are this have not was be can on as what your if from an "
        "will they we he she but or do there which at by would my one all so here today i'm it's don't yes "
        "hello thanks",
        "de": "der die das und ist nicht ich du sie wir ein eine einen zu den mit auf für von im dem auch es sich "
        "wie werden kann dass aber oder noch bei nach aus war hast mein dein schon wenn hier ja danke gern "
        "klar heute mich mir dir uns um bis morgen",
        "fr": "le la les des et est un une du que qui dans pour pas vous je ne ce sur avec plus il elle nous au aux "
        "sont cette mais ou tu votre être c'est j'ai d'un bonjour merci oui voici très voilà parfait d'accord demain",
        "es": "el la los las de que y es un una en por con no se para su al del lo como más pero está tu yo muy qué "
        "hay este esta son puede también cuando hoy sí hola gracias aquí ser vale perfecto mañana",
        "it": "il lo la gli le di che è un una per non con sono si del della nel come più ma anche questo questa "
        "hai ho i ti mi alla dei delle puoi perché sì ciao grazie ecco molto certo me oggi va bene domani",
        "pt": "o a os as de que e é um uma em para com não se por do da no na você eu mais mas como está seu sua "
        "isso são ao dos das muito também pode sim olá obrigado aqui ser tem disso vou hoje claro me",
        "nl": "de het een en is van dat niet ik je te op voor met zijn die in er aan ook maar wat kan naar dit bij "
        "of om als heb hebt wordt geen nog ja hallo dank uit mijn jouw wel",
        "pl": "i w na nie jest się to że z do jak ale czy o po co tak dla są od może przez ten być ja już masz "
        "twoje dziękuję cześć oraz które tego dobrze gotowe jutro jutra",
        "cs": "a je se na že v to si jsem s z do jak ale tak pro jsou co by když nebo jako být už máš může které "
        "děkuji ahoj při také jen není dnes velmi",
        "sk": "a je sa na že v to si som s z do ako ale tak pre sú čo by keď alebo byť už máš môže ktoré ďakujem "
        "ahoj pri tiež len nie veľmi dnes",
        "hu": "a az és hogy nem is egy van ez meg de ha csak vagy mint már ezt azt lehet én te ön kell igen "
        "köszönöm szia nagyon volt",
        "ro": "și în de la pe este nu un o cu care pentru că să din mai sunt ce ai am dar sau se ca acest această "
        "foarte mulțumesc salut da te",
        "sv": "och att det är en som på i för inte med jag du den av till har ett om kan men vi var från så din "
        "eller också ja hej tack här mycket idag vad",
        "da": "og at det er en som på i for ikke med jeg du den af til har et om kan men vi var fra så din eller "
        "også ja hej tak her blev meget hvad dag mig",
        "nb": "og at det er en som på i for ikke med jeg du den av til har et om kan men vi var fra så din eller "
        "også ja hei takk her ble etter mye hva",
        "fi": "ja on ei se että hän mutta myös kun oli ovat tämä joka voi sen niin tai kuin mitä minä sinä olet "
        "olen kiitos hei nyt ole jos vain tänään paljon",
        "tr": "ve bir bu da de için ile ne çok var değil ben sen ama gibi daha olarak o en mi mı evet merhaba "
        "teşekkür olan sonra kadar şey nasıl",
        "id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya anda ke bisa ada karena atau "
        "kamu adalah sudah lebih terima kasih",
        "vi": "là và của có không được cho một những trong này với các để người tôi bạn đã đó như khi ở rất cũng",
    },
    "cyrillic": {
        "ru": "и в не на что я с это как по но он она вы ты мы для из так же от если есть или уже к было да нет",
        "uk": "і в не на що я з це як по але він вона ви ти ми для із так від якщо є або вже до було та ні у дякую",
        "bg": "и в не на че аз с това как по но той тя вие ти ние за от така ако има или вече до беше да са е си",
    },
    "arabic": {
        "ar": "في من على إلى أن هذا هذه التي الذي لا ما هو هي كان مع عن أو قد لم نعم شكرا كل يمكن",
        "fa": "و در به از که این است را با برای آن یک هم شما من می ها تا بر بود نیست اگر یا دارد کنید شد",
    },
}
_MARKS = {
    "de": "ßäöü", "fr": "çœêàè", "es": "ñ¿¡", "pt": "ãõ", "pl": "łąęśżźćń", "cs": "řůě", "sk": "ľĺŕô", "hu": "őű",
    "ro": "țșă", "sv": "åäö", "da": "æøå", "nb": "æøå", "fi": "äö", "tr": "ığşöüç", "uk": "їєґі",
    "vi": "ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
    "ru": "ыэё", "bg": "ъ", "fa": "پچژگی",
}  # fmt: skip
"""Letters that few other languages use."""
_KNOWN = {
    script: {language: frozenset(words.split()) for language, words in languages.items()}
    for script, languages in _COMMON.items()
}
_WEIGHTS = {
    script: {word: 1 / count for word, count in Counter(word for words in known.values() for word in words).items()}
    for script, known in _KNOWN.items()
}
"""The weights of words: the fewer languages have a word, the more it weighs."""
_USUAL = {"cyrillic": "ru", "arabic": "ar"}
"""The language of a text with such letters if its words decide nothing."""


def language_of(text: str) -> str:
    """Returns the ISO 639-1 code of a text's likely language; empty if unclear."""
    text = text[:MOST].lower()
    scripts: Counter[str] = Counter()
    for letter, count in Counter(_LETTERS.findall(text)).items():
        script = next((name for name, first, last in _SCRIPTS if first <= letter <= last), "")
        scripts[script] += count
    del scripts[""]
    if not scripts:
        return ""
    (script, letters), total = scripts.most_common(1)[0], scripts.total()
    if scripts["ja"] * 10 >= total:
        return "ja"  # most of its letters may be Chinese
    if script not in _KNOWN:
        return script if letters * 3 >= total else ""
    words = Counter(_WORDS.findall(text.replace("’", "'")))
    scores = {
        language: sum(words[word] * _WEIGHTS[script][word] for word in common)
        + 0.3 * sum(text.count(mark) for mark in _MARKS.get(language, ""))
        for language, common in _KNOWN[script].items()
    }
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] else _USUAL.get(script, "")
