// The pages: which address shows which module.
//
//   path    ":name" is a part of the address; ":name?" may be missing. The page gets both in `params`.
//   name    the page's name, for tests and screenshots
//   module  the file with `export default function Page({ params, query, me })`; it is loaded when it is opened
//   title   what the navigation and the window call it
//   icon    a name of kit/icons.js
//   nav     1: in both bars; 2: under "More" on a phone; missing: not in the navigation
//   key     the letter after "g" that opens it
//   parent  where Back and Esc go (":name" is filled in)

export const routes = [
  { path: "/memory/:memoryId?", name: "memory", module: "./pages/memory.js", title: "Memory", icon: "memory", nav: 1, key: "m" },
  { path: "/sessions", name: "sessions", module: "./pages/sessions.js", title: "Sessions", icon: "sessions", nav: 1, key: "s" },
  { path: "/sessions/:sessionId", name: "session", module: "./pages/session.js", title: "Session", parent: "/sessions" },
  { path: "/sessions/:sessionId/compress", name: "compress", module: "./pages/compress.js", title: "Compress", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/markers/:markerId?", name: "markers", module: "./pages/markers.js", title: "Markers", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/original", name: "original", module: "./pages/original.js", title: "Original", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/versions/:versionId", name: "version", module: "./pages/version.js", title: "Version", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/compare", name: "compare", module: "./pages/compare.js", title: "Compare", parent: "/sessions/:sessionId" },
  { path: "/compose/:compositionId?", name: "compose", module: "./pages/compose.js", title: "Compose", icon: "compose", nav: 2, key: "c" },
  { path: "/preferences/:preferenceId?", name: "preferences", module: "./pages/preferences.js", title: "Preferences", icon: "preferences", nav: 1, key: "p" },
  { path: "/reminders/:reminderId?", name: "reminders", module: "./pages/reminders.js", title: "Reminders", icon: "reminders", nav: 1, key: "r" },
  { path: "/usage", name: "usage", module: "./pages/usage.js", title: "Usage", icon: "usage", nav: 2, key: "u" },
  { path: "/why/:turnId?", name: "why", module: "./pages/why.js", title: "Why this answer", parent: "/memory" },
  { path: "/settings", name: "settings", module: "./pages/settings.js", title: "Settings", icon: "settings", nav: 2 },
];

export const home = "/memory";
