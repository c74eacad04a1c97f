// A page with every component of the kit, for tests. It replaces pages/memory.js.
import { html, useState } from "../lib/preact.js";
import { Chart } from "../kit/chart.js";
import { patch, remove } from "../kit/api.js";
import { ago, day, money, month, plural, tokens } from "../kit/format.js";
import { useEvents, useFetch, useList, useSelection, useShortcut } from "../kit/hooks.js";
import { link, setQuery } from "../kit/router.js";
import {
  ask, Badge, Button, Card, Check, Chips, confirm, Dialog, Empty, Facts, Icon, List, Loaded, Meter, Notice, Page, Row,
  Search, Segmented, Select, Slider, Switch, Table, Text, toast,
} from "../kit/ui.js";

const DAYS = Array.from({ length: 30 }, (_, at) => new Date(2026, 4, 1 + at).toISOString());
const COST = [{ label: "Cost", values: DAYS.map((_, at) => 0.05 + 0.04 * Math.sin(at)) }];
const KINDS = [["", "All"], ["fact", "Facts", 12], ["goal", "Goals", 3]];

export default function KitPage({ params, query, me }) {
  return params.memoryId ? html`<${One} id=${params.memoryId} />` : html`<${All} query=${query} me=${me} />`;
}

function One({ id }) {
  const fetched = useFetch(`/memories/${id}`);
  return html`<${Page} title="One memory"><${Loaded} of=${fetched}>${(data) => html`<${Card} title="Its words"><p class="words" dir="auto">${data.content}</p></>`}</></>`;
}

function All({ query, me }) {
  const list = useList("/memories", "memories", { q: query.q, kind: query.kind });
  const picked = useSelection();
  const [selecting, setSelecting] = useState(false);
  const [open, setOpen] = useState(false);
  useEvents(["memory"], list.reload);
  useShortcut("c", "Compress", () => setOpen(true));
  const drop = async (one) => {
    if (!(await confirm({ title: "Delete this memory?", text: one.content.slice(0, 100), action: "Delete", danger: true }))) return;
    await remove(`/memories/${one.id}`);
    list.drop(one.id);
    toast("Deleted.", { undo: list.reload });
  };
  const edit = (one) => ask({
    title: "Edit", label: "Memory", value: one.content, multiline: true,
    save: async (text) => list.change(one.id, await patch(`/memories/${one.id}`, { text })),
  });
  return html`<${Page} title="Memory" text=${list.total === null ? "" : plural(list.total, "memory", "memories")}
    actions=${html`<${Button} onClick=${() => setSelecting(!selecting)}>Select</><${Button} kind="primary" icon="add" onClick=${() => setOpen(true)}>Open</>`}
    tools=${html`<${Search} label="Search memories" value=${query.q} onInput=${(q) => setQuery({ q })} />
      <${Chips} label="Kind" value=${query.kind} options=${KINDS} onChange=${(kind) => setQuery({ kind })} />`}>
    ${selecting && html`<p role="status">${list.rows.filter((one) => picked.has(one.id)).length} selected</p>`}
    <${List} list=${list} label="Memories" group=${(one) => month(one.createdAt)} empty=${html`<${Empty} icon="memory" title="Nothing found">Try other words.</>`}
      row=${(one) => html`<${Row} title=${one.content} href=${link(`/memory/${one.id}`)} meta=${[day(one.createdAt), ago(one.createdAt, Date.parse("2026-06-01"))]}
        badges=${html`<${Badge} tone="accent" icon="pin">pinned</>`} selected=${picked.has(one.id)} onSelect=${selecting ? () => picked.toggle(one.id) : null}
        actions=${[{ label: "Edit", icon: "edit", run: () => edit(one) }, { label: "Delete", icon: "trash", danger: true, run: () => drop(one) }]} />`} />
    ${query.all && html`<${Parts} me=${me} />`}
    ${open && html`<${Dialog} title="Compress" onClose=${() => setOpen(false)} actions=${html`<${Button} onClick=${() => setOpen(false)}>Cancel</>
      <${Button} kind="primary" onClick=${() => remove("/refused")}>Compress</>`}><p>It is about 12,400 tokens.</p></>`}
  </>`;
}

function Parts({ me }) {
  const [weight, setWeight] = useState(0.8);
  const [mode, setMode] = useState("uniform");
  const [on, setOn] = useState(true);
  const [name, setName] = useState("");
  return html`<div class="stack">
    <${Notice} tone="warn">Two compositions use this version.</><${Notice}>${me.name} is signed in.</>
    <${Card} title="Version" text="What was made of it" actions=${html`<${Button} small icon="compress" onClick=${() => {}}>Compress</><${Button} small kind="danger" onClick=${() => {}}>Delete</>`}>
      <${Facts} items=${[["Tokens", tokens(12_400)], ["From", "3 May 2026"]]} />
      <${Segmented} label="Mode" value=${mode} onChange=${setMode} options=${[["uniform", "Uniform"], ["tiered", "Tiered"]]} />
      <${Slider} label="Weight" value=${weight} step=${0.05} format=${(value) => value.toFixed(2)} onInput=${setWeight} hint="Above 0.65 it survives." />
      <${Switch} label="Learn while we talk" hint="Each thing learned is announced." checked=${on} onChange=${setOn} />
      <${Check} label="Also the versions" checked=${on} onChange=${setOn} />
      <${Text} label="Name" value=${name} onInput=${setName} error=${name === "taken" ? "That name is taken." : ""} />
      <${Select} label="Level" value="light" onChange=${() => {}} options=${[["light", "Light"], ["strong", "Strong"]]} />
      <${Meter} label="Budget" value=${12_400} max=${16_000} text="12.4k of 16k" />
      <${Table} label="Tiers" head=${["Part", "Ratio"]} rows=${[["First", 10], ["Second", 20]]} left=${1} />
      <div class="cluster">${["plain", "accent", "good", "warn", "bad"].map((tone) => html`<${Badge} key=${tone} tone=${tone}>${tone}</>`)}<${Icon} name="info" label="More about it" /></div>
    </>
    <${Card} title="Cost"><${Chart} label="Cost by day, in dollars" days=${DAYS} series=${COST} format=${money} /></>
  </div>`;
}
