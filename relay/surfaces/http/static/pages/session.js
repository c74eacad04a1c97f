// A session: its numbers, versions and markers, and the actions on them.

import { html } from "../lib/preact.js";
import { download } from "../kit/api.js";
import { ago, day, moment, number, plural, ratio, tokens } from "../kit/format.js";
import { useEvents, useFetch, useSelection, useShortcut } from "../kit/hooks.js";
import { link, navigate } from "../kit/router.js";
import { Badge, Button, Card, Empty, Facts, Icon, IconButton, Loaded, openMenu, Page, Row } from "../kit/ui.js";
import { fatesOf, prune, register, useProject } from "../parts/sessions.js";

export default function SessionPage({ params, me }) {
  const path = `/sessions/${params.sessionId}`;
  const session = useFetch(`/memory${path}`);
  const settings = useFetch(session.data ? "/memory/settings" : null, { projectId: session.data?.projectId });
  useEvents(["version", "composition"], session.reload);
  useShortcut("c", "Compress", () => navigate(`${path}/compress`));
  useShortcut("k", "Markers", () => navigate(`${path}/markers`));
  const one = session.data;
  const { may } = useProject(one?.projectId, me);
  const menu = (event) => openMenu(event, [
    may && { label: one.registeredAt ? "Remove from library" : "Add to library", icon: "memory", run: () => register(one.projectId, one, one.registeredAt).then(session.reload) },
    may && { label: "Use in a composition", icon: "compose", run: () => navigate("/compose", { project: one.projectId, add: one.sessionId }) },
    { label: "Download the original", icon: "download", run: () => download(`/memory${path}/versions/original`, { format: "md" }, `session_${one.sessionId}_original.md`) },
  ]);
  return html`<${Page} title=${one ? one.title || `Session of ${day(one.firstTimestamp)}` : "Session"} text=${one && !one.title && one.opening}
    actions=${!session.error && html`${may && html`<${Button} kind="primary" icon="compress" onClick=${() => navigate(`${path}/compress`)}>Compress</>`}
      <${Button} icon="source" onClick=${() => navigate(`${path}/original`)}>Original</>
      ${one && html`<${IconButton} icon="more" label="More actions" aria-haspopup="menu" onClick=${menu} />`}`}>
    <${Loaded} of=${session}>${(one) => html`
      <${Card}><div class="cluster">${one.registeredAt && html`<${Badge} tone="accent" icon="memory">in the library</>`}
          ${one.current && html`<${Badge} tone="good">running</>`}${one.metadata.primaryTopics.map((topic) => html`<${Badge} key=${topic}>${topic}</>`)}</div>
        <${Facts} items=${[["Tokens", number(one.originalTokens)], ["Messages", number(one.originalMessages)], ["From", moment(one.firstTimestamp)],
          ["To", moment(one.lastTimestamp)], ["Last opened", ago(one.lastAccessed)], ["Project", one.metadata.projectName]]} /></>
      <${Versions} one=${one} may=${may} path=${path} reload=${session.reload} asks=${settings.data?.ui.confirmDestructiveActions ?? true} />
      <${Markers} one=${one} path=${path} />`}</>
  </>`;
}

