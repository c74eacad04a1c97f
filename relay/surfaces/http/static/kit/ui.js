// Every component in one place: `import { Page, List, Row, Button } from "../kit/ui.js"`. The comments at the top of
// the modules say how each is used.

export { attempt, Badge, Button, Card, Empty, ErrorState, Facts, IconButton, Loaded, Meter, Notice, Skeleton, Table } from "./basic.js";
export { Check, Chips, Field, Search, Segmented, Select, Slider, Switch, Text, useId } from "./controls.js";
export { ask, confirm, Dialog, openMenu, toast } from "./dialog.js";
export { Frame, Here, Page } from "./frame.js";
export { Icon } from "./icons.js";
export { List, Row } from "./list.js";
