import { afterEach, beforeEach, expect, test } from "vitest";
import { decimal, eachOf, oneOf, someOf, text, texts, toolOptions, whole } from "./tool-options.ts";

const { argv } = process;

beforeEach(() => {
  process.argv = [...argv.slice(0, 2)];
});
afterEach(() => {
  process.argv = argv;
});

function read(...given: readonly string[]) {
  process.argv.push(...given);
  return toolOptions({
    rounds: 20,
    gapMs: 500,
    keep: false,
    sizes: [4, 5],
    data: "/tmp",
    seconds: decimal(4),
    from: whole(undefined, 1, 9),
    victim: oneOf("leader", "follower"),
    by: someOf(["restart", "reload"]),
    only: text,
    shape: texts,
    kind: eachOf(["a", "b"]),
  });
}

test("options that are not given have their defaults", () => {
  expect(read()).toEqual({
    rounds: 20,
    gapMs: 500,
    keep: false,
    sizes: [4, 5],
    data: "/tmp",
    seconds: 4,
    from: undefined,
    victim: "leader",
    by: ["restart", "reload"],
    only: undefined,
    shape: [],
    kind: ["a", "b"],
  });
});

test("options are read as their defaults say", () => {
  const given = ["--rounds", "3", "--gap-ms=7", "--keep", "--sizes", "1,2,3", "--data", "", "--seconds", ".5"];
  const more = [
    "--from",
    "9",
    "--victim",
    "follower",
    "--by",
    "reload",
    "--only",
    "a",
    "--shape",
    "x",
    "--shape",
    "y",
    "--kind",
    "b",
  ];
  expect(read(...given, ...more)).toEqual({
    rounds: 3,
    gapMs: 7,
    keep: true,
    sizes: [1, 2, 3],
    data: "",
    seconds: 0.5,
    from: 9,
    victim: "follower",
    by: ["reload"],
    only: "a",
    shape: ["x", "y"],
    kind: ["b"],
  });
});

test.each([
  ["--rounds", "1.5", "a whole number from 0"],
  ["--sizes", "1,x", "whole numbers with commas between them"],
  ["--seconds", "-1", "a number from 0"],
  ["--from", "10", "a whole number from 1 to 9"],
  ["--victim", "observer", "one of leader, follower"],
  ["--by", "restart,kill", "some of restart, reload"],
  ["--kind", "c", "one of a, b"],
])("%s %s is refused with what is expected", (flag, given, expected) => {
  expect(() => read(`${flag}=${given}`)).toThrow(
    expect.objectContaining({
      code: "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
      message: `${flag} is ${expected}, found "${given}"`,
    }),
  );
});
