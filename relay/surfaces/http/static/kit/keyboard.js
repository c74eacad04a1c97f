// The keyboard. `/` search, `g` and a letter: a page (routes.js), `?` help, Esc back; pages add their own with
// `useShortcut` of kit/hooks.js (`c` compress, `k` mark). Keys do nothing while somebody types or a dialog is open.
// Lists move with the arrow keys (kit/list.js); Enter opens, the menu key or Shift+F10 shows a row's actions.

const shortcuts = [];
let pages = {};
// When "g" was pressed.
let pending = -Infinity;

/** Adds a shortcut and returns a function that removes it. */
export function addShortcut(key, label, run) {
  const one = { key, label, run };
  shortcuts.push(one);
  return () => shortcuts.splice(shortcuts.indexOf(one), 1);
}

/** The shortcuts for the help: [[keys, label], …]. */
export function listShortcuts() {
  const own = shortcuts.map(({ key, label }) => [key === "Escape" ? "Esc" : key, label]);
  return [...own, ...Object.entries(pages).map(([key, { title }]) => [`g ${key}`, title]), ["↑ ↓", "Move in a list"], ["Enter", "Open"], ["Shift F10", "A row's actions"]];
}

/** Starts listening. `routes`: of routes.js; `open(route)`: opens one of them. */
export function startKeyboard(routes, open) {
  pages = Object.fromEntries(routes.filter((one) => one.key).map((one) => [one.key, one]));
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const writes = event.target.closest?.("input:not([type=checkbox],[type=radio],[type=range]), textarea, select, [contenteditable]");
    if (writes) {
      if (event.key === "Escape") writes.blur();
      return;
    }
    if (event.timeStamp - pending < 1200 && pages[event.key]) {
      event.preventDefault();
      pending = -Infinity;
      open(pages[event.key]);
      return;
    }
    pending = event.key === "g" ? event.timeStamp : -Infinity;
    const found = shortcuts.findLast((one) => one.key === event.key);
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}
