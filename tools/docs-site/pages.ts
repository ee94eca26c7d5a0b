import { posix } from "node:path";

/** A page of the site, by its place in the repository. */
export interface Page {
  readonly file: string;
  readonly text: string;
}

/** Where a page is in the site: each README is the index of its folder. */
export function sitePlace(file: string): string {
  return file.replace(/(^|\/)README\.md$/, "$1index.md");
}

/**
 * A page as the site has it. Links among pages lead to where those are; links to what is in the
 * repository and no page become its name, since the site does not know where the repository is.
 *
 * @param isPage whether a file of the repository is a page
 * @param exists whether there is such a file or folder in the repository
 */
export function sitePage(
  { file, text }: Page,
  isPage: (file: string) => boolean,
  exists: (file: string) => boolean,
): string {
  return text.replace(CODE_OR_LINK, (whole, title?: string, target?: string) => {
    if (title === undefined || target === undefined || /^(?:[a-z]+:|#)/.test(target)) return whole;
    const [path = "", anchor] = target.split("#");
    const place = posix.normalize(posix.join(posix.dirname(file), path));
    const readme = posix.join(place, "README.md");
    const page = isPage(place) ? place : isPage(readme) ? readme : undefined;
    if (page === undefined) return exists(place) ? `${title} (\`${place.replace(/\/$/, "")}\`)` : whole;
    const relative = posix.relative(posix.dirname(file), sitePlace(page));
    return `[${title}](./${relative}${anchor === undefined ? "" : `#${anchor}`})`;
  });
}

/**
 * A block of code, an image, or inline code, which stay; or a link with its title and its target.
 */
const CODE_OR_LINK = /^```[\s\S]*?^```\s*$|!\[[^\]]*\]\([^)]*\)|\[((?:`[^`\n]*`|[^\]`])*)\]\(([^)\s]+)\)|`[^`\n]+`/gm;

/** Names of the headings of a page that links may lead to, as the site makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#{1,6} +(.+)$/gm)];
  return new Set(headings.map(([, title = ""]) => slug(title)));
}

/** As on the pages of code hosts: words in lower case, joined by hyphens. */
export function slug(title: string): string {
  return title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

/** Links to a heading that a page does not have, one sentence each. */
export function deadAnchors(pages: readonly Page[]): readonly string[] {
  const anchors = new Map(pages.map(({ file, text }) => [file, anchorsOf(text)]));
  return pages.flatMap(({ file, text }) =>
    [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g)].flatMap(
      ([, path = "", anchor = ""]) => {
        const target = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path));
        const found = anchors.get(target);
        return found === undefined || found.has(anchor) ? [] : [`${file}: ${target} has no heading #${anchor}`];
      },
    ),
  );
}
