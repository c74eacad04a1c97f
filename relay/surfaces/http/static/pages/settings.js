// Settings of a memory's sessions, how much is stored, and signing out.

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { put, remove, save } from "../kit/api.js";
import { moment, number, plural, size } from "../kit/format.js";
import { useEvents, useFetch, useSpaced } from "../kit/hooks.js";
import { setQuery } from "../kit/router.js";
import { loseSession } from "../kit/session.js";
import { telegram } from "../kit/telegram.js";
import { Button, Card, Facts, Loaded, Notice, Page, Segmented, Select, Slider, Switch, Table, Text, attempt, toast } from "../kit/ui.js";

const PRESETS = [["gentle", "Gentle"], ["standard", "Standard"], ["aggressive", "Aggressive"]];

export default function Settings({ query, me }) {
  const projects = useFetch("/memory/projects", { limit: 200 });
  const all = projects.data?.projects || [];
  const groups = all.filter((one, at) => one.space === "group" && all.findIndex((other) => other.chatId === one.chatId) === at);
  const chat = all.find((one) => one.projectId === query.project)?.chatId;
  // Without one: one's own memory.
  const group = groups.find((one) => one.chatId === chat);
  const where = group ? { projectId: group.projectId } : {};
  const settings = useFetch(projects.data ? "/memory/settings" : null, where);
  const stats = useFetch(projects.data ? "/memory/stats" : null, where);
  useEvents([], settings.reload);
  const change = async (section, name, value) => {
    settings.set(await put(`/memory/settings${group ? `?projectId=${group.projectId}` : ""}`, { [section]: { [name]: value } }));
    toast("Saved.");
  };
  const document = () => save(new Blob([JSON.stringify(settings.data, null, 2)], { type: "application/json" }), "settings.json");
  const signOut = () => remove("/session").then(loseSession);
  return html`<${Page} title="Settings" text="How sessions are kept, shortened and shown."
    actions=${html`<${Button} icon="download" disabled=${!settings.data} onClick=${document}>Download</>
      ${!telegram.inside && html`<${Button} icon="out" onClick=${signOut}>Sign out</>`}`}
    tools=${groups.length > 0 && html`<${Select} label="Memory" hidden value=${group?.projectId || ""}
      onChange=${(id) => setQuery({ project: id })} options=${[["", "Your own memory"], ...groups.map((one) => [one.projectId, `Group: ${one.displayName}`])]} />`}>
    ${group && !me.admin && html`<${Notice} tone="warn">Only admins can change these settings.</>`}
    <${Loaded} of=${projects.data ? settings : projects}>${(all) => html`<${Sections} key=${group?.projectId} all=${all} change=${change} />`}</>
    ${projects.data && html`<${Loaded} of=${stats}>${(found) => html`<${Stored} found=${found} />`}</>`}
  </>`;
}

