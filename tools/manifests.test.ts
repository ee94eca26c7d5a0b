import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { placeOf } from "./manifest-place.ts";
import { publicPackages, ROOT, readRootManifest } from "./pack/public-packages.ts";

const root = readRootManifest();

test("the root's package.json says by whom the packages are, where they live and where reports go", () => {
  const { author = "", keywords = [], repository, bugs } = root;
  expect(author).not.toBe("");
  expect(keywords).toContain("zookeeper");
  // Relative to the place that hosts the repository, or absolute and encrypted.
  for (const url of [repository?.url, bugs?.url]) expect(url).toMatch(/^(?:\.|(?:git\+)?https:\/\/)/);
});

test.each(
  publicPackages().map(({ directory, manifest }) => [manifest.name, relative(ROOT, directory), manifest] as const),
)(
  "the source of %s has the root's addresses, its folder and keywords of its own, and no engines",
  (_, directory, { repository, bugs, keywords = [], engines }) => {
    expect({ repository, bugs }).toEqual(placeOf(root, directory));
    expect(keywords.length).toBeGreaterThan(0);
    expect(keywords.filter((word) => root.keywords?.includes(word))).toEqual([]);
    expect(engines).toBeUndefined();
  },
);

// `npm pack --workspaces` writes them into one folder, the later one over the earlier.
test("no two packages have tarballs of one name", () => {
  const files = publicPackages().map(({ manifest: { name } }) => name.replace("@", "").replace("/", "-"));
  expect(files.filter((file, i) => files.indexOf(file) !== i)).toEqual([]);
});

test.each(["SECURITY.md", "CONTRIBUTING.md"])(
  "%s names fields that a published package has, and no address of a stranger",
  (file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    expect(text).not.toMatch(/\bexample\.(?:org|com|net)\b/);
    const fields = [...text.matchAll(/npm view [\w@/-]+ ([\w. ]+)`/g)].flatMap(([, names = ""]) => names.split(" "));
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter((field) => !["repository.url", "bugs", "bugs.email", "bugs.url"].includes(field))).toEqual([]);
  },
);
