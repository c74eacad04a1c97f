// Upcoming reminders, made by the same phrases as /remind; one reminder (#/reminders/12) with its history; the
// address of the calendar.

import { html, useState } from "../lib/preact.js";
import { patch, post, put, remove } from "../kit/api.js";
import { ago, moment, time, weekday } from "../kit/format.js";
import { useDraft, useEvents, useFetch, useList, useShortcut } from "../kit/hooks.js";
import { link } from "../kit/router.js";
import { ask, Badge, Button, Card, confirm, Empty, Facts, List, Loaded, Notice, Page, Row, Section, Text, toast } from "../kit/ui.js";

const EVENTS = { made: "Made", changed: "Changed", fired: "Sent", snoozed: "Snoozed", done: "Done", missed: "Missed", failed: "Couldn't be delivered", looked: "Looked", paused: "Paused", resumed: "Resumed", deleted: "Deleted", restored: "Restored" };
const HINT = "For example: tomorrow 9:00 call the dentist · every monday 8:00 bins · in 2 hours tea";

async function drop(one, then) {
  await remove(`/reminders/${one.id}`);
  toast(`Deleted: ${one.text}`, { undo: async () => { await patch(`/reminders/${one.id}`, { deleted: false }); then(); } });
  then();
}

const change = async (one, fields, then, words) => {
  await patch(`/reminders/${one.id}`, fields);
  toast(words);
  then();
};

const edit = (one, then) => ask({
  id: one.id, title: "Change the reminder", label: "Another time, another text, or both", hint: "friday 9:00 · bins out · friday 9:00 bins out", value: one.text,
  save: (text) => text === one.text || change(one, { text }, then, "Changed."),
});

const actionsOf = (one, then) => [
  one.status === "proposed" && { label: "Yes, remind me", icon: "check", run: () => change(one, { accepted: true }, then, "I'll remind you.") },
  { label: "Change", icon: "edit", run: () => edit(one, then) },
  one.status === "active" && { label: "Pause", icon: "history", run: () => change(one, { paused: true }, then, "Paused.") },
  one.status === "paused" && { label: "Resume", icon: "check", run: () => change(one, { paused: false }, then, "Resumed.") },
  { label: "Delete", icon: "trash", danger: true, run: () => drop(one, then) },
];
const stateOf = (one) => ({ proposed: "waits for you", paused: "paused" })[one.status];

export default function Reminders({ params }) {
  if (params.reminderId) return html`<${Opened} key=${params.reminderId} id=${params.reminderId} />`;
  return html`<${Listed} />`;
}

function Listed() {
  const list = useList("/reminders", "reminders");
  const { reload, page } = list;
  useEvents(["reminder"], reload);
  const group = (one) => one.nextAt ? weekday(one.nextAt) : "No date";
  return html`<${Page} title="Reminders" text="What I'll tell you, and when.">
    <${New} then=${reload} />
    ${page?.quietUntil && html`<${Notice} tone="warn" action=${html`<${Button} small onClick=${async () => { await put("/reminders/quiet", { until: "off" }); reload(); }}>End quiet</>`}>
      I'm quiet ${page.quietUntil.startsWith("9999") ? "until you end it" : `until ${moment(page.quietUntil)}`}. Anything that comes due waits.</>`}
    <${List} list=${list} label="Reminders" group=${group}
      empty=${html`<${Empty} icon="reminders" title="Nothing upcoming">Write above what I should remind you of, or send /remind in the chat.</>`}
      row=${(one) => html`<${Row} icon="reminders" title=${one.text} href=${link(`/reminders/${one.id}`)} actions=${actionsOf(one, reload)}
        badges=${stateOf(one) && html`<${Badge} tone="warn">${stateOf(one)}</>`} meta=${[one.nextAt && !one.repeats && time(one.nextAt), one.repeats, one.nextAt && ago(one.nextAt)]} />`} />
    <${Intents} />
    <${Quiet} quiet=${page?.quietUntil} then=${reload} />
    <${Calendar} />
  </>`;
}

function New({ then }) {
  const [typed, type, send] = useDraft("reminder", { text: "" });
  const [error, setError] = useState("");
  useShortcut("n", "New reminder", () => document.getElementById("new-reminder").querySelector("input").focus());
  const make = async () => {
    try {
      const made = await send(() => post("/reminders", typed), { text: "" });
      setError("");
      toast(`I'll remind you ${moment(made.nextAt)}: ${made.text}`, { undo: async () => { await remove(`/reminders/${made.id}`); then(); } });
      then();
    } catch (problem) {
      if (problem.status !== 422) throw problem;
      // A question about the phrase.
      setError(problem.message);
    }
  };
  const write = (text) => {
    type({ text });
    setError("");
  };
  const press = (event) => {
    event.preventDefault();
    event.currentTarget.querySelector("button").click();
  };
  return html`<${Card}><form id="new-reminder" class="stack" onSubmit=${press}>
    <${Text} label="Remind me" hint=${HINT} error=${error} value=${typed.text} onInput=${write} enterkeyhint="done" />
    <div class="actions"><${Button} kind="primary" icon="add" disabled=${!typed.text.trim()} onClick=${make}>Add</></div></form></>`;
}