function Versions({ one, may, path, reload, asks }) {
  const picked = useSelection();
  const versions = one.compressions;
  const chosen = versions.filter((each) => picked.has(each.versionId));
  const drop = async (which) => {
    if (await prune(one.sessionId, which, asks, reload)) picked.clear();
  };
  const compare = () => navigate(`${path}/compare`, { a: chosen[0].versionId, b: chosen[1].versionId });
  return html`<${Card} title="Versions" text=${chosen.length ? `${plural(chosen.length, "version")} selected, ${tokens(sum(chosen))} tokens` : "Shorter versions of this session."}
    actions=${chosen.length > 0 && html`<${Button} small icon="compare" disabled=${chosen.length !== 2} onClick=${compare}>Compare</>
      ${may && html`<${Button} small kind="danger" icon="trash" onClick=${() => drop(chosen)}>Prune</>`}`}>
    ${versions.length ? html`<div class="rows" role="list" aria-label="Versions">${versions.map((each) => html`<div role="listitem" key=${each.versionId}>
      <${Row} href=${link(`${path}/versions/${each.versionId}`)} title=${each.name} badges=${state(each)}
        selected=${picked.has(each.versionId)} onSelect=${each.status === "due" ? undefined : () => picked.toggle(each.versionId)} meta=${facts(each)}
        actions=${[
          each.status === "ready" && { label: "Download .md", icon: "download", run: () => save(path, each, "md") },
          each.status === "ready" && { label: "Download .jsonl", icon: "download", run: () => save(path, each, "jsonl") },
          may && each.status === "ready" && { label: "Compress it further", icon: "compress", run: () => navigate(`${path}/compress`, { source: each.versionId }) },
          may && each.status !== "due" && { label: "Prune", icon: "trash", danger: true, run: () => drop([each]) },
        ]} /></div>`)}</div>` : html`<${Empty} icon="compress" title="No versions yet">A version keeps what matters in fewer tokens.</>`}
  </>`;
}

const sum = (versions) => versions.reduce((total, each) => total + (each.outputTokens || 0), 0);
const save = (path, each, format) => download(`/memory${path}/versions/${each.versionId}`, { format }, `${each.name}.${format}`);

function state(each) {
  if (each.status === "due") return html`<${Badge} tone="warn">being made${each.total ? `, ${each.done} of ${each.total}` : ""}</>`;
  if (each.status === "failed") return html`<${Badge} tone="bad">failed</>`;
  return each.active && html`<${Badge} tone="good">in use</>`;
}

const facts = (each) => [
  each.error,
  each.outputTokens !== null && `${tokens(each.outputTokens)} tokens`,
  each.compressionRatio !== null && ratio(each.compressionRatio),
  each.status === "ready" && html`<${Icon} name="pin" label="Markers" /> ${each.keepitStats.preserved} of ${each.keepitStats.preserved + each.keepitStats.summarized}`,
  ago(each.createdAt),
  each.lastUsed && `used ${ago(each.lastUsed)}`,
  each.usedInCompositions > 0 && `in ${plural(each.usedInCompositions, "composition")}`,
  each.sourceVersion && `made from ${each.sourceVersion}`,
  each.fresh > 0 && `${plural(each.fresh, "message")} since`,
].filter(Boolean);

function Markers({ one, path }) {
  const weights = [...new Set(one.keepitMarkers.map((marker) => marker.weight))];
  const groups = weights.map((weight) => [weight, one.keepitMarkers.filter((marker) => marker.weight === weight)]);
  return html`<${Card} title="Markers" text="Passages that stay word for word, by weight."
    actions=${html`<${Button} small icon="pin" onClick=${() => navigate(`${path}/markers`)}>All markers</>`}>
    ${one.keepitMarkers.length ? groups.map(([weight, markers]) => html`<section key=${weight} class="stack tight" aria-label=${`Weight ${weight.toFixed(2)}`}>
      <h3>${weight.toFixed(2)} <span class="muted">${markers[0].label} · ${markers.length}</span></h3>
      <div class="rows" role="list" aria-label=${`Markers of weight ${weight.toFixed(2)}`}>${markers.slice(0, 5).map((marker) => html`<div role="listitem" key=${marker.markerId}>
        <${Row} href=${link(`${path}/markers/${marker.markerId}`)} title=${marker.content}
        meta=${fatesOf(marker)} /></div>`)}</div>
      ${markers.length > 5 && html`<p class="muted small">and ${markers.length - 5} more</p>`}</section>`)
      : html`<${Empty} icon="pin" title="No markers">Open the original and mark what must survive.</>`}
  </>`;
}
