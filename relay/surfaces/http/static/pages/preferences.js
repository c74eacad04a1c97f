// How a person likes answers: what to prefer and avoid, what taught it, and the switches. One preference
// (#/preferences/12) is below the list's component.

import { html } from "../lib/preact.js";
import { post, put, remove } from "../kit/api.js";
import { ago, day, moment, plural } from "../kit/format.js";
import { useDraft, useEvents, useFetch } from "../kit/hooks.js";
import { link, navigate } from "../kit/router.js";
import { Badge, Button, Card, Empty, ErrorState, Facts, Loaded, Meter, Notice, Page, Row, Section, Segmented, Select, Switch, Text, toast } from "../kit/ui.js";

const KINDS = { accept: "You kept it, or said it was just right", refine: "You wrote it yourself", tag: "You tagged an answer", thumbs: "You reacted", abandon: "You stopped it, or asked again", revert: "You brought the earlier answer back", compare: "You chose between two", said: "You said so" };
const HERE = [["use", "Follows them"], ["ignore", "Ignores them"], ["quiet", "Follows them, teaches nothing"], ["own", "Has its own"]];
const PAUSES = [["", "Not paused"], ["1", "For an hour"], ["24", "For a day"], ["168", "For a week"]];
const LEFT_OUT = { project_override_suppression: "replaced by that chat's own", provisional_excluded: "not sure enough", hard_cap_applied: "too many", polarity_ceiling_applied: "too many to avoid", category_ceiling_applied: "too many of one kind", token_budget_exceeded: "no room" };
const acts = (row) => row.status === "stable" && row.level !== "low" && row.strength >= 0.4;
const side = (row) => (row.polarity > 0 ? "Prefer" : "Avoid");

export default function Preferences({ params }) {
  const listed = useFetch("/preferences");
  useEvents(["preference"], listed.reload);
  if (params.preferenceId) return html`<${Opened} key=${params.preferenceId} id=${params.preferenceId} then=${listed.reload} />`;
  return html`<${Page} title="Preferences" text="How you like answers, and what taught me that.">
    <${Loaded} of=${listed}>${(found) => html`<${Listed} found=${found} reload=${listed.reload} />`}</></>`;
}

/** Forgets a preference, and offers to undo it. */
async function forget(row, then) {
  const { forgotten } = await remove(`/preferences/${row.id}`);
  const decisions = forgotten.map((one) => one.decisionId);
  toast(`Forgotten: ${row.pattern}`, { undo: async () => { await post("/preferences/restore", { decisions }); then(); } });
  then();
}

