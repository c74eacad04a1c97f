-- What a person wants of all answers ("always use metric units", "I prefer aisle seats"): found for questions that share
-- no word with it.

-- Tests whether a text says so, in its first 600 characters: to the assistant, about everything to come, and not as a
-- question; or what its author prefers. In the languages that most people write. The patterns bound no repetition:
-- {0,120} would take each connection 70 ms to compile.
create or replace function relay.is_standing(p_text text) returns boolean
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select left(p_text, 600) ~* ('(^|[.!?:;,]\s+)(always|never|from now on|going forward)\M[^?]*([.!\n]|$)'
        || '|\m(please|tell me|show me|give me|answer|explain)\M[^.!?\n]*\m(always|never|whenever|every|everywhere'
        || '|everything|each|from now on|in future)\M[^.!?\n]*([.!\n]|$)'
        || '|\m(always|never|whenever|every|everywhere|everything|each|from now on|in future)\M[^.!?\n]*'
        || '\m(please|tell me|show me|give me|answer)\M[^.!?\n]*([.!\n]|$)'
        || '|\m(when|if|whenever) (you|i) (\w+ )?(ask|give|show|write|explain|suggest|recommend|answer|share|tell|help|list'
        || '|describe|request)\M[^.!?\n]*([.!\n]|$)'
        || '|\mplease (use|keep|give|add|put|write|avoid|include|make sure)\M[^.!?\n]*([.!\n]|$)'
        || '|\mi(''d|’d| would)? (\w+ )?(prefer|rather|favou?r)\M'
        || '|\mi(''d|’d| would)? (\w+ )?(like|love|enjoy|learn|work|hate|understand)\M[^.!?\n]*'
        || '\m(more|most|best|better|than|only)\M'
        || '|\mi (can''t|can’t|cannot|don''t|don’t|never|won''t|won’t) (stand|want|like|do|eat|use)\M'
        || '|\mimmer\M[^.!?\n]*\m(wenn|bitte|mir|uns)\M|\m(bitte|mir|uns|wenn)\M[^.!?\n]*\m(immer|nie|niemals|stets)\M'
        || '|\m(von nun an|ab jetzt|ab sofort|künftig|in zukunft|grundsätzlich|bevorzuge|am liebsten|lieber|ich mag)\M'
        || '|\m(toujours|jamais|chaque fois|désormais|dorénavant)\M[^.!?\n]*([.!\n]|$)|\mje préfère\M'
        || '|\m(siempre|nunca|cada vez que|de ahora en adelante)\M[^.!?\n]*([.!\n]|$)|\mprefiero\M')
$$;

-- Tests whether a text says what a person wants of all answers (see relay.is_standing), in further languages.
create or replace function relay.is_standing_elsewhere(p_text text) returns boolean
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select left(p_text, 600) ~* replace(replace(replace('((^|[.!?:;,\n]\s*)(PLEASE )?(non |não |nie |не )?DO\M[^.!?\n]*\mALWAYS\M'
        || '|(^|[.!?:;,\n]\s*)ALWAYS (\w+ ){0,2}DO\M|\mALWAYS\M[^.!?\n]*\mPLEASE\M|\mPLEASE\M[^.!?\n]*\mALWAYS\M'
        || '|\mALWAYS\M[^.!?\n]*\m(ver|yanıtla|kullan|yaz|açıkla|anlat|söyle|göster|tut)(ma|me)?(y?[ıiuü]n)?(\W|$)'
        || '|\md(a |'')ora in (poi|avanti)\M|\m(de|a partir de|daqui) (agora|em diante)\M|\m(vanaf nu|voortaan|od teraz|отныне|впредь'
        || '|с этого момента|bundan (sonra|böyle)|prefer(isco|irei)|prefiro|liever|het liefst|wolę|wolał[a]?bym|предпочитаю'
        || '|tercih ed(erim|iyorum))\M)[^?\n]*([.!\n]|$)', 'PLEASE', '(per favore|(vorrei|voglio) che|por favor|quero que|alsjeblieft'
        || '|alstublieft|graag|ik wil dat je|proszę|chcę,? żebyś|пожалуйста|хочу,? чтобы ты|lütfen)'), 'ALWAYS',
        '(sempre|mai|nunca|altijd|nooit|steeds|zawsze|nigdy|всегда|никогда|her zaman|daima|asla|hep)'), 'DO', '((rispondi|scrivi'
        || '|spiega|parla|mostra|dar)(mi)?|usa|usare|dammi|dimmi|responda|responde|use|escrev[ae]|(me )?dê|expli(que|ca)|fale'
        || '|mostre|antwoord|gebruik|schrijf|geef|spreek|noem|zeg|toon|odpowiadaj|odpisuj|używaj|pisz|podawaj|dawaj|mów|tłumacz'
        || '|wyjaśniaj|(отвечай|используй|пиши|говори|называй|объясняй|показывай|указывай)(те)?)')
$$;
