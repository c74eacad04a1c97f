// Live updates: the server says which kind of thing has changed, and pages fetch it again.
//
//   const stop = listen(["memory"], () => reload())     kinds: memory, version, composition, reminder, preference
//
// One connection serves the whole page. It is closed while the page is hidden; after a gap every listener is called.

import { address } from "./api.js";
import { token } from "./session.js";

// A connection that lasted this long, in ms, was a good one.
const LONG = 20_000;
const listeners = new Set();
let connection = null;

/** Calls `callback` when something of these kinds has changed. Returns a function that ends it. */
export function listen(kinds, callback) {
  const one = { kinds, callback };
  listeners.add(one);
  connect();
  return () => listeners.delete(one);
}

function tell(kind) {
  for (const one of listeners) if (kind === null || one.kinds.includes(kind)) one.callback(kind);
}

async function connect() {
  if (connection || document.hidden || !listeners.size) return;
  const mine = (connection = new AbortController());
  for (let wait = 1, gap = false; !mine.signal.aborted; wait = Math.min(60, wait * 2)) {
    try {
      const response = await fetch(address("/events"), { headers: { Authorization: `Bearer ${token()}` }, signal: mine.signal });
      // Signed out, or a server without events.
      if (response.status === 401 || response.status === 404) return;
      if (response.ok) {
        if (gap) tell(null);
        const since = Date.now();
        // A newer page replaced it; it starts again when it is shown.
        if (await readStream(response.body.getReader())) return;
        if (Date.now() - since > LONG) wait = 1;
      }
    } catch {
      // the connection broke, or the page was hidden
    }
    gap = true;
    if (!mine.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
  }
}

/** Passes events on. Returns whether a newer stream ended this one. */
async function readStream(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const kind = /^event: ?(.+)$/m.exec(block)?.[1].trim();
      if (kind === "replaced") return true;
      if (kind) tell(kind);
    }
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    connection?.abort();
    connection = null;
  } else {
    tell(null);
    connect();
  }
});
