import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../pack/public-packages.ts";
import { LEFT_OUT, PAGES } from "./left-out.ts";
import { missingLine, pageSteps, unexpectedEnd } from "./page-steps.ts";

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n\n`;
}

test("commands have the output that stands below them", () => {
  const page = `## One\n\n${block("sh", "ls\npwd")}${block("text", "a\nb")}${block("sh", "id")}`;
  expect(pageSteps("P.md", page, []).steps).toEqual([
    { kind: "commands", place: "P.md:4", commands: "ls\npwd", server: undefined, output: ["a", "b"] },
    { kind: "commands", place: "P.md:14", commands: "id", server: undefined, output: [] },
  ]);
});

describe("a server keeps the terminal", () => {
  test.each([
    ["npm ci && npm start", "npm ci", "npm start"],
    ["npx zooid-server zoo.cfg", "", "npx zooid-server zoo.cfg"],
    ["mkdir data\nnpx zooid-server --data data", "mkdir data", "npx zooid-server --data data"],
    ["npx zooid-server zoo.cfg &", "npx zooid-server zoo.cfg &", undefined],
    ["npx zooid-server init-secret FILE", "npx zooid-server init-secret FILE", undefined],
    ["npx zooid-server status zoo.cfg", "npx zooid-server status zoo.cfg", undefined],
  ])("%s", (text, commands, server) => {
    expect(pageSteps("P.md", block("sh", text), []).steps).toMatchObject([{ commands, server }]);
  });
});

test("a program is written to the file that it names", () => {
  const text = '// a.ts\nconsole.log("a");';
  const { steps, faults } = pageSteps("P.md", block("ts", text) + block("sh", "node a.ts") + block("text", "a"), []);
  expect(steps[0]).toEqual({ kind: "write", place: "P.md:2", file: "a.ts", text: `${text}\n` });
  expect(faults).toEqual([]);
});

test.each([
  ["a program without a file", block("ts", "f();"), "a program begins with the name of its file: // NAME.ts"],
  ["a program that no block runs", block("ts", "// a.ts\nf();"), "no later block runs a.ts"],
  ["a language that is not run", block("python", "f()"), "a block of python is neither run nor left out with a reason"],
  [
    "commands without output",
    block("sh", "ls"),
    "commands that end have a block of text below them, with their output",
  ],
  ["an output without its language", block("sh", "ls") + block("", "a"), "commands that end have a block of text"],
  ["an indented fence", "  ```sh\n  ls\n  ```\n", "a fence that is indented, or made of tildes, is not seen here"],
  ["a fence of tildes", "~~~sh\nls\n~~~\n", "a fence that is indented, or made of tildes, is not seen here"],
])("%s is a fault", (_, page, sentence) => {
  expect(pageSteps("P.md", page, []).faults.join("\n")).toContain(sentence);
});

test("a reason leaves out one block, and there is one", () => {
  const leftOut = [{ page: "P.md", heading: "One", language: "sh", reason: "slow" }];
  const page = `## One\n\n${block("sh", "ls")}`;
  expect(pageSteps("P.md", page, leftOut).faults).toEqual([]);
  expect(pageSteps("P.md", "## One\n", leftOut).faults).toHaveLength(1);
  expect(pageSteps("P.md", page + block("sh", "false"), leftOut).faults).toHaveLength(1);
});

test("what is left out is no step", () => {
  const page = `## One\n\n${block("sh", "ls")}## Two\n\n${block("sh", "pwd")}`;
  const leftOut = [{ page: "P.md", heading: "One", language: "sh", reason: "slow" }];
  expect(pageSteps("P.md", page, leftOut).steps).toMatchObject([{ commands: "pwd" }]);
});

describe("an output", () => {
  test.each<[string, readonly string[], string, string | undefined]>([
    ["has each line in order, and may have more", ["a", "c"], "x\na\nb\nc\n", undefined],
    ["lacks a line", ["a", "d"], "a\nb\n", "d"],
    ["has the lines in another order", ["b", "a"], "a\nb\n", "a"],
    ["has one line where two equal ones are expected", ["a", "a"], "a\nb\n", "a"],
    ["has any text at a gap", ["a … c", "…"], "a b c\nd\n", undefined],
    ["has another end behind a gap", ["a … c"], "a b d\n", "a … c"],
    ["needs the text between two gaps", ["a…b…c"], "a x c\n", "a…b…c"],
    ["is too short for the parts around a gap", ["ab…bc"], "abc\n", "ab…bc"],
    ["has a line with more than is expected", ["a"], "ab\n", "a"],
  ])("%s", (_, expected, output, missing) => {
    expect(missingLine(expected, output)).toBe(missing);
  });
});

test.each([
  ["as expected", ["a", "b"], "a\nb\n\n", undefined],
  ["with a line more", ["a"], "a\nb\n", "b"],
  ["anyhow behind a gap", ["a", "…"], "a\nb\n", undefined],
  ["anyhow where none is shown", [], "a\n", undefined],
])("an output ends %s", (_, expected, output, end) => {
  expect(unexpectedEnd(expected, output)).toBe(end);
});

describe.each(PAGES)("%s", (name) => {
  const page = readFileSync(join(ROOT, name), "utf8");

  test("each of its blocks is run, or left out with a reason", () => {
    const { steps, faults } = pageSteps(name, page, LEFT_OUT);
    expect(faults).toEqual([]);
    expect(steps.length).toBeGreaterThan(3);
  });
});

test("the README is read in one sitting: below 9 KB", () => {
  expect(Buffer.byteLength(readFileSync(join(ROOT, "README.md")))).toBeLessThan(9 * 1024);
});
