// Basic components. Import from kit/ui.js.
//
//   <${Button} kind="primary" icon="add" onClick=${save}>Add</>   kind: primary, plain (default), danger, quiet.
//       While onClick's promise runs, the button waits; a Problem that it throws is shown. Pages catch nothing.
//   <${IconButton} icon="trash" label="Delete" onClick=${…} />
//   <${Card} title="Versions" actions=${html`…`}>…</>      <${Facts} items=${[["Tokens", "12.4k"]]} />
//   <${Badge} tone="good">active</>      tone: plain, accent, good, warn, bad
//   <${Meter} label="Budget" value=${3} max=${8} text="3 of 8" />
//   <${Empty} icon="memory" title="Nothing yet" action=${html`…`}>What to do about it.</>
//   <${Loaded} of=${fetched}>${(data) => html`…`}</>        skeleton, error with Retry, or the data of useFetch
//   <${Table} label="Tiers" head=${["Part", "Ratio"]} rows=${[["First", "10:1"]]} left=${1} />     the columns from that one on are numbers
//   <${Notice} tone="warn">…</>

import { html, useRef, useState } from "../lib/preact.js";
import { Icon } from "./icons.js";

/** Runs an action. If it throws: calls `restore`, and shows the Problem below the element's control, in its dialog or as a toast. */
export async function attempt(element, action, restore) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    restore?.();
    (element?.isConnected ? element : document.body).dispatchEvent(new CustomEvent("problem", { detail: error.message, bubbles: true }));
    if (error.status === undefined) console.error(error);
    return undefined;
  }
}

export function Button({ kind = "plain", icon, small, onClick, disabled, children, ...more }) {
  const [busy, setBusy] = useState(false);
  // At once, while `busy` shows only what takes long.
  const running = useRef(false);
  const press = async (event) => {
    if (running.current || !onClick) return;
    running.current = true;
    const timer = setTimeout(() => setBusy(true), 120);
    await attempt(event.currentTarget, () => onClick(event));
    running.current = false;
    clearTimeout(timer);
    setBusy(false);
  };
  return html`<button type="button" class="button ${kind} ${small ? "small" : ""}" disabled=${disabled} aria-busy=${busy} onClick=${press} ...${more}>
    ${icon && html`<${Icon} name=${icon} />`}<span>${children}</span>
  </button>`;
}

export function IconButton({ icon, label, onClick, ...more }) {
  return html`<button type="button" class="icon-button" aria-label=${label} title=${label}
    onClick=${(event) => attempt(event.currentTarget, () => onClick(event))} ...${more}><${Icon} name=${icon} /></button>`;
}

export function Card({ title, text, actions, children, ...more }) {
  return html`<section class="card" ...${more}>
    ${(title || actions) && html`<header class="card-head"><div><h2>${title}</h2>${text && html`<p class="muted">${text}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}</header>`}
    ${children}
  </section>`;
}

export function Facts({ items }) {
  const shown = items.filter(([, value]) => (value ?? "") !== "");
  return html`<dl class="facts">${shown.map(([label, value]) => html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export const Badge = ({ tone = "plain", icon, children, ...more }) =>
  html`<span class="badge ${tone}" ...${more}>${icon && html`<${Icon} name=${icon} />`}${children}</span>`;

export function Meter({ label, value, max = 1, text, tone = "" }) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return html`<div class="meter ${tone || (value > max ? "bad" : "")}">
    <div class="meter-words"><span>${label}</span><span class="muted">${text}</span></div>
    <div class="meter-bar" role="meter" aria-label=${label} aria-valuenow=${value} aria-valuemin="0" aria-valuemax=${max} aria-valuetext=${text}>
      <div style=${{ width: `${100 * share}%` }}></div></div>
  </div>`;
}

export const Empty = ({ icon = "info", title, children, action }) =>
  html`<div class="empty" role="status"><${Icon} name=${icon} /><h2>${title}</h2>${children && html`<p>${children}</p>`}${action}</div>`;

export const ErrorState = ({ error, retry }) =>
  html`<div class="empty bad" role="alert"><${Icon} name="warning" /><h2>${error?.status === 404 ? "Not found" : "That didn't work"}</h2>
    <p>${error?.message}</p>${retry && error?.status !== 404 && html`<${Button} icon="undo" onClick=${retry}>Retry</>`}</div>`;

export const Skeleton = ({ rows = 4 }) =>
  html`<div class="skeleton" role="status" aria-label="Loading">${Array.from({ length: rows }, (_, at) => html`<div key=${at}></div>`)}</div>`;

export function Loaded({ of, children, rows }) {
  if (of.data !== null) return children(of.data);
  return of.error ? html`<${ErrorState} error=${of.error} retry=${of.reload} />` : html`<${Skeleton} rows=${rows} />`;
}

export const Notice = ({ tone = "info", children, action }) =>
  html`<div class="notice ${tone}"><${Icon} name=${tone === "info" ? "info" : "warning"} /><div>${children}</div>${action}</div>`;

export function Table({ label, head, rows, left = head.length }) {
  const cells = (row, tag, more) => row.map((value, at) => html`<${tag} key=${at} class=${at < left ? "" : "right"} ...${more}>${value}</>`);
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0"><table>
    <thead><tr>${cells(head, "th", { scope: "col" })}</tr></thead>
    <tbody>${rows.map((row, at) => html`<tr key=${at}>${cells(row, "td")}</tr>`)}</tbody>
  </table></div>`;
}
