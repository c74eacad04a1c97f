// A version: what it holds, how it was made, its files.

import { html } from "../lib/preact.js";
import { download } from "../kit/api.js";
import { moment, number, plural, ratio } from "../kit/format.js";
import { useEvents, useFetch } from "../kit/hooks.js";
import { navigate } from "../kit/router.js";
import { Button, Card, Facts, Loaded, Notice, Page } from "../kit/ui.js";
import { labelOf, Rows, settingOf } from "../parts/text.js";

export default function Version({ params }) {
  const session = `/sessions/${params.sessionId}`;
  const path = `/memory${session}/versions/${params.versionId}`;
  const version = useFetch(path);
  useEvents(["version"], version.reload);
  const one = version.data;
  const save = (format) => download(path, { format }, `${one.name}.${format}`);
  return html`<${Page} title=${one?.name || params.versionId} actions=${one && html`
      <${Button} icon="download" onClick=${() => save("md")}>Markdown</><${Button} icon="download" onClick=${() => save("jsonl")}>JSON lines</>
      <${Button} icon="compress" onClick=${() => navigate(`${session}/compress`, { source: one.versionId })}>Compress further</>`}>
    <${Loaded} of=${version}>${(one) => html`
      <${Card}><${Facts} items=${[["Tokens", number(one.outputTokens)], ["Messages", number(one.outputMessages)], ["Ratio", ratio(one.compressionRatio)],
        ["Markers kept", `${one.keepitStats.preserved} of ${one.keepitStats.preserved + one.keepitStats.summarized}`], ["Made", moment(one.createdAt)],
        ["Made from", one.sourceVersion || "the original"], ...Object.entries(one.settings).map(([name, value]) => [labelOf(name), settingOf(value)])]} /></>
      ${one.leftOut > 0 && html`<${Notice} action=${html`<${Button} small onClick=${() => navigate(`${session}/original`)}>Look</>`}>
        This leaves out ${plural(one.leftOut, "message")} of the original. Mark what must stay.</>`}
      <${Card} title="Text"><${Rows} rows=${one.rows} /></>`}</>
  </>`;
}
