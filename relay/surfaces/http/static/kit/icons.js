// Icons, drawn for Relay: strokes on a square of 24. `html`<${Icon} name="memory" />`` is hidden from screen
// readers; give it a `label` if it is alone.

import { html } from "../lib/preact.js";

const PATHS = {
  memory: "M5 5.5A2.5 2.5 0 0 1 7.5 3H19v18H7.5A2.5 2.5 0 0 1 5 18.5zM5 18.5A2.5 2.5 0 0 1 7.5 16H19M9 7.5h6M9 11h4",
  sessions: "M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5zM8 8.5h8M8 12h5",
  compose: "M12 3 3.5 7.5 12 12l8.5-4.5zM3.5 12 12 16.5 20.5 12M3.5 16.5 12 21l8.5-4.5",
  preferences: "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  reminders: "M12 5a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 9v4l2.5 1.5M3 6.5 6 4M21 6.5 18 4",
  usage: "M4 20h16M7 16v-4M12 16V5M17 16V9",
  settings: "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v2.5M12 18.5V21M3 12h2.5M18.5 12H21M5.6 5.6l1.8 1.8M16.6 16.6l1.8 1.8M5.6 18.4l1.8-1.8M16.6 7.4l1.8-1.8",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.2 15.2 20 20",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  close: "M6 6l12 12M18 6 6 18",
  add: "M12 5v14M5 12h14",
  check: "M5 12.5 10 17.5 19.5 7",
  edit: "M4 20l1-4.5L16 4.5a2 2 0 0 1 2.8 0l.7.7a2 2 0 0 1 0 2.8L8.5 19zM14 6.5l3.5 3.5",
  trash: "M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 13h9.4l.8-13M10 11v5.5M14 11v5.5",
  undo: "M8.5 5 4 9.5 8.5 14M4 9.5h10a5.5 5.5 0 0 1 0 11h-4",
  pin: "M9 3.5h6l-.7 6 3.2 3.5v1.5h-11V13l3.2-3.5zM12 14.5V21",
  history: "M4 5v5h5M4.6 10a8 8 0 1 1-.5 4M12 8v4.5l3 1.8",
  source: "M10 14l9-9M13 5h6v6M19 14v4.5a1.5 1.5 0 0 1-1.5 1.5h-12A1.5 1.5 0 0 1 4 18.5v-12A1.5 1.5 0 0 1 5.5 5H10",
  merge: "M6 4v3.5c0 3 6 3.5 6 6.5v6M18 4v3.5c0 3-6 3.5-6 6.5M9 17l3 3 3-3",
  compress: "M12 3v6M9 6.5 12 9.5l3-3M12 21v-6M9 17.5l3-3 3 3M4 12h16",
  compare: "M12 4v16M4.5 7H9v10H4.5zM15 7h4.5v10H15z",
  download: "M12 4v11M7.5 11 12 15.5 16.5 11M4.5 20h15",
  warning: "M12 4 2.5 20h19zM12 10v4.5M12 17.2v.1",
  info: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5M12 7.8v.1",
  people: "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M15.5 5.3a3.5 3.5 0 0 1 0 6.4M17.5 14.3c2.3.7 3.7 2.6 4 5.7",
  spark: "M12 3.5l1.9 5.6 5.6 1.9-5.6 1.9L12 18.5l-1.9-5.6L4.5 11l5.6-1.9zM19 16v4M17 18h4",
  drag: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  keyboard: "M3.5 7h17v10h-17zM7 10.5h.01M10.3 10.5h.01M13.7 10.5h.01M17 10.5h.01M8.5 14h7",
  out: "M14 4H6.5A1.5 1.5 0 0 0 5 5.5v13A1.5 1.5 0 0 0 6.5 20H14M10.5 12H20M16.5 8.5 20 12l-3.5 3.5",
};

/** An icon by its name. */
export function Icon({ name, label }) {
  const named = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg class="icon icon-${name}" viewBox="0 0 24 24" ...${named}><path d=${PATHS[name] || PATHS.info} /></svg>`;
}
