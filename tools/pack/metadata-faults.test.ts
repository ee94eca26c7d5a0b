import { expect, test } from "vitest";
import { metadataFaults } from "./metadata-faults.ts";
import type { Manifest } from "./public-packages.ts";
import { ENGINES, TRIAL_ORIGIN } from "./published-manifest.ts";

const GOOD: Manifest = {
  name: "@zooid/model",
  version: "1.0.0",
  author: "People",
  keywords: ["zookeeper", "znode"],
  engines: ENGINES,
  homepage: "https://repository.invalid/team/zooid#readme",
  repository: { type: "git", url: "git+https://repository.invalid/team/zooid.git", directory: "packages/model" },
  bugs: { url: "https://repository.invalid/team/zooid/issues", email: "reports@repository.invalid" },
};

test("a package that says for whom, by whom and where it is has no faults", () => {
  for (const ending of ["", "/", ".git"])
    expect(metadataFaults(GOOD, { ...TRIAL_ORIGIN, repository: TRIAL_ORIGIN.repository + ending })).toEqual([]);
  const contact = "https://repository.invalid/reports";
  expect(metadataFaults({ ...GOOD, bugs: { url: contact } }, { ...TRIAL_ORIGIN, contact })).toEqual([]);
});

test.each<[string, Partial<Manifest>, string]>([
  ["no author", { author: "" }, "author is missing"],
  ["one keyword", { keywords: ["zookeeper"] }, 'keywords are "zookeeper" and others, found ["zookeeper"]'],
  ["other keywords", { keywords: ["a", "b"] }, 'keywords are "zookeeper" and others, found ["a","b"]'],
  ["a keyword twice", { keywords: ["zookeeper", "a", "a"] }, "keywords repeat: zookeeper, a, a"],
  ["another Node.js", { engines: { node: ">=20" } }, "engines.node is >=22.15, found >=20"],
  [
    "another repository than that of the release",
    { repository: { type: "git", url: "git+https://elsewhere.invalid/zooid.git", directory: "packages/model" } },
    "repository.url is git+https://repository.invalid/team/zooid.git, found git+https://elsewhere.invalid/zooid.git",
  ],
  [
    "another page",
    { homepage: "https://elsewhere.invalid/" },
    "homepage is https://repository.invalid/team/zooid#readme, found https://elsewhere.invalid/",
  ],
  [
    "a relative address of sources",
    { repository: { type: "git", url: ".", directory: "packages/model" } },
    "repository.url is git+https://repository.invalid/team/zooid.git, found .",
  ],
  [
    "another package's folder",
    { repository: { ...GOOD.repository, type: "git", url: GOOD.repository?.url ?? "", directory: "packages/wire" } },
    "repository.directory is the package's folder, found packages/wire",
  ],
  [
    "another contact",
    { bugs: { ...GOOD.bugs, email: "a@elsewhere.invalid" } },
    "the contact in bugs is reports@repository.invalid, found a@elsewhere.invalid",
  ],
  ["no address of reports", { bugs: { email: TRIAL_ORIGIN.contact } }, "bugs.url is an https URL, found undefined"],
])("a package with %s is found", (_, fields, fault) => {
  expect(metadataFaults({ ...GOOD, ...fields }, TRIAL_ORIGIN)).toEqual([fault]);
});
