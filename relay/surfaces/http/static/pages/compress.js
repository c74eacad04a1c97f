// The compression dialog: the settings of a version, with its preview.

import { html, useState } from "../lib/preact.js";
import { post } from "../kit/api.js";
import { money, number, ratio, tokens } from "../kit/format.js";
import { useFetch } from "../kit/hooks.js";
import { goBack } from "../kit/router.js";
import { Button, Card, Facts, IconButton, Loaded, Meter, Notice, Page, Segmented, Select, Slider, Switch, Text, toast } from "../kit/ui.js";
import { nameOf, usePreview } from "../parts/sessions.js";

const LEVELS = [["light", "Light"], ["moderate", "Moderate"], ["aggressive", "Aggressive"]];
const PRESETS = [["gentle", "Gentle"], ["standard", "Standard"], ["aggressive", "Aggressive"], ["custom", "Custom"]];
const TIERS = [[25, 25, "aggressive"], [75, 10, "moderate"], [100, 3, "light"]];
const levelOf = (one) => (one <= 5 ? "light" : one <= 15 ? "moderate" : "aggressive");

export default function Compress({ params, query }) {
  const session = useFetch(`/memory/sessions/${params.sessionId}`);
  const settings = useFetch(session.data ? "/memory/settings" : null, { projectId: session.data?.projectId });
  return html`<${Page} title="Compress" text=${session.data && nameOf(session.data)}>
    <${Loaded} of=${session}>${(one) => html`<${Loaded} of=${settings}>${({ defaults }) => html`<${Form} one=${one} defaults=${defaults} source=${query.source} />`}</>`}</>
  </>`;
}

function Form({ one, defaults, source: given }) {
  const path = `/memory/sessions/${one.sessionId}/versions`;
  const [mode, setMode] = useState("tiered");
  const [preset, setPreset] = useState(defaults.compressionPreset);
  const [tiers, setTiers] = useState(TIERS);
  const [by, setRatio] = useState(10);
  const [level, setLevel] = useState("");
  const [distance, setDistance] = useState("");
  const [keepit, setKeepit] = useState(defaults.keepitDecayEnabled ? "decay" : "preserve-all");
  const [how, setHow] = useState(defaults.model);
  const [skip, setSkip] = useState("0");
  const [source, setSource] = useState(given || "");
  const [again, setAgain] = useState(false);
  const shape = mode === "uniform"
    ? { mode, compactionRatio: by, aggressiveness: level || undefined }
    : { mode, tierPreset: preset, customTiers: preset === "custom" ? tiers.map(([endPercent, compactionRatio, aggressiveness]) => ({ endPercent, compactionRatio, aggressiveness })) : undefined };
  const asked = {
    ...shape, keepitMode: keepit, sourceVersion: source || undefined, skipFirstMessages: Number(skip) || 0,
    sessionDistance: Number(distance) || undefined, ...(how === "extract" ? { method: "extract" } : { method: "model", model: how }),
  };
  const preview = usePreview(path, { ...asked, preview: true });
  const make = async () => {
    const made = await post(path, { ...asked, again });
    toast(made.status === "ready" ? `${made.versionId} is ready.` : `${made.versionId} is being made.`);
    goBack(`/sessions/${one.sessionId}`);
  };
  const sources = one.compressions.filter((each) => each.status === "ready");
  return html`<div class="two">
    <div class="stack">
      <${Card}><${Segmented} label="How" value=${mode} onChange=${setMode} options=${[["tiered", "Tiered"], ["uniform", "Uniform"]]} />
        ${mode === "uniform" ? html`<${Slider} label="Ratio" value=${by} min=${2} max=${100} step=${1} format=${(value) => `${value}:1`} onInput=${setRatio} />
          <${Segmented} label="Level" value=${level || levelOf(by)} onChange=${setLevel} options=${LEVELS} />`
          : html`<${Select} label="Preset" value=${preset} onChange=${setPreset} options=${PRESETS} />
          ${preset === "custom" && html`<${Tiers} tiers=${tiers} change=${setTiers} />`}`}</>
      <${Card} title="Markers"><${Segmented} label="Which stay word for word" value=${keepit} onChange=${setKeepit}
          options=${[["decay", "Those that survive"], ["preserve-all", "All"], ["ignore", "None"]]} />
        ${keepit === "decay" && html`<${Text} label="Sessions ago" hint="Empty: its real place. The longer ago, the less survives." inputmode="numeric" type="number" min="1" value=${distance} onInput=${setDistance} />`}</>
      <${Card} title="Made by"><${Segmented} label="Model" hidden value=${how} onChange=${setHow} options=${[["small", "Small model"], ["big", "Big model"], ["extract", "None, free"]]} />
        ${sources.length > 0 && html`<${Select} label="Made from" value=${source} onChange=${setSource} options=${[["", "The original"], ...sources.map((each) => [each.versionId, each.name])]} hint="Each pass loses something, so the original is best." />`}
        <${Text} label="First messages kept unchanged" inputmode="numeric" type="number" min="0" value=${skip} onInput=${setSkip} />
        <${Switch} label="Make it even if the same version exists" checked=${again} onChange=${setAgain} /></>
    </div>
    <${Preview} of=${preview} total=${one.originalTokens} make=${make} />
  </div>`;
}

