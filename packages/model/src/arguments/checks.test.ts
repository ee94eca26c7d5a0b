import { expect, test } from "vitest";
import {
  checkArgument,
  checkClient,
  checkDifferent,
  checkFit,
  checkPassword,
  checkRecord,
  clientProblems,
  pathProblems,
} from "./checks.ts";
import { hasMethods, type Rules, rules } from "./rules.ts";
import { shape } from "./shape.ts";

const client = { sessionId: 0n, create: () => {} };
const codec = { encode: () => {}, decode: () => {} };
const OPTIONS = shape<{ readonly name: string; readonly size: number }>({ name: rules.name, size: rules.int });

test.each<[keyof Rules, readonly unknown[], readonly unknown[]]>([
  ["filledText", ["a"], ["", 1, null]],
  ["time", [-1, 0, Number.POSITIVE_INFINITY], [Number.NaN, "1", undefined]],
  ["bytes", [new Uint8Array(), Buffer.from("a")], ["a", null, [1], new Uint16Array()]],
  ["bytesOrNull", [null, new Uint8Array()], ["a", undefined]],
  ["path", ["/", "/a/b"], ["", "a", "/a/", "//a", "/.", 5, null]],
  ["name", ["a", "a b", "ä"], ["", "a/b", ".", "..", "\u0000", 5]],
  ["client", [client, Object.create(client)], [null, {}, Promise.resolve(client), "client"]],
  ["codec", [codec], [{}, { encode: 1, decode: 2 }, null, () => codec]],
])("%s accepts what it names, and nothing else", (name, good, bad) => {
  expect(good.filter((value) => !rules[name].accepts(value))).toEqual([]);
  expect(bad.filter((value) => rules[name].accepts(value))).toEqual([]);
});

test.each<[() => void, string]>([
  [() => checkArgument("f", "the size", "x", rules.int), 'f: the size is a whole number of 32 bits, found "x"'],
  [() => checkFit("f", { nam: "a" }, OPTIONS), 'f: there is no option "nam"; did you mean name?'],
  [() => checkFit("f", null, OPTIONS), "f: the options are an object, found null"],
  [
    () => checkRecord("f", { size: "x" }, OPTIONS, ["name"]),
    'f: size is a whole number of 32 bits, found "x"; name is the name of a node: not empty, without / and control characters, found undefined',
  ],
  [
    () => checkRecord("f", undefined, OPTIONS, ["size"]),
    "f: the options are an object, found null; size is a whole number of 32 bits, found undefined",
  ],
  [() => checkClient("f", Promise.resolve(client)), "f: the client is a promise: await it"],
  [() => checkClient("f", null), "f: the client is a client, as connect() returns one, found null"],
  [() => checkDifferent("f", "items", ["a", "b", "a"]), 'f: items has "a" twice'],
  [() => checkPassword("f", 5), "f: the password is a string, found a number"],
])("%s", (check, message) => {
  expect(check).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", message }));
});

test("what fits passes", () => {
  checkArgument("f", "the size", 1, rules.int);
  checkFit("f", undefined, OPTIONS);
  checkRecord("f", { name: "a" }, OPTIONS, ["name"]);
  checkClient("f", client);
  checkDifferent("f", "items", ["a", "b"]);
  checkPassword("f", "secret");
  expect(hasMethods(codec, ["encode"])).toBe(true);
});

test.each([
  ["/a", []],
  ["a/b", [expect.stringContaining('; did you mean "/a/b"?')]],
  ["a//b", [expect.not.stringContaining("did you mean")]],
  [5, ["the path is a string, found 5"]],
])("the problems of the path %j", (path, problems) => {
  expect(pathProblems(path)).toEqual(problems);
});

test("a client's argument has the name that the caller gives it", () => {
  expect(clientProblems({}, "the first argument")).toEqual([
    "the first argument is a client, as connect() returns one, found an object",
  ]);
});
