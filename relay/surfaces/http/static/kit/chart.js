// Bars by day, of which the style sheet draws all but the height.
//
//   <${Chart} label="Cost by day" days=${["2026-05-01T…", …]} format=${money} series=${[{ label: "Cost", values: [0.1, …] }]} />
//       Two series are stacked. `most`: the top of the scale; without it, the highest bar. Above the bars is the
//       day that is pointed at. A screen reader reads `label`; give it the numbers in a table beside it.

import { html, useState } from "../lib/preact.js";
import { date } from "./format.js";

export function Chart({ label, days, series, format, most, height = 220 }) {
  const [pointed, setPointed] = useState(null);
  const sums = days.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] || 0), 0));
  const top = most || Math.max(...sums) || 1;
  const column = (_, at) => html`<div key=${at} class="column" onPointerEnter=${() => setPointed(at)}>${series.map((one) => html`
    <div key=${one.label} style=${{ height: `${(100 * one.values[at]) / top}%` }}></div>`)}</div>`;
  const told = ({ label: name, values }) => html`<span key=${name}> ${series.length > 1 && html`<i></i> ${name}`} ${pointed !== null && (values[pointed] === null ? "–" : format(values[pointed]))}</span>`;
  return html`<div class="chart small muted" role="img" aria-label=${label}>
    <p class="right">${pointed !== null && date(days[pointed])}${series.map(told)}</p>
    <div class="columns" style=${{ height: `${height}px` }}><span>${format(top)}</span><span>${format(top / 2)}</span>${days.map(column)}</div>
    <p class="meter-words">${[0, days.length >> 1, days.length - 1].map((at) => html`<span key=${at}>${date(days[at])}</span>`)}</p></div>`;
}
