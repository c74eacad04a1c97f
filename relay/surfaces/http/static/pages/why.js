// Why an answer came out as it did: what went into its prompt, what was left out, what it cost.

import { html } from "../lib/preact.js";
import { remove } from "../kit/api.js";
import { moment, money, number, plural, tokens } from "../kit/format.js";
import { useEvents, useFetch } from "../kit/hooks.js";
import { link } from "../kit/router.js";
import { Badge, Card, Empty, Facts, Loaded, Meter, Notice, Page, Row, Section } from "../kit/ui.js";
import { Forgotten, noteForgotten } from "./memory_changes.js";

const LAYERS = { soul: "Soul", persona: "Persona", memory: "Memories", preferences: "Preferences", composed: "Composition", summary: "Summary", recent: "Recent messages", recalled: "Recalled", message: "Your message", media: "Pictures and documents" };
const TAINTS = { message: "your message contained other people's words", reply: "it replies to other people's words", memory: "some of what I know here comes from others", summary: "the summary contains other people's words", composed: "the sessions it began with contain other people's words", people: "several people spoke before", recent: "earlier messages contained other people's words", recalled: "what I recalled contained other people's words", tool: "a tool brought in other people's words" };
const SINCE = { superseded: "replaced since", archived: "archived since", forgotten: "forgotten since", discarded: "discarded since" };

export default function Why({ params }) {
  return params.turnId ? html`<${Turn} key=${params.turnId} id=${params.turnId} />` : html`<${Last} />`;
}

/** Without a turn in the address: the last answer. */
function Last() {
  const last = useFetch("/preferences/diagnostics");
  useEvents([], last.reload);
  if (last.data && !last.data.turnId) return html`<${Page} title="Why this answer"><${Empty} icon="spark" title="No answer yet">Write to me first.</></>`;
  if (!last.data) return html`<${Page} title="Why this answer"><${Loaded} of=${last} /></>`;
  return html`<${Turn} id=${last.data.turnId} />`;
}

function Turn({ id }) {
  const found = useFetch(`/turns/${id}/why`);
  useEvents(["memory"], found.reload);
  return html`<${Page} title="Why this answer"><${Loaded} of=${found}>${(why) => html`<${Shown} why=${why} reload=${found.reload} />`}</></>`;
}

function Shown({ why, reload }) {
  const { prompt, usage } = why;
  const asked = (usage.inputTokens || 0) + (usage.cacheReadInputTokens || 0) + (usage.cacheCreationInputTokens || 0);
  return html`<div class="stack">
    <${Card} title=${why.at ? moment(why.at) : "An answer"} text=${why.model || "no model"}>
      <${Facts} items=${[["Cost", why.cost === null ? "no price known" : money(why.cost)], ["Tokens in", number(asked)], ["From the cache", number(usage.cacheReadInputTokens || 0)],
        ["Written to it", number(usage.cacheCreationInputTokens || 0)], ["Tokens out", number(usage.outputTokens || 0)], ["Tool calls", why.toolCalls || ""]]} /></>
    ${prompt.soul === null ? html`<${Notice}>I no longer have the details of this answer.</>` : html`<${Details} why=${why} reload=${reload} />`}
  </div>`;
}

