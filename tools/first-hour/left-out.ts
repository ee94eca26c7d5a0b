import type { LeftOut } from "./page-steps.ts";

/** Pages that are run as a reader would follow them. */
export const PAGES: readonly string[] = ["README.md", "docs/guide.md"];

/** Everything on these pages that is not run. */
export const LEFT_OUT: readonly LeftOut[] = [
  {
    page: "README.md",
    heading: "Once published",
    language: "sh",
    reason:
      "installs from the registry, which has nothing of this before the first release; pack-check installs the tarballs",
  },
  {
    page: "README.md",
    heading: "kazoo, unchanged",
    language: "python",
    reason: "needs kazoo; the step `foreign` runs it",
  },
  { page: "README.md", heading: "Tests", language: "sh", reason: "the step `test` is this command" },
];

/** Files that a page expects on the machine: `DIRECTORY` is one of the run's own. */
export const PREPARED: Readonly<Record<string, string>> = {
  "/etc/zookeeper/zoo.cfg": "tickTime=2000\ndataDir=DIRECTORY/zookeeper\nclientPort=2181\n",
};
