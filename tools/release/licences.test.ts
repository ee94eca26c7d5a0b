import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { publicPackages, ROOT } from "../pack/public-packages.ts";
import { type LockFile, licenceReport } from "./licences.ts";

/** Faults of one dependency, of a published package or of the root. */
function faultsOf(license: string | undefined, owner: "packages/model" | "", more: object = {}): readonly string[] {
  const thing = { version: "1.0.0", ...(license === undefined ? {} : { license }), ...more };
  const packages = { [owner]: { dependencies: { thing: "1.0.0" } }, "node_modules/thing": thing };
  return licenceReport({ packages }, ["packages/model"]).faults;
}

test.each(["MIT", "(BSD-3-Clause OR GPL-2.0)", "(MIT AND Zlib)"])("%s is permitted", (license) => {
  expect(faultsOf(license, "packages/model")).toEqual([]);
});

test.each(["GPL-3.0", "(MIT AND GPL-2.0)", "SEE LICENSE IN FILE", undefined])("%s is found", (license) => {
  expect(faultsOf(license, "packages/model")).toHaveLength(1);
  expect(faultsOf(license, "")).toHaveLength(1);
});

test("MPL-2.0 is permitted in tools, and not in what users install", () => {
  expect(faultsOf("MPL-2.0", "")).toEqual([]);
  expect(faultsOf("MPL-2.0", "packages/model")).toHaveLength(1);
});

test("a tool for another platform, of which nothing is known, is not found", () => {
  expect(faultsOf(undefined, "", { optional: true })).toEqual([]);
  expect(faultsOf(undefined, "packages/model", { optional: true })).toHaveLength(1);
});

test("packages count that a published one needs, by links and nested ones too", () => {
  const { installed, tools } = licenceReport(
    {
      packages: {
        "packages/client": { dependencies: { "@zooid/model": "0.1.0" } },
        "packages/model": { license: "Apache-2.0", dependencies: { a: "1" } },
        "node_modules/@zooid/model": { link: true, resolved: "packages/model" },
        "node_modules/a": { license: "MIT", dependencies: { b: "2" } },
        "node_modules/b": { license: "0BSD" },
        "node_modules/a/node_modules/b": { license: "ISC" },
      },
    },
    ["packages/client"],
  );
  expect([Object.fromEntries(installed), Object.fromEntries(tools)]).toEqual([{ MIT: 1, ISC: 1 }, { "0BSD": 1 }]);
});

test("every dependency has a permitted licence", () => {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as LockFile;
  const published = publicPackages().map(({ directory }) => relative(ROOT, directory));
  const { faults, installed } = licenceReport(lock, published);
  expect(faults).toEqual([]);
  expect([...installed.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20);
});
