import { describe, expect, test } from "vitest";
import { regexpFault } from "./regexp-cost.ts";
import { regexpsIn } from "./regexps-in-source.ts";

describe("expressions whose time grows faster than the input are found", () => {
  test.each([
    // Each of these has stood in a parser of what strangers send.
    ["a line of a configuration", /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/],
    ["a server's line of a configuration", /^\s*server\.(\d+)\s*=\s*(.*?)\s*$/],
    [
      "a directive, at the server",
      /[\s,]*([!#-'*+.0-9A-Z^-z|~-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s,"]*))\s*(?=,|$)/y,
    ],
    ["a directive, at the client", /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*))/g],
    ["blanks at the end", /\s+$/],
    ["neighbours", /^a*a*b/],
    ["neighbours with something between them that may be missing", /^\s*x?\s*y/],
    ["neighbours of classes that overlap", /^\w+\d+x/],
    ["neighbours in branches", /^(?:a+|b)(?:c|a+)d/],
    ["a begin and an end", /BEGIN[\s\S]+?END/],
    ["nested quantifiers", /^(a+)+b/],
    ["nested quantifiers with an empty inside", /^(a*)*b/],
    ["branches that overlap", /^(a|\w)*b/],
    ["a repeated sequence that is read in two ways", /^(?:a|ab|b)*c/],
    ["a count without an end", /^a{2,}a{3,}b/],
    ["neighbours that differ in their case", /^a*A*b/i],
    ["neighbours inside of a lookahead", /^(?=a*a*b)/],
  ])("%s", (_, { source, flags }) => {
    expect(regexpFault(source, flags)).toBeDefined();
  });
});

describe("expressions of linear time are not", () => {
  test.each([
    ["a list", /^\d{1,3}(:\d{1,3})*$/],
    ["one quantifier", /\s+/g],
    ["neighbours of classes that are apart", /^\s*\w+\s*=\s*/],
    ["the rest of a text", /=.*$/s],
    ["the rest of a line", /^Mode: (.*)$/m],
    ["a quoted text", /"(?:[^"\\]|\\[\s\S])*"/y],
    ["a number", /^-?\d+(?:\.\d+)?$/],
    ["a count with an end", /^a{0,9}a{0,9}b/],
    ["what ends with the first match", /(\w+)\s*/],
  ])("%s", (_, { source, flags }) => {
    expect(regexpFault(source, flags)).toBeUndefined();
  });
});

test("what cannot be judged is an error", () => {
  expect(() => regexpFault("(a)\\1", "")).toThrow("reference");
  expect(() => regexpFault("[a&&b]", "v")).toThrow("flag v");
});

test("a source's expressions are found, and those that are made at run time", () => {
  const source = [
    "const a: RegExp = /é+b/u;",
    'const b = new RegExp("c+", "g");',
    'const c = RegExp("d");',
    "const d = new RegExp(text);",
  ].join("\n");
  expect(regexpsIn(source, "a.ts")).toEqual([
    { kind: "literal", line: 1, pattern: "é+b", flags: "u" },
    { kind: "literal", line: 2, pattern: "c+", flags: "g" },
    { kind: "literal", line: 3, pattern: "d", flags: "" },
    { kind: "dynamic", line: 4 },
  ]);
});
