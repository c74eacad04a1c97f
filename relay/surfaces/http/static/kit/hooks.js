// Data for components.
//
//   const memory = useFetch(`/memories/${id}`)
//       memory.data · memory.error · memory.loading · memory.reload() · memory.set(data)
//       A path of null fetches nothing. Show it with `Loaded` of kit/ui.js. While the server is away it is tried
//       again, every 5 seconds.
//   const list = useList("/memories", "memories", { q }, { id: "id" })
//       list.rows · list.total · list.loading · list.error · list.done · list.more() · list.reload()
//       list.page: the last answer, with its other fields
//       list.change(id, fields) and list.drop(id) change what is shown at once. Show it with `List` of kit/ui.js.
//   useEvents(["memory"], list.reload)       when the chat changes something; once in three seconds at most;
//       [] only when the page is shown again
//   const ask = useSpaced(act, 250, 1500)    ask(…) calls act(…) after 250 ms of quiet, once in 1500 ms: a person
//       has 60 requests a minute. `keep`: a waiting call is made when the component goes, not dropped
//   const [typed, type, send] = useDraft("note", { text: "" })        what is typed in a form stays when you leave the
//       page; `await send(() => post("/notes", typed), { text: "" })` shows the second once it is saved
//   useShortcut("c", "Compress", open)       a key; it is listed under "?"
//   const picked = useSelection()            picked.has(id) · toggle(id) · clear()

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "../lib/preact.js";
import { get } from "./api.js";
import { listen } from "./events.js";
import { addShortcut } from "./keyboard.js";

// Rows at first, and at a time later.
const [FIRST, MOST] = [50, 200];
// In ms.
const EVENT_GAP = 3000;
export const RETRY = 5000;
const NOTHING = { key: null, data: null, error: null };
// A cursor counts rows. After some are gone, the next page begins as many rows earlier.
const earlier = (next, gone) => next && String(Math.max(0, next - Math.max(0, gone)));
const EMPTY = { rows: [], page: null, total: null, next: null, done: false };

/** Fetches one thing. */
export function useFetch(path, query) {
  const [state, setState] = useState({ ...NOTHING, path: null, loading: path !== null });
  const running = useRef(null);
  const key = path === null ? null : JSON.stringify([path, query]);
  const load = useCallback(async () => {
    running.current?.abort();
    if (path === null) return;
    const mine = (running.current = new AbortController());
    // The error stays, too: nothing flickers while it is tried again.
    setState((old) => ({ ...(old.path === path ? old : NOTHING), path, loading: true }));
    try {
      const data = await get(path, query, { signal: mine.signal });
      setState({ path, key, data, error: null, loading: false });
    } catch (error) {
      if (mine.signal.aborted) return;
      setState((old) => ({ ...old, data: old.key === key && error.status !== 404 ? old.data : null, error, loading: false }));
      // The server is away. By then this one may have been replaced, or its page left.
      if (error.status === 0 || error.status >= 500) setTimeout(() => mine.signal.aborted || load(), RETRY);
    }
  }, [key]);
  useEffect(() => {
    load();
    return () => running.current?.abort();
  }, [load]);
  const own = state.path === path ? state : { ...NOTHING, loading: path !== null };
  return { ...own, reload: load, set: (data) => setState({ path, key, data, error: null, loading: false }) };
}

