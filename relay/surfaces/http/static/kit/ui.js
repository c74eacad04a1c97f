// Every component in one place: `import { Page, List, Row, Button } from "../kit/ui.js"`. The comments at the top of
// the modules say how each is used.

export * from "./basic.js";
export * from "./controls.js";
export * from "./dialog.js";
export * from "./frame.js";
export * from "./icons.js";
export * from "./list.js";
