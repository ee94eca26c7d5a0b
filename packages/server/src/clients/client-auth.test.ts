import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateMode, copySlice, ErrorCode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth, create, RawClient, type RawReply, read } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError, parseServerConfig } from "../config.ts";
import { startTestServer } from "../testing/server.ts";
import type { ClientAuthOptions } from "./client-auth.ts";

const SASL = { 1: "org.apache.zookeeper.server.auth.SASLAuthenticationProvider" };
const ENSEMBLE = { 1: "org.apache.zookeeper.server.auth.EnsembleAuthenticationProvider" };
const MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

let folder: string;
let jaasFile: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-auth-"));
  jaasFile = join(folder, "jaas.conf");
  writeFileSync(
    jaasFile,
    `Server { ${MODULE} required user_super="adminsecret" user_bob="bobsecret" user_eve="evesecret"; };
     Other { ${MODULE} required user_bob="another"; };
     Kerberos { com.sun.security.auth.module.Krb5LoginModule required useKeyTab="true"; };`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function token(bytes: string | null): (writer: JuteWriter) => void {
  return (writer) => (bytes === null ? writer.null() : writer.text(bytes));
}

function textOf(reply: RawReply): string | null {
  const length = reply.body.int();
  return length === -1 ? null : reply.body.bytes.toString("latin1", reply.body.at, reply.body.at + length);
}

/** A client's response to a challenge. */
function responseTo(challenge: string | null, user: string, password: string): string {
  const hex = (bytes: Buffer | string): string => createHash("md5").update(bytes).digest("hex");
  const nonce = /nonce="([^"]+)"/.exec(challenge ?? "")?.[1] ?? "";
  const uri = "zookeeper/zk-sasl-md5";
  const secret = createHash("md5").update(`${user}:zk-sasl-md5:${password}`).digest();
  const a1 = hex(Buffer.concat([secret, Buffer.from(`:${nonce}:cn`)]));
  const proof = hex(`${a1}:${nonce}:00000001:cn:auth:${hex(`AUTHENTICATE:${uri}`)}`);
  return `charset=utf-8,username="${user}",realm="zk-sasl-md5",nonce="${nonce}",nc=00000001,cnonce="cn",digest-uri="${uri}",response=${proof},qop=auth`;
}

/** Speaks both halves of the exchange, and returns the last answer. */
async function authenticate(client: RawClient, user: string, password: string): Promise<RawReply> {
  const challenge = textOf(await client.ask(OpCode.SASL, token("")));
  return await client.ask(OpCode.SASL, token(responseTo(challenge, user, password)));
}

async function whoAmI(client: RawClient): Promise<readonly string[]> {
  const { body } = await client.ask(OpCode.WHO_AM_I);
  return Array.from({ length: body.int() }, () => `${body.text()}:${body.text()}`);
}

async function goesOn(client: RawClient): Promise<boolean> {
  try {
    return (await client.ask(OpCode.EXISTS, read("/"))).code === 0;
  } catch {
    return false;
  }
}

/** A create whose node only a SASL user has permissions for. */
function createFor(path: string, scheme: string, id: string): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    writer.text("x");
    writer.int(1);
    writer.int(31);
    writer.text(scheme);
    writer.text(id);
    writer.int(0);
  };
}

function withSasl(options: ClientAuthOptions = {}): ReturnType<typeof startTestServer> {
  return startTestServer({ auth: { providers: SASL, jaasFile, ...options } });
}