function Sections({ all: { defaults, storage, keepitDecay, ui, autoDecay }, change }) {
  const base = keepitDecay.compressionBase;
  return html`
    <${Card} title="Versions"><${Segmented} label="Preset" value=${defaults.compressionPreset} onChange=${(one) => change("defaults", "compressionPreset", one)} options=${PRESETS} />
      <${Segmented} label="Model" value=${defaults.model} onChange=${(one) => change("defaults", "model", one)} options=${[["small", "Small"], ["big", "Big"]]} />
      <${Switch} label="Markers fade" hint="Off: all markers stay word for word." checked=${defaults.keepitDecayEnabled} onChange=${(on) => change("defaults", "keepitDecayEnabled", on)} />
      <${Switch} label="Add each session to the library" checked=${defaults.autoRegisterSessions} onChange=${(on) => change("defaults", "autoRegisterSessions", on)} /></>
    <${Card} title="Storage"><${Typed} label="Storage limit for versions" hint="For example 500MB or 1GB. Beyond that, the versions used longest ago are pruned." value=${storage.maxCacheSize} onSave=${(text) => change("storage", "maxCacheSize", text)} />
      <${Typed} label="Which versions stay" hint="all; a number for each session, such as 5; or a time, such as 30d." value=${String(storage.compressionRetention)}
        onSave=${(text) => change("storage", "compressionRetention", /^\d+$/.test(text) ? Number(text) : text)} /></>
    <${Card} title="How markers fade" text="The lowest weight that survives, before ratio and distance.">
      ${[["light", "Light"], ["moderate", "Moderate"], ["aggressive", "Aggressive"]].map(([level, label]) => html`<${Dial} key=${level} label=${label} value=${base[level]}
        onSave=${(value) => change("keepitDecay", "compressionBase", { [level]: value })} />`)}
      <${Dial} label="Pinned from" value=${keepitDecay.pinnedWeight} min=${0.5} onSave=${(value) => change("keepitDecay", "pinnedWeight", value)} />
      <${Typed} label="Sessions further back count as" type="number" min="1" max="100" value=${String(keepitDecay.maxSessionDistance)} onSave=${(text) => change("keepitDecay", "maxSessionDistance", Number(text))} /></>
    <${Card} title="At night" text="Unused sessions are compressed automatically.">
      <${Switch} label="Compress unused sessions" checked=${autoDecay.enabled} onChange=${(on) => change("autoDecay", "enabled", on)} />
      ${autoDecay.enabled && html`<${Segmented} label="When" value=${autoDecay.schedule} onChange=${(one) => change("autoDecay", "schedule", one)} options=${[["daily", "Daily"], ["weekly", "Weekly"], ["on-access", "When opened"]]} />
      <div class="grid">${[["createAfterDays", "Days until the first version"], ["aggressiveAfterDays", "Days until the shorter one"], ["pruneIntermediateAfterDays", "Days until others are pruned"]].map(([name, label]) => html`
        <${Typed} key=${name} label=${label} type="number" min="1" value=${String(autoDecay[name])} onSave=${(text) => change("autoDecay", name, Number(text))} />`)}
        ${[["createPreset", "First version"], ["aggressivePreset", "Shorter one"]].map(([name, label]) => html`<${Select} key=${name} label=${label} value=${autoDecay[name]} options=${PRESETS} onChange=${(one) => change("autoDecay", name, one)} />`)}</div>`}</>
    <${Card} title="Pages"><${Segmented} label="Sessions as" value=${ui.defaultView} onChange=${(one) => change("ui", "defaultView", one)} options=${[["timeline", "Timeline"], ["list", "List"]]} />
      <${Switch} label="Show tokens" checked=${ui.showTokenEstimates} onChange=${(on) => change("ui", "showTokenEstimates", on)} />
      <${Switch} label="Ask before deleting" hint="Erasing and resetting always ask." checked=${ui.confirmDestructiveActions} onChange=${(on) => change("ui", "confirmDestructiveActions", on)} /></>`;
}

/** A text that is saved when it loses the focus. */
function Typed({ value, onSave, ...more }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const save = async (event) => {
    if (text.trim() === value) return;
    await attempt(event.currentTarget, () => onSave(text.trim()), () => setText(value));
  };
  const keys = (event) => {
    const { key, currentTarget } = event;
    if (key === "Escape") {
      event.preventDefault();
      setText(value);
    }
    if (key === "Enter" || key === "Escape") setTimeout(() => currentTarget.blur());
  };
  return html`<${Text} ...${more} value=${text} onInput=${setText} onBlur=${save} onKeyDown=${keys} />`;
}

/** A share that is saved when the slider is released. */
function Dial({ value, onSave, ...more }) {
  const [now, setNow] = useState(value);
  const wish = useRef(null);
  const move = (one) => setNow((wish.current = one));
  useEffect(() => {
    // Not an answer to an earlier move.
    if (wish.current !== null && wish.current !== value) return;
    wish.current = null;
    setNow(value);
  }, [value]);
  const restore = () => {
    wish.current = null;
    setNow(value);
  };
  const save = useSpaced((wanted, slider) => attempt(slider, () => onSave(wanted), restore), 0, 1500, true);
  return html`<${Slider} ...${more} value=${now} step=${0.01} format=${(one) => one.toFixed(2)} onInput=${move} onChange=${save} />`;
}

function Stored({ found }) {
  return html`<${Card} title="Stored" text=${`Counted ${moment(found.at)}.`}>
    <${Table} label="Stored" left=${1} head=${["What", "Rows", "Size"]} rows=${found.stored.map((one) => [one.kind, number(one.rows), size(one.bytes)])} />
    <${Facts} items=${[["Whole database", size(found.database)], ["Tonight's cleanup", found.freed.rows ? `${plural(found.freed.rows, "version")}, ${size(found.freed.bytes)}` : "nothing"]]} /></>`;
}
