-- Texts in scripts without spaces were indexed as whole sentences. They are indexed again, in the background.
delete from relay.entry where words::text ~ '[\u0E00-\u0EFF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]';
delete from relay.index_progress;
