import { describe, expect, test } from "vitest";
import { type Acl, type Identity, may, OPEN_ACL } from "./acl.ts";

const isEqual = (a: string, b: string): boolean => a === b;
const RULES = { skipAcl: false, matchers: new Map([["digest", isEqual]]) };
const ALICE: readonly Identity[] = [{ scheme: "digest", id: "alice" }];
const NOBODY: readonly Identity[] = [{ scheme: "ip", id: "10.0.0.1" }];
const forAlice = (perms: number): Acl => [{ perms, scheme: "digest", id: "alice" }];
const BITS = Array.from({ length: 32 }, (_, i) => i);

test.each(BITS)("of the permissions %i an entry gives each that it names, and no other", (perms) => {
  for (const need of BITS) {
    const isGiven = BITS.some((bit) => [1, 2, 4, 8, 16].includes(bit) && (perms & bit) !== 0 && (need & bit) !== 0);
    expect([need, may(RULES, ALICE, forAlice(perms), need)]).toEqual([need, isGiven]);
    expect([need, may(RULES, NOBODY, forAlice(perms), need)]).toEqual([need, false]);
  }
});

describe("who may", () => {
  const all = (scheme: string, id: string) => ({ perms: 31, scheme, id });

  test.each<[string, readonly Identity[], Acl, boolean]>([
    ["everybody with the open list", [], OPEN_ACL, true],
    ["everybody with an empty list", [], [], true],
    ["everybody where the world is named", [], [all("digest", "bob"), all("world", "anyone")], true],
    ["nobody where another world is named", ALICE, [all("world", "alice")], false],
    ["the superuser, with any list", [{ scheme: "super", id: "" }], forAlice(0), true],
    ["nobody by a scheme that is not there", [{ scheme: "gone", id: "a" }], [all("gone", "a")], false],
    ["nobody by an id of another scheme", [{ scheme: "ip", id: "alice" }], forAlice(31), false],
    ["whoever is named by one of several identities", [...NOBODY, ...ALICE], forAlice(31), true],
    ["nobody by an entry that is not about the permission", ALICE, forAlice(30), false],
    ["nobody by an entry of the super scheme", ALICE, [all("super", "")], false],
  ])("%s", (_, identities, acl, expected) => {
    expect(may(RULES, identities, acl, 1)).toBe(expected);
  });

  test("everybody where no list is checked", () => {
    expect(may({ ...RULES, skipAcl: true }, [], forAlice(0), 31)).toBe(true);
  });
});
