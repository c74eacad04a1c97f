// Memories: the list with its filters, which are in the address, and the actions on several rows.
// One memory (#/memory/12) is in memory_card.js, the changes are in memory_changes.js.

import { html, useEffect, useState } from "../lib/preact.js";
import { patch, post, put, remove } from "../kit/api.js";
import { date, moment, month } from "../kit/format.js";
import { useEvents, useFetch, useList, useSelection, useShortcut } from "../kit/hooks.js";
import { link, navigate, setQuery } from "../kit/router.js";
import { ask, Badge, Button, Chips, confirm, Empty, List, Notice, Page, Row, Search, Select, toast } from "../kit/ui.js";
import Memory, { actionsOf } from "./memory_card.js";
import { Changes, Forgotten, inHundreds, noteForgotten, undoing } from "./memory_changes.js";

export const KINDS = { fact: "Facts", preference: "Likes", decision: "Decisions", event: "Events", person: "People", goal: "Goals", feeling: "Feelings", learning: "Learnings" };

// Whose memories one may see. They are asked for once, not on each visit to the list.
let groups;

export default function Page_({ params, query, me }) {
  return params.memoryId ? html`<${Memory} key=${params.memoryId} id=${params.memoryId} me=${me} />` : html`<${Memories} query=${query} me=${me} />`;
}

// Beside found rows: the counts are those of all memories.
const uncounted = (options) => options.map(([one, words]) => [one, words]);

