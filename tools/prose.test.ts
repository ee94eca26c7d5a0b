/** Comments have none of the phrases that `lint/prose.ts` lists: a folder's number may only fall. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { PROSE_RULES, proseFaults } from "./lint/prose.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** Lines that are still to be rewritten, by folder. */
const LEFT: Readonly<Record<string, number>> = {};

function folderOf(file: string): string {
  const [top = "", name = ""] = file.split("/");
  return top === "tools" ? top : `${top}/${name}`;
}

test("no comment has a phrase that plain English does not have, but for those that are still to be rewritten", () => {
  const files = globSync(
    ["packages/*/{src,bench,browser,page/src}/**/*.{ts,tsx}", "apps/*/src/**/*.ts", "tools/**/*.ts"],
    {
      cwd: ROOT,
      exclude: ["**/gen/**"],
    },
  );
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((file) =>
    proseFaults(readFileSync(resolve(ROOT, file), "utf8")).map(({ rule, line, text }) => ({
      folder: folderOf(file),
      text: `${file}:${line}: ${rule.phrase}; write ${rule.instead}: ${text}`,
    })),
  );
  for (const [folder, faults] of Map.groupBy(found, (fault) => fault.folder)) {
    expect(faults.length, faults.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(LEFT[folder] ?? 0);
  }
  for (const [folder, count] of Object.entries(LEFT)) {
    expect(found.filter((fault) => fault.folder === folder).length, `lower the number of ${folder}`).toBe(count);
  }
});

describe("a phrase is found", () => {
  test.each([
    ["/** So many bytes fit. */", "so many, so long, so much"],
    ["  /** Of the newest segment. */", "a docstring that begins with Of"],
    [" * waits for ever.", "for ever"],
    ["/** begins anew */", "anew"],
    ["// tries in vain", "in vain"],
    ["// ends by itself", "by itself"],
    ["/** Goes on with the next. */", "goes on"],
    ["// is as it was", "as it was"],
    ["// nothing at all", "at all"],
    ["// no sign of life", "word, sign of life"],
    ["// nobody waits", "nobody, whoever"],
  ])("in %s", (line, phrase) => {
    expect(proseFaults(`first\n${line}`)).toMatchObject([{ line: 2, rule: { phrase } }]);
  });

  test("by every rule, and not in code", () => {
    expect(PROSE_RULES).toHaveLength(11);
    expect(
      proseFaults(
        'const text = "waits for ever";\n// so busy that it waits, so long that it ends\n// rule: starts-anew',
      ),
    ).toEqual([]);
  });
});
