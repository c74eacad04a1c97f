// The parts of a composition in order. They move with the handle: dragged, or with the arrow keys while it has the focus.

import { html, useLayoutEffect, useRef, useState } from "../lib/preact.js";
import { tokens } from "../kit/format.js";
import { Badge, Empty, IconButton, Select, Text } from "../kit/ui.js";

/** `planned`: what the preview says of each session. `states`: of those composed. `change`: takes the new parts. */
export function Parts({ parts, planned, states, change }) {
  const box = useRef(null);
  const [said, setSaid] = useState("");
  const [dragged, setDragged] = useState(null);
  const moved = useRef(null);
  useLayoutEffect(() => {
    // An element that moves in the page loses the focus.
    moved.current?.focus();
    moved.current = null;
  });
  if (!parts.length) return html`<${Empty} icon="compose" title="No sessions yet">Add some. The text has them in this order.</>`;
  const set = (at, fields) => change(parts.map((one, here) => (here === at ? { ...one, ...fields } : one)));
  const move = (from, to) => {
    if (to < 0 || to >= parts.length || to === from) return;
    const next = [...parts];
    next.splice(to, 0, ...next.splice(from, 1));
    change(next);
    setSaid(`${parts[from].title} is number ${to + 1} of ${parts.length}.`);
  };
  const keys = (event, at) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    moved.current = event.currentTarget;
    move(at, at + step);
  };
  const follow = (event) => {
    if (dragged === null) return;
    const rows = [...box.current.children];
    const over = rows.findIndex((row) => event.clientY < row.getBoundingClientRect().bottom);
    const to = over < 0 ? rows.length - 1 : over;
    const at = parts.findIndex((one) => one.sessionId === dragged);
    if (to !== at) move(at, to);
  };
  const grab = (event, id) => {
    // The list keeps the pointer. A handle moves in the page, and would lose it.
    box.current.setPointerCapture(event.pointerId);
    setDragged(id);
  };
  const drop = () => setDragged(null);
  return html`<ol class="parts" ref=${box} onPointerMove=${follow} onPointerUp=${drop} onPointerCancel=${drop}>${parts.map((one, at) => {
    const [plan, state] = [planned.get(one.sessionId), states.get(one.sessionId)];
    return html`<li key=${one.sessionId} class="part ${dragged === one.sessionId ? "dragged" : ""}">
      <div class="part-head"><${IconButton} icon="drag" label=${`Move ${one.title}, ${at + 1} of ${parts.length}: arrow keys`} class="icon-button drag" onClick=${() => {}}
          onKeyDown=${(event) => keys(event, at)} onPointerDown=${(event) => grab(event, one.sessionId)} />
        <span class="part-title"><strong dir="auto">${one.title}</strong><span class="muted small">${plan ? `${plan.versionId} · about ${tokens(plan.estimate)} of ${tokens(plan.originalTokens)} tokens` : " "}</span></span>
        ${state === "gone" && html`<${Badge}>version gone</>`}${state === "making" && html`<${Badge} tone="warn">being made</>`}
        <${IconButton} icon="close" label=${`Leave out ${one.title}`} onClick=${() => change(parts.filter((_, here) => here !== at))} /></div>
      <div class="part-how"><${Select} label="Version" value=${one.recompress ? "settings" : one.versionId} onChange=${(versionId) => set(at, { versionId, recompress: undefined })} options=${choices(one, plan)} />
        <${Text} label="Tokens" type="number" min="1" inputmode="numeric" placeholder=${plan?.allocation ? `auto ${tokens(plan.allocation)}` : "auto"} value=${one.allocation} onInput=${(allocation) => set(at, { allocation })} /></div>
    </li>`;
  })}</ol><p class="sr-only" role="status">${said}</p>`;
}

function choices(one, plan) {
  const known = (plan?.versions || []).map(({ versionId, tokens: size }) => [versionId, `${versionId}, ${tokens(size)} tokens`]);
  const own = one.versionId.startsWith("v") && !known.some(([id]) => id === one.versionId) ? [[one.versionId, one.versionId]] : [];
  return [["auto", "What fits best"], ...(one.recompress ? [["settings", "With your own settings"]] : []), ["original", `Original${plan ? `, ${tokens(plan.originalTokens)} tokens` : ""}`], ...own, ...known, ["new", "A new one"]];
}
