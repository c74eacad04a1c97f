"""German."""

from __future__ import annotations

import re

from relay.memory.reminders.languages.language import (
    AFTERNOON,
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    MORNING,
    NIGHT,
    NOON,
    WEEK,
    YEAR,
    Language,
    named,
    words,
)

WEEKDAYS = "montag,dienstag,mittwoch,donnerstag,freitag,samstag sonnabend,sonntag"

GERMAN = Language(
    code="de",
    example="freitag 8:00",
    numbers=named(
        "null,ein eins eine einer einem einen,zwei,drei,vier,fünf,sechs,sieben,acht,neun,zehn,elf,zwölf,dreizehn,"
        "vierzehn,fünfzehn,sechzehn,siebzehn,achtzehn,neunzehn,zwanzig"
    ) | {
        "dreissig": 30, "vierzig": 40, "fünfzig": 50, "neunzig": 90,
        **{f"{one}und{ten}": 10 * tens + ones
           for tens, ten in enumerate(("zwanzig", "dreissig", "vierzig", "fünfzig"), 2)
           for ones, one in enumerate(("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"), 1)},
    },
    units={
        **dict.fromkeys(("min", "minute", "minuten"), MINUTE),
        **dict.fromkeys(("std", "stunde", "stunden"), HOUR),
        **dict.fromkeys(("tag", "tage", "tagen"), DAY),
        **dict.fromkeys(("woche", "wochen"), WEEK),
        **dict.fromkeys(("monat", "monate", "monaten", "monats"), MONTH),
        **dict.fromkeys(("jahr", "jahre", "jahren"), YEAR),
    },
    singular=words("minute stunde tag woche monat jahr"),
    seconds=words("sekunde sekunden sek"),
    weekdays=named(WEEKDAYS),
    short_weekdays=named("mo,di,mi,do,fr,sa,so"),
    also_english=words("do so"),
    announcing=words("am jeden"),
    months={name: place + 1 for name, place in named(
        "januar jan jänner,februar feb,märz,april apr,mai,juni jun,juli jul,august aug,september sep sept,oktober okt,"
        "november nov,dezember dez"
    ).items()},
    days={"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1,
          **dict.fromkeys(("übermorgen", "uebermorgen", "ubermorgen"), 2)},
    clocks={"mitternacht": (24, 0), "mitternachts": (24, 0)},
    parts={
        **dict.fromkeys(("früh", "morgens", "vormittag", "vormittags"), MORNING),
        **dict.fromkeys(("mittag", "mittags"), NOON),
        **dict.fromkeys(("nachmittag", "nachmittags", "abend", "abends"), AFTERNOON),
        **dict.fromkeys(("nacht", "nachts"), NIGHT),
    },
    nights_too=words("24/7") | {
        "rund um die uhr", "tag und nacht", "tags und nachts", "auch nachts", "nachts auch", "auch in der nacht",
    },
    habits=words("morgens vormittags mittags nachmittags abends nachts"),
    tonight=frozenset(),
    inside=words("in"),
    at=words("um gegen"),
    on=words("am an den dem der zum"),
    every=words("jede jeden jedes jeder alle"),
    following=words("nächste nächsten nächster nächstes naechste naechsten naechster"),
    this=words("diese diesen dieser dieses kommende kommenden"),
    oclock=words("uhr"),
    dotted=True,
    ordinal=re.compile(r"(\d{1,2})\."),
    ordinals={
        **dict.fromkeys(("erste", "ersten", "erster", "1."), 1),
        **dict.fromkeys(("zweite", "zweiten", "zweiter", "2."), 2),
        **dict.fromkeys(("dritte", "dritten", "dritter", "3."), 3),
        **dict.fromkeys(("vierte", "vierten", "vierter", "4."), 4),
        **dict.fromkeys(("letzte", "letzten", "letzter"), -1),
    },
    rhythms={
        "stündlich": HOUR, "täglich": DAY, "wöchentlich": WEEK, "monatlich": MONTH, "jährlich": YEAR,
    },
    plural_weekdays={f"{name}s": place for name, place in named(WEEKDAYS).items()},
    workdays=words("werktag werktags werktage wochentags"),
    weekends=words("wochenende wochenends"),
    weekly=words("werktags wochentags wochenends"),
    until=words("bis"),
    windows={"von": words("bis - –"), "zwischen": words("und")},
    through=words("bis - – —"),
    limits=words("bis vor nach ab seit zwischen oder spätestens frühestens ca. ca circa"),
    goes_on=words("bis ab ausser"),
    barring=frozenset(("aber nicht", "nicht am")),
    feasts={"silvester": (12, 31), "neujahr": (1, 1), "heiligabend": (12, 24), "nikolaus": (12, 6)},
    times=words("mal"),
    past=words("nach"),
    to=words("vor"),
    quarter=words("viertel"),
    half_past=frozenset(),
    before={"halb": 30, "dreiviertel": 45},
    joins=words("und & sowie"),
    either=words("oder"),
    articles=words("ein eine einer einem einen"),
    spans={
        **{f"{article}halben stunde": 30 for article in ("", "einer ", "ner ", "'ner ")}, "halbe stunde": 30,
        **{f"{article}viertelstunde": 15 for article in ("", "einer ", "ner ")},
        **{f"{article}dreiviertelstunde": 45 for article in ("", "einer ", "ner ")},
        **{f"{one}einhalb stunden": 60 * hours + 30 for hours, one in enumerate(("zwei", "drei", "vier", "fünf"), 2)},
        "anderthalb stunden": 90, "eineinhalb stunden": 90, "einer halbe stunde": 30,
    },
    edges=words("ende anfang mitte"),
    vague=words("monatsende monatsanfang jahresende jahresanfang quartalsende allabendlich allmorgendlich"),
    seasons=words(
        "weihnachten ostern pfingsten karfreitag ostersonntag ostermontag pfingstsonntag pfingstmontag rosenmontag "
        "aschermittwoch gründonnerstag himmelfahrt fronleichnam muttertag vatertag advent weihnachtstag monatsersten "
        "monatsletzten"
    ) | {"neuen jahr"},
    periods=words("quartal semester halbjahr frühling frühjahr sommer herbst winter ferien geburtstag zahltag"),
    during=words("im am an zum während über"),
    concerning=words("wegen"),
    counts=words("einmal zweimal dreimal viermal"),
    months_in=words("im"),
    per=words("pro die jede jeden"),
    from_now=words("ab"),
    now=words("jetzt"),
    measures=words("km kilometer kg kilo g gramm ml l liter euro eur € $ dollar % prozent"),
    counted=words(
        "liegestütze liegestützen liegestütz kniebeugen klimmzüge klimmzügen situps burpees ausfallschritte sätze "
        "runden bahnen schritte seiten wörter vokabeln karten gläser tassen leute gäste wiederholungen"
    ),
    lasting=words("für fürs"),
    long=words("lang"),
    of=words("im des"),
    leading=words("mich uns bitte daran"),
    linking=words("dass daran"),
    led_linking=words("an zu"),
)  # fmt: skip
