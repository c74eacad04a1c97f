// A session's original: every message as it was said, with its marked passages.

import { html } from "../lib/preact.js";
import { download } from "../kit/api.js";
import { moment } from "../kit/format.js";
import { useEvents, useFetch, useList } from "../kit/hooks.js";
import { link, navigate } from "../kit/router.js";
import { Badge, Button, Empty, Icon, IconButton, List, Page } from "../kit/ui.js";
import { since } from "../parts/sessions.js";
import { Said } from "../parts/text.js";

export default function Original({ params, query }) {
  const path = `/sessions/${params.sessionId}`;
  // Of a search: what was found, and what followed.
  const list = useList(`/memory${path}/messages`, "messages", { after: query.message && since(query.message) }, { id: "messageUuid" });
  const session = useFetch(`/memory${path}`);
  useEvents([], () => (list.reload(), session.reload()));
  const save = (format) => download(`/memory${path}/versions/original`, { format }, `session_${params.sessionId}_original.${format}`);
  const of = (message) => (session.data?.keepitMarkers || []).filter((one) => one.messageUuid === message.messageUuid);
  return html`<${Page} title=${session.data?.title || "Original"} text=${list.rows[0]?.messageUuid === (query.message || 0) ? html`Starts at the message you found. <a href=${link(`${path}/original`)}>From the beginning</a>` : "As it was said. Nothing changes it."}
    actions=${html`<${Button} icon="download" onClick=${() => save("md")}>Markdown</><${Button} icon="download" onClick=${() => save("jsonl")}>JSON lines</>`}>
    <${List} list=${list} label="Messages" empty=${html`<${Empty} icon="source" title="Nothing was said here" />`}
      row=${(one) => html`<article class="said ${one.role}"><header class="cluster"><strong dir="auto">${one.role === "assistant" ? "Relay" : one.name || "You"}</strong>
        <span class="muted small">${moment(one.at)}</span>${one.untrusted && html`<${Badge}>others' words</>`}
        ${of(one).map((marker) => html`<a key=${marker.markerId} class="small" href=${link(`${path}/markers/${marker.markerId}`)}><${Icon} name="pin" label="Markers" /> ${marker.weight.toFixed(2)}</a>`)}
        <${IconButton} icon="pin" label="Mark a passage of it" onClick=${() => navigate(`${path}/markers`, { message: one.messageUuid, text: chosenIn(one) })} /></header>
        <${Said} text=${one.text} passages=${of(one)} /></article>`} />
  </>`;
}

/** The text selected with the mouse, if it is in this message. */
function chosenIn(message) {
  const text = String(getSelection()).trim();
  return text && text.length < 2000 && message.text.includes(text) ? text : null;
}
