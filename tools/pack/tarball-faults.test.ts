import { expect, test } from "vitest";
import { type PackageContents, tarballFaults } from "./tarball-faults.ts";

const GOOD: PackageContents = {
  manifest: {
    name: "@zooid/thing",
    version: "1.0.0",
    description: "A thing",
    license: "Apache-2.0",
    exports: { ".": { "@zooid/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" } },
  },
  files: new Map([
    ["package.json", ""],
    ["README.md", ""],
    ["LICENSE", ""],
    ["dist/index.js", 'export { thing } from "./part/thing.js";'],
    ["dist/index.d.ts", 'import type { Shape } from "./shape.ts";'],
    ["dist/shape.d.ts", ""],
    ["dist/part/thing.js", 'startWorker("thing-thread");'],
    ["dist/part/thing-thread.js", 'startThread("other/other-thread");'],
    ["dist/other/other-thread.js", 'import { shape } from "../shape.js";'],
    ["dist/messages.js", "export {};"],
  ]),
};

const GOOD_APP: PackageContents = {
  manifest: {
    name: "thing",
    version: "1.0.0",
    description: "A program",
    license: "Apache-2.0",
    bin: { thing: "bin/thing.cjs" },
  },
  files: new Map([
    ["package.json", ""],
    ["README.md", ""],
    ["LICENSE", ""],
    ["bin/thing.cjs", '#!/usr/bin/env node\nrequire("./start.cjs");'],
    ["bin/start.cjs", 'void import("../dist/main.js");'],
    ["dist/main.js", 'import "./thing.js";'],
    ["dist/thing.js", ""],
  ]),
};

const faultsWith = (file: string): readonly string[] =>
  tarballFaults({ ...GOOD, files: new Map([...GOOD.files, [file, ""]]) });

function without(...files: readonly string[]): ReadonlyMap<string, string> {
  return new Map([...GOOD.files].filter(([file]) => !files.includes(file)));
}

test("code and types that entries lead to, a README and a license are all that a package needs", () => {
  expect(tarballFaults(GOOD)).toEqual([]);
});

test("a package whose types show those of rxjs has it as a peer", () => {
  const files = new Map([...GOOD.files, ["dist/shape.d.ts", 'import type { Observable } from "rxjs";']]);
  const manifest = { ...GOOD.manifest, dependencies: { rxjs: "7.8.2" } };
  expect(tarballFaults({ manifest, files })).toEqual([
    "types of rxjs are exposed: it is a peer, so that a program has one copy of it",
  ]);
  expect(tarballFaults({ manifest: { ...GOOD.manifest, peerDependencies: { rxjs: "^7.8.0" } }, files })).toEqual([]);
});

test("a reference to a map that is not shipped is a fault", () => {
  const files = new Map([...GOOD.files, ["dist/messages.js", "export {};\n//# sourceMappingURL=messages.js.map\n"]]);
  expect(tarballFaults({ ...GOOD, files })).toEqual(["dist/messages.js refers to a map that is not shipped"]);
});

test("an application's programs lead to its files", () => {
  expect(tarballFaults(GOOD_APP)).toEqual([]);
  const files = new Map([...GOOD_APP.files, ["bin/other.cjs", ""], ["dist/other.js", ""]]);
  expect(tarballFaults({ ...GOOD_APP, files })).toEqual([
    "bin/other.cjs is of no use: no entry leads to it",
    "dist/other.js is of no use: no entry leads to it",
  ]);
});

test("a program that is missing, or that a shell would run, is found", () => {
  const files = new Map([...GOOD_APP.files, ["bin/thing.cjs", '#!/bin/sh\n"./start.cjs"']]);
  expect(tarballFaults({ ...GOOD_APP, files })).toEqual(["bin/thing.cjs does not begin with #!/usr/bin/env node"]);
  const manifest = { ...GOOD_APP.manifest, bin: { thing: "bin/thing.cjs", gone: "bin/gone.cjs" } };
  expect(tarballFaults({ ...GOOD_APP, manifest })).toEqual(["bin names bin/gone.cjs, which is missing"]);
});

test.each(["dist/.tsbuildinfo", "dist/index.js.map", "dist/index.ts", "src/index.ts", "vitest.config.ts"])(
  "%s does not belong into a package",
  (file) => expect(faultsWith(file)).toEqual([`${file} does not belong into a package`]),
);

test.each(["dist/index.test.js", "dist/test-thing.js", "dist/old.d.ts", "gen/thing.js"])(
  "%s is found, since no entry leads to it",
  (file) => expect(faultsWith(file)).toEqual([`${file} is of no use: no entry leads to it`]),
);

test("a page's first file leads to its others", () => {
  const page = new Map([
    ...GOOD.files,
    ["dist/page/index.html", '<script src="/place/assets/main-1.js"></script><link href="/place/icon.svg">'],
    ["dist/page/licences.txt", ""],
    ["dist/page/assets/main-1.js", 'const more = () => import("./more-1.js");'],
    ["dist/page/assets/more-1.js", ""],
    ["dist/page/icon.svg", ""],
  ]);
  expect(tarballFaults({ ...GOOD, files: page })).toEqual([]);
  const stale = new Map([...page, ["dist/page/assets/main-0.js", ""], ["dist/page/assets/old.css", ""]]);
  expect(tarballFaults({ ...GOOD, files: stale })).toEqual([
    "dist/page/assets/old.css does not belong into a package",
    "dist/page/assets/main-0.js is of no use: no entry leads to it",
  ]);
});

test("an entry that leads nowhere is found", () => {
  const files = new Map([
    ...without("dist/index.d.ts"),
    ["dist/index.js", 'import "./part/thing.js"; import "./shape.js";'],
  ]);
  expect(tarballFaults({ ...GOOD, files })).toEqual(["exports or imports name dist/index.d.ts, which is missing"]);
});

test("code that can be broken on purpose is found", () => {
  const files = new Map([
    ...GOOD.files,
    ["dist/index.js", 'import "./part/thing.js"; process.env["ZOOID_TEST_BREAK"];'],
  ]);
  expect(tarballFaults({ ...GOOD, files })).toEqual([
    "dist/index.js can be broken on purpose: that belongs into tools",
  ]);
});

test.each(["OpCode.TRIAL_SET", '"trial-ping"', "zooid.TrialPing", "trial_ping"])(
  "a part of the trial's next version is found (%s)",
  (text) => {
    const files = new Map([...GOOD.files, ["dist/index.js", `import "./part/thing.js"; ${text};`]]);
    expect(tarballFaults({ ...GOOD, files })).toEqual([
      "dist/index.js has a part of the next version that a trial makes: that is for copies of the sources",
    ]);
  },
);

test("a package without README, license or description is found", () => {
  const { description: _, ...manifest } = GOOD.manifest;
  expect(tarballFaults({ manifest, files: without("README.md", "LICENSE") })).toEqual([
    "README.md is missing",
    "LICENSE is missing",
    "package.json has no description",
  ]);
});
