// Addresses. The app's page is in the hash (`#/sessions/12?sort=tokens`), so any static server works,
// and Telegram's own hash (`#tgWebAppData=…`) is read and removed by kit/session.js before the first page is shown.
//
//   const { path, query } = useRoute()     the present address; query: { sort: "tokens" }
//   link("/sessions/12", { sort: "tokens" })   text for href
//   navigate("/sessions/12", { sort: "tokens" })
//   setQuery({ q: "tea", kind: null })     changes the query in place: filters live in the address, null removes one
//   PROOF                                  finds a sign-in proof in the hash
//   goBack(parent)                         to the page before, or to `parent` when this page was opened directly

import { useEffect, useState } from "../lib/preact.js";

export const PROOF = /(^|[?&#])(tgWebApp\w+|link)=/;
const listeners = new Set();
let depth = 0;

// A page that you return to is scrolled to where it was. The browser can't do that: its rows are yet to come.
history.scrollRestoration = "manual";
let stopReturn = () => {};

/** Notes how far the page is scrolled, before it is left. */
const noteScroll = () => history.replaceState({ ...history.state, top: scrollY }, "");

/** Scrolls to a place, again and again until the page is long enough or somebody acts. */
function returnTo(top) {
  const end = new AbortController();
  const grown = new ResizeObserver(() => {
    scrollTo(0, top);
    if (scrollY > top - 1) end.abort();
  });
  end.signal.onabort = () => grown.disconnect();
  stopReturn = () => end.abort();
  for (const act of ["wheel", "pointerdown", "keydown"]) addEventListener(act, stopReturn, { signal: end.signal });
  grown.observe(document.body);
}

function parse(hash) {
  const [path, text] = hash.replace(/^#/, "").split("?", 2);
  return { path: path.startsWith("/") ? path : "/", query: Object.fromEntries(new URLSearchParams(text || "")) };
}

/** Where the app is: { path, query }. */
export let route = parse(location.hash);

/** The text of an address, for `href`. Empty values of the query are left out. */
export function link(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => (value ?? "") !== "");
  const text = new URLSearchParams(kept).toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

/** Opens an address. `replace`: without a step in the history. */
export function navigate(path, query = {}, { replace = false } = {}) {
  if (!replace) {
    noteScroll();
    depth += 1;
  }
  history[replace ? "replaceState" : "pushState"]({ depth }, "", link(path, query));
  refreshRoute();
}

/** Changes some values of the query and keeps the rest. */
export function setQuery(changes) {
  navigate(route.path, { ...route.query, ...changes }, { replace: true });
}

/** Goes to the page before if there is one in this app, else to `parent`. */
export function goBack(parent) {
  if (depth > 0) history.back();
  else navigate(parent, {}, { replace: true });
}

/** The present address; the component is drawn again when it changes. */
export function useRoute() {
  const [now, setNow] = useState(route);
  useEffect(() => {
    listeners.add(setNow);
    setNow(route);
    return () => listeners.delete(setNow);
  }, []);
  return now;
}

// Of ids: 12, p7, v001. No other word, which may be a route of the API.
const ID = /^\w?\d[\w-]*$/;

/** Finds the route of a path: { route, params }, or null. */
export function match(routes, path) {
  const given = path.split("/").filter(Boolean);
  for (const one of routes) {
    const wanted = one.path.split("/").filter(Boolean);
    const least = wanted.filter((part) => !part.endsWith("?")).length;
    if (given.length < least || given.length > wanted.length) continue;
    const params = {};
    const fits = wanted.every((part, at) => {
      if (!part.startsWith(":")) return part === given[at];
      if (given[at] === undefined) return true;
      params[part.slice(1).replace("?", "")] = given[at];
      return ID.test(given[at]);
    });
    if (fits) return { route: one, params };
  }
  return null;
}

/** Fills ":name" in a path. */
export function fill(path, params) {
  return path.replace(/:(\w+)/g, (_, name) => params[name] ?? "");
}

/** Reads the address again, after it was changed from outside. */
export function refreshRoute() {
  route = parse(location.hash);
  for (const listener of listeners) listener(route);
}

addEventListener("click", (event) => event.target.closest("a[href^='#']") && noteScroll(), true);
addEventListener("popstate", (event) => {
  stopReturn();
  if (PROOF.test(location.hash.slice(1))) {
    // A new link of `relay web`, opened in this window.
    location.reload();
    return;
  }
  if (event.state?.depth === undefined) {
    // A link of the page was followed. One to the page itself makes no step in the history.
    if (location.hash !== link(route.path, route.query)) depth += 1;
    history.replaceState({ depth }, "");
  } else {
    depth = event.state.depth;
    returnTo(event.state.top || 0);
  }
  refreshRoute();
});
