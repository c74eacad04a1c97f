// The composition builder: sessions in order within a budget of tokens, each as the version that fits.

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { download, get, post } from "../kit/api.js";
import { day, number, percent, plural, tokens } from "../kit/format.js";
import { useEvents, useFetch, useList, useShortcut } from "../kit/hooks.js";
import { link, navigate } from "../kit/router.js";
import { Badge, Button, Card, Dialog, Empty, List, Loaded, Meter, Notice, Page, Row, Segmented, Select, Slider, Text, confirm, toast } from "../kit/ui.js";
import { Parts } from "../parts/composition.js";
import { dropComposition, nameOf, usePreview, useProject } from "../parts/sessions.js";
import { Suggest } from "../parts/suggest.js";

// The context window of the models.
const WINDOW = 200_000;
const STATUS = { making: ["warn", "being made"], ready: ["good", "ready"], over: ["bad", "over its budget"], failed: ["bad", "failed"] };

// What was changed and not composed yet, by its path: it is there when you come back.
const drafts = new Map();

export default function Compose({ params, query, me }) {
  const composition = useFetch(params.compositionId ? `/memory/compositions/${params.compositionId}` : null);
  const { projects, project, may } = useProject(composition.data?.projectId || query.project, me);
  if (params.compositionId && !composition.data) return html`<${Page} title="Compose"><${Loaded} of=${composition}>${() => null}</></>`;
  if (!project) return html`<${Page} title="Compose"><${Loaded} of=${projects}>${() => html`<${Empty} icon="compose" title="Nothing to compose yet">Compositions are made from past conversations.</>`}</></>`;
  return html`<${Builder} key=${`${project.projectId} ${params.compositionId || ""} ${query.add || ""}`} project=${project} may=${may} projects=${projects.data.projects}
    made=${composition.data} reload=${composition.reload} add=${query.add} />`;
}

