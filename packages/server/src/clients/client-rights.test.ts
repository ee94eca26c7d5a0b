/**
 * Each request that there is, by clients that may not make it: the refusal, and that nothing was
 * carried out.
 */
import { createHash } from "node:crypto";
import { CreateMode, ErrorCode, OpCode, type OpName } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { freePorts } from "@zooid/wire/testing/free-ports";
import {
  auth,
  create,
  multiBody,
  RawClient,
  type RawReply,
  read,
  setData,
  versioned,
} from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ZooidServer } from "../index.ts";
import { startTestServer } from "../testing/server.ts";

type Body = (writer: JuteWriter) => void;

/** The client whose list the nodes have, and the id by which they name it. */
const OWNER = "owner:secret";
const ROOT = "super:secret";
const digestOf = (login: string): string =>
  `${login.split(":")[0]}:${createHash("sha1").update(login).digest("base64")}`;

/** The credentials of a client. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  "an invented user": ["made:up"],
  "the right user with a wrong password": ["owner:wrong"],
  "the hash in place of the password": [digestOf(OWNER)],
  "another user": ["other:secret"],
  "the super user with a wrong password": ["super:wrong"],
  "a user without a password": ["owner"],
};
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "the right password": [OWNER],
  "another user beside the right one": ["other:secret", OWNER],
  "the super user": [ROOT],
};

const NODE = "/guarded";
const CHILD = "/guarded/child";

interface Row {
  /**
   * `none`: no request of a client, or one that says which client it is. `super`: no list gives it
   * to others.
   */
  readonly for: "owner" | "anyone" | "super" | "none";
  readonly body?: Body;
  /** The code of the answer to a client that may. Default 0. */
  readonly code?: number;
  /** The code of the answer, where it is not the header's. */
  codeOf?(reply: RawReply): number;
}

const newNode = (flags: number): Body => create(`${NODE}/new-${flags}`, "new", flags);
const aclOf =
  (path: string): Body =>
  (writer) =>
    writer.text(path);
const owned =
  (path: string, data: string): Body =>
  (writer) => {
    writer.text(path);
    writer.text(data);
    aclBody(writer);
    writer.int(CreateMode.PERSISTENT);
  };

function aclBody(writer: JuteWriter): void {
  writer.int(1);
  writer.int(31);
  writer.text("digest");
  writer.text(digestOf(OWNER));
}

function headerCode({ code }: RawReply): number {
  return code;
}

/** The code of the first part, behind its type and its mark of the end. */
function firstPart({ code, body }: RawReply): number {
  if (code !== 0) return code;
  body.int();
  body.bool();
  return body.int();
}

/** Every operation: a new one has no row before it has one here. */
const ROWS: Readonly<Record<OpName, Row>> = {
  EXISTS: { for: "owner", body: read(NODE) },
  GET_DATA: { for: "owner", body: read(NODE) },
  GET_ACL: { for: "owner", body: aclOf(NODE) },
  GET_CHILDREN: { for: "owner", body: read(NODE) },
  GET_CHILDREN2: { for: "owner", body: read(NODE) },
  GET_CHILDREN_PAGE: {
    for: "owner",
    body: (writer) => {
      writer.text(NODE);
      writer.null();
      writer.int(10);
      writer.int(0);
    },
  },
  // This server keeps no history; `client-history.test.ts` has one.
  GET_PAST: { for: "none" },
  GET_CHANGES: { for: "none" },
  GET_ALL_CHILDREN_NUMBER: { for: "owner", body: aclOf(NODE) },
  GET_EPHEMERALS: { for: "anyone", body: aclOf(NODE) },
  SYNC: { for: "anyone", body: aclOf(NODE) },
  PING: { for: "anyone" },
  WHO_AM_I: { for: "anyone" },
  CHECK_WATCHES: {
    for: "anyone",
    body: (writer) => {
      writer.text(NODE);
      writer.int(2);
    },
    code: ErrorCode.NO_WATCHER,
  },
  REMOVE_WATCHES: {
    for: "anyone",
    body: (writer) => {
      writer.text(NODE);
      writer.int(2);
    },
    code: ErrorCode.NO_WATCHER,
  },
  // Inside a multi alone.
  CHECK: { for: "none" },
  MULTI: {
    for: "owner",
    body: multiBody([OpCode.SET_DATA, setData(NODE, "in a multi")], [OpCode.CHECK, versioned("/")]),
    codeOf: firstPart,
  },
  MULTI_READ: { for: "owner", body: multiBody([OpCode.GET_DATA, read(NODE)]), codeOf: firstPart },
  CREATE: { for: "owner", body: newNode(CreateMode.PERSISTENT) },
  CREATE2: { for: "owner", body: newNode(CreateMode.PERSISTENT_SEQUENTIAL) },
  CREATE_CONTAINER: { for: "owner", body: newNode(CreateMode.CONTAINER) },
  CREATE_TTL: {
    for: "owner",
    body: (writer) => {
      newNode(CreateMode.PERSISTENT_WITH_TTL)(writer);
      writer.long(0, 60_000);
    },
  },
  SET_DATA: { for: "owner", body: setData(NODE, "other") },
  SET_ACL: {
    for: "owner",
    body: (writer) => {
      writer.text(NODE);
      aclBody(writer);
      writer.int(-1);
    },
  },
  DELETE: { for: "owner", body: versioned(CHILD) },
  DELETE_CONTAINER: { for: "none", body: aclOf(CHILD) },
  // An observer that never comes joins.
  RECONFIG: {
    for: "super",
    body: (writer) => {
      writer.text("server.2=127.0.0.1:1:2:observer;3");
      for (let i = 0; i < 2; i++) writer.null();
      writer.long(-1, -1);
    },
  },
  ADD_WATCH: {
    for: "anyone",
    body: (writer) => {
      writer.text("/elsewhere");
      writer.int(0);
    },
  },
  SET_WATCHES: { for: "none" },
  SET_WATCHES2: { for: "none" },
  NOTIFICATION: { for: "none" },
  AUTH: { for: "none" },
  SASL: { for: "none" },
  CREATE_SESSION: { for: "none" },
  CLOSE_SESSION: { for: "none" },
  BEGIN_CLOSE_SESSION: { for: "none" },
  RAISE_LEVEL: { for: "none" },
  ERROR: { for: "none" },
};
const ALL: readonly (readonly [OpName, Row])[] = Object.entries(ROWS).map(([name, row]) => [nameOf(name), row]);

