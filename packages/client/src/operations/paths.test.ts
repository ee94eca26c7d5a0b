import { expect, test } from "vitest";
import { checkedPath, checkedSequentialPath, underRoot, withoutRoot } from "./paths.ts";

const CHECKS = { checkedPath, checkedSequentialPath };
const NO_TEXT = [undefined, null, 5, true, {}, ["/a"], Buffer.from("/a"), Object.create(null)];

test.each(Object.entries(CHECKS))("%s refuses values other than strings, and names what it found", (_, check) => {
  for (const path of NO_TEXT) {
    expect(() => check(path as string, "get")).toThrow(
      expect.objectContaining({
        code: "INVALID_PATH",
        message: expect.stringMatching(/^get: the path is a string, found /),
      }),
    );
  }
});

test.each(["/", "/a", "/a/b", "/a.b/..c", "/é"])("%s is a path", (path) => {
  expect([checkedPath(path, "get"), checkedSequentialPath(path, "create")]).toEqual([path, path]);
});

test.each(["", "a", "//", "/a//b", "/./b", "/a/../b", "/\0", "/\u0001", "/\uD800"])("%j is refused", (path) => {
  for (const check of Object.values(CHECKS))
    expect(() => check(path, "get")).toThrow(expect.objectContaining({ code: "INVALID_PATH" }));
});

test("only a sequential node's name before the number may be empty", () => {
  expect(checkedSequentialPath("/queue/", "create")).toBe("/queue/");
  // The number makes these other names.
  expect([checkedSequentialPath("/.", "create"), checkedSequentialPath("/a/..", "create")]).toEqual(["/.", "/a/.."]);
  for (const path of ["/queue/", "/.", "/a/.."])
    expect(() => checkedPath(path, "create")).toThrow(expect.objectContaining({ code: "INVALID_PATH" }));
});

test.each([
  ["/", "/", "/"],
  ["/", "/a", "/a"],
  ["/r", "/", "/r"],
  ["/r", "/a", "/r/a"],
])("under the root %s the path %s is %s, and the way back", (root, path, full) => {
  expect(underRoot(root, path)).toBe(full);
  expect(withoutRoot(root, full)).toBe(path);
});

test("a path outside of the root stays as it is", () => {
  expect([withoutRoot("/r", "/rest"), withoutRoot("/r", "/zookeeper/config")]).toEqual(["/rest", "/zookeeper/config"]);
});
