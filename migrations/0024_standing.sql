-- What a person wants of all answers ("always use metric units", "I prefer aisle seats"): found for questions that share
-- no word with it.

-- Whether a text says so, in its first 600 characters: to the assistant, of whatever comes, and not as a question; or what
-- its person prefers. In the languages that most people write.
create function relay.is_standing(p_text text) returns boolean
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select left(p_text, 600) ~* ('(^|[.!?:;,]\s+)(always|never|from now on|going forward)\M[^?]*([.!\n]|$)'
        || '|\m(please|tell me|show me|give me|answer|explain)\M[^.!?\n]{0,120}\m(always|never|whenever|every|everywhere'
        || '|everything|each|from now on|in future)\M[^.!?\n]*([.!\n]|$)'
        || '|\m(always|never|whenever|every|everywhere|everything|each|from now on|in future)\M[^.!?\n]{0,120}'
        || '\m(please|tell me|show me|give me|answer)\M[^.!?\n]*([.!\n]|$)'
        || '|\m(when|if|whenever) (you|i) (\w+ )?(ask|give|show|write|explain|suggest|recommend|answer|share|tell|help|list'
        || '|describe|request)\M[^.!?\n]*([.!\n]|$)'
        || '|\mplease (use|keep|give|add|put|write|avoid|include|make sure)\M[^.!?\n]*([.!\n]|$)'
        || '|\mi(''d|’d| would)? (\w+ )?(prefer|rather|favou?r)\M'
        || '|\mi(''d|’d| would)? (\w+ )?(like|love|enjoy|learn|work|hate|understand)\M[^.!?\n]{0,80}'
        || '\m(more|most|best|better|than|only)\M'
        || '|\mi (can''t|can’t|cannot|don''t|don’t|never|won''t|won’t) (stand|want|like|do|eat|use)\M'
        || '|\mimmer\M[^.!?\n]{0,80}\m(wenn|bitte|mir|uns)\M|\m(bitte|mir|uns|wenn)\M[^.!?\n]{0,80}\m(immer|nie|niemals|stets)\M'
        || '|\m(von nun an|ab jetzt|ab sofort|künftig|in zukunft|grundsätzlich|bevorzuge|am liebsten|lieber|ich mag)\M'
        || '|\m(toujours|jamais|chaque fois|désormais|dorénavant)\M[^.!?\n]*([.!\n]|$)|\mje préfère\M'
        || '|\m(siempre|nunca|cada vez que|de ahora en adelante)\M[^.!?\n]*([.!\n]|$)|\mprefiero\M')
$$;

alter table relay.entry add column standing boolean not null default false;
update relay.entry e set standing = true
from relay.message m where e.kind = 'message' and e.role = 'user' and m.id = e.source_id and relay.is_standing(m.text);
create index entry_standing on relay.entry (space_id, id) where standing;

-- With the role: an answer lends to its question alone, and nothing is lent past it.
drop index relay.entry_session;
create index entry_session on relay.entry (session_id, kind, source_id) include (id, length, role);
