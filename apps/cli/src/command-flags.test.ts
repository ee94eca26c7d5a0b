import { describe, expect, test } from "vitest";
import { describeFlags, type Flag, parseFlags } from "./command-flags.ts";

const TABLE: readonly Flag[] = [
  { name: "s", meaning: "Print it" },
  { name: "w" },
  { name: "v", takesValue: true, meaning: "A version" },
  { name: "add", takesValue: true },
  { name: "n", takesValue: true, group: "limit" },
  { name: "b", takesValue: true, group: "limit" },
  { name: "dry-run", isOwn: true },
];

function parsed(...words: string[]): string {
  const { flags, operands } = parseFlags(TABLE, words);
  const given = TABLE.filter(({ name }) => flags.has(name)).map(({ name }) => `${name}=${flags.value(name)}`);
  return [...given, ...operands].join(" ");
}

test.each([
  ["before, between and behind operands", ["-s", "/a", "-w", "b", "-v", "3"], "s= w= v=3 /a b"],
  ["letters run together", ["-sw", "/a"], "s= w= /a"],
  ["a value right behind its letter, also in a run", ["-v3", "/a", "-sn5"], "s= v=3 n=5 /a"],
  ["a value behind an equals sign", ["-v=3", "/a"], "v=3 /a"],
  ["a negative number as a value", ["-v", "-1", "/a"], "v=-1 /a"],
  ["a word as a name", ["-add", "server.1=a:1:2;3"], "add=server.1=a:1:2;3"],
  ["a value that brought its quotes along", ["-add", '"x"'], "add=x"],
  ["a value of two quotes", ["-add", '""'], "add="],
  ["a value of one quote", ["-add", '"'], 'add="'],
  ["a value that begins with a quote", ["-add", '"x'], 'add="x'],
  ["a value that ends with a quote", ["-add", 'x"'], 'add=x"'],
  ["a value with a quote inside", ["-add", '"x"y"'], 'add="x"y"'],
  ["a single dash, which is an operand", ["-", "/a"], "- /a"],
  ["two dashes end the flags", ["-s", "--", "-w", "--"], "s= -w --"],
  ["a flag of our own, with two dashes", ["--dry-run", "/a"], "dry-run= /a"],
  ["the same flag twice: the first value", ["-v", "1", "-v", "2"], "v=1"],
])("%s", (_, words, expected) => {
  expect(parsed(...words)).toBe(expected);
});

describe("refused as commons-cli refuses it", () => {
  const prefix = "org.apache.commons.cli.";
  test.each([
    ["a flag that is not there", ["-z"], "UnrecognizedOptionException: Unrecognized option: -z"],
    ["one in a run", ["-sz"], "UnrecognizedOptionException: Unrecognized option: -sz"],
    ["an operand that looks like one", ["/a", "-5"], "UnrecognizedOptionException: Unrecognized option: -5"],
    ["two dashes before one of theirs", ["--s"], "UnrecognizedOptionException: Unrecognized option: --s"],
    ["one dash before one of ours", ["-dry-run"], "UnrecognizedOptionException: Unrecognized option: -dry-run"],
    ["a value for a flag without", ["-s=1"], "UnrecognizedOptionException: Unrecognized option: -s=1"],
    ["no value at the end", ["/a", "-v"], "MissingArgumentException: Missing argument for option: v"],
    ["no value before the next flag", ["-v", "-s"], "MissingArgumentException: Missing argument for option: v"],
    [
      "two of which only one may be",
      ["-n", "1", "-b", "2"],
      "AlreadySelectedException: The option 'b' was specified but an option from this group has already been selected: 'n'",
    ],
  ])("%s", (_, words, text) => {
    expect(() => parsed(...words)).toThrow(`${prefix}${text}`);
  });
});

test.each([
  [["-dry-run"], "--dry-run"],
  [["--dry-rnu"], "--dry-run"],
  [["--dry"], "--dry-run"],
  [["-adt", "x"], "-add"],
  [["-z"], undefined],
  [["-sz"], undefined],
  [["--frobnicate"], undefined],
  [["-r"], undefined],
])("%j has a nearest flag: %s", (words, nearest) => {
  const line = `Unrecognized option: ${words[0]}${nearest === undefined ? "" : `; the nearest is ${nearest}`}`;
  expect(() => parsed(...words)).toThrow(new RegExp(`${line}$`));
});

test.each([["--json"], ["-timeout=5"], ["--quiet"]])(
  "%s is an option of the program, which stands before the command",
  (word) => {
    expect(() => parsed("/a", word)).toThrow(
      `Unrecognized option: ${word}; ${word.replace("=5", "")} stands before the command`,
    );
  },
);

test("the flags are laid out under the usage, ours left out", () => {
  expect(
    describeFlags("set path", [...TABLE.slice(0, 1), TABLE[2] ?? { name: "" }, { name: "hex", isOwn: true }]),
  ).toBe("set path\n -s         Print it\n -v <arg>   A version\n");
});