describe("SASL", () => {
  test("authenticates the client as its user, and proves to the client that the server knows the password", async () => {
    await using zk = await withSasl();
    await using client = await RawClient.withSession(zk.port);
    const answer = await authenticate(client, "bob", "bobsecret");
    expect(answer).toMatchObject({ code: 0, zxid: 0 });
    expect(textOf(answer)).toMatch(/^rspauth=[0-9a-f]{32}$/);
    expect(await whoAmI(client)).toEqual(["ip:127.0.0.1", "sasl:bob"]);
  });

  test("opens nodes of that user, and no others", async () => {
    await using zk = await withSasl();
    await using stranger = await RawClient.withSession(zk.port);
    expect(await stranger.ask(OpCode.CREATE, createFor("/bob", "sasl", "bob"))).toMatchObject({ code: 0 });
    expect(await stranger.ask(OpCode.GET_DATA, read("/bob"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    await using eve = await RawClient.withSession(zk.port);
    await authenticate(eve, "eve", "evesecret");
    expect(await eve.ask(OpCode.GET_DATA, read("/bob"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    await using bob = await RawClient.withSession(zk.port);
    await authenticate(bob, "bob", "bobsecret");
    expect(await bob.ask(OpCode.GET_DATA, read("/bob"))).toMatchObject({ code: 0 });
    expect(await bob.ask(OpCode.CREATE, createFor("/mine", "auth", ""))).toMatchObject({ code: 0 });
    expect(await eve.ask(OpCode.GET_DATA, read("/mine"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    await using superUser = await RawClient.withSession(zk.port);
    await authenticate(superUser, "super", "adminsecret");
    // As in ZooKeeper, this name counts for every user of the scheme, and for nothing else.
    expect(await superUser.ask(OpCode.GET_DATA, read("/mine"))).toMatchObject({ code: 0 });
    await bob.ask(OpCode.CREATE, createFor("/digest", "digest", "bob:x"));
    expect(await superUser.ask(OpCode.GET_DATA, read("/digest"))).toMatchObject({ code: ErrorCode.NO_AUTH });
  });

  test("makes the configured users superusers", async () => {
    await using zk = await withSasl({ saslSuperUsers: { superUser: "eve" } });
    await using client = await RawClient.withSession(zk.port);
    await authenticate(client, "eve", "evesecret");
    expect(await whoAmI(client)).toEqual(["ip:127.0.0.1", "sasl:eve", "super:"]);
  });

  test("an entry for the user that stands for all lets every user in, and no stranger", async () => {
    await using zk = await withSasl({ anySaslUser: "everybody" });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, createFor("/all", "sasl", "everybody"));
    expect(await client.ask(OpCode.GET_DATA, read("/all"))).toMatchObject({ code: ErrorCode.NO_AUTH });
    await authenticate(client, "eve", "evesecret");
    expect(await client.ask(OpCode.GET_DATA, read("/all"))).toMatchObject({ code: 0 });
  });

  test("a failure is answered with the code and a null token, and ends the connection", async () => {
    await using zk = await withSasl();
    await using client = await RawClient.withSession(zk.port);
    const answer = await authenticate(client, "bob", "wrong");
    expect(answer).toMatchObject({ code: ErrorCode.AUTH_FAILED, zxid: 0 });
    expect(textOf(answer)).toBeNull();
    expect(await goesOn(client)).toBe(false);
  });

  test("a failure leaves a client's identities unchanged where that is allowed", async () => {
    await using zk = await withSasl({ allowSaslFailedClients: true });
    await using client = await RawClient.withSession(zk.port);
    const answer = await authenticate(client, "bob", "wrong");
    expect(answer).toMatchObject({ code: 0 });
    expect(textOf(answer)).toBeNull();
    expect(await whoAmI(client)).toEqual(["ip:127.0.0.1"]);
  });

  test.each([
    ["behind a success", "bobsecret"],
    ["again and again", "wrong"],
  ])("a token %s fails", async (_, password) => {
    await using zk = await withSasl({ allowSaslFailedClients: password === "wrong" });
    await using client = await RawClient.withSession(zk.port);
    await authenticate(client, "bob", password);
    const answer = await client.ask(OpCode.SASL, token(""));
    expect(textOf(answer)).toBeNull();
    expect(await goesOn(client)).toBe(password === "wrong");
  });

  test.each([
    ["null", token(null)],
    ["missing", () => {}],
    ["cut short", (writer: JuteWriter) => writer.int(10)],
    ["of a length below null's", (writer: JuteWriter) => writer.int(-2)],
  ])("a token that is %s ends the connection without an answer", async (_, body) => {
    await using zk = await withSasl();
    await using client = await RawClient.withSession(zk.port);
    await expect(client.ask(OpCode.SASL, body)).rejects.toThrow("closed with 0 bytes unread");
  });

  test("a mebibyte of token fails and ends the connection", async () => {
    await using zk = await withSasl();
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.SASL, token(""));
    const answer = await client.ask(OpCode.SASL, token("x".repeat(1_000_000)));
    expect(answer).toMatchObject({ code: ErrorCode.AUTH_FAILED });
    expect(await goesOn(client)).toBe(false);
  });

  test("without users every client is served unauthenticated, and no client is refused", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.withSession(zk.port);
    expect(textOf(await client.ask(OpCode.SASL, token("")))).toBeNull();
    expect(await whoAmI(client)).toEqual(["ip:127.0.0.1"]);
    expect(await client.ask(OpCode.CREATE, createFor("/x", "sasl", "bob"))).toMatchObject({
      code: ErrorCode.INVALID_ACL,
    });
  });

  test("is no scheme of auth packets", async () => {
    await using zk = await withSasl();
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.AUTH, auth("sasl", "bob"))).toMatchObject({ code: ErrorCode.AUTH_FAILED });
    expect(await goesOn(client)).toBe(false);
  });

  test("reads the configured section, and the superuser's password from a setting", async () => {
    await using zk = await withSasl({ jaasSection: "Other" });
    await using client = await RawClient.withSession(zk.port);
    expect(await authenticate(client, "bob", "another")).toMatchObject({ code: 0 });
    await using other = await withSasl({ saslSuperPassword: "of the setting" });
    await using superUser = await RawClient.withSession(other.port);
    expect(await authenticate(superUser, "super", "of the setting")).toMatchObject({ code: 0 });
  });
});

describe("password guessing", () => {
  /** Opens a connection that fails, and reports whether it got an answer. */
  async function guess(
    port: number,
  ): Promise<{ readonly isAnswered: () => boolean; readonly answer: Promise<unknown> }> {
    const client = await RawClient.withSession(port);
    const challenge = textOf(await client.ask(OpCode.SASL, token("")));
    let isAnswered = false;
    const answer = client.ask(OpCode.SASL, token(responseTo(challenge, "bob", "guess"))).finally(() => {
      isAnswered = true;
    });
    return { isAnswered: () => isAnswered, answer };
  }

  async function failureCount(port: number): Promise<number> {
    await using client = await RawClient.open(port);
    client.send(Buffer.from("mntr"));
    return Number(/auth_failed_count\t(\d+)/.exec((await client.rest()).toString())?.[1]);
  }

  test("waits for the answer after five failures, while others are answered, and not for the server's end", async () => {
    const auth = { providers: SASL, jaasFile, failureDelayMsMax: 10_000 };
    await using zk = await startTestServer({ auth, fourLetterWords: "mntr" });
    for (let i = 0; i < 5; i++) await (await guess(zk.port)).answer;
    const late = await Promise.all(Array.from({ length: 5 }, () => guess(zk.port)));
    await using bob = await RawClient.withSession(zk.port);
    while ((await failureCount(zk.port)) < 10) await bob.ask(OpCode.PING);
    expect(await authenticate(bob, "bob", "bobsecret")).toMatchObject({ code: 0 });
    // The last of them waits for ten seconds.
    expect(late.some(({ isAnswered }) => !isAnswered())).toBe(true);
    await zk.stop();
    for (const { answer } of late) expect(await answer).toMatchObject({ code: ErrorCode.AUTH_FAILED });
  });

  test.each([
    ["where that is turned off", { failureDelayMsMax: 0 }],
    ["from this machine itself, by default", {}],
  ])("is answered at once %s", async (_, auth) => {
    await using zk = await withSasl(auth);
    for (let i = 0; i < 20; i++) {
      expect(await (await guess(zk.port)).answer).toMatchObject({ code: ErrorCode.AUTH_FAILED });
    }
  });
});

describe("with enforced authentication", () => {
  test.each([
    ["by SASL", { requireSasl: true }],
    ["by a scheme that is named", { enforceAuth: true, enforcedSchemes: ["sasl"] }],
  ])("%s, an unauthenticated request is answered with an error and the connection closed", async (_, options) => {
    await using zk = await withSasl(options);
    for (const op of [OpCode.EXISTS, OpCode.PING, OpCode.CLOSE_SESSION, 99]) {
      await using client = await RawClient.withSession(zk.port);
      const { code, zxid } = await client.ask(op, read("/"));
      expect([op, code, zxid]).toEqual([op, ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH, 0]);
      expect(await goesOn(client)).toBe(false);
    }
    await using client = await RawClient.withSession(zk.port);
    await authenticate(client, "bob", "bobsecret");
    expect(await goesOn(client)).toBe(true);
  });

  test("every operation is refused, and nothing comes of it, on a session that another connection had authenticated", async () => {
    await using zk = await withSasl({ requireSasl: true });
    await using owner = await RawClient.open(zk.port);
    const { sessionId, password } = await owner.handshake();
    const secret = copySlice(password);
    await authenticate(owner, "bob", "bobsecret");
    expect(await owner.ask(OpCode.CREATE, create("/mine", "x", CreateMode.EPHEMERAL))).toMatchObject({ code: 0 });
    const operations = Object.values(OpCode).filter((op) => op >= 0 && op !== OpCode.AUTH && op !== OpCode.SASL);
    for (const op of operations) {
      await using second = await RawClient.open(zk.port);
      expect((await second.handshake({ sessionId, password: secret })).sessionId).toBe(sessionId);
      expect([op, (await second.ask(op, read("/mine", true))).code]).toEqual([
        op,
        ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
      ]);
      expect(await goesOn(second)).toBe(false);
    }
    // Not even the session is closed: its owner comes again, and has to prove who it is.
    await using again = await RawClient.open(zk.port);
    expect((await again.handshake({ sessionId, password: secret })).sessionId).toBe(sessionId);
    await authenticate(again, "bob", "bobsecret");
    expect(await again.ask(OpCode.GET_DATA, read("/mine"))).toMatchObject({ code: 0 });
  });

  test("half-open exchanges by the hundred leave others alone, and each connection has one attempt", async () => {
    await using zk = await withSasl({ requireSasl: true });
    const halves = await Promise.all(Array.from({ length: 50 }, () => RawClient.withSession(zk.port)));
    await Promise.all(halves.map((half) => half.ask(OpCode.SASL, token(""))));
    await using client = await RawClient.withSession(zk.port);
    await authenticate(client, "bob", "bobsecret");
    expect(await goesOn(client)).toBe(true);
    for (const half of halves) {
      expect(await half.ask(OpCode.SASL, token("garbage".repeat(100)))).toMatchObject({
        code: ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
      });
      expect(await goesOn(half)).toBe(false);
      await half[Symbol.asyncDispose]();
    }
  });

  test("a failed exchange is answered with the required scheme, also where failures are allowed otherwise", async () => {
    await using zk = await withSasl({ requireSasl: true, allowSaslFailedClients: true });
    await using client = await RawClient.withSession(zk.port);
    const answer = await authenticate(client, "bob", "wrong");
    expect(answer).toMatchObject({ code: ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH });
    expect(await goesOn(client)).toBe(false);
  });

  test("an auth packet satisfies the enforcement of its scheme", async () => {
    await using zk = await startTestServer({
      auth: { enforceAuth: true, enforcedSchemes: ["digest"] },
    });
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.AUTH, auth("digest", "a:b"))).toMatchObject({ code: 0 });
    expect(await goesOn(client)).toBe(true);
  });
});

describe("a client that checks the ensemble's name", () => {
  const names = { providers: ENSEMBLE, ensembleNames: ["blue", "green"] };

  test.each<[string, ClientAuthOptions, string | null]>([
    ["by one of its names", names, "green"],
    ["by no name", names, ""],
    ["by null", names, null],
    ["by any name, where it has none", { providers: ENSEMBLE }, "red"],
  ])("%s is accepted", async (_, options, name) => {
    await using zk = await startTestServer({ auth: options });
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.AUTH, auth("ensemble", name))).toMatchObject({ code: 0, zxid: 0 });
    expect(await whoAmI(client)).toEqual(["ip:127.0.0.1"]);
  });

  test("by another name is disconnected without an answer, so that it tries elsewhere", async () => {
    await using zk = await startTestServer({ auth: names });
    await using client = await RawClient.withSession(zk.port);
    await expect(client.ask(OpCode.AUTH, auth("ensemble", "red"))).rejects.toThrow("closed with 0 bytes unread");
  });
});

