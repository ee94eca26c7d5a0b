import { expect, test } from "vitest";
import { type Declaration, findViolations, importViolations } from "./layers.ts";

const LAYERS = new Map([
  ["@zooid/low", { beneath: [], thirdParty: [] }],
  ["@zooid/middle", { beneath: ["@zooid/low"], thirdParty: ["rxjs"] }],
  ["@zooid/high", { beneath: ["@zooid/middle"], thirdParty: "any" as const }],
]);

function declaration(name: string, parts: Partial<Declaration> = {}): Declaration {
  const folder = name.replace("@zooid/", "packages/");
  return {
    name,
    packageFile: `${folder}/package.json`,
    tsconfigFile: `${folder}/tsconfig.json`,
    dependencies: [],
    peers: [],
    devDependencies: [],
    references: [],
    ...parts,
  };
}

const reasons = (declarations: readonly Declaration[]): readonly string[] =>
  findViolations(declarations, LAYERS).map(({ file, reason }) => `${file}: ${reason}`);

test("a package may depend on everything beneath it, however far below", () => {
  const below = ["@zooid/low", "@zooid/middle"];
  const high = declaration("@zooid/high", { dependencies: [...below, "pino"], references: below });
  expect(reasons([high])).toEqual([]);
});

test("a dependency that points up is reported with the file that declares it", () => {
  const low = declaration("@zooid/low", { dependencies: ["@zooid/middle"], references: ["@zooid/middle"] });
  expect(reasons([low])).toEqual([
    "packages/low/package.json: @zooid/low may not depend on @zooid/middle, which does not stand below it",
  ]);
});

test("a dependency for development points down as well", () => {
  const middle = declaration("@zooid/middle", { devDependencies: ["@zooid/high"], references: ["@zooid/high"] });
  expect(reasons([middle])).toEqual([
    "packages/middle/package.json: @zooid/middle may not depend on @zooid/high, which does not stand below it",
  ]);
});

test("third-party code is taken only where the layer allows it", () => {
  const low = declaration("@zooid/low", { dependencies: ["rxjs"] });
  const middle = declaration("@zooid/middle", { dependencies: ["rxjs", "lodash"] });
  expect(reasons([low, middle])).toEqual([
    "packages/low/package.json: @zooid/low may not depend on rxjs: it takes nothing from outside",
    "packages/middle/package.json: @zooid/middle may not depend on lodash: it takes only rxjs from outside",
  ]);
});

test("a package declares the peers of the packages that it depends on", () => {
  const middle = declaration("@zooid/middle", { dependencies: ["rxjs"], peers: ["rxjs"] });
  const user = { dependencies: ["@zooid/middle"], references: ["@zooid/middle"] };
  expect(reasons([middle, declaration("@zooid/high", user)])).toEqual([
    "packages/high/package.json: @zooid/high declares rxjs, which is a peer of @zooid/middle",
  ]);
  const passesOn = declaration("@zooid/high", { ...user, dependencies: ["@zooid/middle", "rxjs"] });
  expect(reasons([middle, passesOn])).toEqual([]);
});

test("references are exactly the workspace packages that are depended on", () => {
  const missing = declaration("@zooid/middle", { dependencies: ["@zooid/low"] });
  const extra = declaration("@zooid/high", { references: ["@zooid/low"] });
  expect(reasons([missing, extra])).toEqual([
    "packages/middle/tsconfig.json: @zooid/middle depends on @zooid/low but does not reference it",
    "packages/high/tsconfig.json: @zooid/high references @zooid/low but does not depend on it",
  ]);
});

test("a package without a layer is reported", () => {
  expect(reasons([declaration("@zooid/new")])).toEqual([
    "packages/new/package.json: @zooid/new has no layer yet: add it to tools/layers.ts",
  ]);
});

test("a relative import stays in its package", () => {
  const specifiers = ["./beside.ts", "../../high/src/index.ts", "@zooid/high", "../../../vitest.shared.ts"];
  expect(importViolations("packages/low/src/low.ts", specifiers)).toEqual([
    {
      file: "packages/low/src/low.ts",
      reason: "imports ../../high/src/index.ts, a file of packages/high: import one of that package's entries",
    },
  ]);
  expect(importViolations("tools/lint/lint.ts", ["../../packages/low/src/low.ts", "../layers.ts"])).toHaveLength(1);
});

test("internal entries serve the trials and the repository's tools", () => {
  const specifiers = ["@zooid/low/internal/part/file", "zooid-server/internal/main"];
  expect(importViolations("packages/high/src/high.ts", specifiers).map(({ reason }) => reason)).toEqual([
    "imports @zooid/low/internal/part/file: only packages/trials and tools use internal entries",
    "imports zooid-server/internal/main: only packages/trials and tools use internal entries",
  ]);
  expect(importViolations("packages/trials/src/fault.ts", specifiers)).toEqual([]);
  expect(importViolations("tools/tool.ts", specifiers)).toEqual([]);
});