function Memories({ query, me }) {
  const { q = "", kind = "", state = "", space = "" } = query;
  const looks = state === "waiting" || state === "changes";
  const counts = useFetch(looks ? "/memories" : null, { limit: 1, space });
  const asked = useFetch(groups ? null : "/me/groups");
  groups ??= asked.data?.groups;
  const list = useList(looks ? null : "/memories", "memories", { q, kind, state, space });
  const reload = looks ? counts.reload : list.reload;
  const settings = useFetch("/memories/settings", { space });
  const rests = settings.data && !settings.data.remembers;
  useEvents(["memory"], () => {
    reload();
    settings.reload();
  });
  const save = async (text) => {
    const { changed } = await post("/memories", { text });
    toast(space ? "Remembered, in your own memory." : "Remembered.", undoing(changed, reload));
    reload();
  };
  const add = () => ask({ title: "Remember something", label: "In your own words", hint: "For example: I'm allergic to walnuts", action: "Remember", multiline: true, save });
  useShortcut("n", "Remember something", add);
  const known = looks ? counts.data : list.page;
  const all = known && known.facts + known.learnings;
  const states = [["", "All", all], ["pinned", "Pinned", known?.pinned], ["unconfirmed", "Unconfirmed", known?.unconfirmed],
    ["waiting", "Waiting", known?.pending], ["past", "Past", known?.past], ["changes", "Changes"]];
  const tools = html`<${Search} label="Search memories" value=${q} onInput=${(words) => setQuery({ q: words })} />
    <${Chips} label="Which memories" value=${state} options=${q ? uncounted(states) : states} onChange=${(one) => setQuery({ state: one, kind: "" })} />`;
  return html`<${Page} title="Memory" text=${space ? "What I know in this group." : "What I know about you."} tools=${tools}
      actions=${html`${settings.data && (!space || me.admin) && html`<${Rest} space=${space} settings=${settings} />`}<${Button} kind="primary" icon="add" onClick=${add}>Remember</>`}>
    ${rests && html`<${Notice} tone="warn">Memory is ${settings.data.memory === "off" ? "off" : "paused"}, so I'm not learning, and not using any of this.</>`}
    <${Forgotten} then=${reload} />
    ${groups?.length > 0 && html`<${Select} label="Whose memory" value=${space} onChange=${(one) => setQuery({ space: one, kind: null })}
      options=${[["", "Yours"], ...groups.map((one) => [one.spaceId, one.name || "A group"])]} />`}
    ${looks
      ? html`<${Changes} key=${state} waiting=${state === "waiting"} space=${space} me=${me} then=${counts.reload} />`
      : html`<${Found} list=${list} known=${known} query=${query} me=${me} reload=${reload} add=${add} />`}
  </>`;
}

/** Turns this memory on or off, or pauses it. */
function Rest({ space, settings }) {
  const { memory, remembers, pausedUntil } = settings.data;
  const paused = memory === "on" && !remembers;
  const change = async (to) => {
    const hours = Number(to);
    const given = hours ? { pausedUntil: new Date(Date.now() + hours * 3_600_000).toISOString() } : { on: to === "on" };
    settings.set(await put(`/memories/settings${space && `?space=${space}`}`, given));
  };
  const options = [["on", "Memory on"], paused && ["paused", `Paused until ${moment(pausedUntil)}`], ["1", "Pause for an hour"], ["24", "Pause for a day"], ["168", "Pause for a week"], ["off", "Memory off"]];
  return html`<${Select} label="Use and learn" hidden value=${paused ? "paused" : memory} onChange=${change} options=${options.filter(Boolean)} />`;
}

function Found({ list, known, query, me, reload, add }) {
  const { q, kind = "", state, space } = query;
  const picked = useSelection();
  const [picking, setPicking] = useState(false);
  // Without those that have gone since they were picked.
  const selected = list.rows.filter((row) => picked.has(row.id));
  useEffect(() => stop(), [q, kind, state, space]);
  const stop = () => {
    setPicking(false);
    picked.clear();
  };
  const forget = (row) => async () => {
    noteForgotten((await remove(`/memories/${row.id}`)).changed);
    list.drop(row.id);
    reload();
  };
  const forgetPicked = async () => {
    const ids = selected.map((row) => row.id);
    if (ids.length > 5 && !(await confirm({ title: `Forget ${ids.length} memories?`, text: "You can take it back for ten minutes.", action: "Forget", danger: true }))) return;
    for (const some of inHundreds(ids)) noteForgotten(await post("/memories/forget", { ids: some }));
    stop();
    reload();
  };
  const merge = () => {
    const ids = selected.map((row) => row.id);
    const save = async (text) => {
      const made = await post("/memories/merge", { ids, text });
      toast("Merged.", undoing(made.changed, reload));
      stop();
      reload();
      navigate(`/memory/${made.memory.id}`);
    };
    return ask({
      id: ids, title: "Merge two memories", label: "What I remember from now on", hint: "Both stay under “Past”, and you can undo this.",
      value: selected.map((row) => row.content).join("\n"), multiline: true, action: "Merge", save,
    });
  };
  const change = (row) => async (fields, words) => {
    const { changed } = await patch(`/memories/${row.id}`, fields);
    toast(words, undoing(changed, reload));
    reload();
  };
  const kinds = known && [["", "All kinds"], ...Object.entries(KINDS).map(([one, words]) => [one, words, one === "learning" ? known.learnings : known.kinds[one]]).filter(([, , count]) => count)];
  return html`
    ${kinds?.length > 2 && state !== "past" && html`<${Chips} label="Kind" value=${kind} options=${q ? uncounted(kinds) : kinds} onChange=${(one) => setQuery({ kind: one })} />`}
    ${list.rows.some((row) => row.yours) && state !== "past" && html`<div class=${picking && "tools"}><div class="cluster" role="toolbar" aria-label="Several memories">
      ${picking
        ? html`<span>${selected.length} selected</span>
          <${Button} small kind="danger" icon="trash" disabled=${!selected.length} onClick=${forgetPicked}>Forget</>
          <${Button} small icon="merge" disabled=${selected.length !== 2 || !selected.every((row) => row.editable)} onClick=${merge}>Merge two</>
          <${Button} small kind="quiet" onClick=${stop}>Cancel</>`
        : html`<${Button} small kind="quiet" icon="check" onClick=${() => setPicking(true)}>Select</>`}</div></div>`}
    <${List} list=${list} label="Memories" group=${(row) => month(row.createdAt)} empty=${html`<${Nothing} query=${query} add=${add} />`}
      row=${(row) => html`<${Row} title=${row.content} badges=${badges(row)} meta=${[`#${row.number}`, (space || row.subjectId !== me.userId) && row.subject, date(row.createdAt), row.session && `“${row.session}”`]}
        href=${link(`/memory/${row.id}`)} actions=${actionsOf(row, change(row), forget(row))} selected=${picked.has(row.id)} onSelect=${picking && row.yours ? () => picked.toggle(row.id) : undefined} />`} />`;
}

function badges(row) {
  return html`${row.pinned && html`<${Badge} tone="accent" icon="pin">pinned</>`}
    <${Badge}>${row.kind === "learning" ? row.category || "learning" : row.kind}</>
    ${row.status !== "active" && html`<${Badge} tone="warn">${row.status === "superseded" ? "replaced" : row.status}</>`}
    ${row.tainted && html`<${Badge} tone="warn" icon="people">others' words</>`}`;
}

function Nothing({ query, add }) {
  if (query.q) return html`<${Empty} icon="search" title="Nothing found">No memory contains all of these words.</>`;
  if (query.kind || query.state) return html`<${Empty} icon="memory" title="Nothing here">No memory matches this filter.</>`;
  if (query.space) return html`<${Empty} icon="memory" title="I know nothing here yet">I learn from what is said to me in the group.</>`;
  return html`<${Empty} icon="memory" title="I know nothing about you yet" action=${html`<${Button} icon="add" onClick=${add}>Remember something</>`}>
    Talk to me, or tell me what to remember.</>`;
}
