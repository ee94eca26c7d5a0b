/**
 * Comments, names of tests, sentences for users and pages have none of the phrases that
 * `lint/prose.ts` lists, and comments are no wider than it says.
 */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  COMMENT_COLUMNS_MAX,
  longCommentLines,
  markdownFaults,
  PROSE_RULES,
  type ProseFault,
  proseFaults,
  stringFaults,
  testNameFaults,
} from "./lint/prose.ts";

const ROOT = resolve(import.meta.dirname, "..");

const FILES: readonly string[] = globSync(
  ["packages/*/{src,bench,browser,page/src}/**/*.{ts,tsx}", "apps/*/src/**/*.ts", "tools/**/*.ts"],
  { cwd: ROOT, exclude: ["**/gen/**"] },
);

function sourceOf(file: string): string {
  return readFileSync(resolve(ROOT, file), "utf8");
}

function messages(file: string, faults: readonly ProseFault[]): readonly string[] {
  return faults.map(({ rule, line, text }) => `${file}:${line}: ${rule.phrase}; write ${rule.instead}: ${text}`);
}

test("no comment has a phrase that plain English does not have", () => {
  expect(FILES.length).toBeGreaterThan(1000);
  expect(FILES.flatMap((file) => messages(file, proseFaults(sourceOf(file))))).toEqual([]);
});

test("no name of a test has one", () => {
  const tests = FILES.filter((file) => file.endsWith(".test.ts"));
  expect(tests.length).toBeGreaterThan(400);
  expect(tests.flatMap((file) => messages(file, testNameFaults(sourceOf(file))))).toEqual([]);
});

/** Decisions stay as they were taken, and the reference has the words of its sources. */
const PAGES: readonly string[] = globSync(["*.md", "docs/**/*.md", "{packages,apps,tools,examples}/**/*.md"], {
  cwd: ROOT,
  exclude: ["**/node_modules/**", "**/dist/**", "docs/{api,decisions,reference}/**"],
});

test("no page has one", () => {
  expect(PAGES.length).toBeGreaterThan(50);
  expect(PAGES.flatMap((file) => messages(file, markdownFaults(sourceOf(file))))).toEqual([]);
});

test("no sentence for users has one", () => {
  const sources = FILES.filter(
    (file) => !/\.test\.tsx?$|\/testing\/|^tools\/lint\/|^packages\/(?:conformance|trials)\//.test(file),
  );
  expect(sources.length).toBeGreaterThan(800);
  expect(sources.flatMap((file) => messages(file, stringFaults(sourceOf(file))))).toEqual([]);
});

test("phrases are found in strings and pages, and not in code", () => {
  expect(stringFaults('one;\nthrow new Error("it waits for ever");')).toMatchObject([
    { line: 2, text: "it waits for ever" },
  ]);
  expect(stringFaults('const KEY = "anew";')).toEqual([]);
  expect(markdownFaults("# Title\n\nIt goes on.\n```\nanew\n```\n`for ever`")).toMatchObject([{ line: 3 }]);
});

test(`no line of a comment has more than ${COMMENT_COLUMNS_MAX} columns`, () => {
  expect(FILES.flatMap((file) => longCommentLines(sourceOf(file)).map((line) => `${file}:${line}`))).toEqual([]);
});

test("a long line is found, but in a diagram, a usage or fenced code", () => {
  const long = "word ".repeat(25);
  expect(longCommentLines(`/** ${long} */\n * ${long}\n  // ${long}`)).toEqual([1, 2, 3]);
  expect(longCommentLines(` *     npm run tool -- ${long}\n * ─▶ ${long}\n * \`\`\`\n * ${long}\n * \`\`\``)).toEqual(
    [],
  );
});

test.each([
  ['test("a server waits for ever", () => {', "for ever"],
  ['  test.each([1, 2])("with %s it goes on", () => {', "goes on"],
  ['])("%s begins anew", () => {', "anew"],
])("the phrase is found in %s", (line, phrase) => {
  expect(testNameFaults(`first\n${line}`)).toMatchObject([{ line: 2, rule: { phrase } }]);
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
    ["/** What a client sends. */", "a docstring that begins with What or Who"],
    [" * Who votes in elections.", "a docstring that begins with What or Who"],
    ["// a client is told so", "is told"],
    [" * bytes on their way to a peer", "on its way"],
  ])("in %s", (line, phrase) => {
    expect(proseFaults(`first\n${line}`)).toMatchObject([{ line: 2, rule: { phrase } }]);
  });

  test("by every rule, and not in code", () => {
    expect(PROSE_RULES).toHaveLength(14);
    expect(
      proseFaults(
        'const text = "waits for ever";\n// so busy that it waits, so long that it ends\n// rule: starts-anew',
      ),
    ).toEqual([]);
  });
});