/** Fetches a list, page by page. `id`: the field that identifies its rows, or a function that returns what does. */
export function useList(path, plural, query = {}, { id = "id" } = {}) {
  const [state, setState] = useState({ ...EMPTY, error: null, loading: true });
  const idOf = typeof id === "string" ? (row) => row[id] : id;
  const latest = useRef({});
  const running = useRef({});
  const key = path === null ? null : JSON.stringify([path, query]);
  const abort = () => Object.values(running.current).forEach((one) => one.abort());

  const load = useCallback(async (kind) => {
    if (path === null || (kind === "more" && (latest.current.loading || latest.current.done))) return;
    // One is on its way, but may bring what was there before.
    const before = running.current.reload || running.current.first;
    if (kind === "reload" && before) return void (before.again = true);
    if (kind === "first") abort();
    const mine = (running.current[kind] = new AbortController());
    const { rows, next } = latest.current;
    const wanted = { first: FIRST, more: MOST, reload: Math.min(MOST, Math.max(FIRST, rows.length)) }[kind];
    if (kind !== "reload") setState((old) => ({ ...old, error: null, loading: true }));
    try {
      const page = await get(path, { ...query, limit: wanted, cursor: kind === "more" ? next : null }, { signal: mine.signal });
      if (!mine.signal.aborted) setState((old) => joined(old, page, kind, wanted));
    } catch (error) {
      if (!mine.signal.aborted && kind !== "reload")
        // Not the rows of another query.
        setState((old) => ({ ...old, ...(kind === "first" ? EMPTY : {}), error, loading: false }));
    }
    if (running.current[kind] === mine) delete running.current[kind];
    if (mine.again && !mine.signal.aborted) load("reload");
  }, [key]);

  function joined(old, page, kind, wanted) {
    const fresh = page[plural];
    const known = new Set(fresh.map(idOf));
    let { rows, next } = { rows: fresh, next: page.next ?? null };
    if (kind === "more") rows = [...old.rows.filter((row) => !known.has(idOf(row))), ...fresh];
    if (kind === "reload" && old.rows.length > wanted) {
      rows = [...fresh, ...old.rows.slice(old.rows.findLastIndex((row) => known.has(idOf(row))) + 1)];
      next = earlier(old.next, old.total - page.total);
    }
    const loading = kind === "reload" && old.loading;
    return { rows, page, total: page.total ?? null, next, error: null, loading, done: next === null };
  }

  // A toast's Undo reloads what is shown by then.
  latest.current = { ...state, load };

  useEffect(() => {
    load("first");
    return abort;
  }, [load]);
  return {
    ...state,
    id: idOf,
    more: useCallback(() => load("more"), [load]),
    reload: useCallback(() => latest.current.load("reload"), []),
    retry: () => load(state.rows.length ? "more" : "first"),
    change: (which, fields) =>
      setState((old) => ({ ...old, rows: old.rows.map((row) => (idOf(row) === which ? { ...row, ...fields } : row)) })),
    drop: (which) =>
      setState((old) => ({ ...old, rows: old.rows.filter((row) => idOf(row) !== which), total: old.total && old.total - 1, next: earlier(old.next, 1) })),
  };
}

/** Calls `callback` when the server says that something of these kinds has changed. */
export function useEvents(kinds, callback) {
  const tell = useSpaced(callback, 0, EVENT_GAP);
  useEffect(() => listen(kinds, tell), [kinds.join()]);
}

/** A function that calls `act` later, not too often, for the last call. */
export function useSpaced(act, rest, gap, keep) {
  const own = useRef({ last: 0 }).current;
  own.act = act;
  useEffect(() => () => {
    clearTimeout(own.timer);
    if (keep && own.given) own.act(...own.given);
  }, []);
  return useCallback((...given) => {
    own.given = given;
    clearTimeout(own.timer);
    own.timer = setTimeout(() => {
      own.last = Date.now();
      own.given = null;
      own.act(...given);
    }, Math.max(rest, own.last + gap - Date.now()));
  }, []);
}

const drafts = new Map();
// By key: shows a value in the form that was drawn last.
const shows = {};

/** What is typed in a form, and not sent yet. A refused one is there again, unless there is a newer one. */
export function useDraft(key, empty) {
  const [typed, setTyped] = useState(drafts.get(key) || empty);
  shows[key] = setTyped;
  const type = (fields) => {
    const now = { ...typed, ...fields };
    drafts.set(key, now);
    setTyped(now);
  };
  const send = async (run, left) => {
    drafts.delete(key);
    try {
      const answer = await run();
      if (!drafts.has(key)) setTyped(left);
      return answer;
    } catch (problem) {
      if (!drafts.has(key)) {
        drafts.set(key, typed);
        shows[key](typed);
      }
      throw problem;
    }
  };
  return [typed, type, send];
}

/** A shortcut from the moment the component is shown, even before the first paint. `key`: as in KeyboardEvent.key. */
export function useShortcut(key, label, callback) {
  const latest = useRef(callback);
  latest.current = callback;
  useLayoutEffect(() => addShortcut(key, label, (event) => latest.current?.(event)), [key, label]);
}

/** Which rows are selected. */
export function useSelection() {
  const [chosen, setChosen] = useState(new Set());
  const toggle = (id) =>
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return { has: (id) => chosen.has(id), toggle, clear: () => setChosen(new Set()) };
}
