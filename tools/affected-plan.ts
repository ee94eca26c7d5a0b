/** The work that a change makes necessary. */
export interface AffectedPlan {
  /** Files whose format and lint rules are checked. */
  readonly linted: readonly string[];
  /** Files whose projects, and all that stand on them, are built and tested. */
  readonly seeds: readonly string[];
  /** Whether examples of READMEs have to be run. */
  readonly hasReadme: boolean;
}

/** A file of the project whose tests read documents, and the steps of CI. */
const READER_OF_DOCUMENTS = "tools/project.json";
const LINTED = /\.(ts|mts|mjs|js|json)$/;
const DOCUMENT = /\.md$|^docs\/|^\.ci\//;
const README = /^(packages|apps)\/[^/]+\/README\.md$/;
/** No test depends on them. */
const OUTSIDE = /^(\.changeset|\.github)\/|^LICENSE$|^\.editorconfig$/;

/** @param files changed paths below the repository's root, with `/` */
export function planOf(files: readonly string[]): AffectedPlan {
  const inside = files.filter((file) => !OUTSIDE.test(file));
  const seeds = inside.map((file) => (DOCUMENT.test(file) ? READER_OF_DOCUMENTS : file));
  return {
    linted: files.filter((file) => LINTED.test(file)),
    seeds: [...new Set(seeds)],
    hasReadme: files.some((file) => README.test(file)),
  };
}
