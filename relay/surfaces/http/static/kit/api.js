// Requests to the API. Each returns the JSON of the response, or throws a Problem: `problem.message` is a sentence
// to show, `problem.code` and `problem.status` are for decisions, further members are in `problem.document`.
//
//   await get("/memories", { q: "tea" })         GET /api/memories?q=tea
//   await post("/memories", { text })            with an Idempotency-Key: trying again never does it twice
//   await put(path, body) · patch(path, body) · remove(path, query)
//   await download("/export", {}, "relay.zip")   saves the response as a file
//
// "Too many requests" is waited out (up to 10 s), a GET or POST that didn't arrive is sent once more. A request waits for
// earlier writes to the same path: a page that is opened again shows what was just saved.
// Components use the hooks of kit/hooks.js instead of `get`.

import { link } from "./router.js";
import { loseSession, token } from "./session.js";

// In s, of all waits of a request.
const LONGEST_WAIT = 10;

/** The error that the server answered. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail || document.title || "Something went wrong.");
    this.status = status;
    this.code = document.code || "";
    this.document = document;
  }
}

export const get = (path, query, options) => request("GET", path, { query, ...options });
export const post = (path, body = {}, options) => request("POST", path, { body, key: randomKey(), ...options });
export const put = (path, body, options) => request("PUT", path, { body, ...options });
export const patch = (path, body, options) => request("PATCH", path, { body, ...options });
export const remove = (path, query, options) => request("DELETE", path, { query, ...options });

/** Sends a request and returns its JSON; null when there is none (204). */
export async function request(method, path, options = {}) {
  const response = await send(method, path, options);
  if (response.status === 204) return null;
  return response.json();
}

/** Saves what a GET returns as a file. */
export const download = async (path, query, name) => save(await (await send("GET", path, { query })).blob(), name);

/** Saves a Blob as a file. */
export function save(blob, name) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
}

/** The address of a route with its query. Empty values are left out. */
export function address(path, query = {}) {
  return `/api${link(path, query).slice(1)}`;
}

// The writes under way, by path.
const writes = new Map();

function send(method, path, options) {
  const [place] = path.split("?");
  const before = writes.get(place);
  const sent = before ? before.then(() => transmit(method, path, options)) : transmit(method, path, options);
  if (method !== "GET") {
    const done = () => writes.get(place) === settled && writes.delete(place);
    const settled = sent.then(done, done);
    writes.set(place, settled);
  }
  return sent;
}

async function transmit(method, path, { query, body, key, signal }) {
  const headers = { Authorization: `Bearer ${token()}`, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const init = { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) };
  let waited = 0;
  for (let attempt = 1; ; attempt += 1) {
    const last = attempt > 2 || (method !== "GET" && !key);
    const response = await fetch(address(path, query), init).catch((error) => {
      if (error.name === "AbortError") throw error;
      return null;
    });
    if (response?.ok) return response;
    // 409 with a time: the first attempt, whose answer was lost, is still being carried out.
    if (response?.status === 429 || (response?.status === 409 && response.headers.has("Retry-After"))) {
      const seconds = Number(response.headers.get("Retry-After")) || 1;
      waited += seconds;
      if (waited > LONGEST_WAIT) throw await problemOf(response);
      await pause(seconds);
    } else if (response && response.status !== 503) {
      if (response.status === 401) loseSession();
      throw await problemOf(response);
    } else if (last) {
      throw response ? await problemOf(response) : new Problem(0, { code: "offline", detail: "Relay can't be reached. Is it running?" });
    } else await pause(0.4 * attempt);
  }
}

async function problemOf(response) {
  const document = await response.json().catch(() => ({}));
  return new Problem(response.status, document.detail ? document : { detail: `The server answered ${response.status}.`, ...document });
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
