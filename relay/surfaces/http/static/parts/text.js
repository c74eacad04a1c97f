// Texts of sessions and versions.

import { html } from "../lib/preact.js";
import { moment } from "../kit/format.js";
import { Badge } from "../kit/ui.js";

const SIGNS = /##keepit\d+\.\d\d##[ \t]?|[ \t]?##\/keepit##/gi;

/** A text with passages of it marked (markers, or their `content` alone), without the signs that were typed around them. */
export function Marked({ text: said, passages }) {
  const bare = (words) => words.replace(SIGNS, "");
  const text = passages.length ? bare(said) : said;
  const found = passages.map(({ content, position }) => {
    const words = bare(content);
    // Positions count characters, not UTF-16 units.
    const before = bare([...said].slice(0, position?.start || 0).join(""));
    return [text.indexOf(words, before.length), words.length];
  }).filter(([at]) => at >= 0).sort(([a], [b]) => a - b);
  const parts = [];
  let end = 0;
  for (const [at, length] of found) {
    if (at < end) continue;
    parts.push(text.slice(end, at), html`<mark key=${at}>${text.slice(at, at + length)}</mark>`);
    end = at + length;
  }
  return [...parts, text.slice(end)];
}

/** The rows of a version. A row that a marker kept is a quote with its weight. */
export function Rows({ rows }) {
  return rows.map((row, at) => html`<article class="said ${row.role}" key=${at}><header class="cluster"><strong>${row.role === "assistant" ? "Relay" : "You"}</strong>
      <span class="muted small">${moment(row.at)}</span>${row.kept && html`<${Badge} tone="accent" icon="pin">${row.weight === null ? "word for word" : row.weight.toFixed(2)}</>`}</header>
    ${row.kept ? html`<blockquote class="quote" dir="auto">${row.text}</blockquote>` : html`<p class="words" dir="auto">${row.text}</p>`}</article>`);
}

const SETTINGS = {
  mode: "Mode", tierPreset: "Preset", customTiers: "Tiers", compactionRatio: "Target ratio", aggressiveness: "Level", model: "Model", method: "Made by",
  skipFirstMessages: "First messages kept", keepitMode: "Markers", sessionDistance: "Sessions ago",
};

/** The name of a version's setting. */
export const labelOf = (name) => SETTINGS[name] || name;

/** Its value in words. */
export const settingOf = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
