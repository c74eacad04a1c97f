// Charts with uPlot, which is loaded when the first one is shown.
//
//   <${Chart} label="Cost by day" height=${220} x=${[unix seconds]} series=${[{ label: "Cost", values: [0.1, …], format: money, bars: true }]} />
//       Colours are those of the theme. A screen reader reads `label`; give it the numbers in a table beside it.

import { html, useEffect, useRef } from "../lib/preact.js";
import { attempt } from "./basic.js";
import { date, zone } from "./format.js";

const COLORS = ["--accent", "--good"];
// The least distance of marks on the axis of time; a bar has half of it on both sides.
const DAY = 86_400;
let loading = null;

/** Loads uPlot: a plain script, whose module is twice as large. */
function loadPlot() {
  loading ??= new Promise((resolve, reject) => {
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("chart.css", import.meta.url) });
    const script = Object.assign(document.createElement("script"), { src: new URL("../lib/uplot.js", import.meta.url) });
    // It throws for a language that the browser doesn't know.
    script.onload = () => (window.uPlot ? resolve(window.uPlot) : script.onerror());
    script.onerror = () => {
      loading = null;
      reject(new Error("The chart's library couldn't be loaded."));
    };
    document.head.append(style, script);
  });
  return loading;
}

function optionsOf(Plot, width, height, series) {
  const styles = getComputedStyle(document.documentElement);
  const color = (name) => styles.getPropertyValue(name).trim();
  const axis = { stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  return {
    width,
    height,
    tzDate: (at) => Plot.tzDate(new Date(1000 * at), zone),
    cursor: { points: { size: 7 }, drag: { x: false, y: false } },
    legend: { show: series.length > 1 },
    axes: [{ ...axis, grid: { show: false }, incrs: [1, 2, 4, 7, 14, 28].map((days) => days * DAY), values: (_, values) => values.map((one) => date(1000 * one)) }, { ...axis, size: 62, values: (_, values) => values.map(series[0].format) }],
    scales: { x: { range: (_, low, high) => [low - DAY / 2, high + DAY / 2] }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.08 : 1] } },
    series: [{ label: "Day", value: (_, value) => (value == null ? "–" : date(1000 * value)) }, ...series.map((one, at) => {
      const stroke = color(COLORS[at]);
      return {
        label: one.label, stroke, width: one.bars ? 0 : 2, value: (_, value) => (value == null ? "–" : one.format(value)),
        fill: one.bars ? stroke : undefined, paths: one.bars ? Plot.paths.bars({ size: [0.6, 28], radius: 0.2 }) : undefined, points: { show: false },
      };
    })],
  };
}

export function Chart({ label, x, series, height = 220 }) {
  const box = useRef(null);
  useEffect(() => {
    let plot = null;
    let ended = false;
    const draw = () => attempt(null, async () => {
      const Plot = await loadPlot();
      if (ended || !box.current) return;
      plot?.destroy();
      plot = new Plot(optionsOf(Plot, box.current.clientWidth, height, series), [x, ...series.map((one) => one.values)], box.current);
    });
    const resized = new ResizeObserver(() => plot?.setSize({ width: box.current.clientWidth, height }));
    const themed = new MutationObserver(draw);
    resized.observe(box.current);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-scheme", "style"] });
    draw();
    return () => {
      ended = true;
      resized.disconnect();
      themed.disconnect();
      plot?.destroy();
    };
  }, [x, series, height]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${box} style=${{ minHeight: `${height}px` }}></div>`;
}
