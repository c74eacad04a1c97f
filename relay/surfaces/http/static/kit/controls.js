// Form controls. Import from kit/ui.js. Each control has a `label`; `hint` and `error` are read with it.
//
//   <${Text} label="Name" value=${name} onInput=${setName} hint="…" error=${problem} multiline rows=${4} />
//       further attributes (type, maxlength, required, inputmode) go to the input
//   <${Select} label="Level" value=${level} onChange=${setLevel} options=${[["light", "Light"], …]} />
//   <${Segmented} label="Mode" value=${mode} onChange=${setMode} options=${…} />        one of few
//   <${Chips} label="Kind" value=${kind} onChange=${setKind} options=${[["", "All", 12], …]} />   a filter with counts
//   <${Slider} label="Weight" value=${0.8} min=${0} max=${1} step=${0.05} format=${(v) => v.toFixed(2)} onInput=${…} />
//   <${Switch} label="Learn while we talk" hint="…" checked=${on} onChange=${setOn} />
//   <${Check} label="…" checked=${on} onChange=${setOn} />
//   <${Search} label="Search memories" value=${query.q} onInput=${(q) => setQuery({ q })} />   waits 250 ms; `/` goes there
// What an action is refused with is shown below its control. Callbacks get the value, not the event. Options: [value, label, count?].

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { attempt, IconButton } from "./basic.js";
import { useShortcut, useSpaced } from "./hooks.js";
import { Icon } from "./icons.js";

let made = 0;

/** An id that stays the same for a component. */
export function useId() {
  const id = useRef(null);
  if (id.current === null) id.current = `f${(made += 1)}`;
  return id.current;
}

/** What a control's action was refused with, until it is used again: [its element, attributes of the control's box]. */
function useRefusal() {
  const [words, setWords] = useState("");
  const tell = (event) => {
    event.stopPropagation();
    setWords(event.detail);
  };
  return [words && html`<p class="error" role="alert">${words}</p>`, { onproblem: tell, onInput: () => setWords("") }];
}

/** A labelled control with its hint and error. `children(ids)` returns the control with `...${ids}`. */
export function Field({ label, hint, error, hidden, children }) {
  const id = useId();
  const [refused, box] = useRefusal();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return html`<div class="field ${error ? "wrong" : ""}" ...${box}>
    <label for=${id} class=${hidden ? "sr-only" : ""}>${label}</label>
    ${children({ id, "aria-describedby": described, "aria-invalid": error ? "true" : undefined })}
    ${hint && html`<p id="${id}-hint" class="hint">${hint}</p>`}
    ${error && html`<p id="${id}-error" class="error" role="alert">${error}</p>`}
    ${refused}
  </div>`;
}

export function Text({ label, hint, error, onInput, multiline, ...more }) {
  return html`<${Field} label=${label} hint=${hint} error=${error}>${(ids) =>
    html`<${multiline ? "textarea" : "input"} rows=${multiline && 4} autocomplete="off" ...${ids} ...${more} onInput=${(event) => onInput(event.currentTarget.value)} dir="auto" />`}</>`;
}

/** Passes a choice on. If it is refused, the control shows again what counts. */
function useChoice(onChange) {
  const [, redraw] = useState(0);
  return async ({ currentTarget }, value) => {
    await attempt(currentTarget, () => onChange(value));
    redraw((times) => times + 1);
  };
}

export function Select({ label, hint, hidden, value, options, onChange }) {
  const choose = useChoice(onChange);
  return html`<${Field} label=${label} hint=${hint} hidden=${hidden}>${(ids) =>
    html`<select ...${ids} value=${value} onChange=${(event) => choose(event, event.currentTarget.value)}>
      ${options.map(([one, words]) => html`<option key=${one} value=${one} selected=${one === value}>${words}</option>`)}</select>`}</>`;
}

