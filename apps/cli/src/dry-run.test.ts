/**
 * Each command with `--dry-run`, and each reason for which the real run fails: the dry run fails in
 * the same way, and changes nothing.
 */
import { type Client, connect, digestId } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { allServe, PATIENT } from "@zooid/embedded-server/testing/patient";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { Session } from "./testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const READ_ONLY = [{ scheme: "world", id: "anyone", perms: "r" }];

let server: ZooidServer;
let client: Client;
let session: Session;
let admin: string;

beforeAll(async () => {
  server = await startServer({
    port: 0,
    admin: { port: 0 },
    superDigest: SUPER_DIGEST,
    enforceQuota: true,
  });
  admin = `http://127.0.0.1:${server.adminPort}`;
  client = await connect(server.connectString, { auth: [{ scheme: "digest", auth: "super:test" }] });
  session = await Session.open(server.connectString, "json");
  await client.create("/from/a/b", "b", { parents: "persistent" });
  // Copies of it cannot have the node below it.
  await client.create("/closing", "", {});
  await client.create("/closing/a", "a");
  await client.setAcl("/closing", READ_ONLY);
  await client.create("/wide", "");
  for (let i = 0; i < 250; i++) await client.create(`/wide/n${i}`, "");
  await client.create("/wide/z/deep", "", { parents: "persistent" });
  await client.setAcl("/wide/z", READ_ONLY);
  await client.create("/unread", "secret", { acl: [{ scheme: "world", id: "anyone", perms: "cdwa" }] });
  await client.create("/owned", "", {
    acl: [{ scheme: "digest", id: digestId("alice", "pw"), perms: 31 }, ...READ_ONLY],
  });
  await client.create("/kept", "", { acl: READ_ONLY });
  await client.create("/kept/a/b", "", { parents: "persistent" });
  await client.create("/part/kept/a", "", { parents: "persistent" });
  await client.create("/part/free", "");
  await client.setAcl("/part/kept", READ_ONLY);
  await client.create("/there", "");
  await client.create("/fixed", "", { acl: READ_ONLY });
  await client.create("/full", "");
  await session.run("setquota", "-N", "1", "/full");
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await client.close();
  await server.stop();
});
afterEach(() => {
  delete process.env["ZOOID_ADMIN_AUTH"];
});

/** Status and error of a command. */
async function failure(at: Session, words: readonly string[]): Promise<readonly [number, unknown]> {
  const found = await at.run(...words);
  const { error } = (found.objects.at(-1) ?? {}) as { error?: { code: string; path?: string } };
  return [await found.ended, error && { code: error.code, path: error.path }];
}

/** The dry run, then the real one. */
async function expectSame(at: Session, words: readonly string[], code: string): Promise<void> {
  const dry = await failure(at, [...words, "--dry-run"]);
  expect([words, dry]).toEqual([
    words,
    [expect.any(Number), { code, path: dry[1] && (dry[1] as { path?: string }).path }],
  ]);
  expect(dry[0]).not.toBe(0);
  const real = await failure(at, words);
  expect([words, dry]).toEqual([words, real]);
}

test.each([
  ["a source that does not exist", ["/none", "/to"], "NO_NODE"],
  ["a source that may not be read", ["/unread", "/to"], "NO_AUTH"],
  ["a target that exists", ["/from", "/there"], "NODE_EXISTS"],
  ["a target without a parent", ["/from", "/no/parent"], "NO_NODE"],
  ["a target below a node without CREATE", ["/from", "/kept/to"], "NO_AUTH"],
  ["a copy below a copied access list", ["/closing", "/to"], "NO_AUTH"],
  ["a copy below a copied access list, in a later transaction", ["/wide", "/to-wide"], "NO_AUTH"],
  ["an access list with hidden hashes", ["/owned", "/to"], "NO_AUTH"],
  ["a target without WRITE", ["--update", "/from", "/fixed"], "NO_AUTH"],
  ["a quota", ["/from", "/full/to"], "QUOTA_EXCEEDED"],
])("cp: %s", async (_, words, code) => {
  const children = await client.children("/");
  const dry = await failure(session, ["cp", "--dry-run", ...words]);
  expect(dry).toEqual([expect.any(Number), expect.objectContaining({ code })]);
  expect(await client.children("/")).toEqual(children);
  expect(await failure(session, ["cp", ...words])).toEqual(dry);
  expect(dry[0]).not.toBe(0);
});

