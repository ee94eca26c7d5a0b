import { checkPath } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkedPath, checkedSequentialPath, underRoot, withoutRoot } from "./paths.ts";

const piece = fc.constantFrom("/", ".", "..", "a", "b.", ".c", "é", "\u0001", "\u0080", "\ue000", "x y", "");

test("a path is accepted exactly when the model accepts it", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = pieces.join("");
      const refuses = (check: () => void) => {
        try {
          check();
          return false;
        } catch {
          return true;
        }
      };
      expect(refuses(() => checkedPath(path, "get"))).toBe(refuses(() => checkPath(path)));
      expect(refuses(() => checkedSequentialPath(path, "create"))).toBe(refuses(() => checkPath(`${path}0`)));
    }),
  );
});

test.each([
  ["a/b", "/a/b"],
  ["/a/", "/a"],
  ["//a//b", "/a/b"],
])("%s is refused with the path that is meant", (path, meant) => {
  expect(() => checkedPath(path, "get")).toThrow(`did you mean "${meant}"?`);
});

test.each(["", "/", "/a/..", "//", "a\u0000", "x/".repeat(1000)])("%j has no such path", (path) => {
  if (path !== "/") expect(() => checkedPath(path, "get")).toThrow(/^(?!.*did you mean)/);
});

test("paths go below a root and come back", () => {
  for (const root of ["/", "/app", "/app/team"]) {
    for (const path of ["/", "/a", "/a/b"]) expect(withoutRoot(root, underRoot(root, path))).toBe(path);
  }
  expect(underRoot("/app", "/")).toBe("/app");
});

test("a path that only begins like the root is not below it", () => {
  expect(withoutRoot("/app", "/application/a")).toBe("/application/a");
});
