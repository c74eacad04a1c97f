-- Analyses a question: its meaningful words and their rarity, a time, a date, a request for help.

-- Returns a space's words that are one of these when folded, and how many entries contain each.
create or replace function relay.numbers_of(p_space_id bigint, p_folded text[])
returns table (word text, folded text, entries bigint) language sql stable rows 20 set search_path = relay, extensions, pg_temp as $$
    select word, relay.folded(word), sum(entries)::bigint from (
        select word, entries from lexeme where space_id = p_space_id and relay.folded(word) = any (p_folded)
        union all
        select word, change from lexeme_change where space_id = p_space_id and relay.folded(word) = any (p_folded)) counted
    group by word having sum(entries) > 0
$$;

-- Returns the languages of a space's texts with their numbers of entries.
create or replace function relay.languages_of(p_space_id bigint) returns table (language text, entries bigint)
language sql stable rows 3 set search_path = relay, extensions, pg_temp as $$
    select substr(word, 2), sum(entries)::bigint from (
        (select word, entries from lexeme
            where space_id = p_space_id and word >= ':' and word < ':' || chr(1114111) limit 50)
        union all
        (select word, change from lexeme_change
            where space_id = p_space_id and word >= ':' and word < ':' || chr(1114111) limit 50)) counted
    group by word having sum(entries) > 0 order by length(word), word
$$;

-- Returns a question's meaningful words in a language, in order, and which of them name people who speak in the space.
-- If none is meaningful, returns all.
create or replace function relay.question_words(p_space_id bigint, p_text text, p_language text)
returns table (place integer, word text, names boolean)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    with token as materialized (
        select lexeme as word, positions[1] as position, exists (
                select from unnest(case p_language when 'simple' then array['english', 'german', 'french', 'spanish']
                    else array[p_language] end) as l (language)
                where ts_lexize((l.language || '_stop')::regdictionary, lexeme) = '{}')
            -- A single literal, as an expression would be parsed again for each word.
            or lexeme = any ('{です,ます,でし,した,して,しま,ませ,せん,たい,ない,いる,ある,から,まで,より,って,った,いて,この,その,あの,どの'
                ',これ,それ,どれ,ここ,そこ,どこ,いつ,だれ,なに,なん,のは,のが,のに,には,では,とは,との,にも,でも,ても,すか,しょ'
                ',니다,습니,입니,나요,어요,아요,해요,뭐야,뭐,왜,수,중에,무엇,어디,언제,누구,에서,으로,있어,있지,있는,없어,세요}'::text[]) as filler
        from unnest(to_tsvector('simple', relay.set_apart(left(p_text, 2000), true)))
        where length(lexeme) between 2 and 60 or relay.is_unspaced(lexeme)),
    called as materialized (
        select substr(word, 2) as word
        from relay.numbers_of(p_space_id, array(select relay.folded('@' || word) from token where not filler)))
    select (row_number() over (order by t.position))::integer, t.word, c.word is not null
    from token t left join called c using (word) where not t.filler
    order by t.position limit 24
$$;

