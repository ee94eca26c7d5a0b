import { ENGINES } from "../pack/published-manifest.ts";

/** Files of the repository by their place. */
export type Pages = Readonly<Record<string, string>>;

const README = "README.md";
const INSTALLATION = "docs/installation.md";
const LEFT_OUT = "tools/first-hour/left-out.ts";
/** Where the commands of the registry stand until the first release, and where from then on. */
const BEFORE = "Once published";
const SINCE = "Install";
const FIRST_SECTION = "## First lines";
const NOTHING_YET = "Nothing is published yet.\nFrom the first release on, without a clone, on";

/** The pages that the first release changes. */
export function firstReleasePages(apps: readonly string[]): readonly string[] {
  return [README, INSTALLATION, LEFT_OUT, ...apps.map(readmeOf)];
}

/** Whether the pages still speak of a release to come. */
export function isBeforeFirstRelease(readme: string): boolean {
  return readme.includes(`\n## ${BEFORE}\n`);
}

/**
 * The pages from the first release on: the commands of the registry lead in the root's README, and
 * stand in each application's.
 *
 * @param pages those of {@link firstReleasePages}
 * @param apps names of folders in `apps`
 * @throws where a page lacks what is to be moved
 */
export function sinceFirstRelease(pages: Pages, apps: readonly string[]): Pages {
  return {
    [README]: movedSection(pageOf(pages, README)),
    [INSTALLATION]: replaced(
      INSTALLATION,
      pageOf(pages, INSTALLATION),
      `[once published](../README.md#once-published)`,
      `[\`npm install\`](../README.md#install)`,
    ),
    [LEFT_OUT]: replaced(LEFT_OUT, pageOf(pages, LEFT_OUT), `heading: "${BEFORE}"`, `heading: "${SINCE}"`),
    ...Object.fromEntries(apps.map((app) => [readmeOf(app), installLine(app, pageOf(pages, readmeOf(app)))])),
  };
}

/** The section moves up, before the lines that need a clone. */
function movedSection(readme: string): string {
  const [before = "", section = "", after = ""] = readme.split(/^(?=## (?:Once published|More)$)/m);
  if (!section.startsWith(`## ${BEFORE}\n`) || !after.startsWith("## More\n"))
    throw new Error(`${README} has no section "${BEFORE}" before "More"`);
  const text = replaced(README, section, NOTHING_YET, "Without a clone, on").replace(`## ${BEFORE}`, `## ${SINCE}`);
  return replaced(README, before, `${FIRST_SECTION}\n`, `${text}${FIRST_SECTION}\n`) + after;
}

/** The line of an application's README on how it is started. */
export function cloneLine(app: string): string {
  return `In a clone of the repository, after \`npm ci\`: \`npx zooid-${app}\`.\n[${BEFORE}](../../README.md#once-published), it installs from npm.`;
}

function installLine(app: string, readme: string): string {
  const needs = `Node.js ${ENGINES["node"]?.replace(">=", "")} or newer`;
  const line = `\`npm install --global zooid-${app}\`, or without an installation \`npx zooid-${app}\`: ${needs}.`;
  return replaced(readmeOf(app), readme, cloneLine(app), line);
}

function readmeOf(app: string): string {
  return `apps/${app}/README.md`;
}

function pageOf(pages: Pages, name: string): string {
  const page = pages[name];
  if (page === undefined) throw new Error(`there is no ${name}`);
  return page;
}

function replaced(name: string, text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`${name} does not have "${from.trim()}"`);
  return text.replace(from, () => to);
}
