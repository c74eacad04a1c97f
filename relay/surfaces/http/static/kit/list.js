// Long lists. Import from kit/ui.js.
//
//   <${List} list=${useList(…)} label="Memories" row=${(memory) => html`<${Row} …/>`} group=${(m) => month(m.createdAt)}
//       empty=${html`<${Empty} …/>`} />
//       More rows are fetched as you scroll. Rows are in blocks of 50, and a block that is far away is not
//       drawn, so 10,000 rows are as quick as 100. The arrow keys move from row to row.
//   <${Row} title="…" text="…" meta=${["3 May", "12.4k"]} badges=${html`…`} icon="pin" href=${link(…)} or onOpen=${…}
//       actions=${[{ label, icon, run, danger, inline }]} selected=${picked.has(id)} onSelect=${() => picked.toggle(id)} />
//       The actions open with the button at its end, with a right click, and with a long press. One that is `inline`
//       has a button of its own.
//   <${Section} title="What happened" rows=${events} row=${(event) => html`<${Row} …/>`} />      a short list below a heading

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { Button, ErrorState, Skeleton } from "./basic.js";
import { openMenu } from "./dialog.js";
import { Icon } from "./icons.js";
import { buzz } from "./telegram.js";

const BLOCK = 50;
// Of a row, in pixels, until it was drawn.
const USUAL_HEIGHT = 76;
// Of blocks that were drawn before, so that a list that you come back to is as long as it was.
const heights = new Map();
const LONG_PRESS = 550;

export function List({ list, row, label, empty = null, group }) {
  const box = useRef(null);
  const { rows } = list;
  if (!rows.length) {
    if (list.error) return html`<${ErrorState} error=${list.error} retry=${list.retry} />`;
    return list.loading ? html`<${Skeleton} rows=${8} />` : empty;
  }
  const blocks = [];
  for (let at = 0; at < rows.length; at += BLOCK) blocks.push(rows.slice(at, at + BLOCK));
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.closest("input, textarea, select")) return;
    const all = [...box.current.querySelectorAll(".row-main")];
    const next = all[all.indexOf(event.target.closest(".row")?.querySelector(".row-main")) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return html`<div class="list-wrap"><div class="list" role="list" aria-label=${label} ref=${box} onKeyDown=${move}>
    ${blocks.map((block, at) => html`<${Block} key=${at} rows=${block} before=${rows[at * BLOCK - 1]} start=${at * BLOCK}
      total=${list.total ?? (list.done ? rows.length : -1)} id=${list.id} row=${row} group=${group} />`)}
    </div><${Tail} list=${list} /></div>`;
}

/** Tells whether an element is near the window, as it is now: earlier entries of the same call are out of date. */
function watch(element, rootMargin, tell) {
  const observer = new IntersectionObserver((entries) => tell(entries.at(-1)), { rootMargin });
  observer.observe(element);
  return () => observer.disconnect();
}

/** Fifty rows. Far from the window only their height remains. */
function Block({ rows, before, start, total, id, row, group }) {
  const element = useRef(null);
  const own = `${location.hash} ${start}`;
  const height = useRef(heights.get(own) || rows.length * USUAL_HEIGHT);
  const [near, setNear] = useState(start === 0);
  useEffect(() => {
    const { current } = element;
    const stop = watch(current, "1500px 0px", (entry) => {
      if (entry.isIntersecting) setNear(true);
      else if (!element.current.contains(document.activeElement)) {
        height.current = entry.boundingClientRect.height;
        setNear(false);
      }
    });
    return () => {
      heights.set(own, current.offsetHeight);
      stop();
    };
  }, []);
  if (!near) return html`<div ref=${element} style=${{ height: `${height.current}px` }}></div>`;
  return html`<div ref=${element} style=${{ height: "auto" }}>${rows.map((one, at) => {
    const heading = group?.(one);
    const last = at ? rows[at - 1] : before;
    const changed = group && heading !== (last && group(last));
    return html`<div key=${id(one)} role="listitem" aria-setsize=${total} aria-posinset=${start + at + 1}>
      ${changed && html`<h2 class="group">${heading}</h2>`}${row(one)}</div>`;
  })}</div>`;
}

/** The end of a list: fetches more when it comes near. */
function Tail({ list }) {
  const element = useRef(null);
  useEffect(() => {
    if (list.done || list.error) return undefined;
    return watch(element.current, "900px 0px", (entry) => entry.isIntersecting && list.more());
  }, [list.rows.length, list.done, list.loading, list.error, list.more]);
  if (list.done) return null;
  return html`<div class="tail" ref=${element}>${list.error
    ? html`<${ErrorState} error=${list.error} retry=${list.retry} />`
    : html`<${Button} kind="quiet" onClick=${list.more}>Show more</>`}</div>`;
}

export const Section = ({ title, label = title, rows, row, children }) =>
  html`<section class="stack tight"><h2>${title}</h2><div class="list" role="list" aria-label=${label}>${rows.map((one, at) => html`
    <div key=${one.id ?? at} role="listitem">${row(one)}</div>`)}</div>${children}</section>`;

export function Row({ title, text, meta = [], badges, icon, href, onOpen, actions = [], selected, onSelect }) {
  const press = useRef({ timer: 0, long: false });
  const items = actions.filter(Boolean);
  const others = items.filter((one) => !one.inline);
  const menu = (event) => items.length && openMenu(event, items);
  const down = (event) => {
    const { currentTarget } = event;
    press.current.long = false;
    if (event.pointerType !== "touch" || !items.length) return;
    press.current.timer = setTimeout(() => {
      press.current.long = true;
      buzz();
      openMenu({ currentTarget, type: "press", preventDefault() {} }, items);
    }, LONG_PRESS);
  };
  const up = () => clearTimeout(press.current.timer);
  const click = (event) => {
    // The finger that opened the menu.
    if (press.current.long) event.preventDefault();
    else if (onOpen) {
      event.preventDefault();
      onOpen(event);
    }
  };
  const shown = meta.filter((one) => one || one === 0);
  const body = html`${icon && html`<span class="row-icon"><${Icon} name=${icon} /></span>`}
    <span class="row-body"><span class="row-title" dir="auto">${title}</span>${text && html`<span class="row-text" dir="auto">${text}</span>`}
      ${(shown.length > 0 || badges) && html`<span class="row-meta">${badges}${shown.map((one, at) => html`<span key=${at}>${one}</span>`)}</span>`}</span>`;
  const main = href || onOpen
    ? html`<${href ? "a" : "button"} href=${href} type=${href ? undefined : "button"} class="row-main" onClick=${click} draggable=${false}>${body}</>`
    : html`<div class="row-main" tabindex=${items.length ? 0 : undefined}>${body}</div>`;
  return html`<div class="row ${selected ? "selected" : ""}" onContextMenu=${menu} onPointerDown=${down} onPointerUp=${up} onPointerCancel=${up} onPointerMove=${(event) => (Math.abs(event.movementX) + Math.abs(event.movementY) > 4) && up()}>
    ${onSelect && html`<input type="checkbox" class="check row-check" checked=${selected} aria-label=${`Select: ${String(title).slice(0, 80)}`} onChange=${onSelect} />`}
    ${main}
    ${items.map((one) => one.inline && html`<span key=${one.label} class="row-more"><${Button} small icon=${one.icon} onClick=${one.run}>${one.label}</></span>`)}
    ${others.length > 0 && html`<button type="button" class="icon-button row-more" aria-haspopup="menu" aria-label="Actions" title="Actions" onClick=${(event) => openMenu(event, others)}><${Icon} name="more" /></button>`}
  </div>`;
}
