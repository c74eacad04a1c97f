// The frame around every page: navigation (a bar below on a phone, at the side on a desktop), the page's head, help.
//
//   <${Page} title="Memory" text="What I remember about you." actions=${html`<${Button} …/>`} tools=${html`<${Search} …/>`} wide>…</>
//       One per page: `title` is the h1 and the window's title, `actions` are beside it, `tools` stay in view
//       while you scroll. Back, Esc and Telegram's Back button go to the route's `parent`.

import { createContext, html, useContext, useEffect, useLayoutEffect, useRef, useState } from "../lib/preact.js";
import { IconButton } from "./basic.js";
import { closeDialog, Dialog, Overlays } from "./dialog.js";
import { useShortcut } from "./hooks.js";
import { Icon } from "./icons.js";
import { listShortcuts } from "./keyboard.js";
import { goBack, link, useRoute } from "./router.js";
import { showBackButton, telegram } from "./telegram.js";

/** The page's place: { route, parent }. */
export const Here = createContext({ route: {}, parent: null });

export const pathOf = (route) => route.path.replace(/\/:\w+\?$/, "");

export function Page({ title, text, actions, tools, wide, children }) {
  const { parent } = useContext(Here);
  const heading = useRef(null);
  useEffect(() => {
    document.title = `${title} · Relay`;
  }, [title]);
  useEffect(() => heading.current.focus({ preventScroll: true }), []);
  return html`<article class="page ${wide ? "wide" : ""}">
    <header class="page-head">
      ${parent && !telegram.inside && html`<${IconButton} icon="back" label="Back" onClick=${() => goBack(parent)} />`}
      <div class="page-title"><h1 tabindex="-1" ref=${heading} dir="auto">${title}</h1>${text && html`<p class="muted">${text}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${tools && html`<div class="tools">${tools}</div>`}
    ${children}
  </article>`;
}

export function Frame({ routes, here, me, children }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  const { path } = useRoute();
  useEffect(close, [path]);
  useShortcut("?", "Keyboard shortcuts", () => setOpen("help"));
  useShortcut("Escape", "Back", () => here.parent && goBack(here.parent));
  useLayoutEffect(() => showBackButton(here.parent ? () => closeDialog() || goBack(here.parent) : null), [here.parent]);
  useLayoutEffect(() => scrollTo(0, 0), [here.route.name]);
  const entries = routes.filter((route) => route.nav);
  const current = (route) => here.route.name === route.name || here.parent === pathOf(route) || here.parent?.startsWith(`${pathOf(route)}/`);
  const entry = (route, after) => html`<a key=${route.name} href=${link(pathOf(route))} class=${`nav-${route.nav}`}
    aria-current=${current(route) ? "page" : undefined} onClick=${after}><${Icon} name=${route.name} /><span>${route.title}</span></a>`;
  const rest = entries.filter((route) => route.nav === 2);
  return html`<div class="frame">
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.getElementById("content").focus(); }}>Skip to the content</a>
    <nav class="nav" aria-label="Pages">
      <div class="brand"><img src="icon.svg" alt="" width="28" height="28" /><span>Relay</span></div>
      ${entries.map((route) => entry(route))}
      <button type="button" class="nav-more" aria-haspopup="dialog" aria-current=${rest.some(current) ? "true" : undefined} onClick=${() => setOpen("more")}><${Icon} name="more" /><span>More</span></button>
      <div class="nav-foot"><div class="who"><strong dir="auto">${me.name}</strong><span class="muted">Relay ${me.version}</span></div>
        <${IconButton} icon="keyboard" label="Keyboard shortcuts" onClick=${() => setOpen("help")} /></div>
    </nav>
    <main id="content" class="content" tabindex="-1"><${Here.Provider} value=${here}>${children}</></main>
    <${Overlays} />
    ${open === "more" && html`<${Dialog} title="More" onClose=${close}><div class="more">${rest.map((route) => entry(route, close))}</div>
      <p class="muted small">${me.name} · Relay ${me.version}</p></>`}
    ${open === "help" && html`<${Help} onClose=${close} />`}
  </div>`;
}

function Help({ onClose }) {
  return html`<${Dialog} title="Keyboard" onClose=${onClose}><dl class="keys">${listShortcuts().map(([keys, label]) => html`
    <div key=${keys + label}><dt>${keys.split(" ").map((key) => html`<kbd key=${key}>${key}</kbd>`)}</dt><dd>${label}</dd></div>`)}</dl></>`;
}

// An element that goes or is disabled while it has the focus, such as the button of a deleted row, would leave it nowhere.
// Only Chromium tells of that with `focusout`. The focus goes to the row that is in its place, else to the heading.
let last, list, row;
addEventListener("focusin", ({ target }) => {
  last = target;
  list = target.closest(".list, .rows");
  row = list && [...list.querySelectorAll(".row")].indexOf(target.closest(".row"));
});
new MutationObserver(() => {
  if (!last || (last.isConnected && !last.disabled)) return;
  const lost = [last, document.body];
  last = null;
  const rows = list?.isConnected ? [...list.querySelectorAll(".row-main")] : [];
  for (const one of [rows[row] || rows.at(-1), document.querySelector("h1")]) {
    if (lost.includes(document.activeElement)) one?.focus({ preventScroll: true });
  }
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