function Listed({ found, reload }) {
  const { rows } = found;
  const sections = [
    ["Prefer", rows.filter((row) => acts(row) && row.polarity > 0)], ["Avoid", rows.filter((row) => acts(row) && row.polarity < 0)],
    ["Not sure yet", rows.filter((row) => !acts(row) && row.status === "stable")], ["In doubt", rows.filter((row) => row.status === "under_review")],
    ["Retired", rows.filter((row) => row.status === "archived")],
  ].filter(([, part]) => part.length);
  const decide = async (keep) => {
    await post("/preferences/decide", { keep });
    toast(keep ? "Kept." : "Discarded.");
    reload();
  };
  return html`<div class="stack">
    ${!found.on && html`<${Notice} tone="warn">This is off: I don't follow it or learn more.</>`}
    ${found.on && found.pausedUntil && html`<${Notice} tone="warn">Paused until ${moment(found.pausedUntil)}.</>`}
    ${found.waiting > 0 && html`<${Notice} action=${html`<div class="cluster"><${Button} small icon="check" onClick=${() => decide(true)}>Keep</><${Button} small onClick=${() => decide(false)}>Discard</></div>`}>
      ${plural(found.waiting, "reaction")} of yours may teach me: ${found.waits.map((one) => `${one.polarity > 0 ? "prefer" : "avoid"} ${one.pattern}`).join(", ")}.</>`}
    <${Say} then=${reload} />
    ${!sections.length && html`<${Empty} icon="preferences" title="I don't know yet how you like answers">Say it above, react to an answer with 👍 or 👎, or tag it in the chat with /tag.</>`}
    ${sections.map(([title, part]) => html`<${Section} key=${title} title=${title} rows=${part} row=${(row) => html`
      <${Row} title=${row.pattern} href=${link(`/preferences/${row.id}`)} badges=${html`<${Badges} row=${row} plain=${["Prefer", "Avoid"].includes(title)} />`}
        meta=${[row.observations ? plural(row.observations, "sign") : "from reactions and choices", `last seen ${ago(row.lastSeen)}`]}
        actions=${row.status === "archived" ? [] : [{ label: "Forget", icon: "trash", danger: true, run: () => forget(row, reload) }]} />`} />`)}
    <${Switches} found=${found} reload=${reload} />
    <${LastAnswer} />
  </div>`;
}

const Badges = ({ row, plain }) => html`${!plain && html`<${Badge} tone=${row.polarity > 0 ? "good" : "bad"}>${side(row)}</>`}
  <${Badge} tone=${{ high: "good", medium: "accent", low: "plain" }[row.level]}>${row.level}</>${row.here && html`<${Badge}>in one chat</>`}${row.new && html`<${Badge} tone="accent" icon="spark">new</>`}`;

function Say({ then }) {
  const [typed, type, send] = useDraft("preference", { polarity: "prefer", pattern: "" });
  const say = async () => {
    const { acts, patterns } = await send(() => post("/preferences", typed), { ...typed, pattern: "" });
    const said = acts[0] || patterns[0];
    toast(`From now on: ${said.polarity > 0 ? "" : "no "}${said.pattern}.`);
    then();
  };
  return html`<${Card} title="Say how you like answers">
    <form class="stack" onSubmit=${(event) => { event.preventDefault(); event.currentTarget.querySelector("button").click(); }}>
      <${Segmented} label="What to do" hidden value=${typed.polarity} onChange=${(polarity) => type({ polarity })} options=${[["prefer", "Prefer"], ["avoid", "Avoid"]]} />
      <${Text} label="In a few words" hint="For example: short answers, metric units, exclamation marks" value=${typed.pattern} onInput=${(pattern) => type({ pattern })} maxlength="60" />
      <div class="actions"><${Button} kind="primary" icon="add" disabled=${!typed.pattern.trim()} onClick=${say}>Add</></div></form></>`;
}

function Switches({ found, reload }) {
  const change = async (to) => {
    await put("/preferences/settings", to);
    reload();
  };
  const pause = (hours) => change({ pausedUntil: hours ? new Date(Date.now() + hours * 3_600_000).toISOString() : null });
  return html`<${Card} title="Switches">
    <${Switch} label="Follow and learn preferences" hint="Off: what is known stays, but nothing is used or learned." checked=${found.on} onChange=${(on) => change({ on })} />
    <${Select} label="Pause" value=${found.pausedUntil ? "now" : ""} onChange=${pause} options=${found.pausedUntil ? [["now", `Until ${moment(found.pausedUntil)}`], ["", "End the pause"], ...PAUSES.slice(1)] : PAUSES} />
    <${Select} label="Our private chat" value=${found.here} onChange=${(here) => change({ here })} options=${HERE} /></>`;
}

function LastAnswer() {
  const last = useFetch("/preferences/diagnostics");
  useEvents(["preference"], last.reload);
  if (last.data && !last.data.turnId) return null;
  return html`<${Card} title="The last answer" text="What it followed, and what was left out."><${Loaded} of=${last} rows=${2}>${({ turnId, at, used, notes }) => html`
    ${used.length ? html`<ul class="lines">${used.map((row) => html`<li key=${row.id}><a href=${link(`/preferences/${row.id}`)}>${side(row)}: ${row.pattern}</a></li>`)}</ul>` : html`<p class="muted">No preference was in its prompt.</p>`}
    ${notes.filter((note) => LEFT_OUT[note.type]).map((note, nr) => html`<p key=${nr} class="hint">${note.dropped || note.count || note.ids.length || 1} left out: ${LEFT_OUT[note.type]}</p>`)}
    <p><a href=${link(`/why/${turnId}`)}>Why that answer${at && ` of ${moment(at)}`}</a></p>`}</></>`;
}

function Opened({ id, then }) {
  const opened = useFetch(`/preferences/${id}`);
  useEvents(["preference"], opened.reload);
  if (opened.error?.status === 404) return html`<${Page} title="Preference"><${ErrorState} error=${{ status: 404, message: "There's no such preference." }} /></>`;
  if (!opened.data) return html`<${Page} title="Preference"><${Loaded} of=${opened} /></>`;
  const { preference: row, evidence, total, remembered } = opened.data;
  return html`<${Page} title=${`${side(row)}: ${row.pattern}`}
      actions=${row.status !== "archived" && html`<${Button} kind="danger" icon="trash" onClick=${() => forget(row, () => { then(); navigate("/preferences"); })}>Forget</>`}>
    ${remembered.length > 0 && html`<${Notice}>I remember this, and it counts more: ${remembered.join(" · ")}</>`}
    <${Card}><${Meter} label="How sure I am" value=${row.strength} text=${`${row.level}, ${row.strength.toFixed(2)}`} tone=${acts(row) ? "good" : "warn"} />
      <${Facts} items=${[["State", acts(row) ? "I follow it" : { stable: "not sure enough to follow", under_review: "in doubt: signs disagree", archived: row.faded ? "retired: nothing confirmed it for half a year" : "retired" }[row.status]],
        ["Signs", row.observations ? `${plural(row.observations, "sign")} in ${plural(row.sessions, "conversation")}` : "reactions and choices"], ["Last seen", day(row.lastSeen)], ["Where", row.here ? "in one chat only" : "everywhere"]]} /></>
    <${Section} title=${`What taught me that (${total})`} label="Evidence" rows=${evidence} row=${(one) => html`
      <${Row} title=${KINDS[one.kind] || one.kind} text=${one.text} meta=${[moment(one.at)]} badges=${html`<${Badge} tone=${one.polarity > 0 ? "good" : "bad"}>${one.polarity > 0 ? "for" : "against"}</>`} />`}>
      ${total > evidence.length && html`<p class="hint">The newest ${evidence.length} are shown.</p>`}</></>`;
}
