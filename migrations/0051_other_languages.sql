-- Words are found without their accents, and Cyrillic ones in any form. relay.folded is what these forms share.
create function relay.folded(p_word text) returns text
language plpgsql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
begin  -- half of the time that a function in SQL takes
    return case when octet_length(p_word) = length(p_word) then p_word
        when p_word ~ '[а-яёіїєґў]' then coalesce((ts_lexize('russian_stem', replace(p_word, 'ё', 'е')))[1], p_word)
        else replace(translate(normalize(regexp_replace(normalize(p_word, NFD), '[\u0300-\u036F]', '', 'g'), NFC),
            'łøđı', 'lodi'), 'ß', 'ss') end;
end $$;
create index lexeme_folded on relay.lexeme (space_id, relay.folded(word));
create index lexeme_change_folded on relay.lexeme_change (space_id, relay.folded(word)) include (word, change);

-- Whether a text says what a person wants of all answers (see relay.is_standing), in further languages.
create function relay.is_standing_elsewhere(p_text text) returns boolean
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select left(p_text, 600) ~* replace(replace(replace('((^|[.!?:;,\n]\s*)(PLEASE )?(non |não |nie |не )?DO\M[^.!?\n]{0,80}\mALWAYS\M'
        || '|(^|[.!?:;,\n]\s*)ALWAYS (\w+ ){0,2}DO\M|\mALWAYS\M[^.!?\n]{0,80}\mPLEASE\M|\mPLEASE\M[^.!?\n]{0,80}\mALWAYS\M'
        || '|\mALWAYS\M[^.!?\n]{0,80}\m(ver|yanıtla|kullan|yaz|açıkla|anlat|söyle|göster|tut)(ma|me)?(y?[ıiuü]n)?(\W|$)'
        || '|\md(a |'')ora in (poi|avanti)\M|\m(de|a partir de|daqui) (agora|em diante)\M|\m(vanaf nu|voortaan|od teraz|отныне|впредь'
        || '|с этого момента|bundan (sonra|böyle)|prefer(isco|irei)|prefiro|liever|het liefst|wolę|wolał[a]?bym|предпочитаю'
        || '|tercih ed(erim|iyorum))\M)[^?\n]*([.!\n]|$)', 'PLEASE', '(per favore|(vorrei|voglio) che|por favor|quero que|alsjeblieft'
        || '|alstublieft|graag|ik wil dat je|proszę|chcę,? żebyś|пожалуйста|хочу,? чтобы ты|lütfen)'), 'ALWAYS',
        '(sempre|mai|nunca|altijd|nooit|steeds|zawsze|nigdy|всегда|никогда|her zaman|daima|asla|hep)'), 'DO', '((rispondi|scrivi'
        || '|spiega|parla|mostra|dar)(mi)?|usa|usare|dammi|dimmi|responda|responde|use|escrev[ae]|(me )?dê|expli(que|ca)|fale'
        || '|mostre|antwoord|gebruik|schrijf|geef|spreek|noem|zeg|toon|odpowiadaj|odpisuj|używaj|pisz|podawaj|dawaj|mów|tłumacz'
        || '|wyjaśniaj|(отвечай|используй|пиши|говори|называй|объясняй|показывай|указывай)(те)?)')
$$;
update relay.entry e set standing = true from relay.message m
where e.kind = 'message' and e.role = 'user' and e.language <> 'english' and not e.standing and m.id = e.source_id and relay.is_standing_elsewhere(m.text);
-- These know the forms of a word now, or became part of others.
drop function if exists relay.wanted(jsonb), relay.hits(bigint, tsquery, tsquery[], bigint[], jsonb),
    relay.known_hits(bigint, bigint[], jsonb, boolean, boolean), relay.words_shared(tsvector, tsquery),
    relay.numbers_of(bigint, text[]),
    relay.entries_by_words(bigint, bigint[], text[], real[], tsquery, text[], timestamptz, timestamptz, integer);