-- Returns the lexemes to search for each word: in the languages of the texts and of the question, folded, and (at half
-- weight) as a prefix. weight: rarity, the logarithm of the inverse document frequency as in BM25, with a hundred entries
-- added so that small spaces give useful values. rest: the weight of a word that the space lacks.
create or replace function relay.terms_of(p_space_id bigint, p_telling text[], p_languages text[], p_size bigint)
returns table (place bigint, word text, entries bigint, weight real, rest real) language sql stable rows 20
set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
    with telling as materialized (
        select place, word from unnest(p_telling) with ordinality as t (word, place)),
    size as materialized (select p_size::real + 100 as entries),
    form as materialized (
        select distinct t.place, relay.folded(coalesce(case l.language when 'simple' then t.word
            else (ts_lexize((l.language || '_stem')::regdictionary, t.word))[1] end, t.word)) as word
        from telling t, (select unnest(p_languages) union select 'simple') as l (language)
        -- In 0170-1234567, PostgreSQL takes the dash for a minus.
        union select place, case when word ~ '^\d' then '-' || word else substr(word, 2) end from telling where word ~ '^-?\d{3,}$'
        -- “The”, “and”, “in” and the like are written together with the word.
        union select place, head || regexp_replace(word, '^([وفبك]?ال|لل)(?=..)|^ה(?=...)', '') from telling,
            unnest((case when word ~ '^[ء-ي]' then '{"",ال,وال,فال,بال,كال,لل,و,ف,ب,ك,ل}'
                when word ~ '^[א-ת]' then '{"",ה,ו,ב,ל,וה,וב,ול}' end)::text[]) as head),
    whole as materialized (
        select f.place, n.word, n.entries, 1.0 as factor
        from form f join relay.numbers_of(p_space_id, array(select word from form)) n on n.folded = f.word),
    -- For Polish and Czech, there is no stemmer: in a space that has their commonest words, the search also tries words
    -- without their endings, and with others. Elsewhere, a word that the space has in no form is tried without its last
    -- vowels.
    ending as materialized (select case when exists (
            select from relay.numbers_of(p_space_id, '{sie,ze,juz,jsem,jsme,neni}') n
            where n.word = any ('{się,że,już,že,jsem,jsme,není}'))
        then '([aeiouy]|i?om|iem|[aeiy](m|ch|mi)|um|ow(i|ie)?|ov[ie]|e[hg]o|emu|ej|ou|i[aeou])?$' end as forms),
    start as (
        select place, forms, asked, case when forms is not null then substring(relay.folded(asked) from '^(.{4,}?)' || forms)
            when exists (select from whole w where w.place = f.place) then word
            else coalesce(substring(word from '^(.{4,}?)[aeiouy]+$'), word) end as word
        from ending, (select f.place, min(f.word collate "C") as word, min(t.word) as asked
            from form f join telling t using (place) group by f.place) f where length(word) >= 4),
    stem as (
        select * from start
        union all
        select place, forms, asked, case when word ~ 'ek$' then left(word, -2) || 'k' else left(word, -1) || 'ek' end
        from start where forms is not null and word ~ '[^aeiouy]e?k$'),  -- książek, książki
    begun as (
        select s.place, n.word, n.entries, 0.5 as factor
        from stem s cross join lateral (
            select word, sum(entries)::bigint as entries from (
                (select word, entries from lexeme where space_id = p_space_id
                    and relay.folded(word) >= s.word and relay.folded(word) < s.word || chr(1114111) limit 50)
                union all
                (select word, change from lexeme_change where space_id = p_space_id
                    and relay.folded(word) >= s.word and relay.folded(word) < s.word || chr(1114111) limit 50)) counted
            where s.forms is null or starts_with(word, s.asked)
                or substr(relay.folded(word), length(s.word) + 1) ~ ('^' || s.forms)
            group by word having sum(entries) > 0 order by length(word), word limit 6) n
        where not exists (select from whole w where w.place = s.place and w.word = n.word)),
    either as (select * from whole union all select * from begun)
    select t.place, e.word, coalesce(e.entries, 0),
        (e.factor * ln(1 + (greatest(s.entries - e.entries, 0) + 0.5) / (e.entries + 0.5)))::real,
        ln(1 + (s.entries + 0.5) / 0.5)::real
    from size s, telling t left join either e using (place)
$$;

