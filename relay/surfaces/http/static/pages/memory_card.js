// One memory: its text, its origin and its history.

import { html } from "../lib/preact.js";
import { patch, post, remove } from "../kit/api.js";
import { day, moment, percent, plural } from "../kit/format.js";
import { useEvents, useFetch, useList, useShortcut } from "../kit/hooks.js";
import { link } from "../kit/router.js";
import { ask, Badge, Button, Card, Empty, Facts, Icon, List, Loaded, Notice, Page, Row, toast } from "../kit/ui.js";
import { Said } from "../parts/text.js";
import { decide, Forgotten, noteForgotten, undoing, What } from "./memory_changes.js";

const STATES = {
  pending: "This waits for you. I'm not using it yet.",
  superseded: "Something newer has replaced this. I no longer use it.",
  archived: "This is archived: I don't use it, but search finds it.",
  forgotten: "This is forgotten. I no longer use it.",
  discarded: "This was undone or discarded. I'm not using it.",
};
const ORIGINS = { user: "You asked me to remember it", promoted: "A message was saved", tag: "I noticed it while we talked" };

export default function Memory({ id, me }) {
  const opened = useFetch(`/memories/${id}`);
  const past = useList(`/memories/${id}/history`, "changes");
  const reload = () => {
    opened.reload();
    past.reload();
  };
  useEvents(["memory"], reload);
  if (!opened.data) return html`<${Page} title="Memory"><${Loaded} of=${opened} /></>`;
  const set = (memory) => {
    opened.set({ ...opened.data, memory });
    past.reload();
  };
  return html`<${Shown} ...${opened.data} past=${past} reload=${reload} set=${set} />`;
}

const edit = (memory, change) => ask({
  title: `Edit memory #${memory.number}`, label: "Memory", value: memory.content, multiline: true,
  save: (text) => text === memory.content || change({ text }, "Changed."),
});

/** What the person may do with a memory. `change`: takes its fields and what to say afterwards. */
export function actionsOf(memory, change, forget) {
  const may = memory.yours && memory.status === "active";
  return [
    memory.editable && { label: "Edit", icon: "edit", run: () => edit(memory, change) },
    may && { label: memory.pinned ? "Unpin" : "Pin", icon: "pin", run: () => change({ pinned: !memory.pinned }, memory.pinned ? "Unpinned." : "Pinned: it comes first in every prompt.") },
    may && !memory.validatedAt && { label: "Confirm", icon: "check", run: () => change({ confirmed: true }, "Thanks. I'm sure of it now.") },
    may && { label: "Forget", icon: "trash", danger: true, run: forget },
  ].filter(Boolean);
}

