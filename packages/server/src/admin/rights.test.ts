import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestPlainly } from "node:http";
import { type RequestOptions, request as requestSecurely } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServerOptions } from "../config.ts";
import { AUTHORITY, CLIENT_EXPIRED, HOST, ONE, STRANGER, TWO } from "../testing/certificates.ts";
import { startTestServer } from "../testing/server.ts";
import { subjectName } from "../tls/subject-name.ts";
import { ALL_COMMAND_NAMES } from "./admin-commands.ts";
import { ADMIN_PATHS } from "./admin-server.ts";

/**
 * Commands for those who have every permission on the root, with a query that has an effect. All
 * others answer everyone.
 */
const GUARDED: Readonly<Record<string, string>> = {
  audit_tail: "limit=10",
  backup_now: "",
  backup_status: "",
  close_clients: "",
  drain: "durationMs=0",
  drop_standby: "",
  end_session: "id=VICTIM",
  export_apache: "epoch=2000&closed=0x1",
  finalize_upgrade: "",
  follow_archive: "",
  follow_finish: "zxid=0x1",
  follow_resume: "",
  follow_sync: "",
  follow_touch: "",
  log_tail: "",
  open_clients: "",
  purge_history: "through=0x1&backups=true",
  purge_status: "",
  reload: "dryRun=false",
  restore: "",
  rest: "",
  restore_state: "to=0x1&plan=true",
  restore_state_status: "",
  session_clients: "",
  set_log_level: "level=debug",
  snapshot: "streaming=true",
  snap: "streaming=true",
  take_over: "zxid=0x1&digest=0000000000000000&epoch=2000",
  transfer_leadership: "",
  undrain: "",
};
const GETS: ReadonlySet<string> = new Set([
  "audit_tail",
  "backup_status",
  "export_apache",
  "log_tail",
  "purge_status",
  "restore_state_status",
  "session_clients",
  "snapshot",
  "snap",
]);
/** For everyone, as in Apache's server. */
const OPEN: readonly string[] = [
  "configuration",
  "conf",
  "config",
  "connection_stat_reset",
  "crst",
  "connections",
  "cons",
  "dirs",
  "drain_status",
  "dump",
  "environment",
  "env",
  "envi",
  "follow_sessions",
  "follow_status",
  "get_trace_mask",
  "gtmk",
  "hash",
  "initial_configuration",
  "icfg",
  "is_read_only",
  "isro",
  "last_snapshot",
  "lsnp",
  "leader",
  "lead",
  "log_level",
  "monitor",
  "mntr",
  "observer_connection_stat_reset",
  "orst",
  "observers",
  "obsr",
  "return_status",
  "ruok",
  "server_stats",
  "srvr",
  "set_trace_mask",
  "stmk",
  "standby",
  "stat_reset",
  "srst",
  "stats",
  "stat",
  "system_properties",
  "sysp",
  "upgrade_status",
  "voting_view",
  "watch_summary",
  "wchs",
  "watches",
  "wchc",
  "watches_by_path",
  "wchp",
  "zabstate",
];

/**
 * The status that any requester with a connection gets at paths that are no commands. A POST has no
 * effect.
 */
const PATHS: Readonly<Record<string, { readonly get: number; readonly post: number }>> = {
  "/commands": { get: 200, post: 200 },
  "/commands/": { get: 200, post: 200 },
  "/livez": { get: 200, post: 405 },
  "/readyz": { get: 200, post: 405 },
  "/startupz": { get: 200, post: 405 },
  "/healthz": { get: 200, post: 405 },
  "/metrics": { get: 200, post: 405 },
};
/** Nothing is there, whatever the requester shows. */
const NOWHERE: readonly string[] = [
  "/",
  "/command",
  "/commands/../snapshot",
  "/commands/%73napshot",
  "/Commands/snapshot",
  "/metrics/",
  "/metrics/snapshot",
  "/livez/",
  "/console/",
  "/snapshot",
];

interface Requester {
  readonly name: string;
  readonly authorization?: string;
  /** A certificate to show. */
  readonly shows?: { readonly key: string; readonly cert: string };
  /** Undefined: it may. "none": it gets no connection. */
  readonly refused?: 401 | 403 | "none";
}

const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const X509 = "org.apache.zookeeper.server.auth.X509AuthenticationProvider";
const ALL = 31;

function digestId(text: string): string {
  const [user = ""] = text.split(":");
  return `${user}:${createHash("sha1").update(text).digest("base64")}`;
}

/**
 * The access list of the root: everything for one digest and one certificate, all but one
 * permission for others, most for the world.
 */
