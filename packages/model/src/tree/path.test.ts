import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  baseName,
  checkPath,
  isValidPath,
  joinPath,
  lastSlash,
  parentPath,
  pathFault,
  sequenceSuffix,
} from "./path.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const fault = (path: string | Uint8Array): string | undefined => {
  const bytes = typeof path === "string" ? encode(path) : path;
  return pathFault(bytes, 0, bytes.length);
};

/** The rule of ZooKeeper's documentation, on the text that a Java server decodes from the bytes. */
function isValidByTheBook(bytes: Uint8Array): boolean {
  const path = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (path.length === 0 || path[0] !== "/") return false;
  if (path === "/") return true;
  if (path.endsWith("/") || path.includes("//")) return false;
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return false;
  for (let i = 0; i < path.length; i++) {
    const unit = path.charCodeAt(i);
    if (unit <= 0x1f || (unit >= 0x7f && unit <= 0x9f) || (unit >= 0xd800 && unit <= 0xf8ff) || unit >= 0xfff0) {
      return false;
    }
  }
  return true;
}

describe("paths by the book", () => {
  const edges = [
    "/",
    ".",
    "..",
    "a",
    "\0",
    "\x1f",
    " ",
    "~",
    "\x7f",
    "\x80",
    "\x9f",
    "\xa0",
    "\u07ff",
    "\u0800",
    "\ud7ff",
  ];
  const unit = fc.oneof(
    fc.constantFrom(...edges, "\ue000", "\uf8ff", "\uf900", "\ufeff", "\uffef", "\ufff0", "\uffff", "\u{10000}"),
    fc.string({ unit: "binary", maxLength: 2 }),
  );
  const paths = fc.array(unit, { maxLength: 12 }).map((units) => `/${units.join("")}`);

  test("any text is judged as the naive rule judges it", () => {
    fc.assert(
      fc.property(fc.oneof(paths, fc.string({ unit: "binary" })), (path) => {
        expect(fault(path) === undefined).toBe(isValidByTheBook(encode(path)));
      }),
      { numRuns: 5000 },
    );
  });

  test("any bytes, malformed UTF-8 too, are judged as the naive rule judges what Java makes of them", () => {
    const interesting = fc.constantFrom(
      0x2f,
      0x2e,
      0x61,
      0x80,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xee,
      0xef,
      0xf0,
      0xff,
    );
    const bytes = fc.array(fc.oneof(interesting, fc.integer({ min: 0, max: 255 })), { maxLength: 10 });
    fc.assert(
      fc.property(bytes, (rest) => {
        const path = Uint8Array.of(0x2f, ...rest);
        expect(fault(path) === undefined).toBe(isValidByTheBook(path));
      }),
      { numRuns: 20_000 },
    );
  });

  test("every character alone is judged as the naive rule judges it", () => {
    for (let point = 0; point <= 0x1_0100; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const path = encode(`/a${String.fromCodePoint(point)}b`);
      if ((fault(path) === undefined) !== isValidByTheBook(path)) expect.fail(`U+${point.toString(16)}`);
    }
  });

  test("a path inside a larger buffer is judged alone", () => {
    const bytes = encode("xx/a/bxx");
    expect([isValidPath(bytes, 2, 6), isValidPath(bytes, 2, 8), isValidPath(bytes, 1, 6)]).toEqual([true, true, false]);
    expect(isValidPath(encode("/\u20ac"), 0, 3)).toBe(false);
  });
});

test.each([
  ["", "empty"],
  ["a", "does not start with /"],
  ["/a/", "ends in /"],
  ["//", "ends in /"],
  ["/a//b", "has an empty segment"],
  ["/a/./b", "has a relative segment"],
  ["/..", "has a relative segment"],
  ["/a\u0001", "has an illegal character"],
  ["/...", undefined],
  ["/.a/a.", undefined],
  ["/", undefined],
])("%j: %s", (path, expected) => {
  expect(fault(path)).toBe(expected);
});

test("a path that is text is checked with a sentence", () => {
  expect(() => checkPath("/a/")).toThrow('invalid path "/a/": it ends in /');
  expect(() => checkPath("")).toThrow('invalid path "": it is empty');
  expect(() => checkPath("/a")).not.toThrow();
});

test.each([
  ["/", "/", "a", "/a"],
  ["/a", "/", "b", "/a/b"],
  ["/a/b", "/a", "c", "/a/b/c"],
])("%s stands below %s and above what is joined to it", (path, parent, name, child) => {
  expect([parentPath(path), joinPath(path, name), baseName(child), parentPath(child)]).toEqual([
    parent,
    child,
    name,
    path,
  ]);
  expect(lastSlash(encode(child), 0, encode(child).length)).toBe(child.lastIndexOf("/"));
});

test.each([
  [0, "0000000000"],
  [7, "0000000007"],
  [2 ** 31 - 1, "2147483647"],
  [-1, "-000000001"],
  [-(2 ** 31), "-2147483648"],
])("the counter %i is the suffix %s", (counter, suffix) => {
  expect(sequenceSuffix(counter)).toBe(suffix);
});
