import { Permission } from "@zooid/model";
import { expect, test } from "vitest";
import { aclLines, parseAcl, requireAcl } from "./acl-text.ts";

test("the id lies between the first colon and the last, so it may hold some", () => {
  expect(parseAcl("digest:alice:aGFzaA==:rw,world:anyone:r")).toEqual({
    acl: [
      { scheme: "digest", id: "alice:aGFzaA==", perms: Permission.READ | Permission.WRITE },
      { scheme: "world", id: "anyone", perms: Permission.READ },
    ],
    warnings: [],
  });
});

test.each([
  ["foo", ["foo does not have the form scheme:id:perm"], 0],
  ["world:anyone", ["world:anyone does not have the form scheme:id:perm"], 0],
  ["", [" does not have the form scheme:id:perm"], 0],
  ["world:anyone:rxz", ["Unknown perm type: x", "Unknown perm type: z"], 1],
  ["world:anyone:r,,", [], 1],
])("%j is read as far as it makes sense", (text, warnings, count) => {
  const parsed = parseAcl(text);
  expect(parsed.warnings).toEqual(warnings);
  expect(parsed.acl).toHaveLength(count);
});

test("an empty list is refused before it is sent", () => {
  expect(() => requireAcl([])).toThrow("Acl is not valid : null");
});

test("an entry is two lines, its letters in a fixed order", () => {
  const { acl } = parseAcl("ip:10.0.0.0/8:awdrc,world:anyone:");
  expect(aclLines(acl)).toEqual(["'ip,'10.0.0.0/8", ": cdrwa", "'world,'anyone", ": "]);
});
