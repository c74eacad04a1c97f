"""Words for days, times of day and spans in languages that reminders don't understand."""

from __future__ import annotations

import re
import unicodedata

from relay.memory.reminders.languages.language import words

NAMES = words(
    # Spanish, Portuguese
    "hoy mañana pasado lunes martes miércoles jueves viernes sábado domingo cada todos todas dias semana semanas "
    "mes meses tarde noche enero febrero marzo mayo junio julio agosto septiembre octubre noviembre diciembre hoje "
    "amanhã segunda terça quarta quinta sexta noite manhã janeiro fevereiro março maio junho julho setembro "
    "outubro novembro dezembro minuto minutos hora horas "
    # French, Italian
    "demain aujourd'hui lundi mardi mercredi jeudi vendredi samedi dimanche chaque tous toutes jours semaine "
    "semaines mois matin soir nuit janvier février avril juin juillet août septembre octobre novembre décembre "
    "oggi domani dopodomani lunedì martedì mercoledì giovedì venerdì sabato domenica ogni giorni settimana "
    "settimane mese mesi mattina pomeriggio sera notte gennaio febbraio aprile maggio giugno luglio settembre "
    "ottobre dicembre heure heures minuti "
    # Dutch, Danish, Norwegian, Swedish
    "om vandaag overmorgen maandag dinsdag donderdag vrijdag zaterdag zondag iedere dag dagen avond januari "
    "februari maart augustus imorgen imorgon idag mandag måndag tirsdag tisdag onsdag torsdag fredag "
    "lørdag lördag søndag söndag hver varje uur timme timmar "
    # Polish, Czech
    "dziś dzisiaj jutro pojutrze poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela "
    "niedzielę każdy każdą codziennie dni wieczorem rano stycznia lutego kwietnia czerwca lipca sierpnia "
    "września października listopada grudnia dnes zítra pondělí úterý středa středu čtvrtek pátek neděle neděli "
    "každý večer ráno minut minuty godzinę godziny godzin "
    # Russian, Ukrainian
    "сегодня завтра послезавтра понедельник вторник среда среду четверг пятница пятницу суббота субботу "
    "воскресенье каждый каждую каждое ежедневно дня дней неделю утра утром дня днём вечера вечером января февраля "
    "марта апреля мая июня июля августа сентября октября ноября декабря сьогодні понеділок вівторок середу четвер "
    "пʼятницю неділю щодня минуту минуты минут час часа часов хвилин годину години "
    # Turkish, Hungarian, Finnish, Greek, Arabic, Hebrew, Hindi
    "bugün yarın pazartesi salı çarşamba perşembe cuma cumartesi pazar hafta akşam sabah ocak şubat mayıs haziran "
    "temmuz ağustos eylül ekim kasım aralık holnap hétfőn kedden szerdán csütörtökön pénteken szombaton vasárnap "
    "huomenna tänään maanantaina tiistaina keskiviikkona torstaina perjantaina lauantaina sunnuntaina αύριο "
    "σήμερα dakika غدا بكرة اليوم מחר היום कल आज"
)
UNSPACED = re.compile(
    "[今明后後]天|[今明]日|[每毎]|星期|[周週][一二三四五六日天末]|曜|[上下]午|晚上|午[前後]|오늘|내일|모레|매일|매주|요일|오전|오후|พรุ่งนี้|วันนี้|ทุก"
)


def plain(text: str) -> str:
    """Returns a text in lower case, without accents."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(one for one in letters if not unicodedata.combining(one)).translate(str.maketrans("ıłø", "ilo"))


PLAIN_NAMES = frozenset(map(plain, NAMES))


def names_day(text: str) -> bool:
    """Tests whether a text names a day or a part of one in another language, with or without its accents."""
    return not PLAIN_NAMES.isdisjoint(re.findall(r"[^\W\d_]+(?:['ʼ]\w+)?", plain(text.replace("’", "'")))) or bool(
        UNSPACED.search(text)
    )
