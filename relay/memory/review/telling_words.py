"""Words that tell facts apart: negations, dates, numbers, sides, family and units, in ten languages."""

from __future__ import annotations

import re

NEGATION = re.compile(
    r"(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|\w+n't|hardly|barely|against|forbidden"
    r"|nicht|nichts|nie|niemals|niemand\w*|kein\w*"
    r"|weder|ohne|kaum|gegen|dagegen|verboten|nunca|jamás|nada|nadie|ni|ning[uú]n\w*|tampoco|sin|ne|n'\w+"
    r"|pas|jamais|rien|aucune?|sans|non|mai"
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
double twice once triple single quarter dozen couple sixth seventh eighth ninth tenth eleventh twelfth plus minus
eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig
neunzig hundert tausend halb doppelt einmal zweimal dreimal
uno dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien mil primero
primer primera segundo segunda tercero tercer tercera cuarto medio media doble quinto quinta
sexto sexta séptimo séptima octavo octava noveno novena décimo décima tercio docena menos
deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente quarante cinquante cent mille premier première
deuxième troisième quatrième demi demie double quart tiers moins
due tre quattro cinque sei sette otto nove dieci venti cento primo prima secondo seconda terzo terza quinta
sesto sesta settimo settima ottavo ottava nono nona decimo decima mezzo mezza dozzina
dois duas três quatro sete oito nove dez vinte cem primeiro primeira terceiro terceira meio
sétimo sétima oitavo oitava décima meia dúzia
один одна два две двух три трёх трех четыре семь восемь двадцать тридцать сорок сто полтора половина
jeden jedna dwa dwie dwóch trzy trzech cztery czterech pięć pięciu sześć siedem osiem dziewięć dziesięć dwadzieścia sto
pół tuzin
iki üç dört beş altı yedi sekiz dokuz yirmi otuz kırk elli yüz yarım buçuk çeyrek düzine
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
    r"|(?:m|b|tr)il+[iy]?(?:on|ón|ard?)\w*|mil+h\w+|\w{3,}ième"
    r"|(?:diz|douz|quinz|vingt|trent|quarant|cinquant|soixant|cent)aines?"
    r"|\w+(?:jährlich|tägig|stündlich)\w*|dutzend\w*|милли(?:он|ард)\w*|тысяч\w*"
    r"|пол(?:тор|час|год|кило|таблет|стакан)\w*"
    r"|(?:дво|тро|четвер|пятер)(?:е|о|их|ых|им|ым|ими|ыми)|tysi[ąę]c\w*|ćwier\w*|(?:dw|tr)oj(?:e|ga)"
    r"|(?:iki|üç|dör[dt]|beş|altı|yedi|sekiz|dokuz|yirmi|otuz)(?:[ıiuü]?nc[ıiuü]\w{0,4}|[dt][ae]n?|y?[aeıiuü])"
    r"|birinci|onuncu"
    r"|\w+надцат\w+|тридцат\w+|\w+десят\w*|\w+сот|двести|триста|четыреста|\w+na(?:ście|stu)|\w+dzie(?:ści|siąt)\w*"
)
"""Number words that are made of others, by language."""
FAMILY = """
mother father mum mom dad parents sister brother daughter son wife husband aunt uncle niece nephew cousin law
grandmother grandfather grandma grandpa granddaughter grandson partner fiancé fiancée
girlfriend boyfriend stepmother stepfather stepson stepdaughter godmother godfather sibling child kid twin
mutter vater mama papa eltern schwester bruder tochter sohn frau mann tante onkel nichte neffe cousine oma opa
großmutter großvater enkelin enkel freundin freund schwiegermutter schwiegervater
madre padre hermana hermano hija hijo esposa marido tía tío sobrina sobrino prima primo abuela abuelo nieta nieto
suegra suegro cuñada cuñado nuera yerno novia novio mujer
mère père sœur frère fille fils femme mari nièce neveu oncle cousine grand-mère grand-père
sorella fratello figlia figlio moglie zia zio nonna nonno nipote
mãe pai irmã irmão filha filho avó avô
мать матери отец отца отцу дочь дочери сын сына сыну муж мужа мужу мужем
matka ojciec mama mamę mamie tata tatę tacie syn syna synowi mąż męża mężowi
أمي أبي أختي أخي ابني ابنتي زوجي زوجتي جدي جدتي عمي عمتي خالي خالتي والدي والدتي
"""
INFLECTED = re.compile(
    r"((?:erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt|halb|link|recht)(?=e[nrsm]?$)"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)(?=s$)"
    r"|(?:schwester|bruder|brüder|tochter|töchter|söhne|schwager|schwägerin)(?=[ns]{0,2}$)"
    r"|(?:hij|herman|sobrin|prim|abuel|niet)[oa](?=s$)"
    r"|(?:понедельник|вторник|четверг|пятниц|суббот|воскресень|январ|феврал|март|апрел|июн|июл|август|сентябр|октябр"
    r"|ноябр|декабр|сестр|брат|мам|пап|дочер|дочк|жен|т[её]т|дяд|бабуш|дедуш|внук|внуч|перв|треть|четв[её]рт|пят|шест"
    r"|седьм|восьм|девят|десят|лев|прав)(?=\w{1,4}$)|второ(?=[йем]|го|му)|(?:брат|март|август|четверг|вторник|понедельник)$"
    r"|(?:siostr|brat|córk|żon|ciotk|babci|dziad[ek]|wnucz|szwagr|pierwsz|drug|trzec|czwart|piąt|szóst|siódm|ósm"
    r"|dziewiąt|dziesiąt|lew|praw)(?=\w{1,5}$)|brat$"
    r"|(?:anneanne|babaanne|anne|baba|karıs|karım|kocas|kocam|gelin|damad|kuzen|kardeş|abla|ağabey"
    r"|oğl|oğul|kız|eş|teyze|dayı|amca|yeğen|dede|torun|pazartesi|çarşamba|perşembe|cumartesi|şubat|nisan|mayıs|haziran|temmuz|ağustos|eylül|kasım|aralık)(?='?(?:[iıuüynsmldt]\w{0,6})?$)"
    r"|[ولبف]?(?:ابنت|ابن|أخت|أخ|أم|أب|زوجت|زوج|والدت|والد|جدت|جد|عمت|عم|خالت|خال)(?=[وايى]?(?:ه|ها|هم|ك|نا)$)"
    r"|(?:mother|father|parent|sister|brother|daughter|son|aunt|uncle|niece|nephew|cousin|child|kid|twin)(?=s$|ren$))"
    r".*"
)
"""Such words with the endings of their language; the group is what stays the same."""
TIMES = """
morning mornings afternoon afternoons evening evenings night nights spring summer autumn winter weekday weekdays weekend
weekends hourly quarterly
mañanas tarde tardes noche noches mediodía verano invierno primavera otoño
matin matins midi soir soirs nuit nuits printemps automne hiver
mattina pomeriggio sera notte estate manhã manhãs noite noites verão outono
утром вечером днём ночью летом зимой весной осенью
rano wieczorem nocą latem zimą wiosną jesienią lecie zimie sabah akşam gece yazın kışın
صباحا صباحًا مساء مساءً ليلا ليلًا
"""
"""Parts of the day, week and year."""
SIDES = """
left right links rechts gauche gauches droit droite droits droites izquierda izquierdo derecha derecho
sinistra sinistro destra destro esquerda esquerdo direita direito sol sağ أيمن أيسر يمنى يسرى اليمنى اليسرى
"""
UNITS = """
mg g kg ml cl dl l mm cm m km ft lb lbs oz kb mb gb tb w kw v hz h min
grams gram kilo kilos tons liters litres liter litre meters metres meter metre kilometers kilometres miles mile feet
inches pounds pound euros euro dollars dollar cents francs yen pesos percent degrees am pm
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
OPPOSITES = """
before after since until / more less fewer / most least fewest / older younger / oldest youngest / earlier later /
this next last / above below / over under behind beside / inside outside / indoors outdoors / upstairs downstairs /
with without / taller shorter / bigger smaller / north south east west / northern southern eastern western / hot cold
warm cool / cheaper dearer / early late / up down / always sometimes / red blue green yellow black white brown grey
pink /
old new young / full empty / open closed / big small / large small / front rear / front back / sweet dry sour / heavy
light / loud quiet / long short / high low / public private / minimum maximum / min max / landlord tenant / bought
sold / buys sells / lent borrowed / lends borrows / passed failed / gained lost / won lost / opens closes / opened
closed / loves hates / likes dislikes / starts stops / started stopped / joined left / wet dry / fast slow / strong
weak / thick thin / deep shallow / married single divorced / employer employee / teacher student / doctor patient /
buyer seller / import export / entrance exit / arrival departure / day night / summer winter /
vor nach seit bis / mehr weniger / älter- jünger- / ältest- jüngst- / früher später / dies- nächst- letzt- vorig- /
über unter hinter neben vor / drinnen draußen / oben unten / vorher nachher / davor danach / norden süden osten westen
/ nördlich- südlich- östlich- westlich- / heiß- kalt- warm- / immer manchmal / größer- kleiner- / früh spät / meist-
wenigst- / ober- unter- / vorder- hinter- / rot- blau- grün- gelb- schwarz- weiß- braun- grau- /
alt- neu- jung- / voll- leer- / offen- geschlossen- / groß- klein- / lang- kurz- / hoch niedrig- / laut- leis- /
schwer- leicht- / süß- trocken- sauer / öffentlich- privat- / schnell- langsam- / dick- dünn- / stark- schwach- /
verheiratet- ledig- geschieden- / gekauft verkauft / kauft verkauft / geliehen verliehen / bestanden durchgefallen /
zugenommen abgenommen / gewonnen verloren / liebt hasst / mag hasst / öffnet schließt / minimum maximum / vermieter
mieter / eingang ausgang / ankunft abfahrt /
antes después desde hasta / más menos / mayor mayores menor menores / próximo pasado este / próxima pasada esta /
arriba abajo / dentro fuera / norte sur este oeste / mejor peor / encima debajo / bajo tras sobre / rojo azul verde
amarillo negro blanco marrón gris / roja azul verde amarilla negra blanca marrón gris /
viejo nuevo joven / vieja nueva joven / lleno vacío / llena vacía / abierto cerrado / abierta cerrada / grande pequeño
/ grande pequeña / largo corto / larga corta / alto bajo / alta baja / dulce seco / dulce seca / pesado ligero /
pesada ligera / público privado / pública privada / rápido lento / rápida lenta / mínimo máximo / mínima máxima /
compró vendió / ganó perdió / abre cierra / ama odia / casado soltero divorciado / casada soltera divorciada / entrada
salida /
avant après depuis / plus moins / aîné cadet / aînée cadette / prochain dernier ce / prochaine dernière cette / dessus
dessous / dedans dehors / nord sud est ouest / toujours parfois / mieux pire / sous sur derrière / rouge bleu vert
jaune noir blanc gris / rouge bleue verte jaune noire blanche grise /
petit grand / petite grande / vieux jeune / vieille jeune / haut bas / haute basse / long court / longue courte /
prima dopo / più meno / maggiore minore / prossimo scorso questo / prossima scorsa questa / sopra sotto dietro / rosso
blu verde giallo nero bianco grigio / rossa blu verde gialla nera bianca grigia /
depois antes / mais menos / próximo passado este / acima abaixo / vermelho azul verde amarelo preto branco / vermelha
azul verde amarela preta branca /
до после / больше меньше / старше младше / раньше позже / следующий прошлый этот / следующую прошлую эту / выше ниже /
внутри снаружи / красный синий зелёный жёлтый чёрный белый / красная синяя зелёная жёлтая чёрная белая /
przed po / więcej mniej / starszy młodszy / starsza młodsza / wcześniej później / następny zeszły ten / nad pod za /
önce sonra / büyük küçük / gelecek geçen bu / üst alt / kırmızı mavi yeşil sarı siyah beyaz /
قبل بعد / أكثر أقل / أكبر أصغر / القادم الماضي هذا / فوق تحت / داخل خارج
"""
"""Groups of words. Replacing one by another of its group changes the meaning. With a hyphen: in each form (nächste)."""


def _find_groups() -> dict[str, list[tuple[int, int]]]:
    """Returns for each of these words its groups, and its place in each."""
    found: dict[str, list[tuple[int, int]]] = {}
    groups = [group.split() for group in OPPOSITES.split("/")]
    for number, group in enumerate(groups):
        for place, word in enumerate(group):
            stem, inflected, _ = word.partition("-")
            for form in [stem, *(stem + end for end in ("e", "er", "es", "en", "em", "s"))] if inflected else [word]:
                found.setdefault(form, []).append((number, place))
    return found


GROUPS = _find_groups()
SIGNS = frozenset("$€£¥₹₽₺%°<>≤≥")
DATES = frozenset(MONTHS_AND_DAYS.split())
MEASURES = frozenset(UNITS.split())
NUMBERS = frozenset(NUMBER_WORDS.split())
KIN = frozenset(FAMILY.split())
TELLING = DATES | SIGNS | NUMBERS | KIN | frozenset((TIMES + SIDES).split())
EACH = frozenset(("per", "a", "an", "each", "every", "pro", "je", "par", "por", "al", "za"))
"""Words before a unit that make it a rate: 50 a week."""
DENYING = frozenset(("un", "dis", "in", "im", "il", "ir", "non", "des", "dés", "не", "без", "бес", "nie"))
"""Prefixes that turn a word into its contrary."""
COMMON = """
the are has his their she they with and does this that every from
das der eine einen einer eines hat im um ihr ist und sich zum zur seine seinen ihre ihren für auf nach sie immer jeden
jede vom beim
el su los del sus que por para está tiene cada una muy
les une est dans avec des ses il elle pour chez sur aux au
gli della nel nella è suo sua ogni
os uma não com ao seu é
он она его каждый каждое каждую это что
się jest w
bir ve için ile her
في من على مع إلى
"""
STATING = """
likes loves hates dislikes enjoys prefer prefers lives resides work works employed drinks eat eats take takes wants
need needs requires play plays owns drives knows study studies learns speaks reads writes uses goes gets buys bought
cooks makes sleeps wakes travels collects teaches trains meet meets rides sees sells swims visits walks watches wears
gives avoids moved married called named born retired allergic interested can could would got grew finished completed
visited travelled traveled started turned became thinks believes trusts hopes plans finds sings paints runs two three
can't doesn't don't isn't i'm i've we're you your my our who which when about very often usually always
daily weekly monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
saturdays sundays morning mornings afternoon evening evenings night nights wife husband brother daughter favourite
favorite
wohnt lebt liebt hasst arbeitet trinkt isst nimmt spielt fährt läuft geht kommt heißt kauft schreibt liest lernt
studiert spricht möchte braucht bevorzugt sammelt schläft kocht besitzt sucht reist singt malt kann ich mein meine gern
oft häufig morgens abends zwei drei
bebe toma trabaja estudia prefiere juega practica quiere gusta habla necesita odia lee escribe compra tiene cocina canta
habite aime adore travaille joue boit prend préfère mange déteste étudie veut possède achète chante souvent deux trois
vive abita beve lavora gioca preferisce mangia prende vuole due
trabalha gosta prefere joga estuda adora fala dois duas
mieszka lubi uwielbia gra dwa dwie
"""
KNOWN = frozenset((COMMON + STATING).split())
"""Common words of the languages above that others lack. Short facts may have none but a verb and its object."""
RUSSIAN = r"^[^a-zіїєґјљњћђџќѓў]*[а-яё][^a-zіїєґјљњћђџќѓў]*$"
"""Cyrillic without the letters that Russian lacks."""
KNOWN_LETTERS = re.compile(
    rf"[ыэąęłżğıß]|\bال|\w[ıiuü]yor|\b(?:is|as|in|has|at|with|for) an?\b|\bi (?:am|like|love|live|want)\b|{RUSSIAN}"
)
"""Letters and endings that only those languages use, the article of Arabic, and phrases such as “is a”."""
DENYING_ELSEWHERE = frozenset(("ei", "eivät", "eikä", "nu", "tidak", "bukan", "không", "chẳng", "nema", "nemá", "nije"))
"""Words for not in other languages, which mean something else in those above, or nothing."""
