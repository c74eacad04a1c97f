// Helpers for the pages of sessions.

import { html, useEffect, useRef, useState } from "../lib/preact.js";
import { post, remove } from "../kit/api.js";
import { plural, tokens } from "../kit/format.js";
import { RETRY, useFetch, useSpaced } from "../kit/hooks.js";
import { confirm, toast } from "../kit/ui.js";

/** The name of a session. */
export const nameOf = (one) => one.title || one.opening || `Session ${one.sessionId}`;

/** `after` for a page of messages that begins with this one. */
export const since = (messageUuid) => `m${messageUuid.slice(1) - 1}`;

/** Adds a session to the library, or removes it. */
export async function register(projectId, one, registered) {
  const where = `/memory/projects/${projectId}/sessions/${one.sessionId}`;
  await (registered ? remove(where) : post(where));
  toast(registered ? "Removed from the library. Its versions and markers stay." : "It's in the library now.");
}

/** What became of a marker in versions. */
export const fatesOf = ({ survivedIn, summarizedIn }) => [
  survivedIn.length > 0 && `kept in ${survivedIn.join(", ")}`,
  summarizedIn.length > 0 && `summarised in ${summarizedIn.join(", ")}`,
].filter(Boolean);

/** The projects, and the chosen one: by its id, or the last used, one to change first. In a group, only admins may change its library. */
export function useProject(id, me) {
  const projects = useFetch("/memory/projects", { limit: 200 });
  const all = projects.data?.projects || [];
  const may = (one) => me.admin || one?.space === "private";
  const project = all.find(id ? (one) => one.projectId === id : may) || (!id && all[0]) || null;
  if (projects.data && id && !project) return { projects: { data: null, error: { status: 404, message: "There's no such project." } }, project };
  return { projects, project, may: may(project) };
}

// *italic* and **bold** words. Bold ones may begin or end where text is left out.
const STARRED = /\B(\*\*?)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])|\B\*\*(?=[^\s*][^*]*…)/g;
const ENDED = /(… [^*]*[^\s*])\*\*(?![\w*])/g;

/** A passage of a search, with the words that match marked. */
export function Snippet({ text }) {
  return text.replace(STARRED, "$2").replace(ENDED, "$1").split(/\u0002|\u0003/).map((part, at) => (at % 2 ? html`<mark key=${at}>${part}</mark>` : part));
}

/** Asks the API about the text being typed. Returns the last answer, and what is wrong with the input. */
export function usePreview(path, body) {
  const [state, setState] = useState({ data: null, error: null, waiting: true });
  const asked = useRef(0);
  const ask = useSpaced(async (mine) => {
    if (body === null) return;
    try {
      const data = await post(path, body);
      if (mine === asked.current) setState({ data, error: null, waiting: false });
    } catch (error) {
      if (mine !== asked.current) return;
      setState((old) => ({ ...old, error, waiting: false }));
      // The server is away.
      if (error.status === 0 || error.status >= 500) setTimeout(() => mine === asked.current && ask(mine), RETRY);
    }
  }, 250, 1500);
  useEffect(() => {
    const mine = (asked.current += 1);
    if (body === null) setState({ data: null, error: null, waiting: false });
    else {
      setState((old) => ({ ...old, waiting: true }));
      ask(mine);
    }
    return () => (asked.current += 1);
  }, [path, JSON.stringify(body)]);
  return state;
}

/** Prunes versions of a session after asking; asks by name about those in use. Returns whether they are gone. */
export async function prune(sessionId, versions, asks, after) {
  const ids = versions.map((one) => one.versionId);
  const size = `${plural(ids.length, "version")}, ${tokens(versions.reduce((sum, one) => sum + (one.outputTokens || 0), 0))} tokens`;
  const held = versions.some((one) => one.usedInCompositions) ? " Compositions that hold them keep their text." : "";
  if (asks && !(await confirm({ title: `Prune ${plural(ids.length, "version")}?`, text: `${size}. The original stays.${held}`, action: "Prune", danger: true }))) return false;
  const done = (await inUse(
    (force) => post("/memory/versions/prune", { sessionId, versionIds: ids, force }),
    "A running conversation began with it. It keeps its text until it ends.",
  ));
  if (!done) return false;
  after();
  const undo = async () => {
    await post("/memory/versions/restore", { sessionId, undo: done.undo });
    after();
  };
  toast(`${size} pruned.`, { undo });
  return true;
}

/** Drops a composition after asking. Returns whether it is gone. */
export async function dropComposition(one, asks) {
  if (asks && !(await confirm({ title: `Drop “${one.name}”?`, text: "Its sessions and their versions stay.", action: "Drop", danger: true }))) return false;
  const done = await inUse(async (force) => {
    await remove(`/memory/compositions/${one.compositionId}`, force ? { force } : {});
    return true;
  }, "A running conversation began with it, and keeps it until it ends.");
  if (done) toast(`Dropped “${one.name}”.`);
  return Boolean(done);
}

/** Runs an action. If its object is in use, names what uses it and asks whether to go on. */
async function inUse(act, text) {
  try {
    return await act(false);
  } catch (problem) {
    if (problem.code !== "in_use") throw problem;
    const names = problem.document.error.compositions.filter((one) => one.active).map((one) => `“${one.name}”`);
    if (!(await confirm({ title: `${names.join(", ")} is in use`, text, action: "Do it anyway", danger: true }))) return null;
    return act(true);
  }
}
