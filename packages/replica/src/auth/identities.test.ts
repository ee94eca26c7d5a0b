import { type Identity, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create } from "../testing/requests.ts";
import { areWithin, withIdentities } from "./identities.ts";

const LIMITS = { identityCountMax: 3, identityBytesMax: 10, identitiesBytesMax: 20 };
const identity = (bytes: number, character = "a"): Identity => ({ scheme: "ip", id: character.repeat(bytes - 2) });

test.each<[string, boolean, readonly Identity[]]>([
  ["none", true, []],
  ["as many as there may be", true, [identity(5), identity(6), identity(7)]],
  ["one more", false, [identity(3), identity(4), identity(5), identity(6)]],
  ["one as long as it may be", true, [identity(10)]],
  ["one a byte longer", false, [identity(11)]],
  ["one of two-byte characters that is longer", false, [identity(10, "é")]],
  ["as long together as they may be", true, [identity(10), identity(10)]],
  ["a byte longer together", false, [identity(10), identity(9), identity(2)]],
])("identities: %s", (_, isAllowed, identities) => {
  expect(areWithin(LIMITS, identities)).toBe(isAllowed);
});

test("an identity that is known is not added again", () => {
  const known = [identity(3)];
  expect(withIdentities(known, [identity(3)])).toBe(known);
  expect(withIdentities(known, [identity(3), identity(4)])).toEqual([identity(3), identity(4)]);
});

const AUTH = { superDigest: undefined, digestEnabled: true, skipAcl: false };

describe("a client is refused and its connection closed", () => {
  test("at its 65th identity, of which its address is the first", () => {
    const zk = new TestReplica();
    const client = zk.open();
    for (let i = 1; i < 64; i++) expect(zk.authenticate(client, `user${i}:p`)).toBe("ok");
    expect(zk.authenticate(client, "user1:p")).toBe("ok");
    expect(zk.authenticate(client, "user64:p")).toBe("AUTH_FAILED; close");
    expect(zk.refusals).toEqual(["authentication"]);
  });

  test("for an identity of more than a kibibyte, also behind a write", () => {
    // With its scheme, two colons' worth of separators and the hash, the rest of the kibibyte is
    // the name.
    const name = "n".repeat(1024 - "digest".length - ":".length - 28);
    const zk = new TestReplica();
    const client = zk.open();
    expect(zk.authenticate(client, `${name}:p`)).toBe("ok");
    zk.send(client, 1, OpCode.CREATE, create("/a"));
    const isReadOn = zk.send(client, 2, OpCode.AUTH, (writer) => {
      writer.int(0);
      writer.text("digest");
      writer.text(`${name}n:p`);
    });
    zk.turn();
    expect([isReadOn, zk.take(client)]).toEqual([false, ["1 path /a", "2 AUTH_FAILED", "close"]]);
  });

  test("for identities of more than 32 KiB together", () => {
    const zk = new TestReplica();
    const client = zk.open();
    const credentials = (i: number): string => `${String(i).padStart(900, "0")}:p`;
    const each = "digest".length + 900 + ":".length + 28;
    const count = Math.floor((32 * 1024 - "ip127.0.0.1".length) / each);
    for (let i = 0; i < count; i++) expect(zk.authenticate(client, credentials(i))).toBe("ok");
    expect(zk.authenticate(client, credentials(count))).toBe("AUTH_FAILED; close");
  });

  test("by SASL, too", () => {
    const zk = new TestReplica({ auth: { ...AUTH, providers: new Set(["sasl"]) } });
    const client = zk.open();
    expect(zk.ask(client, OpCode.SASL, (writer) => writer.text("u".repeat(1020)))).toBe("token ");
    expect(zk.ask(client, OpCode.SASL, (writer) => writer.text("u".repeat(1021)))).toBe("AUTH_FAILED null; close");
  });
});

test("a certificate with a longer subject gives its client no identity, and is reported", () => {
  const zk = new TestReplica({ auth: { ...AUTH, providers: new Set(["x509"]) } });
  const client = zk.open("127.0.0.1", 10_000, { certificateSubject: `CN=${"a".repeat(1020)}` });
  expect(zk.ask(client, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1");
  expect(zk.notes).toEqual([{ kind: "long-certificate-subject", address: "127.0.0.1", bytesMax: 1024 }]);
});

describe("a wrong password of the superuser", () => {
  test("is reported once, also behind a write; one of another user is not, nor is the right one", () => {
    const zk = new TestReplica();
    const [guessing, other] = [zk.open(), zk.open()];
    zk.authenticate(guessing, "super:wrong");
    zk.authenticate(guessing, "super:wrong");
    expect(zk.wrongPasswords).toEqual([guessing]);
    zk.send(other, 1, OpCode.CREATE, create("/a"));
    zk.authenticate(other, "super:guess");
    expect(zk.wrongPasswords).toEqual([guessing, other]);
    for (const credentials of ["alice:wrong", "superb:wrong", "super:test"]) zk.authenticate(other, credentials);
    expect([zk.wrongPasswords.length, zk.replica.counters.authFailures]).toEqual([2, 2]);
  });

  test("is not reported where there is no superuser", () => {
    const zk = new TestReplica({ auth: AUTH });
    zk.authenticate(zk.open(), "super:wrong");
    expect(zk.wrongPasswords).toEqual([]);
  });
});

test("a failed SASL exchange that leaves the connection open is reported", () => {
  const sasl = { superUsers: new Set<string>(), allowsFailed: true };
  const zk = new TestReplica(
    { auth: { ...AUTH, providers: new Set(["sasl"]), sasl } },
    { sasl: () => ({ step: () => ({ kind: "failed" }) }) },
  );
  const client = zk.open();
  expect(zk.ask(client, OpCode.SASL, (writer) => writer.text("x"))).toBe("token null");
  expect(zk.wrongPasswords).toEqual([client]);
});
