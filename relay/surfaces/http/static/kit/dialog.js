// Dialogs, toasts and menus. Import from kit/ui.js.
//
//   ${open && html`<${Dialog} title="Compress" onClose=${close} actions=${html`<${Button} …/>`}>…</>`}
//       the browser's own <dialog>: focus stays inside and returns, Esc closes. On a phone it rises from below.
//   if (await confirm({ title: "Delete it?", text: "…", action: "Delete", danger: true })) …
//   await ask({ title: "Edit", label: "Memory", value, multiline: true, action: "Save", save: (text) => patch(path, { text }) })
//       If `save` is refused, the dialog stays and shows why, so the text isn't lost. `id`: what it is about, where
//       title and value may be the same for two.
//   toast("Deleted.", { undo: () => post(…) })      tone: "bad" for errors
//   openMenu(event, [{ label: "Edit", icon: "edit", run }, { label: "Delete", icon: "trash", danger: true, run }])

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { attempt, Button, IconButton } from "./basic.js";
import { Text, useId } from "./controls.js";
import { Icon } from "./icons.js";
import { useRoute } from "./router.js";

let update = () => {};
let shown = { toasts: [], modal: null };
let count = 0;
// What was typed into a question that was left with Esc or a click beside it. It is there when the same is asked again.
const drafts = new Map();
// How long toasts stay, in ms: those with Undo longer.
const [USUAL, WITH_UNDO] = [5000, 10_000];

function show(changes) {
  shown = { ...shown, ...changes };
  update(shown);
}

