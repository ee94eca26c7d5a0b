import { describe, expect, test } from "vitest";
import { may, OPEN_ACL } from "./acl.ts";
import type { Acl, AclEntry, Identity } from "./acl-entry.ts";

const RULES = { skipAcl: false, schemes: new Map([["digest", {}]]) };
const ALICE: readonly Identity[] = [{ scheme: "digest", id: "alice" }];
const ANONYMOUS: readonly Identity[] = [{ scheme: "ip", id: "10.0.0.1" }];
const forAlice = (perms: number): Acl => [{ perms, scheme: "digest", id: "alice" }];
const BITS = Array.from({ length: 32 }, (_, i) => i);

test.each(BITS)("of the permissions %i an entry gives each that it names, and no other", (perms) => {
  for (const need of BITS) {
    const isGiven = BITS.some((bit) => [1, 2, 4, 8, 16].includes(bit) && (perms & bit) !== 0 && (need & bit) !== 0);
    expect([need, may(RULES, ALICE, forAlice(perms), need)]).toEqual([need, isGiven]);
    expect([need, may(RULES, ANONYMOUS, forAlice(perms), need)]).toEqual([need, false]);
  }
});

describe("who may", () => {
  const all = (scheme: string, id: string) => ({ perms: 31, scheme, id });

  test.each<[string, readonly Identity[], Acl, boolean]>([
    ["everybody with the open list", [], OPEN_ACL, true],
    ["everybody with an empty list", [], [], true],
    ["everybody where the world is named", [], [all("digest", "bob"), all("world", "anyone")], true],
    ["no identity where another world is named", ALICE, [all("world", "alice")], false],
    ["the superuser, with any list", [{ scheme: "super", id: "" }], forAlice(0), true],
    ["no identity by an unknown scheme", [{ scheme: "gone", id: "a" }], [all("gone", "a")], false],
    ["no identity by an id of another scheme", [{ scheme: "ip", id: "alice" }], forAlice(31), false],
    ["a client that is named by one of several identities", [...ANONYMOUS, ...ALICE], forAlice(31), true],
    ["no identity by an entry without the permission", ALICE, forAlice(30), false],
    ["no identity by an entry of the super scheme", ALICE, [all("super", "")], false],
  ])("%s", (_, identities, acl, expected) => {
    expect(may(RULES, identities, acl, 1)).toBe(expected);
  });

  test("everybody where no list is checked", () => {
    expect(may({ ...RULES, skipAcl: true }, [], forAlice(0), 31)).toBe(true);
  });
});

describe("a long list", () => {
  /** Counts how often an entry is looked at. */
  class CountedEntry implements AclEntry {
    static lookCount = 0;
    readonly perms = 1;
    readonly scheme: string;
    readonly #id: string;

    constructor(scheme: string, id: string) {
      this.scheme = scheme;
      this.#id = id;
    }

    get id(): string {
      CountedEntry.lookCount++;
      return this.#id;
    }
  }

  test.each([
    ["digest", (i: number) => `user${i}:hash`],
    ["ip", (i: number) => `10.0.${i >> 8}.${i & 255}`],
  ])("is looked at once, however often it is checked and by however many identities: %s", (scheme, idOf) => {
    CountedEntry.lookCount = 0;
    const acl = Array.from({ length: 1000 }, (_, i) => new CountedEntry(scheme, idOf(i)));
    const strangers = Array.from({ length: 990 }, (_, i) => ({ scheme, id: idOf(i + 1000) }));
    for (let i = 0; i < 100; i++) expect(may(RULES, strangers, acl, 1)).toBe(false);
    expect(CountedEntry.lookCount).toBeLessThan(3000);
    expect(may(RULES, [...strangers, { scheme, id: idOf(999) }], acl, 1)).toBe(scheme === "digest");
  });

  test("looks at many identities once, however many lists they are checked against", () => {
    CountedEntry.lookCount = 0;
    const identities = Array.from({ length: 60 }, (_, i) => new CountedEntry("digest", `user${i}:hash`));
    for (let list = 0; list < 100; list++) {
      const acl = Array.from({ length: 20 }, (_, i) => ({
        perms: 1,
        scheme: "digest",
        id: `list${list}-user${i}:hash`,
      }));
      expect(may(RULES, identities, acl, 1)).toBe(false);
      expect(may(RULES, identities, [...acl, { perms: 1, scheme: "digest", id: "user7:hash" }], 1)).toBe(true);
    }
    expect(CountedEntry.lookCount).toBe(60);
  });

  test("is judged by the rules of the asker", () => {
    const acl = Array.from({ length: 20 }, (_, i) => ({ perms: 1, scheme: "sasl", id: `user${i}` }));
    const master = [{ scheme: "sasl", id: "master" }];
    const rulesWith = (masterId: string) => ({ skipAcl: false, schemes: new Map([["sasl", { masterId }]]) });
    expect(may(rulesWith("master"), master, acl, 1)).toBe(true);
    expect(may(rulesWith("other"), master, acl, 1)).toBe(false);
  });
});