function rootAcl(writer: JuteWriter): void {
  const entries: [number, string, string][] = [
    [ALL, "digest", digestId("all:bits")],
    [ALL, "x509", subjectName(new X509Certificate(ONE.cert).raw)],
    [15, "digest", digestId("four:bits")],
    [30, "digest", digestId("blind:bits")],
    [15, "x509", subjectName(new X509Certificate(TWO.cert).raw)],
    [15, "ip", "127.0.0.1"],
    [ALL, "world", "anyone"],
  ];
  writer.text("/");
  writer.int(entries.length);
  for (const [permissions, scheme, id] of entries) {
    writer.int(permissions);
    writer.text(scheme);
    writer.text(id);
  }
  writer.int(-1);
}

const REQUESTERS: readonly Requester[] = [
  { name: "no credential", refused: 401 },
  { name: "an empty header", authorization: "", refused: 401 },
  { name: "a scheme alone", authorization: "digest", refused: 401 },
  { name: "an unknown scheme", authorization: "nope all:bits", refused: 401 },
  { name: "a scheme in other letters", authorization: "Digest all:bits", refused: 401 },
  { name: "the world", authorization: "world anyone", refused: 401 },
  { name: "HTTP's Basic", authorization: `Basic ${Buffer.from("all:bits").toString("base64")}`, refused: 401 },
  { name: "SASL without an exchange", authorization: "sasl super", refused: 401 },
  { name: "the scheme super", authorization: "super super", refused: 401 },
  { name: "an invented digest", authorization: "digest nobody:x", refused: 403 },
  { name: "the right user with a wrong password", authorization: "digest all:wrong", refused: 403 },
  { name: "an id instead of its password", authorization: `digest ${digestId("all:bits")}`, refused: 403 },
  { name: "all permissions but admin", authorization: "digest four:bits", refused: 403 },
  { name: "all permissions but read", authorization: "digest blind:bits", refused: 403 },
  { name: "the superuser with a wrong password", authorization: "digest super:wrong", refused: 403 },
  { name: "the superuser's id instead of its password", authorization: `digest ${SUPER_DIGEST}`, refused: 403 },
  { name: "its address", authorization: "ip", refused: 403 },
  { name: "another address, in words", authorization: "ip 10.0.0.1", refused: 403 },
  { name: "every permission", authorization: "digest all:bits" },
  { name: "the superuser", authorization: "digest super:test" },
];

const PLAIN: readonly Requester[] = [
  ...REQUESTERS,
  { name: "a certificate that was not shown", authorization: "x509", refused: 401 },
  { name: "the subject in words", authorization: "x509 CN=one", refused: 401 },
];

/**
 * With a required certificate: it lets a requester in, and is an identity only for those who ask by
 * it.
 */
const SECURED: readonly Requester[] = [
  { name: "without a certificate", authorization: "digest super:test", refused: "none" },
  { name: "with a certificate of another authority", authorization: "x509", shows: STRANGER, refused: "none" },
  { name: "with an expired certificate", authorization: "x509", shows: CLIENT_EXPIRED, refused: "none" },
  { name: "with the right certificate and no header", shows: ONE, refused: 401 },
  { name: "with a certificate that has too little", authorization: "x509", shows: TWO, refused: 403 },
  { name: "with such a one, and the right subject in words", authorization: "x509 CN=one", shows: TWO, refused: 403 },
  { name: "with such a one and a wrong password", authorization: "digest all:wrong", shows: TWO, refused: 403 },
  { name: "with such a one and the right password", authorization: "digest all:bits", shows: TWO },
  { name: "with the right certificate", authorization: "x509", shows: ONE },
];

let folder: string;
let tls: ServerOptions;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-rights-"));
  const keyStore = { location: join(folder, "host.pem") };
  const trustStore = { location: join(folder, "ca.pem") };
  writeFileSync(keyStore.location, HOST.key + HOST.cert, { mode: 0o600 });
  writeFileSync(trustStore.location, AUTHORITY);
  tls = { admin: { port: 0, forceHttps: true, needClientAuth: true, tls: { keyStore, trustStore } } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every command is guarded or open, by each of its names", () => {
  expect([...Object.keys(GUARDED), ...OPEN].sort()).toEqual([...ALL_COMMAND_NAMES].sort());
});

