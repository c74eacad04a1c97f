// The markers of a session, and the editor of one: its passage, its weight, and whether it would survive.

import { html, useEffect, useState } from "../lib/preact.js";
import { post, put, remove } from "../kit/api.js";
import { useEvents, useFetch, useList, useShortcut } from "../kit/hooks.js";
import { link, navigate, route } from "../kit/router.js";
import { Badge, Button, Card, Chips, Empty, List, Loaded, Notice, Page, Row, Slider, Table, Text, confirm, toast } from "../kit/ui.js";
import { fatesOf, since } from "../parts/sessions.js";
import { Said } from "../parts/text.js";

const PRESETS = [[1, "Pinned"], [0.9, "Critical"], [0.75, "Important"], [0.5, "Notable"]];
const LINES = [[1, 30], [5, 30], [10, 30], [10, 50]];
const BARELY = 0.02;

export default function Markers({ params, query }) {
  const { sessionId, markerId } = params;
  if (markerId || query.message) return html`<${One} key=${markerId} sessionId=${sessionId} markerId=${markerId} query=${query} />`;
  return html`<${All} sessionId=${sessionId} />`;
}

function All({ sessionId }) {
  const path = `/sessions/${sessionId}`;
  const list = useList(`/memory${path}/keepits`, "markers", {}, { id: "markerId" });
  useEvents([], list.reload);
  const original = () => navigate(`${path}/original`);
  useShortcut("k", "Mark a passage", original);
  return html`<${Page} title="Markers" text="The higher its weight, the longer a passage stays word for word."
    actions=${html`<${Button} kind="primary" icon="pin" onClick=${original}>Mark a passage</>`}>
    <${List} list=${list} label="Markers" group=${(one) => `${one.weight.toFixed(2)} ${one.label}`}
      row=${(one) => html`<${Row} href=${link(`${path}/markers/${one.markerId}`)} title=${one.content}
        meta=${fatesOf(one)} />`}
      empty=${html`<${Empty} icon="pin" title="No markers">Open the original and mark what must survive, or write <code>##keepit0.80##</code> before it in the chat.</>`} />
  </>`;
}

function One({ sessionId, markerId, query }) {
  const session = useFetch(`/memory/sessions/${sessionId}`);
  const { projectId, keepitMarkers = [] } = session.data || {};
  const marker = keepitMarkers.find((one) => one.markerId === markerId);
  if (marker) return html`<${Editor} sessionId=${sessionId} projectId=${projectId} messageUuid=${marker.messageUuid} passage=${marker.content} weight=${marker.weight} marker=${marker} />`;
  if (projectId && !markerId) return html`<${Editor} sessionId=${sessionId} projectId=${projectId} messageUuid=${query.message} passage=${query.text || ""} weight=${0.75} />`;
  return html`<${Page} title="Marker"><${Loaded} of=${session}>${() => html`<${Empty} icon="pin" title="Not found">This marker is gone.</>`}</></>`;
}

function Editor({ sessionId, projectId, messageUuid, passage, weight: before, marker }) {
  const path = `/memory/sessions/${sessionId}/keepits`;
  const message = useMessage(sessionId, messageUuid);
  const settings = useFetch("/memory/settings", { projectId });
  const [text, setText] = useState(passage);
  const [weight, setWeight] = useState(before);
  const leave = () => navigate(`/sessions/${sessionId}/markers`, {}, { replace: true });
  const save = async () => {
    if (marker) await put(`${path}/${marker.markerId}`, { weight });
    else await post(path, { messageUuid, text: text.trim(), weight });
    toast(marker ? `Its weight is ${weight.toFixed(2)} now. Existing versions stay as they are.` : `Marked with ${weight.toFixed(2)}.`);
    leave();
  };
  const drop = async () => {
    if ((settings.data?.ui.confirmDestructiveActions ?? true) && !(await confirm({ title: "Remove this marker?", text: "Its message stays.", action: "Remove", danger: true }))) return;
    await remove(`${path}/${marker.markerId}`);
    const undo = async () => {
      const { markerId } = await post(path, { messageUuid, text: marker.content, weight: before });
      if (route.path === `/sessions/${sessionId}/markers`) navigate(`${route.path}/${markerId}`);
    };
    toast("Removed.", { undo });
    leave();
  };
  const said = message.data?.text || "";
  const absent = !marker && text.trim() && said && !said.toLowerCase().includes(text.trim().toLowerCase());
  return html`<${Page} title=${marker ? "Marker" : "New marker"} actions=${marker && html`<${Button} kind="danger" icon="trash" onClick=${drop}>Remove</>`}>
    <${Card} title="The message">${message.error ? html`<${Notice} tone="bad">${message.error.message}</>`
      : html`<blockquote class="quote tall" dir="auto" tabindex="0" aria-label="The message, with the passage marked">${said
        ? html`<${Said} text=${said} passages=${[{ content: text.trim() || said, position: marker?.position }]} />` : html`<mark>${passage}</mark>`}</blockquote>`}
      ${!marker && html`<${Text} label="The passage" hint="Empty: the whole message." multiline rows="2" value=${text} onInput=${setText} error=${absent ? "The message doesn't say that." : ""} />`}</>
    <${Card} title="Weight"><${Chips} label="Presets" value=${weight} onChange=${setWeight} options=${PRESETS} />
      <${Slider} label="Weight" value=${weight} min=${0} max=${1} step=${0.01} format=${(value) => value.toFixed(2)} onInput=${setWeight} /></>
    <${Loaded} of=${settings}>${({ keepitDecay }) => html`<${Decay} sessionId=${sessionId} weight=${weight} settings=${keepitDecay} />`}</>
    <div class="actions"><${Button} kind="primary" icon="check" disabled=${Boolean(absent || message.error)} onClick=${save}>${marker ? "Save the weight" : "Mark it"}</><${Button} onClick=${leave}>Cancel</></div>
  </>`;
}

// The thresholds of LINES by settings: they are the same for every session.
const asked = new Map();

/** Whether a weight would survive, in four lines. */
function Decay({ sessionId, weight, settings }) {
  const [lines, setLines] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const ask = ([sessionDistance, compressionRatio]) =>
      post("/memory/decay/preview", { sessionId, compressionRatio, aggressiveness: "aggressive", sessionDistance });
    const key = JSON.stringify(settings);
    if (!asked.has(key)) asked.set(key, Promise.all(LINES.map(ask)));
    asked.get(key).then(setLines, (error) => {
      asked.delete(key);
      setProblem(error);
    });
  }, [sessionId]);
  if (problem) return html`<${Notice} tone="bad">${problem.message}</>`;
  return html`<${Card} title="What would happen to it" text="Whether it stays word for word in an aggressive compression."><div aria-live="polite">
    <${Table} label="Decay" head=${["Sessions ago", "Threshold", "Fate"]} rows=${LINES.map(([ago, by], at) => [`${ago}, at ${by}:1`,
      lines ? lines[at].threshold.toFixed(2) : "…", lines ? html`<${Fate} weight=${weight} threshold=${lines[at].threshold} pinned=${settings.pinnedWeight} />` : ""])} /></div></>`;
}

function Fate({ weight, threshold, pinned }) {
  // In thousandths: 0.8 - 0.3 isn't 0.5 in floating point.
  const margin = Math.round(1000 * weight) - Math.round(1000 * threshold);
  if (weight < pinned && margin < 0) return html`<${Badge} tone="bad">SUMMARISED</>`;
  if (weight < pinned && margin < 1000 * BARELY) return html`<${Badge} tone="warn">BARELY SURVIVES</>`;
  return html`<${Badge} tone="good">SURVIVES</>`;
}

/** A message of a session, by its id: the first one after the number before its own. */
function useMessage(sessionId, messageUuid) {
  const { data, error } = useFetch(`/memory/sessions/${sessionId}/messages`, { after: since(messageUuid), limit: 1 });
  const found = data?.messages.find((one) => one.messageUuid === messageUuid);
  return { data: found, error: data && !found ? new Error("This message is gone.") : error };
}