test.each([
  ["a node that does not exist", "/none", "NO_NODE"],
  ["children below a node without DELETE", "/kept", "NO_AUTH"],
  ["some of the children", "/part", "NO_AUTH"],
])("deleteall: %s", async (_, path, code) => {
  await expectSame(session, ["deleteall", path], code);
});

test.each([
  ["no credentials", [], undefined, "NO_AUTH"],
  ["credentials without a scheme", [], "bogus", "NO_AUTH"],
  ["another user", ["--auth", "digest bob:pw"], undefined, "NO_AUTH"],
  ["no admin port", ["--auth", SUPER, "--admin", "http://127.0.0.1:1"], undefined, "NOT_CONNECTED"],
])("server drain and leader transfer: %s", async (_, words, variable, code) => {
  if (variable !== undefined) process.env["ZOOID_ADMIN_AUTH"] = variable;
  for (const command of [
    ["server", "drain"],
    ["leader", "transfer"],
  ])
    await expectSame(session, [...command, ...words, "--admin", admin], code);
});

test("server drain: a duration that the server does not take; leader transfer: a server alone", async () => {
  await expectSame(session, ["server", "drain", "--admin", admin, "--auth", SUPER, "--duration", "3600001"], "USAGE");
  await expectSame(session, ["leader", "transfer", "--admin", admin, "--auth", SUPER], "REFUSED");
});

test("member: a server without an ensemble, invalid words, and credentials without a scheme", async () => {
  await expectSame(session, ["member", "remove", "1"], "UNREADABLE_ANSWER");
  await expectSame(session, ["member", "remove", "x"], "USAGE");
  process.env["ZOOID_ADMIN_AUTH"] = "bogus";
  await expectSame(session, ["member", "remove", "1"], "USAGE");
});

/** A session with an ensemble of three. */
async function ensemble(reconfigEnabled: boolean): Promise<Session> {
  const ports = await freePorts(9);
  const servers = [1, 2, 3].map((sid, at) => {
    const [quorumPort = 0, electionPort = 0, port = 0] = ports.slice(at * 3);
    return { sid, host: "127.0.0.1", quorumPort, electionPort, clientAddress: { port } };
  });
  const members: ZooidServer[] = [];
  for (const { sid, clientAddress } of servers) {
    const own = { ...clientAddress, tickMs: 200, superDigest: SUPER_DIGEST, reconfigEnabled };
    const member = await startServer({ ...own, ensemble: { sid, servers, ...PATIENT } });
    onTestFinished(() => member.stop());
    members.push(member);
  }
  await allServe(members);
  const addresses = servers.map(({ clientAddress }) => `127.0.0.1:${clientAddress.port}`).join(",");
  await (await connect(addresses)).close();
  const opened = await Session.open(addresses, "json");
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

test("member: changes that the servers' configuration disables", async () => {
  const members = await ensemble(false);
  for (const verb of ["remove", "demote"])
    await expectSame(members, ["member", verb, "3", "--auth", SUPER], "RECONFIG_DISABLED");
});

test("member: an identity without the permission, and none that is allowed changes anything", async () => {
  const members = await ensemble(true);
  for (const auth of [[], ["--auth", "digest bob:pw"]])
    await expectSame(members, ["member", "remove", "3", ...auth], "NO_AUTH");
  const dry = await members.run("member", "remove", "3", "--auth", SUPER, "--dry-run");
  expect([await dry.ended, dry.objects.at(-1)]).toMatchObject([0, { dryRun: true, voters: 2 }]);
  const listed = await members.run("member", "list");
  expect(listed.objects.at(-1)).toMatchObject({ version: dry.objects.at(-1)?.["version"] });
});
