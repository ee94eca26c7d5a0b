import { defineConfig } from "vitepress";
// @ts-expect-error: it is written beside this file when the site is built.
import { recipes, reference } from "./lists.mjs";
// @ts-expect-error: as above.
import { slug } from "./pages.ts";

export default defineConfig({
  title: "Zooid",
  description: "ZooKeeper in TypeScript",
  // The reference of the API is finished pages, beside which typedoc lays copies of what they link
  // to.
  srcExclude: ["public/**"],
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: false,
  // Text in braces is text.
  markdown: {
    html: false,
    attrs: { disable: true },
    anchor: { slugify: slug },
    headers: { slugify: slug },
    toc: { slugify: slug },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guide", link: "/docs/guide" },
      { text: "Operations", link: "/docs/operations" },
      { text: "Recipes", link: "/docs/recipes/" },
      { text: "API", link: "/api/index.html", target: "_self" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          { text: "Overview", link: "/" },
          { text: "Guide", link: "/docs/guide" },
          { text: "Shutting down a service", link: "/docs/shutdown" },
          { text: "Migration", link: "/docs/migration" },
          { text: "Tested with", link: "/docs/tested-with" },
          { text: "Differences from Apache ZooKeeper", link: "/docs/differences" },
        ],
      },
      {
        text: "Operation",
        items: [
          { text: "zooid-server", link: "/apps/server/" },
          { text: "Operations", link: "/docs/operations" },
          { text: "Settings", link: "/docs/settings" },
          { text: "Events of the log", link: "/docs/log-events" },
          { text: "When members or data are lost", link: "/docs/disaster" },
          { text: "Containers", link: "/docs/containers" },
          { text: "Authentication and encryption", link: "/docs/security" },
          { text: "Hostile input", link: "/docs/hostile-input" },
          { text: "Performance", link: "/docs/performance" },
          { text: "zooid-cli", link: "/apps/cli/" },
          { text: "zooid-console", link: "/apps/console/" },
          { text: "zooid-bench", link: "/apps/bench/" },
        ],
      },
      { text: "Recipes", collapsed: true, items: recipes },
      { text: "Reference", collapsed: true, items: reference },
    ],
  },
});