export function Segmented({ label, value, options, onChange, hidden }) {
  const id = useId();
  const choose = useChoice(onChange);
  const [refused, box] = useRefusal();
  return html`<fieldset class="segmented" ...${box}><legend class=${hidden ? "sr-only" : ""}>${label}</legend>
    <div>${options.map(([one, words]) => html`<label key=${one}>
      <input type="radio" name=${id} value=${one} checked=${one === value} onChange=${(event) => choose(event, one)} /><span>${words}</span></label>`)}</div>
    ${refused}
  </fieldset>`;
}

export function Chips({ label, value, options, onChange }) {
  const box = useRef(null);
  useEffect(() => {
    // The chosen one, which may be beyond the edge of a phone.
    box.current.scrollLeft = box.current.querySelector("[aria-pressed=true]")?.offsetLeft - 60;
  }, [options[0][2] == null]);
  return html`<div class="chips" role="group" aria-label=${label} ref=${box}>${options.map(([one, words, count]) => html`
    <button key=${one} type="button" class="chip" aria-pressed=${one === (value ?? "")} onClick=${(event) => attempt(event.currentTarget, () => onChange(one))}>
      ${words}${count != null && html`<span class="count">${count}</span>`}</button>`)}</div>`;
}

export function Slider({ label, hint, value, min = 0, max = 1, step = 0.01, format = String, onInput, onChange, ...more }) {
  return html`<${Field} label=${html`${label}<output>${format(value)}</output>`} hint=${hint}>${(ids) => html`<input type="range" ...${ids} ...${more}
    min=${min} max=${max} step=${step} value=${value} aria-valuetext=${format(value)}
    style=${{ "--share": `${(100 * (value - min)) / (max - min)}%` }}
    onInput=${(event) => onInput?.(Number(event.currentTarget.value))}
    onChange=${(event) => attempt(event.currentTarget, () => onChange?.(Number(event.currentTarget.value), event.currentTarget))} />`}</>`;
}

export const Switch = (props) => html`<${Check} ...${props} role="switch" />`;

export function Check({ label, hint, checked, onChange, role, disabled }) {
  const id = useId();
  const [shown, setShown] = useState(checked);
  const [refused, box] = useRefusal();
  useEffect(() => setShown(checked), [checked]);
  const turn = async (event) => {
    const { currentTarget } = event;
    const wanted = currentTarget.checked;
    setShown(wanted);
    await attempt(currentTarget, () => onChange(wanted), () => setShown(!wanted));
  };
  return html`<div class="tick" ...${box}><input type="checkbox" id=${id} role=${role} class=${role || "check"} checked=${shown} disabled=${disabled}
      aria-describedby=${hint ? `${id}-hint` : undefined} onChange=${turn} />
    <div><label for=${id}>${label}</label>${hint && html`<p id="${id}-hint" class="hint">${hint}</p>`}${refused}</div></div>`;
}

export function Search({ label = "Search", value = "", onInput, shortcut = "/" }) {
  const [words, setWords] = useState(value);
  const input = useRef(null);
  const told = useRef(value);
  useEffect(() => {
    if (value !== told.current) setWords((told.current = value));
  }, [value]);
  useShortcut(shortcut, "Search", () => input.current.focus());
  const tell = useSpaced(() => words !== told.current && onInput((told.current = words)), 250, 1000);
  const write = (text) => {
    setWords(text);
    tell();
  };
  const clear = () => {
    setWords("");
    onInput((told.current = ""));
    input.current.focus();
  };
  return html`<div class="search" role="search"><${Icon} name="search" />
    <input ref=${input} type="search" aria-label=${label} placeholder=${label} value=${words} dir="auto" autocomplete="off" enterkeyhint="search"
      aria-keyshortcuts=${shortcut} onInput=${(event) => write(event.currentTarget.value)} />
    ${words ? html`<${IconButton} icon="close" label="Clear the search" onClick=${clear} />` : html`<kbd aria-hidden="true">${shortcut}</kbd>`}
  </div>`;
}
