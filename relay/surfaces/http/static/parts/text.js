// Texts of sessions and versions.

import { html } from "../lib/preact.js";
import { moment } from "../kit/format.js";
import { Badge } from "../kit/ui.js";

const SIGNS = /##keepit\d+\.\d\d##[ \t]?|[ \t]?##\/keepit##/gi;

const KINDS = [["head", /^#{1,6} /], ["quoted", /^> ?/], ["table", /^ *\|.*\|\s*$/], ["plain", /^/]];
const BLANK = /^[ |:-]+$/;
// \x60 is a backtick.
const INLINE = /(\*\*|\x60)(?=\S)(.+?)(\1)|(\\\()(.{1,400}?)(\\\))|(\$\$?)([^\s$](?:[^$]{0,400}[^\s$])?)(\7)(?![\w$])|\*\*+|\B(\*)([^\s*](?:[^*]{0,400}[^\s*])?)(\*)(?![\w*])/g;
const TAGS = { "**": "strong", "*": "em" };
// Between dollar signs; others are amounts.
const LIKE_FORMULA = /[\\^_=]/;
const FORMULAS = { $$: "$$", "\\[": "\\]" };
const FORMULA = /^ *(\$\$|\\\[)/;
const ITS_SIGNS = /(^ *(?:\$\$|\\\[)|(?:\$\$|\\\])\s*$)/;
const FENCE = /^ *(\x60{3,}|~{3,})/;

/** The lines of a text in blocks of one kind: [[kind, lines], …]. */
function blocksOf(text) {
  const blocks = [];
  let fence = "";
  let end = ""; // of a formula
  for (const line of text.match(/[^\n]*\n|[^\n]+/g) || []) {
    const [, opened] = (!end && FENCE.exec(line)) || [];
    const [, begun] = (!fence && !end && FORMULA.exec(line)) || [];
    const kind = end || begun ? "formula" : fence || opened ? "code" : KINDS.find(([, begins]) => begins.test(line))[0];
    if (blocks.at(-1)?.[0] === kind && !(opened && !fence) && !begun) blocks.at(-1)[1].push(line);
    else blocks.push([kind, [line]]);
    if (opened) fence = fence ? (opened.startsWith(fence) ? "" : fence) : opened;
    if (begun) end = FORMULAS[begun];
    // An empty line ends one that isn't closed.
    if (end && (!line.trim() || line.slice(begun ? line.indexOf(begun) + 2 : 0).includes(end))) end = "";
  }
  return blocks;
}

/** What was said, with its code, tables, headings and bold words, and passages of it marked (markers, or their `content` */
/** alone). Signs such as ** are there, but not to be seen: what one selects is what was said. */
export function Said({ text: said, passages = [] }) {
  const { text, ranges } = find(said, passages);
  let at = 0;
  const put = (words) => {
    const parts = [];
    let from = at;
    at += words.length;
    for (const [low, high] of ranges) {
      const [start, end] = [Math.max(low, from), Math.min(high, at)];
      if (start >= end) continue;
      parts.push(text.slice(from, start), html`<mark key=${start}>${text.slice(start, end)}</mark>`);
      from = end;
    }
    return [...parts, text.slice(from, at)];
  };
  const sign = (words) => html`<span class="sign">${put(words)}</span>`;
  const inline = (line, begins) => {
    const [before = ""] = begins?.exec(line) || [];
    const parts = [before && sign(before)];
    let end = before.length;
    for (const found of line.matchAll(INLINE)) {
      const [all, ...groups] = found;
      const [begin, words, close] = groups.filter((one) => one !== undefined);
      if (found.index < end || !begin || (begin.startsWith("$") && !LIKE_FORMULA.test(words))) continue;
      parts.push(put(line.slice(end, found.index)), sign(begin), html`<${TAGS[begin] || "code"}>${put(words)}</>`, sign(close));
      end = found.index + all.length;
    }
    return [...parts, put(line.slice(end))];
  };
  const row = (line, head) => {
    if (BLANK.test(line.trim())) return (at += line.length) && null;
    const cells = line.match(/ *\|[^|]*/g); // spaces before the first one are its own
    const last = cells.pop();
    return html`<tr>${cells.map((cell, nr) => html`<${head ? "th" : "td"}>${inline(cell, /^ *\| */)}${nr === cells.length - 1 && sign(last)}</>`)}</tr>`;
  };
  const draw = {
    code: (lines) => html`<pre tabindex="0" dir="ltr">${lines.map((line) => (FENCE.test(line) ? sign : put)(line))}</pre>`,
    formula: (lines) => html`<pre class="formula" tabindex="0" dir="ltr">${lines.map((line) => line.split(ITS_SIGNS).map((part, nr) => (nr % 2 ? sign : put)(part)))}</pre>`,
    table: (lines) => html`<div class="scroll" tabindex="0"><table>${lines.map((line, nr) => row(line, !nr))}</table></div>`,
    head: (lines) => html`<div><strong>${lines.map((line) => inline(line, KINDS[0][1]))}</strong></div>`,
    quoted: (lines) => html`<div class="quote">${lines.map((line) => inline(line, KINDS[1][1]))}</div>`,
    plain: (lines) => html`<div>${lines.map((line) => inline(line))}</div>`,
  };
  return html`<div class="words" dir="auto">${blocksOf(text).map(([kind, lines]) => draw[kind](lines))}</div>`;
}

/** Where passages are in a text, without the signs that were typed around them: { text, ranges: [[from, to], …] }. */
function find(said, passages) {
  const bare = (words) => words.replace(SIGNS, "");
  const text = passages.length ? bare(said) : said;
  const found = passages.map(({ content, position }) => {
    const words = bare(content);
    // Positions count characters, not UTF-16 units.
    const at = text.indexOf(words, bare([...said].slice(0, position?.start || 0).join("")).length);
    return [at, at + words.length];
  });
  return { text, ranges: found.filter(([at]) => at >= 0).sort(([a], [b]) => a - b) };
}

/** The rows of a version. A row that a marker kept is a quote with its weight. */
export function Rows({ rows }) {
  return rows.map((row, at) => html`<article class="said ${row.role}" key=${at}><header class="cluster"><strong>${row.role === "assistant" ? "Relay" : "You"}</strong>
      <span class="muted small">${moment(row.at)}</span>${row.kept && html`<${Badge} tone="accent" icon="pin">${row.weight === null ? "word for word" : row.weight.toFixed(2)}</>`}</header>
    ${row.kept ? html`<blockquote class="quote"><${Said} text=${row.text} /></blockquote>` : html`<${Said} text=${row.text} />`}</article>`);
}

const SETTINGS = {
  mode: "Mode", tierPreset: "Preset", customTiers: "Tiers", compactionRatio: "Target ratio", aggressiveness: "Level", model: "Model", method: "Made by",
  skipFirstMessages: "First messages kept", keepitMode: "Markers", sessionDistance: "Sessions ago",
};

/** The name of a version's setting. */
export const labelOf = (name) => SETTINGS[name] || name;

/** Its value in words. */
export const settingOf = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
