import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { crowdedLines, sentencesOf } from "./lint/markdown-sentences.ts";

const ROOT = resolve(import.meta.dirname, "..");

test("paragraphs of all pages have one sentence a line", () => {
  const files = globSync(["*.md", "docs/*.md", "docs/recipes/*.md", "{packages,apps,tools,examples}/**/*.md"], {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "**/dist/**"],
  });
  expect(files.length).toBeGreaterThan(60);
  const crowded = files.flatMap((file) =>
    crowdedLines(readFileSync(resolve(ROOT, file), "utf8")).map((line) => `${file}:${line}`),
  );
  expect(crowded).toEqual([]);
});

test.each([
  ["One. Two `a. B`. Three", ["One.", "Two `a. B`.", "Three"]],
  ["See e.g. This (it is. Really) and [a. B](c.md). Then", ["See e.g. This (it is. Really) and [a. B](c.md).", "Then"]],
  ["1. First. Second.", ["1. First.", "Second."]],
  ["at 3.9.5 it ends", ["at 3.9.5 it ends"]],
])("the sentences of %s", (text, sentences) => {
  expect(sentencesOf(text)).toEqual(sentences);
});

test("a line with two sentences is found, but in tables, headings and code", () => {
  expect(crowdedLines("One. Two.\n\n- One. Two.\n\n| One. Two. |\n# One. Two.\n```\nOne. Two.\n```\nOne.")).toEqual([
    1, 3,
  ]);
});
