import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { edit, mutatedFiles } from "./mutate-source.ts";

const SOURCE = `
function decide(a: number, b: number): number {
  // Why it is so.
  // rule: first
  // rule: also-first
  if (a > b) {
    return a;
  } else {
    return b;
  }
  // rule: chained
  const sum = add(
    a,
    b,
  );
  if (a === b) stop();
  // rule: second-branch
  else if (a < b) go();
  else rest();
  return {
    // rule: property
    a: sum,
    b,
  };
}
`;

/** The lines of {@link SOURCE} that an edit adds, and those that it takes away. */
function change(marker: string, replacement: string, found?: string): { added: string[]; removed: string[] } {
  const edited = edit(SOURCE, { marker, replacement, ...(found === undefined ? {} : { found }) });
  const [before, after] = [SOURCE, edited].map((text) => text.split("\n").map((line) => line.trim()));
  return {
    added: after?.filter((line) => before?.includes(line) !== true) ?? [],
    removed: before?.filter((line) => after?.includes(line) !== true) ?? [],
  };
}

test("the whole statement behind a marker is replaced, with its branches", () => {
  const removed = ["if (a > b) {", "return a;", "} else {", "return b;", "}"];
  expect(change("also-first", "gone();")).toEqual({ added: ["gone();"], removed: removed.slice(0, 4) });
  expect(change("first", "gone();")).toEqual(change("also-first", "gone();"));
});

test("a marker before an else marks this branch alone", () => {
  expect(change("second-branch", "else now();")).toEqual({
    added: ["else now();"],
    removed: ["else if (a < b) go();"],
  });
});

test("a marker may stand before a property", () => {
  expect(change("property", "a: 1,")).toEqual({ added: ["a: 1,"], removed: ["a: sum,"] });
});

test("code in the statement is found wherever its lines break, and $& stands for it", () => {
  expect(change("chained", "later($&)", "add(a, b,)").added.join("")).toBe("const sum = later(add());");
  expect(change("first", "a >= b", "a > b")).toEqual({ added: ["if (a >= b) {"], removed: ["if (a > b) {"] });
});

test("code that the statement does not contain, or contains twice, is an error", () => {
  expect(() => change("first", "x", "a === b")).toThrow('"a === b" must occur once');
  expect(() => change("first", "x", "return")).toThrow("found 2 in:");
  expect(() => change("nowhere", "x")).toThrow('no "// rule: nowhere"');
});

test("a marker is found in whatever package it stands; none or two are an error that names both", () => {
  const root = mkdtempSync(join(tmpdir(), "markers-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put("packages/one/src/deep/a.ts", "// rule: alone\nkeep();\n// rule: twice\none();\n");
  put("packages/two/src/b.ts", "\n  // rule: twice\n  two();\n");
  put("packages/two/src/b.test.ts", "// rule: alone\nignored();\n");
  const without = (marker: string) => mutatedFiles({ name: "x", edits: [{ marker, replacement: "" }] }, root);
  expect([...without("alone")]).toEqual([["packages/one/src/deep/a.ts", "// rule: alone\n\n// rule: twice\none();\n"]]);
  expect(() => without("gone")).toThrow('has the comment "// rule: gone"');
  expect(() => without("twice")).toThrow("found packages/one/src/deep/a.ts:3 and packages/two/src/b.ts:2");
});