function Details({ why, reload }) {
  const { prompt } = why;
  const layers = Object.keys(LAYERS).filter((name) => prompt.tokens[name]);
  const most = Math.max(...layers.map((name) => prompt.tokens[name]), 1);
  const left = leftOut(prompt);
  return html`
    <${Forgotten} then=${reload} />
    ${why.tainted && html`<${Notice} tone="warn">Anything I learned there waits for your tap: ${prompt.taintedBy.map((one) => TAINTS[one]).filter(Boolean).join("; ") || "it contained other people's words"}.</>`}
    <${Card} title="What went in" text="Estimated tokens of each layer.">
      ${layers.map((name) => html`<${Meter} key=${name} label=${LAYERS[name]} value=${prompt.tokens[name]} max=${most} text=${tokens(prompt.tokens[name])} />`)}
      <${Facts} items=${[["Soul", `version ${prompt.soul}`], ["Recent messages", `${prompt.recentCount}${why.recentFrom ? `, since ${moment(why.recentFrom)}` : ""}`],
        ["Began with", why.composed], ["Pictures, documents", prompt.media && `${prompt.media.shown} shown, ${prompt.media.described} described`],
        ["Tools", prompt.tools.join(", ")], ["Learning", why.tainted ? "" : { on: "at once", ask: "asks first", off: "off" }[prompt.learning]]]} />
      ${why.persona && html`<blockquote class="quote" dir="auto">${why.persona}</blockquote>`}</>
    <${Card} title="Left out">${left.length ? html`<ul class="lines">${left.map((one) => html`<li key=${one}>${one}</li>`)}</ul>` : html`<p class="muted">Nothing; everything fit.</p>`}</>
    <${Memories} why=${why} reload=${reload} />
    ${why.preferences.length > 0 && html`<${Card} title="How you like answers"><ul class="lines">${why.preferences.map((row) => html`<li key=${row.id}><a href=${link(`/preferences/${row.id}`)}>${row.polarity > 0 ? "Prefer" : "Avoid"}: ${row.pattern}</a></li>`)}</ul></>`}
    ${why.summary && html`<${Card} title="Summary" text=${`Of ${moment(why.summary.at)}`}><blockquote class="quote" dir="auto">${why.summary.text}</blockquote></>`}
    <${Recalled} why=${why} />`;
}

/** What was left out, and why. */
function leftOut(prompt) {
  const dropped = Object.entries(prompt.memoryLayer?.dropped || {}).map(([reason, count]) => `${count} ${reason}`).join(", ");
  return [
    prompt.leftOutMemories && `${plural(prompt.leftOutMemories, "memory", "memories")}${dropped ? ` (${dropped})` : ""}`,
    prompt.droppedRecent && plural(prompt.droppedRecent, "recent message"),
    prompt.composed?.dropped && plural(prompt.composed.dropped, "earlier session"),
    prompt.share < 1 && "The model found the first prompt too long, so it was shortened.",
  ].filter(Boolean);
}

function Memories({ why, reload }) {
  const forget = async (row) => {
    noteForgotten((await remove(`/memories/${row.id}`)).changed);
    reload();
  };
  const hidden = why.hidden > 0 && html`<p class="hint">And ${plural(why.hidden, "memory", "memories")} that somebody lent to the group.</p>`;
  if (!why.memories.length) return hidden;
  return html`<${Section} title=${`Memories used (${why.memories.length})`} label="Memories used" rows=${why.memories} row=${(row) => html`
    <${Row} title=${row.content} href=${link(`/memory/${row.id}`)} meta=${[`#${row.number}`, why.space.kind === "group" && row.subject, row.lent && "yours, lent"]}
      badges=${html`<${Badge}>${row.kind}</>${SINCE[row.status] && html`<${Badge} tone="warn">${SINCE[row.status]}</>`}`}
      actions=${row.status === "active" && (row.lent || why.space.kind === "private") ? [{ label: "Forget", icon: "trash", danger: true, run: () => forget(row) }] : []} />`}>${hidden}</>`;
}

function Recalled({ why }) {
  const rows = [
    ...why.recalled.map((row) => [row.role === "assistant" ? "I" : row.name || "You", row.text, row.at]),
    ...why.recalledMemories.map((row) => [`Memory #${row.number}`, row.content, null]),
    ...why.recalledSummaries.map((row) => ["Summary", row.text, row.at]),
    ...why.recalledArtefacts.map((row) => [row.kind, row.text, row.at]),
  ];
  if (!rows.length) return null;
  return html`<${Section} title="Recalled for it" rows=${rows} row=${([who, text, at]) => html`<${Row} title=${text} meta=${[who, at && moment(at)]} />`} />`;
}
