// Changes of memory, newest first, waiting changes to keep or discard, and the line that undoes a forgetting.

import { html, useEffect, useState } from "../lib/preact.js";
import { get, post } from "../kit/api.js";
import { moment } from "../kit/format.js";
import { useEvents, useList } from "../kit/hooks.js";
import { link } from "../kit/router.js";
import { Badge, Button, Empty, IconButton, List, Notice, Row, toast } from "../kit/ui.js";

const WORDS = { learn: "learned", refresh: "reworded", supersede: "replaced", merge: "merged", forget: "forgotten", archive: "archived", restore: "restored", pin: "pinned", unpin: "unpinned" };
const TONES = { pending: "warn", applied: "plain", undone: "bad", discarded: "bad" };

const UNDO = "relay.forgotten";
const UNDO_MS = 10 * 60 * 1000;

/** What was forgotten in the last ten minutes: the ids of the changes; or null. */
function read() {
  const kept = JSON.parse(sessionStorage.getItem(UNDO) || "null");
  return kept?.until > Date.now() ? kept : null;
}

/** Remembers for ten minutes what was forgotten, so that any page of memories can undo it. */
export function noteForgotten(changed) {
  const ids = changed.changes.filter((one) => one.action === "forget").map((one) => one.id);
  sessionStorage.setItem(UNDO, JSON.stringify({ ids: [...(read()?.ids || []), ...ids], until: Date.now() + UNDO_MS }));
  dispatchEvent(new Event("forgotten"));
}

/** Splits ids into what one request may hold. */
export const inHundreds = (ids) => Array.from({ length: Math.ceil(ids.length / 100) }, (_, at) => ids.slice(100 * at, 100 * (at + 1)));

/** The line that undoes the forgetting. On a memory's card (`of`: its last change) only if it is among the forgotten. */
export function Forgotten({ then, of }) {
  const [last, setLast] = useState(read);
  useEffect(() => {
    const look = () => setLast(read());
    const timer = setInterval(look, 15_000);
    addEventListener("forgotten", look);
    return () => {
      clearInterval(timer);
      removeEventListener("forgotten", look);
    };
  }, []);
  if (!last || (of !== undefined && !last.ids.includes(of))) return null;
  const end = () => {
    sessionStorage.removeItem(UNDO);
    setLast(null);
  };
  const undo = async () => {
    const decided = await decideAll(last.ids, "undo");
    end();
    toast(decided === last.ids.length ? "I remember it again." : "What has changed since stays as it is.");
    then();
  };
  return html`<div class="tools"><${Notice} action=${html`<div class="cluster"><${Button} small icon="undo" onClick=${undo}>Undo</><${IconButton} icon="close" label="Dismiss" onClick=${end} /></div>`}>
    ${last.ids.length === 1 ? "Forgotten." : `${last.ids.length} memories forgotten.`} Undo works for ten minutes.</></div>`;
}

/** What a change did, in a word, with its state. */
export const What = ({ change }) => html`<${Badge} tone=${TONES[change.status]}>${change.status === "applied" ? WORDS[change.action] || change.action : change.status === "pending" ? `${WORDS[change.action] || change.action}?` : change.status}</>`;

/** Decides about a change: undo, keep or discard. */
export async function decide(change, decision) {
  await post(`/changes/${change.id}/${decision}`);
  toast({ undo: "Undone.", keep: "Kept.", discard: "Discarded." }[decision]);
}

/** The action of a toast that takes a change back. */
export const undoing = ({ changes: [change] }, then) => change && { undo: () => decide(change, "undo").then(then) };

/** Decides about many changes. Returns how many were decided. */
async function decideAll(all, decision) {
  let decided = 0;
  for (const ids of inHundreds(all)) decided += (await post("/changes/decide", { ids, decision })).decided;
  return decided;
}

export function Changes({ waiting, space, me, then }) {
  const list = useList("/memories/changes", "changes", { state: waiting ? "pending" : "all", space });
  useEvents(["memory"], list.reload);
  const act = async (change, decision) => {
    await decide(change, decision);
    list.reload();
    then();
  };
  const own = (rows) => rows.filter((one) => one.yours && one.action !== "forget").map((one) => one.id);
  const all = async (decision) => {
    const ids = [];
    for (let cursor = ""; cursor !== null; ) {
      const page = await get("/memories/changes", { state: "pending", space, limit: 200, cursor });
      ids.push(...own(page.changes));
      cursor = page.next;
    }
    toast(`${decision === "keep" ? "Kept" : "Discarded"}: ${await decideAll(ids, decision)}.`);
    list.reload();
    then();
  };
  const actions = (change) => !change.yours ? [] : change.status === "pending"
    ? [{ label: change.action === "forget" ? "Forget it" : "Keep", icon: "check", inline: true, run: () => act(change, "keep") },
       { label: change.action === "forget" ? "Don't forget it" : "Discard", icon: "trash", danger: true, run: () => act(change, "discard") }]
    : change.undoable ? [{ label: "Undo", icon: "undo", inline: true, run: () => act(change, "undo") }] : [];
  const empty = waiting
    ? html`<${Empty} icon="check" title="Nothing is waiting">What I notice next to other people's words waits here. So does everything else, if you asked to confirm it.</>`
    : html`<${Empty} icon="history" title="Nothing has changed yet" />`;
  return html`
    ${waiting && own(list.rows).length > 1 && html`<div class="cluster"><${Button} small icon="check" onClick=${() => all("keep")}>Keep all</>
      <${Button} small kind="danger" icon="trash" onClick=${() => all("discard")}>Discard all</></div>`}
    <${List} list=${list} label=${waiting ? "What waits" : "Changes"} empty=${empty}
      row=${(change) => html`<${Row} title=${change.content} text=${change.before && change.before !== change.content ? `Before: ${change.before}` : ""}
        badges=${html`<${What} change=${change} />`} meta=${[moment(change.at), (space || change.subjectId !== me.userId) && change.subject]} href=${link(`/memory/${change.memoryId}`)} actions=${actions(change)} />`} />`;
}
