import { expect, test } from "vitest";
import type { Manifest } from "./public-packages.ts";
import { ENGINES, publishedManifest } from "./published-manifest.ts";

const MODEL: Manifest = { name: "@zooid/model", version: "1.2.0" };

test("sources, scripts and tools are left out, and entries that are sources alone", () => {
  const manifest = {
    ...MODEL,
    exports: {
      ".": { "@zooid/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./testing/thing": { "@zooid/source": "./src/testing/thing.ts" },
    },
    scripts: { test: "vitest" },
    dependencies: { rxjs: "7.0.0" },
    devDependencies: { acorn: "8.0.0" },
  };
  expect(publishedManifest(manifest, "packages/model")).toEqual({
    ...MODEL,
    engines: ENGINES,
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    dependencies: { rxjs: "7.0.0" },
  });
});

test("a published package says where its sources are and where reports go", () => {
  const repository = "https://example.org/team/zooid";
  const expected = { type: "git", url: "git+https://example.org/team/zooid.git", directory: "packages/model" };
  expect(publishedManifest(MODEL, "packages/model", { repository, contact: "a@example.org" })).toEqual({
    ...MODEL,
    engines: ENGINES,
    repository: expected,
    bugs: { email: "a@example.org" },
  });
  const contact = "https://example.org/reports";
  for (const form of [`${repository}/`, `${repository}.git`])
    expect(publishedManifest(MODEL, "packages/model", { repository: form, contact })).toMatchObject({
      repository: expected,
      bugs: { url: contact },
    });
});