function Shown({ memory, yours, editable, past, reload, set }) {
  const path = `/memories/${memory.id}`;
  const change = async (fields, words) => {
    const { memory, changed } = await patch(path, fields);
    set(memory);
    toast(words, undoing(changed, reload));
  };
  const forget = async () => {
    noteForgotten((await remove(path)).changed);
    reload();
  };
  const restore = async () => {
    await post(`${path}/restore`, {});
    toast("I use it again.");
    reload();
  };
  const waits = memory.status === "pending" && past.rows.find((one) => one.status === "pending");
  const settle = async (decision) => {
    await decide(waits, decision);
    reload();
  };
  useShortcut("e", "Edit", () => editable && edit(memory, change));
  const actions = yours && html`
    ${waits && html`<${Button} kind="primary" icon="check" onClick=${() => settle("keep")}>Keep</><${Button} kind="danger" icon="trash" onClick=${() => settle("discard")}>Discard</>`}
    ${actionsOf({ ...memory, yours, editable }, change, forget).map((act) => html`<${Button} key=${act.icon} icon=${act.icon} kind=${act.danger && "danger"} onClick=${act.run}>${act.label}</>`)}
    ${["archived", "superseded", "forgotten"].includes(memory.status) && html`<${Button} kind="primary" icon="undo" onClick=${restore}>Restore</>`}`;
  return html`<${Page} title=${`Memory #${memory.number}`}>
    <${Forgotten} then=${reload} of=${memory.last?.id ?? ""} />
    ${STATES[memory.status] && html`<${Notice} tone="warn">${STATES[memory.status]} ${memory.replacedBy && html`<a href=${link(`/memory/${memory.replacedBy}`)}>See #${memory.replacedNumber}</a>`}</>`}
    <${Card}>
      <p class="words" dir="auto" style=${{ fontSize: "1.8rem", lineHeight: 1.45 }}>${memory.content}</p>
      <div class="cluster">${memory.pinned && html`<${Badge} tone="accent" icon="pin">pinned</>`}<${Badge}>${memory.kind}</>
        ${memory.category && html`<${Badge}>${memory.category}</>`}${memory.tags.map((tag) => html`<${Badge} key=${tag}>#${tag}</>`)}
        ${memory.tainted && html`<${Badge} tone="warn" icon="people">others' words</>`}
        ${memory.validatedAt ? html`<${Badge} tone="good" icon="check">confirmed</>` : html`<${Badge} tone="warn">unconfirmed</>`}</div>
      <div class="actions">${actions}</div>
      ${!yours && html`<p class="hint">Only the person it's about and my admins can change it.</p>`}
    </>
    <${Source} memory=${memory} />
    <${Past} past=${past} memory=${memory} yours=${yours} reload=${reload} />
    <${Card} title="About it"><${Facts} items=${[
      ["About", memory.subject], ["Learned", day(memory.createdAt)], ["How", ORIGINS[memory.by] || ORIGINS.tag],
      ["Last changed", memory.updatedAt === memory.createdAt ? "" : day(memory.updatedAt)], ["Importance", `${memory.importance} of 10`],
      ["Certainty", memory.confidence < 1 ? percent(memory.confidence) : ""], ["Valid from", day(memory.validFrom)],
      [memory.kind === "goal" ? "Deadline" : "Valid until", day(memory.validUntil)],
      ["Said in", memory.evidence ? plural(memory.evidence, "message") : ""],
      ["Used", memory.uses ? `${plural(memory.uses, "time")}, last ${day(memory.lastUsedAt)}` : "not yet"],
    ]} />${memory.faded && memory.status === "active" && html`<p class="hint">Unused for half a year: I leave it out of prompts, but search finds it.</p>`}</>
  </>`;
}

function Source({ memory }) {
  const found = useFetch(`/memories/${memory.id}/source`);
  return html`<${Card} title="Source"><${Loaded} of=${found} rows=${2}>${({ source }) => html`
    ${source.elsewhere && html`<p class="muted">It comes from another chat, which I don't show here.</p>`}
    ${source.said && html`<${Quoted} who=${source.said.role === "assistant" ? "I said" : source.said.name || "Someone"} said=${source.said} />`}
    ${source.answer && html`<${Quoted} who="I answered" said=${source.answer} />`}
    ${!source.said && !source.elsewhere && html`<p class="muted">${memory.by === "user" ? "You told me" : "Learned"} ${moment(source.at)}${source.chatId === 0 ? ", in the terminal" : ""}.${memory.by === "user" ? "" : " The message is gone."}</p>`}
    ${source.topic && !source.elsewhere && html`<p class="hint">In the ${source.topicId === "0" ? "group" : "topic"} “${source.topic}”.</p>`}
    ${address(source) && html`<a href=${address(source)} target="_blank" rel="noreferrer"><${Icon} name="source" /> Go to the message</a>`}`}</></>`;
}

/** The address of a message: only those of groups have one. */
function address({ posted }) {
  const chat = String(posted?.chatId ?? "");
  return posted?.messageId && chat.startsWith("-100") ? `https://t.me/c/${chat.slice(4)}/${posted.messageId}` : "";
}

const Quoted = ({ who, said }) => html`<figure style=${{ margin: 0 }}><figcaption class="muted small"><bdi>${who}</bdi>, ${moment(said.at)}</figcaption>
  <blockquote class="quote"><${Said} text=${said.text.length > 700 ? `${said.text.slice(0, 700)}…` : said.text || "(no text)"} /></blockquote></figure>`;

function Past({ past, memory, yours, reload }) {
  const act = async (change, decision) => {
    await decide(change, decision);
    reload();
  };
  const reword = async (change) => {
    await post(`/memories/${memory.id}/restore`, { changeId: change.id });
    toast("Wording restored.");
    reload();
  };
  const actions = (change) => [
    yours && change.status === "pending" && { label: "Keep", icon: "check", inline: true, run: () => act(change, "keep") },
    yours && change.status === "pending" && { label: "Discard", icon: "trash", danger: true, run: () => act(change, "discard") },
    memory.last?.id === change.id && { label: "Undo", icon: "undo", inline: true, run: () => act(change, "undo") },
    yours && change.restores && { label: "Restore the earlier wording", icon: "history", run: () => reword(change) },
  ];
  return html`<section class="stack"><h2>History</h2><${List} list=${past} label="History" empty=${html`<${Empty} icon="history" title="It hasn't changed" />`}
    row=${(change) => html`<${Row} title=${change.content} text=${change.before && change.before !== change.content ? `Before: ${change.before}` : ""}
      badges=${html`<${What} change=${change} />`} meta=${[moment(change.at)]} actions=${actions(change)} />`} /></section>`;
}
