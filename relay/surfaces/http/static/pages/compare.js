// Two versions of a session side by side: settings, sizes, markers that only one kept, and their texts.

import { html } from "../lib/preact.js";
import { number, ratio } from "../kit/format.js";
import { useFetch } from "../kit/hooks.js";
import { setQuery } from "../kit/router.js";
import { Card, Empty, Icon, Loaded, Page, Select, Table } from "../kit/ui.js";
import { labelOf, Rows, settingOf } from "../parts/text.js";

export default function Compare({ params, query }) {
  const path = `/memory/sessions/${params.sessionId}`;
  const listed = useFetch(`${path}/versions`, { limit: 200 });
  const ready = (listed.data?.versions || []).filter((one) => one.status === "ready");
  const a = query.a || ready[1]?.versionId;
  const b = query.b || ready[0]?.versionId;
  const found = useFetch(a && b && a !== b ? `${path}/compare` : null, { a, b });
  const pick = (label, value, key) => html`<${Select} label=${label} value=${value} onChange=${(id) => setQuery({ a, b, [key]: id })}
    options=${ready.map((one) => [one.versionId, one.name])} />`;
  return html`<${Page} title="Compare" wide tools=${ready.length > 1 && html`<div class="pair">${pick("First", a, "a")}${pick("Second", b, "b")}</div>`}>
    <${Loaded} of=${listed}>${() => {
      if (ready.length < 2) return html`<${Empty} icon="compare" title="Two versions are needed">Make another one of this session first.</>`;
      if (a === b) return html`<${Empty} icon="compare" title="Choose two different versions" />`;
      return html`<${Loaded} of=${found}>${(both) => html`<${Both} ...${both} />`}</>`;
    }}</>
  </>`;
}

function Both({ a, b, onlyA, onlyB }) {
  const names = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  const differing = names.filter((name) => settingOf(a.settings[name] ?? null) !== settingOf(b.settings[name] ?? null));
  const rows = [
    ["Tokens", number(a.outputTokens), number(b.outputTokens)],
    ["Messages", number(a.outputMessages), number(b.outputMessages)],
    ["Ratio", ratio(a.compressionRatio), ratio(b.compressionRatio)],
    ["Markers kept", String(a.keepitStats.preserved), String(b.keepitStats.preserved)],
    ...differing.map((name) => [labelOf(name), settingOf(a.settings[name] ?? null), settingOf(b.settings[name] ?? null)]),
  ];
  const lone = (one, markers) => markers.length > 0 && html`<h3><${Icon} name="pin" /> Only in ${one.versionId}</h3><ul class="lines">${markers.map((marker) => html`
    <li key=${marker.markerId} dir="auto"><span class="muted">${marker.weight.toFixed(2)}</span> ${marker.content}</li>`)}</ul>`;
  return html`<${Card} title="What differs"><${Table} label="Settings and sizes" head=${["What", a.versionId, b.versionId]} rows=${rows} />
      ${lone(a, onlyA)}${lone(b, onlyB)}</>
    <div class="pair">${[a, b].map((one) => html`<${Card} key=${one.versionId} title=${one.name}><div class="side" role="region" aria-label=${`Text of ${one.versionId}`} tabindex="0"><${Rows} rows=${one.rows} /></div></>`)}</div>`;
}