function nameOf(text: string): OpName {
  const found = Object.keys(OpCode).find((name): name is OpName => name === text);
  if (found === undefined) throw new Error(`no operation ${text}`);
  return found;
}

let zk: ZooidServer;
let root: RawClient;
beforeAll(async () => {
  // Elsewhere members cannot be changed, and no permission is asked for.
  const [quorumPort = 0, electionPort = 0] = await freePorts(2);
  const servers = [{ sid: 1, host: "127.0.0.1", quorumPort, electionPort }];
  const members = { ensemble: { sid: 1, servers }, reconfigEnabled: true, standaloneEnabled: false };
  zk = await startTestServer({ superDigest: digestOf(ROOT), ttlNodes: true, ...members });
  root = await clientWith([ROOT]);
  for (const path of [NODE, CHILD]) expect((await root.ask(OpCode.CREATE, owned(path, "secret"))).code).toBe(0);
});
afterAll(async () => {
  await root[Symbol.asyncDispose]();
  await zk.stop();
});

async function clientWith(logins: readonly string[]): Promise<RawClient> {
  const client = await RawClient.withSession(zk.port);
  for (const login of logins) await client.ask(OpCode.AUTH, auth("digest", login));
  return client;
}

/** Everything that a request could have changed, and the zxid of the last change. */
async function state(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of ["/", NODE, CHILD, "/zookeeper/config"]) {
    for (const [op, body] of [
      [OpCode.GET_DATA, read(path)],
      [OpCode.GET_CHILDREN2, read(path)],
      [OpCode.GET_ACL, aclOf(path)],
    ] as const) {
      const reply = await root.ask(op, body);
      found.push(`${reply.code} ${reply.body.bytes.toString("hex", reply.body.at)}`);
    }
  }
  return found;
}

describe.each(Object.entries(CREDENTIALS))("with %s", (_, logins) => {
  test("each request is refused that the node's list does not allow, and changes nothing", async () => {
    const before = await state();
    await using client = await clientWith(logins);
    const codes: Record<string, number> = {};
    const expected: Record<string, number> = {};
    for (const [name, { for: may, body, code = 0, codeOf = headerCode }] of ALL) {
      if (may === "none") continue;
      codes[name] = codeOf(await client.ask(OpCode[name], body));
      expected[name] = may === "anyone" ? code : ErrorCode.NO_AUTH;
      expect([name, await state()]).toEqual([name, before]);
    }
    expect(codes).toEqual(expected);
  });

  test.each(ALL.filter(([, row]) => row.for === "none" && row.body !== undefined))(
    "%s, which servers or super users make alone, changes nothing",
    async (name, { body }) => {
      const before = await state();
      await using client = await clientWith(logins);
      expect((await client.ask(OpCode[name], body)).code).not.toBe(0);
      expect(await state()).toEqual(before);
    },
  );
});

test.each(Object.entries(ALLOWED))("with %s each request is answered", async (_, logins) => {
  await using client = await clientWith(logins);
  const codes: Record<string, number> = {};
  const expected: Record<string, number> = {};
  for (const [name, { for: may, body, code = 0, codeOf = headerCode }] of ALL) {
    if (may === "none") continue;
    const isRefused = may === "super" && !logins.includes(ROOT);
    codes[name] = codeOf(await client.ask(OpCode[name], body));
    expected[name] = isRefused ? ErrorCode.NO_AUTH : code;
  }
  expect(codes).toEqual(expected);
  const { body } = await root.ask(OpCode.GET_CHILDREN, read(NODE));
  const made = Array.from({ length: body.int() }, () => body.text() ?? "");
  expect(made.map((name) => name.replace(/\d{10}$/, "")).toSorted()).toEqual(["new-0", "new-2", "new-4", "new-5"]);
  for (const name of made) await root.ask(OpCode.DELETE, versioned(`${NODE}/${name}`));
  await root.ask(OpCode.CREATE, owned(CHILD, "secret"));
});
