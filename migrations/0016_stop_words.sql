-- The stop words of a language and nothing else: they are told as Postgres's own dictionary of the language tells them,
-- which also makes the stems of all other words, and takes its time for it.
create text search dictionary relay.english_stop (template = pg_catalog.simple, stopwords = english, accept = false);
create text search dictionary relay.german_stop (template = pg_catalog.simple, stopwords = german, accept = false);
create text search dictionary relay.french_stop (template = pg_catalog.simple, stopwords = french, accept = false);
create text search dictionary relay.spanish_stop (template = pg_catalog.simple, stopwords = spanish, accept = false);
create text search dictionary relay.italian_stop (template = pg_catalog.simple, stopwords = italian, accept = false);
create text search dictionary relay.portuguese_stop (template = pg_catalog.simple, stopwords = portuguese, accept = false);
create text search dictionary relay.dutch_stop (template = pg_catalog.simple, stopwords = dutch, accept = false);
create text search dictionary relay.russian_stop (template = pg_catalog.simple, stopwords = russian, accept = false);
create text search dictionary relay.swedish_stop (template = pg_catalog.simple, stopwords = swedish, accept = false);
create text search dictionary relay.norwegian_stop (template = pg_catalog.simple, stopwords = norwegian, accept = false);
create text search dictionary relay.danish_stop (template = pg_catalog.simple, stopwords = danish, accept = false);
create text search dictionary relay.finnish_stop (template = pg_catalog.simple, stopwords = finnish, accept = false);
create text search dictionary relay.hungarian_stop (template = pg_catalog.simple, stopwords = hungarian, accept = false);
create text search dictionary relay.turkish_stop (template = pg_catalog.simple, stopwords = turkish, accept = false);
