// Starts the app: signs in, finds the page of the address, and loads it.

import { html, render, useEffect, useErrorBoundary, useState } from "./lib/preact.js";
import { get } from "./kit/api.js";
import { useZone } from "./kit/format.js";
import { startKeyboard } from "./kit/keyboard.js";
import { fill, match, navigate, useRoute } from "./kit/router.js";
import { onLost, openSession } from "./kit/session.js";
import { Empty, ErrorState, Frame, Skeleton } from "./kit/ui.js";
import { pathOf } from "./kit/frame.js";
import { home, routes } from "./routes.js";

const loaded = new Map();
const BLOCKED = "The browser blocks Relay's storage. Allow cookies for this site, and try again.";
const reload = () => location.reload();

/** The component of a route's module, or null until it is loaded. */
function usePage(module) {
  const [state, setState] = useState({ module: null, page: null, error: null });
  useEffect(() => {
    let left = false;
    import(module).then(
      ({ default: page }) => {
        loaded.set(module, page);
        if (!left) setState({ module, page, error: null });
      },
      (error) => !left && setState({ module, page: null, error }),
    );
    return () => (left = true);
  }, [module]);
  return state.module === module ? state : { page: loaded.get(module) || null, error: null };
}

function Guarded({ page, path, ...props }) {
  const [error, reset] = useErrorBoundary((problem) => console.error(problem));
  // A fault ends with its page.
  useEffect(() => reset(), [path]);
  if (error) return html`<${ErrorState} error=${new Error("This page ran into an error. The browser's console has the details.")} retry=${reset} />`;
  return html`<${page} ...${props} />`;
}

function App({ me }) {
  const { path, query } = useRoute();
  const found = match(routes, path);
  useEffect(() => {
    if (!found) navigate(home, {}, { replace: true });
  }, [path]);
  const { route, params } = found || match(routes, home);
  const { page, error } = usePage(route.module);
  const parent = route.parent ? fill(route.parent, params) : Object.keys(params).length ? pathOf(route) : null;
  const content = error
    ? html`<${ErrorState} error=${new Error("This page couldn't be loaded.")} retry=${reload} />`
    : page ? html`<${Guarded} key=${route.name} path=${path} page=${page} params=${params} query=${query} me=${me} />` : html`<div class="page"><${Skeleton} /></div>`;
  return html`<${Frame} routes=${routes} here=${{ route, parent }} me=${me}>${content}</>`;
}

const SignedOut = () => html`<main class="alone"><${Empty} icon="out" title="Open this page again">
  In Telegram, use the menu button of the chat, or send /browse. On the machine itself, run <code>relay web</code> and open the link it prints.</></main>`;

const Away = ({ error }) => html`<main class="alone"><${ErrorState} error=${error.name === "SecurityError" ? new Error(BLOCKED) : error} retry=${reload} /></main>`;

async function start() {
  const root = document.getElementById("app");
  const show = (view) => {
    root.replaceChildren();
    render(null, root);
    render(view, root);
  };
  onLost(() => {
    // What is being typed stays. Its dialog or a toast shows the error.
    const typed = document.querySelectorAll("dialog textarea, form input:not([type])");
    if (![...typed].some((one) => one.value)) show(html`<${SignedOut} />`);
  });
  try {
    if (!(await openSession())) {
      show(html`<${SignedOut} />`);
      return;
    }
    const me = await get("/me");
    useZone(me.timeZone);
    startKeyboard(routes, (route) => navigate(pathOf(route)));
    if (!match(routes, location.hash.slice(1).split("?")[0])) navigate(home, {}, { replace: true });
    show(html`<${App} me=${me} />`);
    // The other pages, too. They then open at once, even while the server is away: Firefox never again fetches a module
    // that it couldn't load.
    setTimeout(() => Promise.allSettled(routes.map(({ module }) => import(module))), 1500);
  } catch (error) {
    if (error.status !== 401) show(html`<${Away} error=${error} />`);
  }
}

start();
