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

const withoutLetter = (lines: readonly string[] = []): readonly string[] =>
  lines.filter((line) => line !== "sent a letter");

test("the program of the page shuts down in the order that the page shows", () => {
  const [code = ""] = readmeExamples(`${ROOT}/packages/recipes`, pagesOf("@zooid/recipes")).slice(-1);
  expect(code).toContain("shutDown");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@zooid/source", "--input-type=module-typescript", "--no-warnings"],
    { cwd: ROOT, input: code, encoding: "utf8", timeout: 60_000 },
  );
  expect([stderr, status]).toEqual(["", 0]);
  const [printed, shown] = [stdout, blockOf("text")].map((text) => text.trim().split("\n"));
  // The letter takes some time: it is sent during any of the steps before the consumer's.
  expect(withoutLetter(printed)).toEqual(withoutLetter(shown));
  expect(printed?.slice(0, printed.indexOf("closed: consumer"))).toContain("sent a letter");
});
