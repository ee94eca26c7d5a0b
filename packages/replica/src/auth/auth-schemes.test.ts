import { createHash } from "node:crypto";
import { type AclEntry, type Identity, may, OPEN_ACL, Permission } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { type AuthConfig, AuthSchemes, digestId, type Hashes } from "./auth-schemes.ts";

const hashes: Hashes = {
  digest: (bytes) => createHash("sha1").update(bytes).digest(),
  sha256: (bytes) => createHash("sha256").update(bytes).digest(),
};
const SUPER = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const ALICE: Identity = { scheme: "digest", id: "alice:hash" };
const HERE: Identity = { scheme: "ip", id: "10.0.0.1" };

function schemes(config: Partial<AuthConfig> = {}): AuthSchemes {
  return new AuthSchemes({ superDigest: undefined, digestEnabled: true, skipAcl: false, ...config }, hashes, {
    aclCountMax: 10,
    identityBytesMax: 1024,
  });
}

const entry = (scheme: string, id: string, perms = 31): AclEntry => ({ perms, scheme, id });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("digest ids, as ZooKeeper computes them", () => {
  test.each([
    ["user1:12345", "user1:+owfoSBn/am19roBPzR1/MfCblE="],
    ["super:test", SUPER],
    ["super:admin", "super:xQJmxLMiHGwaqBvst5y6rkB6HQs="],
    ["foo", "foo:C+7Hteo/D9vJXQ3UfzxbwnXaijM="],
  ])("%s", (credentials, id) => {
    expect(digestId(bytes(credentials), hashes)).toBe(id);
  });

  test("the first colon ends the user, the others belong to the password", () => {
    expect(digestId(bytes("a:b:c"), hashes)).toMatch(/^a:[^:]+$/);
    expect(digestId(bytes("a:b:c"), hashes)).not.toBe(digestId(bytes("a:b"), hashes));
  });
});

describe("an auth packet", () => {
  test.each<[string, string | undefined, readonly Identity[] | "refused"]>([
    ["digest", "user1:12345", [{ scheme: "digest", id: "user1:+owfoSBn/am19roBPzR1/MfCblE=" }]],
    ["digest", undefined, "refused"],
    ["ip", "whatever", []],
    ["world", "anyone", "refused"],
    ["auth", "", "refused"],
    ["super", "test", "refused"],
    ["x509", "", "refused"],
    ["sasl", "", "refused"],
    ["ensemble", "", "refused"],
    ["", "", "refused"],
  ])("of %s with %j adds %j", (scheme, data, added) => {
    expect(schemes().authenticate(scheme, data === undefined ? undefined : bytes(data), [HERE])).toEqual(added);
  });

  test("with the superuser's credentials adds the superuser, and only where one is configured", () => {
    expect(schemes({ superDigest: SUPER }).authenticate("digest", bytes("super:test"), [])).toMatchObject([
      { scheme: "super" },
      { scheme: "digest" },
    ]);
    expect(schemes({ superDigest: SUPER }).authenticate("digest", bytes("super:tost"), [])).toHaveLength(1);
    expect(schemes().authenticate("digest", bytes("super:test"), [])).toHaveLength(1);
  });

  test("of digest is refused where the scheme is off", () => {
    expect(schemes({ digestEnabled: false }).authenticate("digest", bytes("a:b"), [])).toBe("refused");
  });
});

