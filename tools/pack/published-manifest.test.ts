import { expect, test } from "vitest";
import type { Manifest } from "./public-packages.ts";
import { ENGINES, publishedManifest } from "./published-manifest.ts";

const MODEL: Manifest = { name: "@zooid/model", version: "1.2.0" };
const DIRECTORY = "packages/model";
const ROOT_MANIFEST: Manifest = {
  name: "zooid",
  version: "1.2.0",
  author: "People",
  keywords: ["zookeeper", "consensus"],
  repository: { type: "git", url: "." },
  bugs: { url: "./issues" },
};
const COMMON = { author: "People", keywords: ["zookeeper", "consensus"], engines: ENGINES };
const REPOSITORY = "https://host.invalid/team/zooid";
const CONTACT = "a@host.invalid";

test("sources, scripts and tools are left out, and entries that are sources alone", () => {
  const manifest = {
    ...MODEL,
    exports: {
      ".": { "@zooid/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./more": { "@zooid/source": "./src/more.ts", types: "./dist/more.d.ts", default: "./dist/more.js" },
      "./testing/thing": { "@zooid/source": "./src/testing/thing.ts" },
    },
    imports: { "#lazy": { "@zooid/source": "./src/lazy.ts", module: "./dist/bundled.js", default: "./dist/lazy.js" } },
    scripts: { test: "vitest" },
    dependencies: { rxjs: "7.0.0" },
    devDependencies: { acorn: "8.0.0" },
    repository: { type: "git", url: ".", directory: DIRECTORY },
    bugs: { url: "./issues" },
  };
  expect(publishedManifest(manifest, { directory: DIRECTORY, root: ROOT_MANIFEST })).toEqual({
    ...MODEL,
    ...COMMON,
    imports: { "#lazy": { module: "./dist/bundled.js", default: "./dist/lazy.js" } },
    main: "./dist/index.js",
    types: "./dist/index.d.ts",
    typesVersions: { "*": { more: ["./dist/more.d.ts"] } },
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./more": { types: "./dist/more.d.ts", default: "./dist/more.js" },
    },
    dependencies: { rxjs: "7.0.0" },
  });
});

test("a program whose entries are sources alone is published without exports", () => {
  const manifest = {
    ...MODEL,
    bin: { thing: "bin/thing.cjs" },
    exports: { "./internal/*": { "@zooid/source": "./src/*.ts" } },
  };
  const published = publishedManifest(manifest, { directory: DIRECTORY, root: ROOT_MANIFEST });
  expect(published).toEqual({ ...MODEL, ...COMMON, bin: manifest.bin });
});

test("a package's keywords follow those of all packages, each once", () => {
  const manifest = { ...MODEL, keywords: ["znode", "consensus"] };
  const { keywords } = publishedManifest(manifest, { directory: DIRECTORY, root: ROOT_MANIFEST });
  expect(keywords).toEqual(["zookeeper", "consensus", "znode"]);
});

test.each([REPOSITORY, `${REPOSITORY}/`, `${REPOSITORY}.git`])(
  "a package released from %s names its page, its sources and where reports go",
  (repository) => {
    const origin = { repository, contact: CONTACT };
    expect(publishedManifest(MODEL, { directory: DIRECTORY, root: ROOT_MANIFEST, origin })).toEqual({
      ...MODEL,
      ...COMMON,
      homepage: `${REPOSITORY}#readme`,
      repository: { type: "git", url: `git+${REPOSITORY}.git`, directory: DIRECTORY },
      bugs: { url: `${REPOSITORY}/issues`, email: CONTACT },
    });
  },
);

test("a contact that is a URL is where all reports go", () => {
  const origin = { repository: REPOSITORY, contact: "https://host.invalid/reports" };
  const { bugs } = publishedManifest(MODEL, { directory: DIRECTORY, root: ROOT_MANIFEST, origin });
  expect(bugs).toEqual({ url: "https://host.invalid/reports" });
});

test("an absolute address in the root's package.json stands, wherever the release is made", () => {
  const root = {
    ...ROOT_MANIFEST,
    repository: { type: "git", url: "git+https://home.invalid/zooid.git" },
    bugs: { url: "https://home.invalid/reports" },
  };
  const origin = { repository: REPOSITORY, contact: CONTACT };
  expect(publishedManifest(MODEL, { directory: DIRECTORY, root, origin })).toMatchObject({
    homepage: "https://home.invalid/zooid#readme",
    repository: { type: "git", url: "git+https://home.invalid/zooid.git", directory: DIRECTORY },
    bugs: { url: "https://home.invalid/reports", email: CONTACT },
  });
});
