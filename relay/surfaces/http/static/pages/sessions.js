// Sessions: a project's conversations, the newest first, by month; search in them; suggestions.

import { html, useState } from "../lib/preact.js";
import { day, month, plural, tokens } from "../kit/format.js";
import { useEvents, useFetch, useList, useShortcut } from "../kit/hooks.js";
import { link, navigate, setQuery } from "../kit/router.js";
import { Badge, Button, Empty, Icon, List, Loaded, Page, Row, Search, Select } from "../kit/ui.js";
import { nameOf, register, Snippet, useProject } from "../parts/sessions.js";
import { Suggest } from "../parts/suggest.js";

export default function Sessions({ query, me }) {
  const { projects, project, may } = useProject(query.project, me);
  const [suggesting, setSuggesting] = useState(false);
  return html`<${Page} title="Sessions" text="Your conversations, to look at, shorten and bring back."
    actions=${html`<${Button} icon="spark" onClick=${() => setSuggesting(true)} disabled=${!project}>Suggest</>
      ${may && html`<${Button} kind="primary" icon="compose" disabled=${!project} onClick=${() => navigate("/compose", { project: project.projectId })}>Compose</>`}`}
    tools=${html`${(projects.data?.projects.length > 1 || project?.space === "group") && html`<${Select} label="Project" hidden value=${project?.projectId}
        onChange=${(id) => setQuery({ project: id, q: null })} options=${projects.data.projects.map((one) => [one.projectId, labelOf(one)])} />`}
      <${Search} label="Search in sessions" value=${query.q} onInput=${(q) => setQuery({ q })} />`}>
    <${Loaded} of=${projects} rows=${8}>${() => {
      if (!project) return html`<${Empty} icon="sessions" title="No conversations yet">What you say to Relay in Telegram appears here.</>`;
      return query.q ? html`<${Found} project=${project} words=${query.q} />` : html`<${Timeline} project=${project} may=${may} />`;
    }}</>
    ${suggesting && html`<${Suggest} project=${project} onClose=${() => setSuggesting(false)} />`}
  </>`;
}

// The name is set apart: after an Arabic one, the number would be to its left.
const labelOf = (one) => `\u2068${one.displayName}\u2069 · ${plural(one.sessions, "session")}${one.space === "group" ? " · group" : ""}`;

function Timeline({ project, may }) {
  const list = useList(`/memory/projects/${project.projectId}/sessions`, "sessions", {}, { id: "sessionId" });
  const { data: settings } = useFetch("/memory/settings", { projectId: project.projectId });
  const ui = settings?.ui || { defaultView: "timeline", showTokenEstimates: true };
  useEvents(["version", "composition"], list.reload);
  useShortcut("c", "Compress the focused session", () => {
    const focused = document.activeElement.closest?.(".row")?.querySelector("a.row-main");
    if (focused) navigate(`${focused.hash.slice(1).split("?")[0]}/compress`);
  });
  // The first page brings the linked ones; they come last.
  const rows = [...list.rows].sort((a, b) => (a.linked !== null) - (b.linked !== null));
  return html`<${List} list=${{ ...list, rows }} label="Sessions" group=${ui.defaultView === "timeline" ? grouped : undefined}
    row=${(one) => html`<${Line} one=${one} may=${may} project=${project} list=${list} counts=${ui.showTokenEstimates} />`}
    empty=${html`<${Empty} icon="sessions" title="No sessions here">Conversations off the record are never listed.</>`} />`;
}

const grouped = (one) => (one.linked === null ? month(one.firstTimestamp) : "Linked from other projects");

function Line({ one, may, project, list, counts }) {
  const path = `/sessions/${one.sessionId}`;
  return html`<${Row} href=${link(path)} title=${nameOf(one)} text=${one.title ? one.opening : ""}
    badges=${html`${one.registered && html`<${Badge} tone="accent" title="In the library" aria-label="In the library">M</>`}
      ${one.current && html`<${Badge} tone="good">running</>`}`}
    meta=${[day(one.firstTimestamp), counts && `${tokens(one.originalTokens)} tokens`, plural(one.originalMessages, "message"),
      one.markers > 0 && html`<${Icon} name="pin" label="Markers" /> ${one.markers}`, one.versions > 0 && plural(one.versions, "version"), one.linked].filter(Boolean)}
    actions=${[
      may && { label: "Compress", icon: "compress", run: () => navigate(`${path}/compress`) },
      { label: "Markers", icon: "pin", run: () => navigate(`${path}/markers`) },
      { label: "View original", icon: "source", run: () => navigate(`${path}/original`) },
      may && { label: "Use in a composition", icon: "compose", run: () => navigate("/compose", { project: project.projectId, add: one.sessionId }) },
      may && one.linked === null && { label: one.registered ? "Remove from library" : "Add to library", icon: "memory",
        run: () => register(project.projectId, one, one.registered).then(() => list.change(one.sessionId, { registered: !one.registered })) },
    ]} />`;
}

function Found({ project, words }) {
  const list = useList("/memory/search", "results", { text: words, projectId: project.projectId },
    { id: (one) => `${one.sessionId} ${one.messageId || one.versionId || one.at}` });
  return html`<${List} list=${list} label="Results"
    row=${(one) => html`<${Row} href=${link(`/sessions/${one.sessionId}${one.versionId ? `/versions/${one.versionId}` : one.messageId ? "/original" : ""}`, { message: one.messageId })}
      title=${html`<${Snippet} text=${one.snippet} />`}
      badges=${html`<${Badge}>${one.versionId ? `version ${one.versionId}` : one.messageId ? "message" : "summary"}</>`} meta=${[day(one.at)]} />`}
    empty=${html`<${Empty} icon="search" title="Nothing found">Try fewer or different words.</>`} />`;
}
