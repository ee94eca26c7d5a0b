import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LEFT_OUT } from "../first-hour/left-out.ts";
import { pageSteps } from "../first-hour/page-steps.ts";
import { ROOT } from "../pack/public-packages.ts";
import { cloneLine, firstReleasePages, isBeforeFirstRelease, sinceFirstRelease } from "./first-release.ts";

const README = `# Zooid

## First lines

Clone it.

## Figures

## Once published

Nothing is published yet.
From the first release on, without a clone, on Node.js 22.15 or newer:

\`\`\`sh
npm install --global zooid-server
\`\`\`

## More

links
`;
const PAGES = {
  "README.md": README,
  "docs/installation.md": "see [once published](../README.md#once-published): all\n",
  "tools/first-hour/left-out.ts": '  heading: "Once published",\n',
  "apps/cli/README.md": `# zooid-cli\n\n${cloneLine("cli")}\n`,
};

test("the section with the registry's commands moves before the lines that need a clone", () => {
  expect(sinceFirstRelease(PAGES, ["cli"])["README.md"]).toBe(`# Zooid

## Install

Without a clone, on Node.js 22.15 or newer:

\`\`\`sh
npm install --global zooid-server
\`\`\`

## First lines

Clone it.

## Figures

## More

links
`);
});

test("an application's page has the command that installs it, and the other pages name the section", () => {
  const pages = sinceFirstRelease(PAGES, ["cli"]);
  expect(pages["apps/cli/README.md"]).toBe(
    "# zooid-cli\n\n`npm install --global zooid-cli`, or without an installation `npx zooid-cli`: Node.js 22.15 or newer.\n",
  );
  expect(pages["docs/installation.md"]).toBe("see [`npm install`](../README.md#install): all\n");
  expect(pages["tools/first-hour/left-out.ts"]).toBe('  heading: "Install",\n');
});

test("a page that lacks its lines is named, and nothing is moved", () => {
  const pages = { ...PAGES, "apps/cli/README.md": "# zooid-cli\n" };
  expect(() => sinceFirstRelease(pages, ["cli"])).toThrow("apps/cli/README.md does not have");
  expect(() => sinceFirstRelease({ ...PAGES, "README.md": "# Zooid\n" }, ["cli"])).toThrow("Once published");
});

// From the first release on the pages are as this test makes them.
test("this repository's pages can be moved, or are", () => {
  const apps = ["bench", "cli", "console", "server"];
  const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");
  const readme = read("README.md");
  if (!isBeforeFirstRelease(readme)) return;
  const moved = sinceFirstRelease(Object.fromEntries(firstReleasePages(apps).map((name) => [name, read(name)])), apps);
  expect(isBeforeFirstRelease(moved["README.md"] ?? "")).toBe(false);
  const leftOut = LEFT_OUT.map((one) => (one.heading === "Once published" ? { ...one, heading: "Install" } : one));
  expect(pageSteps("README.md", moved["README.md"] ?? "", leftOut).faults).toEqual([]);
});
