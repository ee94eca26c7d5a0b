import { expect, test } from "vitest";
import type { Manifest } from "../pack/public-packages.ts";
import { publishingOrder, type ReleaseFacts, releaseFaults } from "./release-plan.ts";

const MODEL: Manifest = { name: "@zooid/model", version: "1.2.0" };
const WIRE: Manifest = { name: "@zooid/wire", version: "1.2.0", dependencies: { "@zooid/model": "1.2.0", rxjs: "7" } };
const GOOD: ReleaseFacts = {
  version: "1.2.0",
  manifests: [WIRE, MODEL],
  changelog: "# Changelog\n\n## 1.2.0\n\n## 1.1.0\n",
  readme: "# Zooid\n\n## Install\n",
  changesets: [],
  status: "",
  tags: ["v1.2.0"],
};

test("a tagged commit without changes, and with a section of the changelog, can be published", () => {
  expect(releaseFaults(GOOD)).toEqual([]);
});

test.each<[string, Partial<ReleaseFacts>]>([
  ["a package of another version", { manifests: [MODEL, { ...WIRE, version: "1.1.0" }] }],
  [
    "a package that needs another version of ours",
    {
      manifests: [
        { ...MODEL, version: "1.2.0" },
        { ...WIRE, dependencies: { "@zooid/model": "1.1.0" } },
      ],
    },
  ],
  [
    "a package that needs a private one",
    { manifests: [MODEL, { ...WIRE, dependencies: { "@zooid/conformance": "1.2.0" } }] },
  ],
  ["a changelog without the version", { changelog: "## 1.2.0-rc\n## 1.1.0\n" }],
  ["a README that says that nothing is published", { readme: "# Zooid\n\n## Once published\n" }],
  ["changesets that are left", { changesets: ["one.md"] }],
  ["changes in the working tree", { status: " M package.json\n" }],
  ["a commit without the tag", { tags: ["v1.1.0"] }],
])("%s keeps a release from being published", (_, facts) => {
  expect(releaseFaults({ ...GOOD, ...facts })).toHaveLength(1);
});

test("a dry run needs no tag, and may have changes and changesets", () => {
  const dryRun = { status: undefined, tags: undefined, readme: "\n## Once published\n" };
  expect(releaseFaults({ ...GOOD, ...dryRun, changesets: ["one.md"] })).toEqual([]);
});

test("packages are published after those that they need", () => {
  const app: Manifest = { name: "zooid-cli", version: "1.2.0", dependencies: { "@zooid/wire": "1.2.0" } };
  expect(publishingOrder([app, WIRE, MODEL])).toEqual(["@zooid/model", "@zooid/wire", "zooid-cli"]);
});
