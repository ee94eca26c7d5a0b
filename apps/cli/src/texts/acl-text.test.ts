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

test.each([
  ["foo", "Acl is not valid : null", "the access list is not valid: foo does not have the form scheme:id:perm"],
  ["world:anyone:z", "permits nothing", "Unknown perm type: z; world:anyone permits nothing"],
  ["world:anyone:", "permits nothing", "world:anyone permits nothing"],
  ["world:anyone:rz", undefined, "Unknown perm type: z"],
  ["world:anyone:r,ip:10.0.0.1:", undefined, "ip:10.0.0.1 permits nothing"],
  ["world:anyone:r,foo", undefined, "foo does not have the form scheme:id:perm"],
  ["world:anyone:r", undefined, undefined],
])(
  "%j is refused before it is sent where it permits nothing, and in JSON where a part means nothing",
  (text, inText, inJson) => {
    for (const [format, message] of [
      ["text", inText],
      ["json", inJson],
    ] as const) {
      const check = (): void => requireAcl(parseAcl(text), format);
      if (message === undefined) expect(check).not.toThrow();
      else expect(check).toThrow(message);
    }
  },
);

test("an entry is two lines, its letters in a fixed order", () => {
  const { acl } = parseAcl("ip:10.0.0.0/8:awdrc,world:anyone:");
  expect(aclLines(acl)).toEqual(["'ip,'10.0.0.0/8", ": cdrwa", "'world,'anyone", ": "]);
});