describe.each([
  { kind: "by HTTP", request: requestPlainly, requesters: PLAIN, more: (): ServerOptions => ({ admin: { port: 0 } }) },
  { kind: "by HTTPS with a required certificate", request: requestSecurely, requesters: SECURED, more: () => tls },
])("$kind", ({ request, requesters, more }) => {
  test.each(requesters)(
    "$name: a guarded command is refused or run, and a refusal has no effect",
    async (requester) => {
      const auth = { providers: { x509: X509 }, failureDelayMsMax: 0 };
      await using zk = await startTestServer({ superDigest: SUPER_DIGEST, auth, ...more() });
      await using victim = await RawClient.open(zk.port);
      const { sessionId } = await victim.handshake();
      await victim.ask(OpCode.CREATE, create("/held", "", 1));
      await victim.ask(OpCode.SET_ACL, rootAcl);
      const id = `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
      const before = zk.lines.length;
      for (const [command, query] of Object.entries(GUARDED)) {
        const method = GETS.has(command) ? "GET" : "POST";
        const path = `/commands/${command}?${query.replace("VICTIM", id)}`;
        const status = await statusOf(request, { port: zk.adminPort, path, method }, requester);
        if (requester.refused !== undefined) expect([command, status]).toEqual([command, requester.refused]);
        else expect([command, [401, 403, "none"].includes(status)]).toEqual([command, false]);
        if (requester.refused === undefined) continue;
        expect((await victim.ask(OpCode.EXISTS, read("/held"))).code).toBe(0);
      }
      if (requester.refused === undefined) return expect(await victim.rest()).toEqual(Buffer.alloc(0));
      expect(zk.lines.slice(before)).toEqual([]);
      await using other = await RawClient.withSession(zk.port);
      expect((await other.ask(OpCode.EXISTS, read("/held"))).code).toBe(0);
    },
  );

  test("paths outside of the commands give everyone the same, and nothing more to those with rights", async () => {
    const auth = { providers: { x509: X509 }, failureDelayMsMax: 0 };
    await using zk = await startTestServer({ superDigest: SUPER_DIGEST, auth, ...more() });
    await using client = await RawClient.withSession(zk.port);
    const before = zk.lines.length;
    // One of each kind: the commands are tried with all of them.
    for (const requester of new Map(requesters.map((each) => [each.refused, each])).values()) {
      const asked = [...Object.keys(PATHS), ...NOWHERE].flatMap((path) =>
        (["GET", "POST"] as const).map((method) => ({ path, method })),
      );
      const found = await Promise.all(
        asked.map(async ({ path, method }) => {
          const status = await statusOf(request, { port: zk.adminPort, path, method }, requester);
          return `${requester.name}: ${method} ${path} ${status}`;
        }),
      );
      const expected = asked.map(({ path, method }) => {
        const { get, post } = PATHS[path] ?? { get: 404, post: 404 };
        const status = requester.refused === "none" ? "none" : method === "GET" ? get : post;
        return `${requester.name}: ${method} ${path} ${status}`;
      });
      expect(found).toEqual(expected);
    }
    expect(zk.lines.slice(before)).toEqual([]);
    expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
  });

  test("an open command answers everyone who gets a connection", async () => {
    await using zk = await startTestServer(more());
    const reached = requesters.filter(({ refused }) => refused !== "none");
    for (const requester of [reached.at(0), reached.at(-1)]) {
      if (requester === undefined) throw new Error("some requesters get a connection");
      const statuses: (number | "none")[] = [];
      // One behind the other: an address has places for fewer connections.
      for (const name of OPEN)
        statuses.push(await statusOf(request, { port: zk.adminPort, path: `/commands/${name}` }, requester));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
  });
});

test("every path of the admin port and of the metrics port has a row", () => {
  expect(ADMIN_PATHS.filter((path) => !(path in PATHS))).toEqual([]);
  const listed = [...Object.keys(PATHS), "/"];
  const named = ["admin-server.ts", "operator-ports.ts"].flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/["`](\/[\w/-]*)["`]/g)].map(([, path]) => path),
  );
  expect(named.filter((path) => path === undefined || !listed.includes(path))).toEqual([]);
  expect(named).toEqual(expect.arrayContaining([...ADMIN_PATHS]));
});

test("the metrics port answers GET for its one path, whatever is shown", async () => {
  await using zk = await startTestServer({ metrics: { port: 0 } });
  const before = zk.lines.length;
  for (const { authorization } of new Map(PLAIN.map((each) => [each.refused, each])).values()) {
    const requester = { name: "", ...(authorization === undefined ? {} : { authorization }) };
    for (const [method, path, status] of [
      ["GET", "/metrics", 200],
      ["POST", "/metrics", 405],
      ["GET", "/commands/monitor", 404],
      ["POST", "/commands/drain", 404],
      ["GET", "/livez", 404],
    ] as const) {
      const found = await statusOf(requestPlainly, { port: zk.metricsPort, path, method }, requester);
      expect([path, method, found]).toEqual([path, method, status]);
    }
  }
  expect(zk.lines.slice(before)).toEqual([]);
});

async function statusOf(
  request: typeof requestSecurely,
  where: RequestOptions,
  { authorization, shows }: Requester,
): Promise<number | "none"> {
  const headers = authorization === undefined ? {} : { authorization };
  const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined, ...shows };
  const sent = request({ host: "127.0.0.1", headers, agent: false, ...trust, ...where }).end();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "close");
    return response.statusCode ?? "none";
  } catch {
    return "none";
  }
}
