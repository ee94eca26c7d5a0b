import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { impatientEnsembles } from "./impatient-ensembles.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FILES = ["packages", "apps", "examples"].flatMap((folder) =>
  globSync([`${folder}/**/*.test.ts`, `${folder}/**/testing/**/*.ts`, `${folder}/**/browser/**/*.ts`], {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "**/dist/**"],
  }),
);

test("no ensemble of a test elects again because a server is silent for a few ticks", () => {
  expect(FILES.length).toBeGreaterThan(300);
  const found = FILES.flatMap((file) =>
    impatientEnsembles(readFileSync(join(ROOT, file), "utf8")).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});

const start = (options: string): string => `const s = (sid) => startServer({ port: 0, ensemble: ${options} });`;

test.each([
  ["one of several", start("{ sid, servers }"), [1]],
  ["options that are handed on", `const o = { sid: own.sid, servers };\n${start("o")}`, [1]],
  ["a patient one", start("{ sid, servers, ...PATIENT }"), []],
  ["one with a limit of its own", start("{ sid, servers, syncLimit: 2 }"), []],
  ["the only server", start("{ sid: 1, servers }"), []],
  ["a configuration that no server has", `${start("e")}\nparseServerConfig({ ensemble: { sid, servers } });`, []],
])("%s", (_, source, lines) => {
  expect(impatientEnsembles(source)).toEqual(lines);
});