function Builder({ project, may, projects, made, reload, add }) {
  const path = `/memory/projects/${project.projectId}/compositions`;
  const others = useList(path, "compositions", {}, { id: "compositionId" });
  const settings = useFetch("/memory/settings", { projectId: project.projectId });
  const key = `${path}/${made?.compositionId || ""}`;
  const [draft, setDraft] = useState(() => drafts.get(key) || {
    name: made?.name || "", budget: made?.totalTokenBudget || 16_000, strategy: made?.strategy || "equal", parts: (made?.components || []).map(partOf),
  });
  const { name, budget, strategy, parts } = draft;
  const change = (fields) => setDraft((old) => ({ ...old, ...fields }));
  const first = useRef(draft);
  useEffect(() => {
    if (draft !== first.current) drafts.set(key, draft);
  }, [draft]);
  const [open, setOpen] = useState(null);
  const asks = settings.data?.ui.confirmDestructiveActions ?? true;
  useEvents(["composition", "version"], () => (others.reload(), made && reload()));
  useShortcut("a", "Add a session", () => setOpen("add"));
  useEffect(() => {
    for (const id of (add || "").split(",").filter(Boolean)) get(`/memory/sessions/${id}`).then(take, (error) => toast(error.message, { tone: "bad" }));
  }, []);
  const take = (one) => setDraft((old) => (old.parts.some((part) => part.sessionId === one.sessionId) ? old
    : { ...old, parts: [...old.parts, { sessionId: one.sessionId, title: nameOf(one), versionId: "auto", allocation: "" }] }));
  const request = {
    name: name.trim() || "Preview", totalTokenBudget: budget, strategy,
    components: parts.map(({ sessionId, versionId, allocation, recompress }) => ({
      sessionId, versionId, allocation: Number(allocation) || undefined, recompressSettings: recompress })),
  };
  const preview = usePreview(path, parts.length ? { ...request, preview: true } : null);
  const compose = async () => {
    const done = await post(path, { ...request, outputFormat: "both", replaces: made?.compositionId });
    drafts.delete(key);
    toast(done.status === "making" ? "Its versions are being made first." : done.status === "ready" ? "It's ready." : "It's over its budget.");
    if (made) reload();
    else navigate(`/compose/${done.compositionId}`, {}, { replace: true });
    others.reload();
  };
  const drop = async (one) => {
    if (!(await dropComposition(one, asks))) return;
    others.reload();
    if (made?.compositionId === one.compositionId) navigate("/compose", { project: project.projectId }, { replace: true });
  };
  const states = new Map((made?.components || []).map((one) => [one.sessionId, one.status]));
  const planned = new Map((preview.data?.components || []).map((one) => [one.sessionId, one]));
  return html`<${Page} title=${made ? made.name : "Compose"} text="Put past conversations together, and begin a new one with them." wide
    actions=${made && html`<${Badge} tone=${STATUS[made.status][0]}>${STATUS[made.status][1]}</><${Done} one=${made} may=${may} />`}>
    ${made?.error && html`<${Notice} tone="bad">${made.error}</>`}
    ${!may && html`<${Notice} tone="warn">Only admins can compose in this group.</>`}
    <div class="two">
      <div class="stack">
        ${!made && projects.length > 1 && html`<${Select} label="Project" value=${project.projectId} onChange=${(id) => navigate("/compose", { project: id }, { replace: true })}
          options=${projects.map((one) => [one.projectId, one.displayName])} />`}
        <${Card} title="Sessions, in order" text=${parts.length ? plural(parts.length, "part") : ""}>
          <${Parts} parts=${parts} planned=${planned} states=${states} change=${(now) => change({ parts: now })} />
          <div class="actions"><${Button} icon="add" onClick=${() => setOpen("add")}>Add session</>
            <${Button} icon="sessions" onClick=${() => current(project).then(take)}>Current session</>
            <${Button} icon="spark" onClick=${() => setOpen("suggest")}>Suggest</></div></></div>
      <div class="stack sticky"><${Card} title="Budget">
        <${Total} data=${preview.data} budget=${budget} made=${made} parts=${parts} />
        ${preview.error && html`<${Notice} tone="bad">${preview.error.message}</>`}
        <${Slider} label="Tokens" value=${budget} min=${1000} max=${100_000} step=${1000} format=${number} onInput=${(now) => change({ budget: now })} />
        <${Segmented} label="Shared" value=${strategy} onChange=${(now) => change({ strategy: now })} options=${[["equal", "Equally"], ["recency", "Favour recent"], ["proportional", "By size"]]} />
        ${!made && html`<${Text} label="Name" value=${name} onInput=${(now) => change({ name: now })} maxlength="64" hint="Then /new with the name begins with it." />`}
        <div class="actions"><${Button} kind="primary" icon="compose" disabled=${!may || !parts.length || !(made || name.trim()) || made?.status === "making"} onClick=${compose}>${made ? "Compose again" : "Compose"}</>
          <${Button} icon="source" disabled=${!preview.data} onClick=${() => setOpen("preview")}>Preview</></div></></div>
    </div>
    ${others.rows.length > 0 && html`<section class="stack"><h2>Compositions here</h2><${List} list=${others} label="Compositions"
      row=${(one) => html`<${Row} href=${link(`/compose/${one.compositionId}`)} title=${one.name} badges=${html`<${Badge} tone=${STATUS[one.status][0]}>${STATUS[one.status][1]}</>`}
        meta=${[one.totalTokens !== null && `${tokens(one.totalTokens)} tokens`, plural(one.components, "session"), day(one.createdAt), one.usedInSessions.length > 0 && `used ${plural(one.usedInSessions.length, "time")}`].filter(Boolean)}
        actions=${[may && one.status === "ready" && { label: "Begin with it", icon: "next", run: () => begin(one) },
          one.totalTokens !== null && { label: "Download .zip", icon: "download", run: () => save(one, "zip") },
          may && { label: "Drop", icon: "trash", danger: true, run: () => drop(one) }]} />`} /></section>`}
    ${open === "add" && html`<${Choose} project=${project} parts=${parts} onChoose=${take} onClose=${() => setOpen(null)} />`}
    ${open === "suggest" && html`<${Suggest} project=${project} onClose=${() => setOpen(null)} onChoose=${(found) => found.forEach(take)} />`}
    ${open === "preview" && html`<${Plan} plan=${preview.data} parts=${parts} onClose=${() => setOpen(null)} />`}
  </>`;
}

