// Who is signed in. The page starts with a proof in the address: what Telegram signed (`#tgWebAppData=…`), or the
// one-use link of `relay web` (`#link=…`). It is exchanged for a token, kept in sessionStorage, and removed from
// the address. Pages don't need this: kit/api.js sends the token.
//
//   await openSession()    returns whether somebody is signed in
//   token()                the token, or ""
//   onLost(fn)             calls fn when the server no longer takes the token
//
// A new window of the app outside of Telegram, as from a click with Ctrl, asks the others for the token.

import { PROOF, refreshRoute } from "./router.js";
import { startTelegram, telegram } from "./telegram.js";

const KEY = "relay.token";
// Whose token it is, as Telegram says; "" for a link.
const PERSON = "relay.person";
let windows;
let lost = () => {};

/** The token, or "" */
export const token = () => sessionStorage.getItem(KEY) || "";

/** Sets what happens when the server no longer takes the token. */
export function onLost(callback) {
  lost = callback;
}

/** Called by kit/api.js when the server answers 401. */
export function loseSession() {
  forgetToken();
  lost();
}

function forgetToken() {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(PERSON);
}

/** Reads the proof, exchanges it, and returns whether somebody is signed in. Throws if the server is away, or storage is blocked. */
export async function openSession() {
  windows = new BroadcastChannel("relay");
  const { path, values } = takeHash();
  startTelegram(values);
  const wanted = telegram.startParam ? `/${telegram.startParam.replaceAll(/[-_]/g, "/")}` : path;
  const { initData } = telegram;
  const signedIn = initData
    ? await exchange(JSON.parse(new URLSearchParams(initData).get("user") || "{}").id, { Authorization: `tma ${initData}` })
    : values.has("link") ? await exchange("", {}, { link: values.get("link") }) : token() !== "" || (!telegram.inside && (await borrow()));
  windows.onmessage = ({ data }) => data === null && !telegram.inside && token() && windows.postMessage(token());
  // Not before: if the server is away, the same proof works later.
  history.replaceState({ depth: 0 }, "", `${location.pathname}${wanted ? `#${wanted}` : ""}`);
  refreshRoute();
  return signedIn;
}

/** Asks the other windows for their token. Returns whether one answered. */
function borrow() {
  return new Promise((resolve) => {
    windows.onmessage = ({ data }) => {
      // Another window asks, too.
      if (data === null) return;
      sessionStorage.setItem(KEY, data);
      resolve(true);
    };
    windows.postMessage(null);
    setTimeout(resolve, 300, false);
  });
}

/** Splits the hash into the app's own address and the parameters of Telegram or of `relay web`. */
function takeHash() {
  const hash = location.hash.slice(1);
  const proof = hash.search(PROOF);
  if (proof < 0) return { path: hash, values: new Map() };
  const path = hash.slice(0, proof);
  return { path: path.startsWith("/") ? path : "", values: new Map(new URLSearchParams(hash.slice(proof).replace(/^[?&#]/, ""))) };
}

async function exchange(person, headers, body) {
  const response = await fetch("/api/session", {
    method: "POST",
    headers: body ? { ...headers, "Content-Type": "application/json" } : headers,
    body: body && JSON.stringify(body),
  }).catch(() => null);
  if (response?.ok) {
    sessionStorage.setItem(KEY, (await response.json()).token);
    sessionStorage.setItem(PERSON, person);
    return true;
  }
  if (!response) throw new Error("Relay can't be reached. Is it running, and are you online?");
  if (response.status >= 500 || response.status === 429) throw new Error(`The server answered ${response.status}.`);
  // A proof works once. After a reload with it in the address, its person is signed in already; others are not.
  if (sessionStorage.getItem(PERSON) !== String(person)) forgetToken();
  return token() !== "";
}
