/** The tests on the page about testing pass as they are written there. */
import { readFileSync } from "node:fs";
import * as client from "@zooid/client";
import * as clientTesting from "@zooid/client/testing";
import * as server from "@zooid/embedded-server";
import * as recipes from "@zooid/recipes";
import * as testing from "@zooid/testing";
import { afterAll, describe, expect, test } from "vitest";

const PAGE = readFileSync(new URL("../docs/testing.md", import.meta.url), "utf8");
const MODULES: Readonly<Record<string, object>> = {
  "@zooid/client": client,
  "@zooid/client/testing": clientTesting,
  "@zooid/recipes": recipes,
  "@zooid/embedded-server": server,
  "@zooid/testing": testing,
};

type Work = () => unknown;

/** The block's declarations, in place of the runner's. */
interface Suite {
  readonly tests: (readonly [name: string, body: Work])[];
  readonly beforeAll: Work[];
  readonly beforeEach: Work[];
  readonly afterAll: Work[];
}

function suiteOf(code: string): Suite {
  const suite: Suite = { tests: [], beforeAll: [], beforeEach: [], afterAll: [] };
  const runner = {
    expect,
    test: (name: string, body: Work) => suite.tests.push([name, body]),
    beforeAll: (work: Work) => suite.beforeAll.push(work),
    beforeEach: (work: Work) => suite.beforeEach.push(work),
    afterAll: (work: Work) => suite.afterAll.push(work),
  };
  const names = new Map<string, unknown>();
  const body = code.replaceAll(/^import \{ (.*) \} from "(.*)";\n/gm, (_, imported: string, from: string) => {
    const module = (from === "vitest" ? runner : MODULES[from]) as Readonly<Record<string, unknown>> | undefined;
    for (const name of imported.split(", ")) {
      if (module?.[name] === undefined) throw new Error(`${from} has no ${name}`);
      names.set(name, module[name]);
    }
    return "";
  });
  new Function(...names.keys(), body)(...names.values());
  return suite;
}

const BLOCKS = [...PAGE.matchAll(/^```js vitest\n(.*?)^```$/gms)].map(([, code]) => code ?? "");

test("the page has tests", () => {
  expect(BLOCKS).toHaveLength(3);
});

describe.each(BLOCKS.map((code, i) => [i + 1, suiteOf(code)] as const))("block %i", (_, suite) => {
  let isBegun = false;
  afterAll(async () => {
    for (const work of suite.afterAll) await work();
  });
  test.each(suite.tests)("%s", async (_name, body) => {
    if (!isBegun) for (const work of suite.beforeAll) await work();
    isBegun = true;
    for (const work of suite.beforeEach) await work();
    await body();
  });
});