describe("at the start", () => {
  function problemsOf(options: ClientAuthOptions): readonly string[] {
    try {
      return parseServerConfig({ auth: options }).notices.map((notice) => `notice: ${notice}`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems;
    }
  }

  test.each<[string, () => ClientAuthOptions, string]>([
    ["a file that is not there", () => ({ jaasFile: "/nowhere/jaas.conf" }), "ENOENT"],
    ["Kerberos without a principal", () => ({ jaasFile, jaasSection: "Kerberos" }), "needs principal="],
    [
      "Apache's example of a provider",
      () => ({ providers: { 1: "org.apache.zookeeper.server.auth.KeyAuthenticationProvider" } }),
      "authProvider.1: org.apache.zookeeper.server.auth.KeyAuthenticationProvider is not supported",
    ],
    ["SASL that is required and not loaded", () => ({ requireSasl: true }), "authProvider.1=org.apache"],
    ["enforcement without schemes", () => ({ enforceAuth: true }), "enforce.auth.schemes"],
    ["a scheme that does not exist", () => ({ enforceAuth: true, enforcedSchemes: ["kerberos"] }), "no such scheme"],
  ])("%s is a problem", (_, options, part) => {
    expect(problemsOf(options())).toContainEqual(expect.stringContaining(part));
    expect(problemsOf(options())[0]).not.toContain("notice:");
  });

  test("an invalid file is a problem", () => {
    const file = join(folder, "wrong.conf");
    writeFileSync(file, "Server { a.B required; }");
    expect(problemsOf({ jaasFile: file })).toEqual([`jaasLoginConfig: ${file} expects ; behind the section Server`]);
  });

  test("a user of two modules with two passwords is a problem, which has neither", () => {
    const file = join(folder, "twice.conf");
    writeFileSync(file, 'Server { a.B required user_bob="s3cret"; a.C required user_bob="other"; };');
    expect(problemsOf({ jaasFile: file })).toEqual([
      `jaasLoginConfig: the section Server of ${file} has user_bob twice, with different values`,
    ]);
  });

  test("SASL without a file of its users is reported", () => {
    const providers = { 1: "org.apache.zookeeper.server.auth.SASLAuthenticationProvider" };
    expect(problemsOf({ providers })).toEqual([expect.stringContaining("no client can authenticate by SASL")]);
    expect(problemsOf({ providers, jaasFile })).toEqual([]);
  });

  test.each<[string, () => ClientAuthOptions, string]>([
    ["a provider that cannot be loaded", () => ({ providers: { 7: "com.example.Mine" } }), "com.example.Mine"],
    ["a file without the section", () => ({ jaasFile, jaasSection: "Missing" }), "no section Missing"],
  ])("%s is reported and does not stop the start", async (_, options, part) => {
    await using zk = await startTestServer({ auth: options() });
    expect(zk.lines).toContainEqual(expect.stringContaining(part));
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.AUTH, auth("mine", "x"))).toMatchObject({ code: ErrorCode.AUTH_FAILED });
  });
});