export function Dialog({ title, onClose, actions, children, wide, className = "", style }) {
  const dialog = useRef(null);
  const pressed = useRef(null);
  const id = useId();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    const tell = (event) => {
      event.stopPropagation();
      setProblem(event.detail);
    };
    current.addEventListener("problem", tell);
    current.showModal();
    return () => {
      current.removeEventListener("problem", tell);
      current.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  const leave = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${dialog} class="dialog ${wide ? "wide" : ""} ${className}" style=${style} aria-labelledby=${id}
      onCancel=${leave} onPointerDown=${(event) => (pressed.current = event.target)}
      onClick=${(event) => event.target === dialog.current && pressed.current === dialog.current && onClose()}>
    <div class="dialog-box">
      <header><h2 id=${id}>${title}</h2><${IconButton} icon="close" label="Close" onClick=${onClose} /></header>
      <div class="dialog-body">${children}</div>
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      ${actions && html`<footer>${actions}</footer>`}
    </div>
  </dialog>`;
}

/** Asks whether to do it; returns true or false. */
export function confirm({ title, text, action = "OK", danger = false }) {
  return modal((answer) => html`<${Dialog} title=${title} onClose=${() => answer(false)}
    actions=${html`<${Button} onClick=${() => answer(false)}>Cancel</><${Button} kind=${danger ? "danger" : "primary"} autofocus onClick=${() => answer(true)}>${action}</>`}>
    <p>${text}</p></>`);
}

/** Asks for a text, and passes it to `save`. */
export function ask(options) {
  return modal((answer) => html`<${Question} ...${options} answer=${answer} />`);
}

function Question({ id, title, label, value = "", hint, multiline, action = "Save", save, answer }) {
  const key = `${title} ${id} ${value}`;
  const [words, setWords] = useState(drafts.get(key) ?? value);
  const write = (text) => {
    drafts.set(key, text);
    setWords(text);
  };
  const end = () => {
    drafts.delete(key);
    answer(null);
  };
  const send = async () => {
    await save(words.trim());
    end();
  };
  const press = (event) => {
    event.preventDefault();
    event.currentTarget.closest("dialog").querySelector("footer .primary").click();
  };
  const keys = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && press(event);
  return html`<${Dialog} title=${title} onClose=${() => answer(null)}
    actions=${html`<${Button} onClick=${end}>Cancel</><${Button} kind="primary" disabled=${!words.trim()} onClick=${send}>${action}</>`}>
    <form onSubmit=${press} onKeyDown=${keys}><${Text} label=${label} hint=${hint} value=${words} onInput=${write} multiline=${multiline} autofocus /></form></>`;
}

function modal(draw) {
  return new Promise((resolve) => {
    const key = (count += 1);
    const answer = (value) => {
      // Not a later one: what this one saves may take long.
      if (shown.modal?.key === key) show({ modal: null });
      resolve(value);
    };
    show({ modal: { key, draw: () => draw(answer), cancel: () => answer(null) } });
  });
}

/** Shows a message for some seconds, with Undo if there is such an action. */
export function toast(text, { undo, tone = "plain" } = {}) {
  show({ toasts: [...shown.toasts.slice(-2), { key: (count += 1), text, undo, tone }] });
}

const hide = (key) => show({ toasts: shown.toasts.filter((one) => one.key !== key) });

function Toast({ one }) {
  const timer = useRef(0);
  const start = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => hide(one.key), one.undo ? WITH_UNDO : USUAL);
  };
  const stop = () => clearTimeout(timer.current);
  useEffect(() => {
    start();
    return stop;
  }, []);
  const act = () => {
    hide(one.key);
    attempt(null, one.undo, () => toast(one.text, one));
  };
  return html`<div class="toast ${one.tone}" onMouseEnter=${stop} onMouseLeave=${start} onFocusIn=${stop} onFocusOut=${start}>
    <span>${one.text}</span>
    ${one.undo && html`<button type="button" class="toast-action" onClick=${act}>Undo</button>`}
    <${IconButton} icon="close" label="Dismiss" onClick=${() => hide(one.key)} />
  </div>`;
}

/** Opens a menu at the element of an event, or where the event is. */
export function openMenu(event, items) {
  event.preventDefault();
  const box = event.currentTarget.getBoundingClientRect();
  const at = event.type === "contextmenu" && event.clientX ? { x: event.clientX, y: event.clientY } : { x: box.right, y: box.bottom };
  return modal((answer) => html`<${Menu} items=${items.filter(Boolean)} at=${at} answer=${answer} />`);
}

function Menu({ items, at, answer }) {
  const list = useRef(null);
  const element = useRef(document.activeElement);
  useEffect(() => list.current.querySelector("button").focus(), []);
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.current.querySelectorAll("button")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  };
  const choose = (item) => {
    answer(null);
    // After the focus has returned.
    setTimeout(() => attempt(element.current, item.run));
  };
  const y = Math.min(at.y, innerHeight - 48 * items.length - 24);
  return html`<${Dialog} title="Actions" className="menu" style=${{ "--x": `${at.x}px`, "--y": `${Math.max(8, y)}px` }} onClose=${() => answer(null)}>
    <div role="menu" aria-label="Actions" ref=${list} onKeyDown=${move}>${items.map((item) => html`
      <button key=${item.label} type="button" role="menuitem" class=${item.danger ? "danger" : ""} disabled=${item.disabled} onClick=${() => choose(item)}>
        ${item.icon && html`<${Icon} name=${item.icon} />`}<span>${item.label}</span></button>`)}</div></>`;
}

/** Closes the open dialog, as Esc does. Returns whether there was one. */
export function closeDialog() {
  return [...document.querySelectorAll("dialog[open]")].at(-1)?.dispatchEvent(new Event("cancel", { cancelable: true })) !== undefined;
}

/** Draws toasts, questions and menus. The frame holds it once. */
export function Overlays() {
  const [now, setNow] = useState(shown);
  const { path } = useRoute();
  // A question ends with its page.
  useEffect(() => () => shown.modal?.cancel(), [path]);
  useEffect(() => {
    update = setNow;
    const tell = (event) => toast(event.detail, { tone: "bad" });
    addEventListener("problem", tell);
    return () => removeEventListener("problem", tell);
  }, []);
  return html`<div class="toasts" role="status">${now.toasts.map((one) => html`<${Toast} key=${one.key} one=${one} />`)}</div>
    ${now.modal && html`<div key=${now.modal.key}>${now.modal.draw()}</div>`}`;
}