function Intents() {
  const found = useFetch("/reminders/intents");
  useEvents(["reminder"], found.reload);
  if (!found.data?.intents.length) return null;
  const end = async (one) => {
    await remove(`/reminders/intents/${one.id}`);
    const undo = async () => {
      await patch(`/reminders/intents/${one.id}`, { deleted: false });
      found.reload();
    };
    toast(`Deleted: ${one.text}`, { undo });
    found.reload();
  };
  return html`<${Section} title="When you mention something" rows=${found.data.intents} row=${(one) => html`
    <${Row} icon="spark" title=${one.text} text=${`When you mention ${one.about}`} meta=${[`reminded ${one.used} of ${one.most} times`, `until ${moment(one.expiresAt)}`]}
      actions=${[{ label: "Delete", icon: "trash", danger: true, run: () => end(one) }]} />`} />`;
}

function Quiet({ quiet, then }) {
  if (quiet) return null;
  const save = async (until) => {
    await put("/reminders/quiet", { until });
    then();
  };
  const hold = () => ask({ title: "Be quiet", label: "Until when", value: "8:00", hint: "8:00 · tomorrow 9:00 · on (until you end it)", action: "Be quiet", save });
  return html`<${Card} title="Quiet" text="Holds back reminders and everything else I send on my own." actions=${html`<${Button} onClick=${hold}>Be quiet…</>`} />`;
}

function Calendar() {
  const feed = useFetch("/reminders/calendar");
  useEvents(["reminder"], feed.reload);
  const [address, setAddress] = useState("");
  const open = async () => {
    if (feed.data?.token && !(await confirm({ title: "A new address?", text: "The current address stops working, even for calendars that use it.", action: "New address" }))) return;
    const { path } = await post("/reminders/calendar");
    setAddress(new URL(path, location.origin).href);
    feed.reload();
  };
  const close = async () => {
    await remove("/reminders/calendar");
    setAddress("");
    feed.reload();
  };
  // navigator.clipboard is missing without https, and may be barred in a frame.
  const copy = (event) => {
    event.currentTarget.closest("section").querySelector("input").select();
    if (!document.execCommand("copy")) throw new Error("I can't copy here. The address is selected; copy it yourself.");
    toast("Copied.");
  };
  return html`<${Card} title="Calendar" text="Calendar apps can read your reminders at a private address. Anyone with it can see them."
      actions=${html`<${Button} onClick=${open}>${feed.data?.token ? "New address" : "Make an address"}</>${feed.data?.token && html`<${Button} kind="danger" onClick=${close}>Remove it</>`}`}>
    ${address && html`<${Text} label="Address, shown once" value=${address} readonly onInput=${() => {}} onFocus=${(event) => event.currentTarget.select()} />
      <div class="actions"><${Button} small icon="check" onClick=${copy}>Copy</></div>`}
    ${!address && feed.data?.token && html`<p class="muted">It has had an address since ${moment(feed.data.token.createdAt)}${feed.data.token.usedAt ? `, last read ${ago(feed.data.token.usedAt)}` : ""}.</p>`}</>`;
}

function Opened({ id }) {
  const opened = useFetch(`/reminders/${id}`);
  useEvents(["reminder"], opened.reload);
  const done = async () => {
    await post(`/reminders/${id}/done`);
    toast("Done.");
    opened.reload();
  };
  if (!opened.data) return html`<${Page} title="Reminder"><${Loaded} of=${opened} /></>`;
  const one = opened.data;
  const next = one.nextAt ? moment(one.nextAt) : "over";
  return html`<${Page} title="Reminder">
    <${Card}><p class="words" dir="auto">${one.text}</p>
      <${Facts} items=${[["Next", one.status === "deleted" ? "" : next], ["Repeats", one.repeats || "once"], ["State", one.status], ["Kind", { say: "says its text", ask: "asks until you answer", check: "looks first" }[one.kind]], ["Time zone", one.zone], ["Made", moment(one.createdAt)]]} />
      <div class="actions">${one.status === "deleted"
        ? html`<${Button} kind="primary" icon="undo" onClick=${() => change(one, { deleted: false }, opened.reload, "It's back.")}>Bring it back</>`
        : html`${one.occurrence && html`<${Button} icon="check" onClick=${done}>Done</>`}${actionsOf(one, opened.reload).filter(Boolean).map((act) => html`<${Button} key=${act.label} icon=${act.icon} kind=${act.danger ? "danger" : "plain"} onClick=${act.run}>${act.label}</>`)}`}</div></>
    <${Section} title="What happened" rows=${one.events} row=${(event) => html`
      <${Row} title=${EVENTS[event.kind] || event.kind} text=${event.detail} meta=${[moment(event.at), event.occurrence && `for ${moment(event.occurrence)}`]} />`} /></>`;
}
