// Numbers, dates and sizes as people read them, in English like the words around them, whatever the browser's language.
//
//   number(12345) "12,345" · tokens(12400) "12.4k" · percent(0.42) "42%" · ratio(30) "30:1" · money(0.0123) "$0.012"
//   day("2026-05-01T…") "1 May 2026" · date(…) "1 May" · time(…) "9:05" · moment(…) "1 May 2026, 9:05" · ago(…) "3 days ago"
//   month(…) "May 2026" · size(123456) "121 KB" · plural(2, "message") "2 messages"
// `useZone(me.timeZone)` is called once at the start: times are those of the person's zone, as in the chat.

/** The person's time zone; undefined: the browser's. */
let zone;
// Making a format takes longer than using it a hundred times.
const made = new Map();

function formatOf(Kind, options = {}) {
  const key = `${Kind.name} ${zone} ${JSON.stringify(options)}`;
  if (!made.has(key)) made.set(key, new Kind("en-GB", options));
  return made.get(key);
}

/** Sets the time zone of all dates. An unknown one is ignored. */
export function useZone(name) {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: name });
    zone = name;
  } catch {
    zone = undefined;
  }
}

const dated = (options) => (value) =>
  value ? formatOf(Intl.DateTimeFormat, { timeZone: zone, ...options }).format(new Date(value)).replace(/\b0(?=\d:)/, "") : "";

export const day = dated({ day: "numeric", month: "short", year: "numeric" });
export const date = dated({ day: "numeric", month: "short" });
const year = dated({ year: "numeric" });
export const weekday = (value) => dated({ weekday: "short", day: "numeric", month: "short", year: year(value) === year(Date.now()) ? undefined : "numeric" })(value).replace(",", "");
export const month = dated({ month: "long", year: "numeric" });
export const time = dated({ timeStyle: "short" });
export const moment = dated({ dateStyle: "medium", timeStyle: "short" });

export const number = (value) => formatOf(Intl.NumberFormat).format(value);
export const percent = (share, digits = 0) =>
  formatOf(Intl.NumberFormat, { style: "percent", maximumFractionDigits: digits }).format(share);
export const ratio = (value) => `${Number(value.toFixed(value < 10 ? 1 : 0))}:1`;
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** 940 → "940", 12400 → "12.4k", 2500000 → "2.5M". */
export function tokens(count) {
  if (count === null || count === undefined) return "–";
  const [by, sign] = count >= 999_500 ? [1e6, "M"] : count >= 1000 ? [1e3, "k"] : [1, ""];
  const value = count / by;
  return `${Number(value.toFixed(by > 1 && value < 100 ? 1 : 0))}${sign}`;
}

/** Dollars, with as many digits as small amounts need. */
export function money(dollars) {
  const digits = dollars === 0 || dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 4;
  return formatOf(Intl.NumberFormat, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: 2, maximumFractionDigits: digits }).format(dollars);
}

/** 123456 → "121 KB". */
export function size(bytes) {
  const units = ["B", "KB", "MB", "GB"];
  let at = 0;
  for (; bytes >= 1000 && at < 3; at += 1) bytes /= 1024;
  return `${Number(bytes.toFixed(bytes < 10 && at ? 1 : 0))} ${units[at]}`;
}

const STEPS = [["year", 31_536_000], ["month", 2_592_000], ["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60]];

const dayNumber = (at) => Date.parse(new Date(at).toLocaleDateString("sv", { timeZone: zone })) / 864e5;

/** "3 days ago", "in 2 hours". */
export function ago(value, now = Date.now()) {
  if (!value) return "";
  const seconds = (new Date(value) - now) / 1000;
  const [unit, length] = STEPS.find((one) => Math.abs(seconds) >= one[1]) ?? [];
  if (!unit) return "just now";
  // Days as in the calendar.
  const count = unit === "day" ? dayNumber(value) - dayNumber(now) : Math.round(seconds / length);
  return formatOf(Intl.RelativeTimeFormat).format(count, unit);
}