describe("an access list is stored", () => {
  test("unchanged if it needs no change, and found valid again without another check", () => {
    const acl = [entry("world", "anyone"), entry("digest", "u:h")];
    const auth = schemes();
    expect(auth.fixAcl(acl, [])).toBe(acl);
    expect(auth.fixAcl(acl, [])).toBe(acl);
    expect(auth.fixAcl(OPEN_ACL, [])).toBe(OPEN_ACL);
  });

  test("without duplicate entries", () => {
    const acl = [entry("world", "anyone"), entry("ip", "10.0.0.0/8"), entry("world", "anyone")];
    expect(schemes().fixAcl(acl, [])).toEqual(acl.slice(0, 2));
    expect(schemes().fixAcl([entry("world", "anyone", 1), entry("world", "anyone", 2)], [])).toHaveLength(2);
  });

  test("with auth replaced by all identities that the client authenticated, not by its address", () => {
    const bob: Identity = { scheme: "digest", id: "bob:hash" };
    const fixed = schemes().fixAcl([entry("auth", "ignored", 5), entry("world", "anyone", 1)], [HERE, ALICE, bob]);
    expect(fixed).toEqual([{ perms: 5, ...ALICE }, { perms: 5, ...bob }, entry("world", "anyone", 1)]);
  });

  test.each<[string, readonly AclEntry[] | undefined]>([
    ["null", undefined],
    ["empty", []],
    ["too long", Array.from({ length: 11 }, (_, i) => entry("ip", `10.0.0.${i}`))],
    ["auth without identities", [entry("auth", "")]],
    ["of another world", [entry("world", "other")]],
    ["of super", [entry("super", "")]],
    ["digest without a colon", [entry("digest", "u")]],
    ["digest without a hash", [entry("digest", "u:")]],
    ["digest with two colons", [entry("digest", "a:b:c")]],
    ["digest of colons alone", [entry("digest", "::")]],
    ["longer than any identity", [entry("digest", `a:${"h".repeat(1023)}`)]],
    ["of an address that is none", [entry("ip", "10.0.0")]],
    ["of a scheme that is not loaded", [entry("x509", "CN=a")]],
    ["valid but for its last entry", [entry("world", "anyone"), entry("sasl", "a")]],
  ])("never when it is %s", (_, acl) => {
    expect(schemes().fixAcl(acl, [HERE])).toBeUndefined();
  });

  test("without expanding the client's identities again for an equal entry", () => {
    let lookCount = 0;
    const counted = Array.from({ length: 10 }, (_, i) => ({
      scheme: "digest",
      get id() {
        lookCount++;
        return `u${i}:h`;
      },
    }));
    const fixed = schemes().fixAcl(
      Array.from({ length: 10 }, (_, i) => entry("auth", `${i}`)),
      counted,
    );
    expect(fixed).toHaveLength(10);
    expect(lookCount).toBeLessThanOrEqual(20);
  });

  test("expanded once for the same list of the same client, and again for another one", () => {
    const auth = schemes();
    const acl = [entry("auth", "")];
    const identities = [HERE, ALICE];
    const fixed = auth.fixAcl(acl, identities);
    expect(auth.fixAcl(acl, identities)).toBe(fixed);
    expect(auth.fixAcl(acl, [{ scheme: "digest", id: "bob:hash" }])).toEqual([entry("digest", "bob:hash", 31)]);
    expect(auth.fixAcl(acl, identities)).toEqual(fixed);
  });

  test("never if auth and the entries after it make it too long", () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ scheme: "digest", id: `u${i}:h` }));
    expect(schemes().fixAcl([entry("auth", "")], many)).toHaveLength(10);
    expect(schemes().fixAcl([entry("auth", ""), entry("world", "anyone")], many)).toBeUndefined();
  });

  test("never if auth makes it too long", () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ scheme: "digest", id: `u${i}:h` }));
    expect(schemes().fixAcl([entry("auth", "")], many)).toBeUndefined();
  });
});

test("a masked list shows only the user of a digest", () => {
  const acl = [entry("digest", "user:secret", 3), entry("ip", "10.0.0.1"), entry("digest", "u:a:b")];
  expect(schemes().mask(acl)).toEqual([entry("digest", "user:x", 3), entry("ip", "10.0.0.1"), entry("digest", "u:x")]);
  expect(schemes().mask(OPEN_ACL)).toBe(OPEN_ACL);
});

describe("who may", () => {
  const superuser: Identity = { scheme: "super", id: "" };
  test.each<[string, readonly Identity[], readonly AclEntry[], boolean]>([
    ["anyone, by the world", [], [entry("world", "anyone", 1)], true],
    [
      "no client, by another permission",
      [ALICE],
      [entry("world", "anyone", 2), entry("digest", "alice:hash", 30)],
      false,
    ],
    ["the owner, by digest", [HERE, ALICE], [entry("digest", "alice:hash", 1)], true],
    [
      "not who claims the same id by another scheme",
      [{ scheme: "ip", id: "alice:hash" }],
      [entry("digest", "alice:hash", 1)],
      false,
    ],
    ["an address in the range", [HERE], [entry("ip", "10.0.0.0/24", 1)], true],
    ["not an address outside", [HERE], [entry("ip", "10.0.1.0/24", 1)], false],
    ["the superuser, always", [superuser], [entry("world", "anyone", 0)], true],
    ["not by a scheme that is not loaded", [{ scheme: "x509", id: "a" }], [entry("x509", "a", 31)], false],
    [
      "the second of two identities",
      [HERE, ALICE],
      [entry("ip", "9.9.9.9", 31), entry("digest", "alice:hash", 1)],
      true,
    ],
    ["everyone, by an empty list", [], [], true],
  ])("%s", (_, identities, acl, isAllowed) => {
    expect(may(schemes().rules, identities, acl, Permission.READ)).toBe(isAllowed);
  });

  test("everyone, where access lists are not checked", () => {
    expect(may(schemes({ skipAcl: true }).rules, [], [entry("world", "anyone", 0)], Permission.ADMIN)).toBe(true);
  });
});
