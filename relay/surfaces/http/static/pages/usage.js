// What models used: cost, tokens and the cache's share by day, by model and by kind of work.

import { html } from "../lib/preact.js";
import { Chart } from "../kit/chart.js";
import { day, money, number, percent, plural, tokens } from "../kit/format.js";
import { useEvents, useFetch } from "../kit/hooks.js";
import { setQuery } from "../kit/router.js";
import { Card, Empty, Facts, Loaded, Meter, Notice, Page, Segmented, Table } from "../kit/ui.js";

const WORKS = { answer: "Answers", summary: "Summaries", title: "Titles", judge: "Learning", proposal: "Proposals", digest: "Digests", rederive: "Deriving again", preference: "Preferences", critique: "Critiques", compression: "Compressions", heartbeat: "Heartbeat", reminder: "Reminders", soul: "Soul" };
const asked = (used) => used.input + used.cached + used.written;
const share = (used) => (asked(used) ? used.cached / asked(used) : null);
const cost = (used) => (used.spent || !used.unpriced.length ? money(used.spent) : "no price");

export default function Usage({ query }) {
  const days = ["7", "30", "90"].includes(query.days) ? query.days : "30";
  const report = useFetch("/usage", { days });
  useEvents([], report.reload);
  return html`<${Page} title="Usage" text="Tokens and cost of everything I did for you." wide
      tools=${html`<${Segmented} label="Days" hidden value=${days} onChange=${(one) => setQuery({ days: one })} options=${[["7", "7 days"], ["30", "30 days"], ["90", "90 days"]]} />`}>
    <${Loaded} of=${report}>${(found) => html`<${Report} found=${found} />`}</></>`;
}

function Report({ found }) {
  const { whole, days, starts, models, works, budget, everywhere } = found;
  if (!asked(whole) && !whole.output) return html`<${Empty} icon="usage" title="No usage in this period">Write to me, and the cost appears here.</>`;
  const busiest = days.reduce((best, one, at) => (one.spent > days[best].spent ? at : best), 0);
  return html`<div class="stack">
    ${budget && html`<${Card} title="Today's budget">
      ${budget.each > 0 && html`<${Meter} label="Yours" value=${budget.own} max=${budget.each} text=${`${money(budget.own)} of ${money(budget.each)}`} />`}
      ${budget.all > 0 && budget.total !== null && html`<${Meter} label="Everyone" value=${budget.total} max=${budget.all} text=${`${money(budget.total)} of ${money(budget.all)}`} />`}</>`}
    <${Card}><${Facts} items=${[["Cost", cost(whole)], ["Answers", number(whole.answers)], ["Tokens in", tokens(asked(whole))], ["Tokens out", tokens(whole.output)],
      ["From the cache", share(whole) === null ? "" : percent(share(whole))], ["Per day", money(whole.spent / days.length)], ["Everyone, everywhere", everywhere && cost(everywhere)]]} />
      ${whole.unpriced.length > 0 && html`<${Notice} tone="warn">No price known for ${whole.unpriced.join(", ")}. RELAY_PRICES names a file with prices.</>`}</>
    <${Card} title="Cost by day" text=${whole.spent ? `Most on ${day(starts[busiest])}: ${money(days[busiest].spent)}` : ""}>
      <${Chart} label=${`Cost by day, ${money(whole.spent)} in ${plural(days.length, "day")}`} days=${starts} series=${[{ label: "Cost", values: days.map((one) => one.spent) }]} format=${money} /></>
    <div class="grid"><${Card} title="Tokens by day"><${Chart} label="Tokens by day" days=${starts} series=${[{ label: "In", values: days.map(asked) }, { label: "Out", values: days.map((one) => one.output) }]} format=${tokens} height=${180} /></>
      <${Card} title="Read from the cache" text="The more, the cheaper."><${Chart} label="Share of input that came from the cache, by day" days=${starts} series=${[{ label: "Cache", values: days.map(share) }]} format=${percent} most=${1} height=${180} /></></div>
    <${Card} title="What for"><${Uses} label="Use by kind of work" first="Work" rows=${works.map((one) => [WORKS[one.what] || one.what, one.times, one.used])} /></>
    <${Card} title="Models"><${Uses} label="Use by model" first="Model" rows=${models.map((one) => [one.model, null, one.used])} /></>
    <details><summary>Every day as a table</summary><${Uses} label="Use by day" first="Day" rows=${days.map((one, at) => [day(starts[at]), one.answers, one]).reverse()} /></details>
  </div>`;
}

function Uses({ label, first, rows }) {
  const times = rows.some(([, count]) => count !== null);
  return html`<${Table} label=${label} left=${1} head=${[first, ...(times ? ["Times"] : []), "Cost", "In", "Out", "Cache"]}
    rows=${rows.map(([name, count, used]) => [name, ...(times ? [number(count)] : []), cost(used), tokens(asked(used)), tokens(used.output), share(used) === null ? "–" : percent(share(used))])} />`;
}