const partOf = (one) => ({
  sessionId: one.sessionId, title: nameOf(one), recompress: one.recompress || undefined,
  versionId: one.recompress ? "auto" : one.requestedVersion, allocation: one.requestedAllocation || "",
});

/** The running session of a project. */
async function current(project) {
  const { sessions } = await get(`/memory/projects/${project.projectId}/sessions`, { limit: 1 });
  const found = sessions.find((one) => one.current);
  if (!found) throw new Error("No conversation is running in this project.");
  return found;
}

/** The actions on an existing composition. */
function Done({ one, may }) {
  return html`${one.totalTokens !== null && html`<${Button} icon="download" onClick=${() => save(one, "md")}>Export Markdown</>`}
    ${may && one.status === "ready" && html`<${Button} kind="primary" icon="next" onClick=${() => begin(one)}>Begin with it</>`}`;
}

const save = (one, format) => download(`/memory/compositions/${one.compositionId}`, { format }, `${one.name}.${format}`);

async function begin(one) {
  if (!(await confirm({ title: `Begin with “${one.name}”?`, text: "The running conversation of its project ends; the next message begins a new one with this.", action: "Begin" }))) return;
  await post(`/memory/compositions/${one.compositionId}/use`);
  toast("The next conversation begins with it.");
}

/** The budget: how much of it and of the context window is used. */
function Total({ data, budget, made, parts }) {
  const used = parts.length ? data?.totalTokens ?? made?.totalTokens ?? 0 : 0;
  return html`<${Meter} label=${`${data ? "about " : ""}${number(used)} tokens`} value=${used} max=${budget} text=${`of ${number(budget)}, ${percent(used / budget)}`} />
    <${Meter} label="Context window" value=${budget} max=${WINDOW} text=${`${percent(budget / WINDOW, 1)} of ${tokens(WINDOW)}`} />
    ${data?.toMake > 0 && html`<p class="muted small">${plural(data.toMake, "version")} will be made first.</p>`}`;
}

function Choose({ project, parts, onChoose, onClose }) {
  const list = useList(`/memory/projects/${project.projectId}/sessions`, "sessions", {}, { id: "sessionId" });
  const chosen = new Set(parts.map((part) => part.sessionId));
  return html`<${Dialog} title="Add a session" onClose=${onClose} actions=${html`<${Button} kind="primary" onClick=${onClose}>Done</>`}>
    <${List} list=${list} label="Sessions" row=${(one) => html`<${Row} title=${nameOf(one)} icon=${chosen.has(one.sessionId) ? "check" : "add"} onOpen=${() => onChoose(one)}
      meta=${[day(one.firstTimestamp), `${tokens(one.originalTokens)} tokens`, chosen.has(one.sessionId) && "added"].filter(Boolean)} />`} empty=${html`<${Empty} icon="sessions" title="No sessions here" />`} /></>`;
}

const REASONS = { asked: "as chosen", fits: "it fits in full", best: "fits best", new: "will be made" };

function Plan({ plan, parts, onClose }) {
  return html`<${Dialog} title="Preview" onClose=${onClose} actions=${html`<${Button} kind="primary" onClick=${onClose}>Close</>`}>
    ${plan.components.map((one, at) => html`<div key=${one.sessionId} class="part-title"><strong dir="auto">${at + 1}. ${parts.find(({ sessionId }) => sessionId === one.sessionId)?.title}</strong>
      <span class="muted">${one.versionId}, ${REASONS[one.reason] || ""}${one.since && `, without ${one.since} since`} · about ${tokens(one.estimate)} of ${tokens(one.originalTokens)} tokens</span></div>`)}
    <p>Together about ${number(plan.totalTokens)} of ${number(plan.totalTokenBudget)} tokens.</p></>`;
}
