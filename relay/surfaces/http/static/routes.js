// The pages: which address shows which module.
//
//   path    ":name" is a part of the address; ":name?" may be missing. The page gets both in `params`.
//   name    the page's name, for tests and screenshots
//           `${name}.js` in pages/ has its `export default function Page({ params, query, me })`, and is loaded when it
//           is opened; its icon in the navigation is the one of its name
//   title   what the navigation and the window call it
//   nav     1: in both bars; 2: under "More" on a phone; missing: not in the navigation
//   key     the letter after "g" that opens it
//   parent  where Back and Esc go (":name" is filled in)

export const routes = [
  { path: "/memory/:memoryId?", name: "memory", title: "Memory", nav: 1, key: "m" },
  { path: "/sessions", name: "sessions", title: "Sessions", nav: 1, key: "s" },
  { path: "/sessions/:sessionId", name: "session", title: "Session", parent: "/sessions" },
  { path: "/sessions/:sessionId/compress", name: "compress", title: "Compress", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/markers/:markerId?", name: "markers", title: "Markers", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/original", name: "original", title: "Original", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/versions/:versionId", name: "version", title: "Version", parent: "/sessions/:sessionId" },
  { path: "/sessions/:sessionId/compare", name: "compare", title: "Compare", parent: "/sessions/:sessionId" },
  { path: "/compose/:compositionId?", name: "compose", title: "Compose", nav: 2, key: "c" },
  { path: "/preferences/:preferenceId?", name: "preferences", title: "Preferences", nav: 1, key: "p" },
  { path: "/reminders/:reminderId?", name: "reminders", title: "Reminders", nav: 1, key: "r" },
  { path: "/usage", name: "usage", title: "Usage", nav: 2, key: "u" },
  { path: "/why/:turnId?", name: "why", title: "Why this answer", parent: "/memory" },
  { path: "/settings", name: "settings", title: "Settings", nav: 2 },
].map((one) => ({ ...one, module: `./pages/${one.name}.js` }));

export const home = "/memory";
