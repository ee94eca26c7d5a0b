import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pagesOf, readmeExamples } from "./pack/readme-examples.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = readFileSync(new URL("../docs/shutdown.md", import.meta.url), "utf8");

const blockOf = (language: string): string => {
  const [, block = ""] = new RegExp(`^\`\`\`${language}\\n([^\`]*)^\`\`\`$`, "m").exec(PAGE) ?? [];
  return block;
};

test("the program of the page shuts down in the order that the page shows", () => {
  const [code = ""] = readmeExamples(`${ROOT}/packages/recipes`, pagesOf("@zooid/recipes")).slice(-1);
  expect(code).toContain("shutDown");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@zooid/source", "--input-type=module-typescript", "--no-warnings"],
    { cwd: ROOT, input: code, encoding: "utf8", timeout: 60_000 },
  );
  expect([stderr, status, stdout]).toEqual(["", 0, blockOf("text")]);
});
