import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ImportingTests } from "./importing-tests.ts";

const FILES: Readonly<Record<string, string>> = {
  "packages/low/package.json": JSON.stringify({
    name: "@zooid/lowest",
    exports: { ".": { "@zooid/source": "./src/index.ts" }, "./internal/*": { "@zooid/source": "./src/*.ts" } },
  }),
  "packages/low/src/index.ts":
    'export {\n  one,\n  two,\n} from "./deep.ts";\nexport type { Only } from "./types.ts";\n',
  "packages/low/src/deep.ts":
    'const thread = new URL("./thread.ts", import.meta.url);\nstart({ name: "log/log-thread" });\n',
  "packages/low/src/log/log-thread.ts": "",
  "packages/low/src/thread.ts": "",
  "packages/low/src/types.ts": "",
  "packages/low/src/alone.ts": "",
  "packages/low/src/log/inside.ts": "",
  "packages/low/src/index.test.ts": 'import { one } from "./index.ts";\n',
  "packages/low/src/deep.test.ts": 'const lazy = await import("./index.ts");\n',
  "packages/high/src/inside.test.ts": 'import { inside } from "@zooid/lowest/internal/log/inside";\n',
  "packages/high/src/high.test.ts": 'import { one } from "@zooid/lowest";\nimport { test } from "vitest";\n',
};

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "zooid-imports-"));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  { file: "packages/low/src/thread.ts", tests: ["low/src/deep", "low/src/index", "high/src/high"] },
  { file: "packages/low/src/deep.ts", tests: ["low/src/deep", "low/src/index", "high/src/high"] },
  { file: "packages/low/src/log/log-thread.ts", tests: ["high/src/high", "low/src/deep", "low/src/index"] },
  { file: "packages/low/src/log/inside.ts", tests: ["high/src/inside"] },
  // Nothing imports these at run time.
  { file: "packages/low/src/types.ts", tests: ["low/src/deep", "low/src/index"] },
  { file: "packages/low/src/alone.ts", tests: ["low/src/deep", "low/src/index"] },
])("the tests of $file", ({ file, tests }) => {
  const all = Object.keys(FILES).filter((name) => name.endsWith(".test.ts"));
  const found = new ImportingTests(root, all).of(file);
  expect(found).toEqual(tests.map((name) => `packages/${name}.test.ts`));
});

test("a file is as far away as its nearest test imports it", () => {
  const all = Object.keys(FILES).filter((name) => name.endsWith(".test.ts"));
  const importing = new ImportingTests(root, all);
  const distances = ["index", "deep", "thread", "alone"].map((name) =>
    importing.distanceTo(`packages/low/src/${name}.ts`),
  );
  expect(distances).toEqual([1, 2, 3, Number.POSITIVE_INFINITY]);
});