-- Tests whether a text is a question. In a chat, many leave out the question mark, so the first word decides, too (in
-- Chinese and Japanese, the last letter).
create or replace function relay.is_question(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_text ~ '[?？؟]\W*$' or p_text ~ '[吗嗎呢か]\W*$' or p_text ~* ('^\W*(who|whom|whose|what|when|where|why|which|how'
        || '|wer|wen|wem|was|wann|wo|wohin|woher|warum|wieso|wie|welche[mnrs]?|quand|où|pourquoi|comment|combien|quel(le)?s?'
        || '|quién|qué|cuándo|dónde|cómo|cuál|cuánt[oa]s?|chi|quando|dove|perché|кто|что|когда|где|как|почему)\M')
$$;

-- Tests whether a question asks for a time.
create or replace function relay.asks_when(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_text ~* ('^\W*((since|and|seit|bis|ab|und|depuis|et|desde|y|da|e|с|и|od|a) )?(when|wann|quand|cuándo|cuando'
        || '|quando|wanneer|когда|каких пор|kiedy|متى|(on )?(what|which) (date|day|month|year)|((an|in) )?welche[mnrs]? (tag'
        || '|monat|jahr|datum)|((à|en) )?quel(le)? (jour|date|année|mois)|((en|a) )?qué (día|fecha|año|mes)|(в )?каком (году'
        || '|месяце)|какого числа|w którym (roku|miesiącu))\y|^[^.!?]*\m(ne zaman|hangi (gün|ay|yıl))\M'
        || '|什么时候|什麼時候|何时|何時|何日|几号|幾號|いつ(?!も|か|でも)|언제|며칠')
$$;

-- Tests whether a question asks for something to be made or advised, so that standing preferences matter; not for
-- questions about the past.
create or replace function relay.asks_for_help(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (p_text ~* ('^(\W*(so|and|ok|okay|well|now|please|hi|hello|also)[,\s]+)*(can you|could you|would you|will you|please|help'
        || '|write|give|show|explain|make|put|draft|create|suggest|recommend|plan|design|prepare|build|calculate|describe'
        || '|teach|what (do you|kind)|what (is|are) (the best|some|good)|what''s|how (do|to|does)|which (\w+ ){1,3}(are there|is)'
        || '|where do|i(''d| would) like|i(''m| am| want| need| have)\M|wie macht|kannst|könntest|bitte|welche[rnsm]? \w+ (passt|sind)'
        || '|wo bekomm|peux|pourrais|pouvez|comment (puis|faire|dois)|que dois|puedes|podrías|cómo (puedo|hago|debo)|qué debo'
        || '|(schreib|erklär|zeig|gib|mach|nenn|empfiehl|plan|écris|donne|explique|montre|propose|escribe|dame|explica|propón'
        || '|recomienda)(e|me|nos|-moi|-nous)?\M|(mi )?(puoi|potresti)|aiutami|scrivi|spiega|dammi|mostra|consiglia|proponi|come (posso'
        || '|faccio)|cosa devo|(você )?pode(s|ria|rias)?|(me )?ajud[ae]|escrev[ae]|expliqu?[ae]|dê|mostr[ae]|sug[ie]r[ae]|o que devo'
        || '|como (posso|faço|devo)|(kun|kan) je|kunt u|zou je|schrijf|geef|toon|noem|hoe (kan|moet|maak) ik|wat moet ik|pomóż|napisz'
        || '|(czy )?(możesz|mógłbyś|mogłabyś)|wyjaśnij|wytłumacz|podaj|pokaż|zaproponuj|poleć|jak (mogę|mam|zrobić)|co (mam|powin\w+)|(можешь'
        || '|помоги|напиши|объясни|дай|покажи|предложи|посоветуй|составь)(те)?|можете|как (мне|сделать|приготовить)|что мне)\M')
        or p_text ~* '\m((yaz|açıkla|anlat|göster|hazırla|öner|ver)\w{0,2}( m[iı]s[iı]n)?|nasıl yap(ar|abilir)[iı]m)\W*$'
        or p_text ~* ('\m(should|shall|could|would|can|must|might) \w'
            || '|\m(was|wie|wo|wann|welche\w*) (\w+ )?(kann|soll|könnte|würde|muss)'))
        and p_text !~* ('\m(did|were|have i|had|have we|we decided?|how long|how many|order|sequence|ago|last'
            || '|habe ich|haben wir|hatte|wurde|war|waren)\M'
            || '|\m(when|wann)\M(?! (should|shall|could|would|can|must|kann|soll))')
        and (p_text !~* '\mwas\M(?! (soll|kann|könnte|würde|muss))' or relay.language_of(p_text) = 'german')
$$;

-- Tests whether something was said on the date that a question names (month or day, in that year if given, else the last
-- one before it), or within a week after.
create or replace function relay.said_about(p_at timestamptz, p_year integer, p_month integer, p_day integer)
returns boolean language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_at >= start - interval '1 day' and p_at < start + interval '7 days' + case when p_day is null
        then interval '1 month' else interval '1 day' end
    from (select (p_at + interval '1 day') at time zone 'UTC' as until) said, lateral (select make_timestamptz(
        coalesce(p_year, extract(year from until)::integer - (p_month > extract(month from until))::integer), p_month,
        least(coalesce(p_day, 1), 28), 0, 0, 0, 'UTC') as start) named
$$;

-- Returns the first month that a question names, with its day and year; all null if there is none.
create or replace function relay.named_date(p_text text, out year integer, out month integer, out day integer)
returns record language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    months constant text[] := array[
        'january|januar|jänner|janvier|enero|gennaio|janeiro|январь|января|январе|styczeń|stycznia|styczniu|ocak|يناير',
        'february|februar|février|febrero|febbraio|fevereiro|февраль|февраля|феврале|luty|lutego|lutym|şubat|فبراير',
        'march|märz|mars|marzo|março|март|марта|марте|marzec|marca|marcu|mart|مارس',
        'april|avril|abril|aprile|апрель|апреля|апреле|kwiecień|kwietnia|kwietniu|nisan|أبريل',
        'may|mai|mayo|maggio|maio|май|мая|мае|maj|maja|maju|mayıs|مايو',
        'june|juni|juin|junio|giugno|junho|июнь|июня|июне|czerwiec|czerwca|czerwcu|haziran|يونيو',
        'july|juli|juillet|julio|luglio|julho|июль|июля|июле|lipiec|lipca|lipcu|temmuz|يوليو',
        'august|août|agosto|август|августа|августе|sierpień|sierpnia|sierpniu|ağustos|أغسطس',
        'september|septembre|septiembre|settembre|setembro|сентябрь|сентября|сентябре|wrzesień|września|eylül|سبتمبر',
        'october|oktober|octobre|octubre|ottobre|outubro|октябрь|октября|октябре|październik|października|ekim|أكتوبر',
        'november|novembre|noviembre|novembro|ноябрь|ноября|ноябре|listopad|listopada|listopadzie|kasım|نوفمبر',
        'december|dezember|décembre|diciembre|dicembre|dezembro|декабрь|декабря|декабре|grudzień|grudnia|aralık|ديسمبر'];
    said constant text := lower(translate(p_text, '٠١٢٣٤٥٦٧٨٩０１２３４５６７８９', '01234567890123456789'));
    found text[];
begin
    found := regexp_match(said, '(?:((?:19|20)[0-9]{2})\s?[年년]\s?)?(?<![0-9])(1[0-2]|0?[1-9])\s?[月월]'
        || '(?:\s?([0-9]{1,2})\s?[日号號일])?');
    if found is not null then
        year := found[1]::integer;
        month := found[2]::integer;
        day := nullif(found[3]::integer, 0);
        return;
    end if;
    found := regexp_match(said, '(?:\m([0-9]{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:of |de )?)?\m('
        || array_to_string(months, '|') || ')\M(?:\s+([0-9]{1,2})(?:st|nd|rd|th)?\M)?');
    if found is null or found[2] in ('may', 'march', 'mars') and found[1] is null and found[3] is null
        and said !~ '\m(in|on|of|en|since|until|by|last|this|early|late) (may|march|mars)\M|\m(may|march|mars),? \d{4}\M'
    then
        return;
    end if;
    select nr into month from unnest(months) with ordinality as m (names, nr)
    where found[2] = any (string_to_array(names, '|'));
    day := nullif(coalesce(found[1], found[3])::integer, 0);
    year := substring(said from '\m((?:19|20)[0-9]{2})\M')::integer;
end $$;
