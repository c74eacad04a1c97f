// Suggestions: past sessions that fit a topic.

import { html, useState } from "../lib/preact.js";
import { post } from "../kit/api.js";
import { ago, percent, tokens } from "../kit/format.js";
import { navigate } from "../kit/router.js";
import { Button, Check, Dialog, Empty, Text } from "../kit/ui.js";
import { nameOf } from "./sessions.js";

/** A dialog that suggests sessions. `onChoose(suggestions)` takes them; by default they begin a composition. */
export function Suggest({ project, onClose, onChoose }) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState(null);
  const [chosen, setChosen] = useState(new Set());
  const look = async (event) => {
    event.preventDefault();
    const { suggestions } = await post("/memory/suggest", { query: words, projectId: project.projectId });
    setFound(suggestions);
    setChosen(new Set(suggestions.map((one) => one.sessionId)));
  };
  const toggle = (id, on) => setChosen((old) => new Set(on ? [...old, id] : [...old].filter((one) => one !== id)));
  const take = () => {
    const picked = found.filter((one) => chosen.has(one.sessionId));
    onClose();
    if (onChoose) onChoose(picked);
    else navigate("/compose", { project: project.projectId, add: picked.map((one) => one.sessionId).join() });
  };
  return html`<${Dialog} title="Suggest sessions" onClose=${onClose} actions=${html`
      <${Button} icon="search" kind=${found?.length ? "plain" : "primary"} disabled=${!words.trim()} onClick=${look}>Look</>
      ${found?.length > 0 && html`<${Button} kind="primary" icon="compose" disabled=${!chosen.size} onClick=${take}>Compose these</>`}`}>
    <form onSubmit=${(event) => { event.preventDefault(); event.currentTarget.closest("dialog").querySelector("footer button").click(); }}>
      <${Text} label="What do you want to talk about?" value=${words} onInput=${setWords} maxlength="4000" autofocus /></form>
    ${found && (found.length ? found.map((one) => html`<${Check} key=${one.sessionId} checked=${chosen.has(one.sessionId)} onChange=${(on) => toggle(one.sessionId, on)}
      label=${nameOf(one)} hint=${reason(one)} />`) : html`<${Empty} icon="search" title="No session fits">None of the past sessions is about that.</>`)}
  </>`;
}

const reason = (one) => [
  `fits ${percent(one.relevanceScore)}`,
  `${tokens(one.suggestedTokens)} tokens`,
  one.make ? "a version would be made" : one.versionId || "original",
  ago(one.lastUsed),
  one.linked && `linked: ${one.linked}`,
  one.matchedTopics.length > 0 && `topics: ${one.matchedTopics.join(", ")}`,
  one.matchedFiles.length > 0 && `files: ${one.matchedFiles.join(", ")}`,
].filter(Boolean).join(" · ");