function Preview({ of, total, make }) {
  const { data, error, waiting } = of;
  const blocked = !data || Boolean(error) || !data.mayMake || Boolean(data.unavailable);
  return html`<${Card} title="Preview" class="card sticky first" aria-busy=${waiting}>
    <div class="stack" role="status">
    ${error ? html`<${Notice} tone="bad">${error.message}</>` : data && html`
      <${Meter} label=${`about ${tokens(data.estimate.outputTokens)} tokens`} value=${data.estimate.outputTokens} max=${Math.max(total, data.inputTokens)} text=${`of ${tokens(data.inputTokens)}`} />
      <${Facts} items=${[["Messages", `${number(data.estimate.outputMessages)} of ${number(data.inputMessages)}`], ["Ratio", ratio(data.estimate.compressionRatio)],
        ["Price", data.estimate.costUsd === null ? "unknown" : data.estimate.costUsd === 0 ? "free" : `about ${money(data.estimate.costUsd)}`]]} />
      <p>${verdict(data.keepit, data.thresholds)}</p>
      ${data.unavailable && html`<${Notice} tone="warn">${data.unavailable} Without a model it can be made at once.</>`}
      ${!data.mayMake && html`<${Notice} tone="warn">Only admins can make versions in this group.</>`}`}
    </div>
    <${Button} kind="primary" icon="compress" disabled=${blocked} onClick=${make}>Make it</>
  </>`;
}

function verdict({ preserved, summarized }, thresholds) {
  if (!preserved && !summarized) return "There are no markers in it.";
  const ends = [...new Set([thresholds[0], thresholds.at(-1)])].map((one) => one.toFixed(2));
  const least = ` (weight ≥ ${ends.join(" to ")}${ends.length > 1 ? ", by age" : ""})`;
  return `Will keep ${preserved}${least}, will summarise ${summarized}.`;
}

function Tiers({ tiers, change }) {
  const set = (at, place, value) => change(tiers.map((one, here) => (here === at ? one.map((old, there) => (there === place ? value : old)) : one)));
  // In the middle of the widest one.
  const add = () => {
    const start = (at) => (at ? tiers[at - 1][0] : 0);
    const at = tiers.reduce((best, [end], here) => (end - start(here) > tiers[best][0] - start(best) ? here : best), 0);
    change([...tiers.slice(0, at), [Math.round((start(at) + tiers[at][0]) / 2), 10, "moderate"], ...tiers.slice(at)]);
  };
  return html`<div class="stack tight" role="group" aria-label="Tiers, oldest first">
    ${tiers.map(([end, by, level], at) => html`<div class="tier" key=${at}>
      <${Text} label=${at ? "to %" : "Oldest to %"} type="number" min="1" max="100" inputmode="numeric" value=${end} disabled=${at === tiers.length - 1} onInput=${(text) => set(at, 0, Number(text))} />
      <${Text} label="Ratio" type="number" min="2" max="100" inputmode="numeric" value=${by} onInput=${(text) => set(at, 1, Number(text))} />
      <${Select} label="Level" value=${level} onChange=${(value) => set(at, 2, value)} options=${LEVELS} />
      <${IconButton} icon="close" label=${`Remove tier ${at + 1}`} disabled=${tiers.length < 2 || at === tiers.length - 1} onClick=${() => change(tiers.filter((_, here) => here !== at))} /></div>`)}
    <${Button} small icon="add" disabled=${tiers.length >= 10} onClick=${add}>Add a tier</></div>`;
}
