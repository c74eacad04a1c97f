// The bridge to Telegram's client, over its documented web events (core.telegram.org/api/web-events).
// No script of Telegram's is loaded. Outside of Telegram every function here does nothing.
//
//   telegram.inside        whether the page was opened by Telegram
//   telegram.initData      who opened it, signed by Telegram: kit/session.js exchanges it for a token
//   telegram.startParam    what followed `startapp=` in the link, "" without
//   showBackButton(fn)     shows Telegram's Back button and calls fn; null hides it
//   buzz()                 a light vibration

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const framed = window.parent !== window;
const COLOR = /^#[0-9a-f]{6}$/i;
const KEPT = "relay.telegram";

export const telegram = { inside: false, initData: "", startParam: "" };
let onBack = null;

/** Sends an event to Telegram's client. */
export function postEvent(type, data = {}) {
  if (!telegram.inside) return;
  if (window.TelegramWebviewProxy) window.TelegramWebviewProxy.postEvent(type, JSON.stringify(data));
  else if (window.external && "notify" in window.external) window.external.notify(JSON.stringify({ eventType: type, eventData: data }));
  else if (framed) window.parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), "*");
}

function receiveEvent(type, data) {
  if (type === "back_button_pressed") onBack?.();
  else if (type === "theme_changed") applyTheme(data?.theme_params);
  else if (type === "reload_iframe") location.reload();
}

function applyTheme(params) {
  for (const [name, color] of Object.entries(params || {})) {
    if (COLOR.test(color)) root.style.setProperty(`--tg-theme-${name.replaceAll("_", "-")}`, color);
  }
  applyScheme(params?.bg_color);
}

function applyScheme(background) {
  let isDark = dark.matches;
  if (COLOR.test(background || "")) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(background.slice(at, at + 2), 16));
    isDark = 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  root.dataset.scheme = isDark ? "dark" : "light";
}

/** Shows Telegram's Back button, or hides it (null). */
export function showBackButton(callback) {
  onBack = callback;
  postEvent("web_app_setup_back_button", { is_visible: Boolean(callback) });
}

/** Lets the phone vibrate a little. */
export const buzz = () => postEvent("web_app_trigger_haptic_feedback", { type: "impact", impact_style: "light" });

/** Reads what Telegram wrote into the address: `values` is a Map of its parameters. Called once, by kit/session.js. */
export function startTelegram(values) {
  const theme = values.get("tgWebAppThemeParams") || sessionStorage.getItem(KEPT);
  telegram.inside = values.has("tgWebAppData") || theme !== null;
  telegram.initData = values.get("tgWebAppData") || "";
  telegram.startParam = values.get("tgWebAppStartParam") || new URLSearchParams(telegram.initData).get("start_param") || "";
  applyScheme();
  if (!telegram.inside) {
    dark.addEventListener("change", () => applyScheme());
    return;
  }
  root.dataset.telegram = "yes";
  // A reload of the page keeps the colours.
  sessionStorage.setItem(KEPT, theme || "{}");
  try {
    applyTheme(JSON.parse(theme || "{}"));
  } catch {
    applyScheme();
  }
  window.Telegram = { WebView: { receiveEvent } };
  window.TelegramGameProxy = { receiveEvent };
  window.TelegramGameProxy_receiveEvent = receiveEvent;
  addEventListener("message", (event) => {
    if (!framed || event.source !== window.parent || typeof event.data !== "string") return;
    try {
      const { eventType, eventData } = JSON.parse(event.data);
      receiveEvent(eventType, eventData);
    } catch {
      // not an event of Telegram's
    }
  });
  if (framed) postEvent("iframe_ready", { reload_supported: true });
  postEvent("web_app_ready");
  postEvent("web_app_expand");
  postEvent("web_app_request_theme");
}
