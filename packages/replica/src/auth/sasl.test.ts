import { type AclEntry, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, read } from "../testing/requests.ts";
import type { AuthConfig, SaslExchange, SaslStep } from "./auth-schemes.ts";

const AUTH: AuthConfig = {
  superDigest: undefined,
  digestEnabled: true,
  skipAcl: false,
  providers: new Set(["sasl"]),
};
const FOR_BOB: readonly AclEntry[] = [{ perms: 31, scheme: "sasl", id: "bob" }];

/** Accepts a user name as proof, and returns the token. */
class NameIsProof implements SaslExchange {
  step(token: Uint8Array): SaslStep {
    const name = Buffer.from(token).toString();
    if (name === "") return { kind: "challenge", token: Buffer.from("who?") };
    if (name === "nobody") return { kind: "failed" };
    return { kind: "done", token: Buffer.from(`hello ${name}`), user: name };
  }
}

function withSasl(auth: Partial<AuthConfig> = {}): TestReplica {
  return new TestReplica({ auth: { ...AUTH, ...auth } }, { sasl: () => new NameIsProof() });
}

function token(name: string): (writer: JuteWriter) => void {
  return (writer) => writer.text(name);
}

test("identities by SASL count for later requests, and its answers keep their place behind writes", () => {
  const test = withSasl();
  const client = test.open();
  test.send(client, 1, OpCode.CREATE, create("/a", "x", 0, FOR_BOB));
  test.send(client, 2, OpCode.GET_DATA, read("/a"));
  test.send(client, 3, OpCode.SASL, token(""));
  test.send(client, 4, OpCode.SASL, token("bob"));
  test.send(client, 5, OpCode.GET_DATA, read("/a"));
  test.send(client, 6, OpCode.CREATE, create("/mine", "", 0, [{ perms: 31, scheme: "auth", id: "" }]));
  expect(test.take(client)).toEqual([]);
  test.turn();
  expect(test.take(client)).toEqual([
    "1 path /a",
    "2 NO_AUTH",
    "3 token who?",
    "4 token hello bob",
    "5 data x",
    "6 path /mine",
  ]);
});

test("requests before a failed exchange are served, those behind it are not", () => {
  const test = withSasl();
  const client = test.open();
  test.send(client, 1, OpCode.CREATE, create("/a", "x"));
  expect(test.send(client, 2, OpCode.SASL, token(""))).toBe(true);
  expect(test.send(client, 3, OpCode.SASL, token("nobody"))).toBe(false);
  test.turn();
  expect(test.take(client)).toEqual(["1 path /a", "2 token who?", "3 AUTH_FAILED null", "close"]);
  expect(test.refusals).toEqual(["authentication"]);
});

test("a second connection of a session has to authenticate again", () => {
  const test = withSasl();
  const client = test.open();
  test.ask(client, OpCode.SASL, token("bob"));
  const again = test.connect({ session: test.session, password: test.password });
  test.turn();
  test.take(again);
  expect(test.ask(again, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1");
});

test("two successes of the same user are one identity", () => {
  const test = withSasl({ sasl: { superUsers: new Set(["bob"]), allowsFailed: false } });
  const client = test.open();
  for (let i = 0; i < 3; i++) test.ask(client, OpCode.SASL, token("bob"));
  expect(test.ask(client, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1,sasl:bob,super:");
});

test("an ACL of SASL is refused where the scheme is not loaded, though users may authenticate", () => {
  const test = withSasl({ providers: new Set() });
  const client = test.open();
  expect(test.ask(client, OpCode.SASL, token("bob"))).toBe("token hello bob");
  expect(test.ask(client, OpCode.CREATE, create("/a", "x", 0, FOR_BOB))).toBe("INVALID_ACL");
});

test("a client with a certificate has its subject as identity from the start, and a packet of the scheme finds it", () => {
  const test = new TestReplica({ auth: { ...AUTH, providers: new Set(["x509"]), x509SuperUser: "CN=ops" } });
  const ref = test.replica.accept("127.0.0.1", "CN=ops");
  expect(test.replica.connection(ref)?.identities).toEqual([
    { scheme: "ip", id: "127.0.0.1" },
    { scheme: "super", id: "CN=ops" },
    { scheme: "x509", id: "CN=ops" },
  ]);
  const identities = test.replica.connection(ref)?.identities ?? [];
  expect(test.replica.auth.authenticate("x509", undefined, identities)).toEqual([]);
  expect(test.replica.auth.authenticate("x509", undefined, [])).toBe("refused");
});
