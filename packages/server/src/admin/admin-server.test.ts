import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { ask, say } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";

const ADMIN = { admin: { port: 0 } } as const;

/**
 * Apache's answer without its numbers; this server's own fields are removed before the comparison.
 */
function shape(text: string): string {
  return text.replace(/-?\d+(\.\d+)?/g, (number) => (number.includes(".") ? "#.#" : "#"));
}

test("the list of commands is Apache's, in its order and form", async () => {
  await using zk = await startTestServer(ADMIN);
  const { status, body } = await ask(zk.adminPort, "/commands");
  const names = [...body.matchAll(/<a href="\/commands\/(\w+)">\1<\/a>\n<br\/>\n/g)].map(([, name]) => name);
  expect(status).toBe(200);
  expect(names).toEqual([
    ...["configuration", "connection_stat_reset", "connections", "dirs", "dump", "environment", "get_trace_mask"],
    ...["hash", "initial_configuration", "is_read_only", "last_snapshot", "leader", "monitor"],
    ...["observer_connection_stat_reset", "observers", "restore", "ruok", "server_stats", "set_trace_mask"],
    ...["snapshot", "stat_reset", "stats", "system_properties", "voting_view", "watch_summary", "watches"],
    ...["watches_by_path", "zabstate"],
  ]);
  expect(body).toBe(names.map((name) => `<a href="/commands/${name}">${name}</a>\n<br/>\n`).join(""));
  expect((await ask(zk.adminPort, "/commands/")).body).toBe(body);
});

test.each([
  ["ruok", '{\n  "command" : "ruok",\n  "error" : null\n}'],
  ["isro", '{\n  "read_only" : false,\n  "command" : "is_read_only",\n  "error" : null\n}'],
  ["gtmk", '{\n  "tracemask" : 306,\n  "command" : "get_trace_mask",\n  "error" : null\n}'],
  ["obsr", '{\n  "synced_observers" : 0,\n  "observers" : [ ],\n  "command" : "observers",\n  "error" : null\n}'],
  ["voting_view", '{\n  "current_config" : { },\n  "command" : "voting_view",\n  "error" : null\n}'],
  ["zabstate", '{\n  "voting" : false,\n  "zabstate" : "",\n  "command" : "zabstate",\n  "error" : null\n}'],
  ["lead", '{\n  "command" : "leader",\n  "error" : "server is not initialized"\n}'],
  ["nope", '{\n  "command" : "nope",\n  "error" : "Unknown command: nope"\n}'],
  ["ruok/x", '{\n  "command" : "ruok/x",\n  "error" : "Unknown command: ruok/x"\n}'],
  ["stmk", '{\n  "command" : "set_trace_mask",\n  "error" : "setTraceMask requires long traceMask argument"\n}'],
  ["crst", '{\n  "command" : "connection_stat_reset",\n  "error" : null\n}'],
  ["srst", '{\n  "command" : "stat_reset",\n  "error" : null\n}'],
])("%s answers as Apache's does", async (name, text) => {
  await using zk = await startTestServer(ADMIN);
  const { status, headers, body } = await ask(zk.adminPort, `/commands/${name}`);
  expect({ status, type: headers["content-type"], body }).toEqual({
    status: 200,
    type: "application/json",
    body: text,
  });
});

test("the commands that reset counters do so", async () => {
  await using zk = await startTestServer({ ...ADMIN, fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 5; i++) await client.ask(OpCode.EXISTS, read("/"));
  const received = async (name: string, field: RegExp): Promise<number> =>
    Number(field.exec((await ask(zk.adminPort, `/commands/${name}`)).body)?.[1]);
  const ofClient = /"packets_received" : (\d+)/;
  expect(await received("srvr", ofClient)).toBe(6);
  expect(await received("cons", ofClient)).toBe(6);
  await ask(zk.adminPort, "/commands/connection_stat_reset");
  expect(await received("cons", ofClient)).toBe(0);
  expect(await received("srvr", ofClient)).toBe(6);
  await ask(zk.adminPort, "/commands/stat_reset");
  expect(await received("srvr", ofClient)).toBe(0);
});

test("conf, srvr, cons, dump, watches and others have Apache's names and order", async () => {
  await using zk = await startTestServer(ADMIN);
  await using client = await RawClient.open(zk.port);
  const { sessionId } = await client.handshake({ timeoutMs: 10_000 });
  await client.ask(OpCode.CREATE, create("/mine", "x", 1));
  await client.ask(OpCode.GET_DATA, read("/mine", true));
  const get = async (name: string): Promise<string> => (await ask(zk.adminPort, `/commands/${name}`)).body;

  expect(shape(await get("cons"))).toMatchInlineSnapshot(`
    "{
      "connections" : [ {
        "remote_socket_address" : "#.#.#.#:#",
        "interest_ops" : #,
        "outstanding_requests" : #,
        "packets_received" : #,
        "packets_sent" : #,
        "session_id" : #,
        "last_operation" : "GETD",
        "established" : #,
        "session_timeout" : #,
        "last_cxid" : #,
        "last_zxid" : #,
        "last_response_time" : #,
        "last_latency" : #,
        "min_latency" : #,
        "avg_latency" : #,
        "max_latency" : #
      } ],
      "secure_connections" : [ ],
      "command" : "connections",
      "error" : null
    }"
  `);
  expect(shape(await get("stat"))).toMatchInlineSnapshot(`
    "{
      "version" : "#.#.#-zooid#.#.#, built on ### #:# UTC",
      "read_only" : false,
      "server_stats" : {
        "packets_sent" : #,
        "packets_received" : #,
        "fsync_threshold_exceed_count" : #,
        "client_response_stats" : {
          "last_buffer_size" : #,
          "min_buffer_size" : #,
          "max_buffer_size" : #
        },
        "provider_null" : false,
        "server_state" : "standalone",
        "outstanding_requests" : #,
        "min_latency" : #,
        "avg_latency" : #.#,
        "max_latency" : #,
        "data_dir_size" : #,
        "log_dir_size" : #,
        "last_processed_zxid" : #,
        "num_alive_client_connections" : #,
        "uptime" : #,
        "auth_failed_count" : #,
        "non_mtlsremote_conn_count" : #,
        "non_mtlslocal_conn_count" : #
      },
      "client_response" : {
        "last_buffer_size" : #,
        "min_buffer_size" : #,
        "max_buffer_size" : #
      },
      "node_count" : #,
      "connections" : [ {
        "remote_socket_address" : "#.#.#.#:#",
        "interest_ops" : #,
        "outstanding_requests" : #,
        "packets_received" : #,
        "packets_sent" : #
      } ],
      "secure_connections" : [ ],
      "command" : "stats",
      "error" : null
    }"
  `);
  expect(shape(await get("conf"))).toMatchInlineSnapshot(`
    "{
      "client_port" : #,
      "data_dir" : "",
      "data_log_dir" : "",
      "tick_time" : #,
      "max_client_cnxns" : #,
      "min_session_timeout" : #,
      "max_session_timeout" : #,
      "server_id" : #,
      "client_port_listen_backlog" : #,
      "command" : "configuration",
      "error" : null
    }"
  `);
  expect(await get("wchc")).toContain(`"session_id_to_watched_paths" : {\n    "${sessionId}" : [ "/mine" ]\n  }`);
  expect(await get("wchp")).toContain(`"path_to_session_ids" : {\n    "/mine" : [ ${sessionId} ]\n  }`);
  expect(await get("wchs")).toContain('"num_connections" : 1,\n  "num_paths" : 1,\n  "num_total_watches" : 1,\n');
  expect(await get("dump")).toMatch(
    new RegExp(
      `"\\d+" : \\[ ${sessionId} \\].*"session_id_to_ephemeral_paths" : {\n    "${sessionId}" : \\[ "/mine" \\]\n  }`,
      "s",
    ),
  );
  expect(await get("lsnp")).toContain('"zxid" : "ffffffffffffffff"');
  expect(JSON.parse(await get("mntr"))).toMatchObject({
    server_state: "standalone",
    znode_count: 6,
    cnt_readlatency: 1,
  });
  expect(await get("mntr")).toMatch(/"avg_latency" : \d+\.\d+,\n/);
});

test("the trace mask is a long", async () => {
  await using zk = await startTestServer(ADMIN);
  const set = async (text: string): Promise<string> =>
    (await ask(zk.adminPort, `/commands/stmk?traceMask=${text}`)).body;
  expect(await set("-9223372036854775808")).toContain('"tracemask" : -9223372036854775808,');
  for (const text of ["abc", "", "9223372036854775808", "1e3", "0x10"]) {
    expect(await set(text)).toContain(`"error" : "setTraceMask requires long traceMask argument, got ${text}"`);
  }
  expect((await ask(zk.adminPort, "/commands/gtmk")).body).toContain('"tracemask" : -9223372036854775808,');
});

test("secrets of the configuration file are not shown", async () => {
  const initialConfiguration = "clientPort=1\nssl.keyStore.password=hunter2\n";
  await using zk = await startTestServer({ ...ADMIN, initialConfiguration });
  const { body } = await ask(zk.adminPort, "/commands/icfg");
  expect(body).toContain('"initial_configuration" : "clientPort=1\\nssl.keyStore.password=***\\n"');
});

test.each([
  [undefined, 401, "Auth info is missing for the command"],
  ["digest", 401, "Not authenticated"],
  ["nope a:b", 401, "Not authenticated"],
  ["x509", 401, "Not authenticated"],
  ["digest one:bit", 403, "Not authorized"],
  ["digest all:bits", 503, "this server keeps everything in memory: it has no snapshot to send or replace"],
  ["ip", 403, "Not authorized"],
])("snapshots require every permission on the root: %j", async (authorization, status, error) => {
  await using zk = await startTestServer(ADMIN);
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.SET_ACL, setRootAcl());
  const headers = authorization === undefined ? {} : { authorization };
  const snapshot = await ask(zk.adminPort, "/commands/snapshot", { headers });
  const restore = await ask(zk.adminPort, "/commands/rest", { method: "POST", headers });
  expect([snapshot.status, JSON.parse(snapshot.body)]).toEqual([status, { command: "snapshot", error }]);
  // A refusal shows the name that was typed.
  expect([restore.status, JSON.parse(restore.body)]).toEqual([
    status,
    { command: status === 503 ? "restore" : "rest", error },
  ]);
});

test("guessing passwords is delayed as at the client port", async () => {
  await using zk = await startTestServer({ ...ADMIN, auth: { failureDelayMsMax: 10_000 } });
  const guess = (): Promise<number> =>
    ask(zk.adminPort, "/commands/snapshot", { headers: { authorization: "digest super:guess" } }).then(
      ({ status }) => status,
      () => 0,
    );
  for (let i = 0; i < 5; i++) expect(await guess()).toBe(403);
  const answers: number[] = [];
  const late = Array.from({ length: 5 }, () => guess().then((status) => answers.push(status)));
  expect((await ask(zk.adminPort, "/commands/ruok")).status).toBe(200);
  await Promise.race(late);
  // The last of them waits for ten seconds.
  expect(answers.length).toBeLessThan(5);
  await zk.stop();
  await Promise.all(late);
});

test("proxy headers about an address are ignored", async () => {
  await using zk = await startTestServer(ADMIN);
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.SET_ACL, setRootAcl());
  const headers = { authorization: "ip", "x-forwarded-for": "10.1.2.3" };
  expect((await ask(zk.adminPort, "/commands/snapshot", { headers })).status).toBe(403);
});

test("a taken port is a log line that names the setting, and clients are served", async () => {
  const others = [1, 2].map(() => createServer().listen(0, "127.0.0.1"));
  await Promise.all(others.map((other) => once(other, "listening")));
  const [first = 0, second = 0] = others.map((other) => {
    const bound = other.address();
    return bound !== null && typeof bound === "object" ? bound.port : 0;
  });
  const metrics = { port: second, address: "127.0.0.1" };
  await using zk = await startTestServer({ admin: { port: first }, metrics });
  expect(zk.lines).toEqual([
    expect.stringMatching(/^the admin port 127\.0\.0\.1:\d+ cannot be opened \(.*EADDRINUSE.*admin\.serverPort/),
    expect.stringMatching(
      /^the metrics port 127\.0\.0\.1:\d+ cannot be opened \(.*EADDRINUSE.*metricsProvider\.httpPort/,
    ),
  ]);
  expect([zk.adminPort, zk.metricsPort]).toEqual([undefined, undefined]);
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
  for (const other of others) other.close();
});

test("the prefix of the commands is configurable", async () => {
  await using zk = await startTestServer({ admin: { port: 0, commandUrl: "/zk/admin/" } });
  expect((await ask(zk.adminPort, "/zk/admin/ruok")).status).toBe(200);
  expect((await ask(zk.adminPort, "/zk/admin")).body).toContain('<a href="/zk/admin/ruok">ruok</a>');
  expect((await ask(zk.adminPort, "/commands/ruok")).status).toBe(404);
});

test("probes pass while clients are served, and list their checks", async () => {
  await using zk = await startTestServer(ADMIN);
  expect(await ask(zk.adminPort, "/livez")).toMatchObject({ status: 200, body: "[+]running ok\nlivez check passed\n" });
  expect(await ask(zk.adminPort, "/readyz")).toMatchObject({
    status: 200,
    body: "[+]running ok\n[+]serving ok\n[+]storage ok\nreadyz check passed\n",
  });
});

test("the startup probe passes once the data is recovered, and healthz has one word for all that is well", async () => {
  await using zk = await startTestServer(ADMIN);
  expect(await ask(zk.adminPort, "/startupz")).toMatchObject({
    status: 200,
    body: "[+]running ok\n[+]recovered ok\nstartupz check passed\n",
  });
  expect(await ask(zk.adminPort, "/healthz")).toMatchObject({ status: 200, body: "ok\n" });
  expect((await ask(zk.adminPort, "/healthz?verbose&exclude=storage")).body).toBe(
    "[+]running ok\n[+]serving ok\n[+]data ok\n[+]ports ok\nhealthz check passed\n",
  );
});

test("a server without a quorum is alive and has started, but is not ready, and commands say that it does not serve", async () => {
  const servers = [1, 2, 3].map((sid) => ({ sid, host: "127.0.0.1", quorumPort: 0, electionPort: 0 }));
  const unreachable = (sid: number) => ({
    host: "127.0.0.1",
    quorumPort: sid === 1 ? 0 : 9,
    electionPort: sid === 1 ? 0 : 9,
  });
  await using zk = await startTestServer({ ...ADMIN, ensemble: { sid: 1, servers, addressOf: unreachable } });
  expect((await ask(zk.adminPort, "/livez")).status).toBe(200);
  const startup = await ask(zk.adminPort, "/startupz");
  expect([startup.status, startup.body]).toEqual([200, "[+]running ok\n[+]recovered ok\nstartupz check passed\n"]);
  const health = await ask(zk.adminPort, "/healthz");
  expect([health.status, health.body]).toEqual([503, expect.stringContaining("[-]serving failed: no leader is known")]);
  const ready = await ask(zk.adminPort, "/readyz");
  expect([ready.status, ready.body]).toEqual([503, expect.stringContaining("[-]serving failed: no leader is known")]);
  expect(ready.body).toContain("this server founds no ensemble before server 2");
  const error = "This ZooKeeper instance is not currently serving requests";
  expect(JSON.parse((await ask(zk.adminPort, "/commands/srvr")).body)).toEqual({ command: "srvr", error });
  const metrics = (await ask(zk.adminPort, "/metrics")).body;
  expect([metrics.includes("\nquorum_size 3\n"), metrics.includes("\nleader_uptime ")]).toEqual([true, false]);
  for (const name of ["environment", "gtmk", "mntr", "sysp", "zabstate"]) {
    expect(JSON.parse((await ask(zk.adminPort, `/commands/${name}`)).body).error).toBeNull();
  }
});

test("each member lists all members of the ensemble", async () => {
  const servers = [{ sid: 1, host: "127.0.0.1", quorumPort: 0, electionPort: 0 }];
  await using zk = await startTestServer({ ...ADMIN, ensemble: { sid: 1, servers } });
  await new Promise<void>((resolve) => {
    zk.role$.subscribe((role) => {
      if (role === "leading") resolve();
    });
  });
  const get = async (name: string): Promise<unknown> => JSON.parse((await ask(zk.adminPort, `/commands/${name}`)).body);
  expect(await get("leader")).toMatchObject({ is_leader: true, leader_id: 1, leader_ip: "127.0.0.1" });
  expect(await get("zabstate")).toMatchObject({
    myid: 1,
    voting: true,
    zabstate: "broadcast",
    last_zxid: "0x100000000",
  });
  expect(await get("voting_view")).toMatchObject({ current_config: { 1: { learner_type: "participant" } } });
  expect(await get("srvr")).toMatchObject({ server_stats: { server_state: "leader" }, proposal_stats: {} });
  // The version of the configuration in force, as /zookeeper/config has it.
  expect(await zk.report("conf")).toMatch(
    /membership: \nserver\.1=127\.0\.0\.1:0:0:participant\nversion=[1-9a-f][0-9a-f]*$/,
  );
});

test("answers cannot be framed, cached or taken for something else", async () => {
  await using zk = await startTestServer(ADMIN);
  const { headers } = await ask(zk.adminPort, "/commands");
  expect(headers).toMatchObject({
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

test("HEAD is GET without a body", async () => {
  await using zk = await startTestServer(ADMIN);
  const head = await ask(zk.adminPort, "/commands/ruok", { method: "HEAD" });
  expect([head.status, head.headers["content-length"], head.body]).toEqual([200, "42", ""]);
});

// reliability: the hostile inputs of the admin port.

test.each([
  ["/commands/..%2fruok", 404],
  ["/commands/../commands/ruok", 404],
  ["/commands/%00", 404],
  ["/commands/ruok%00", 404],
  ["//commands/ruok", 404],
  ["/commands//ruok", 404],
  ["/commands\\ruok", 404],
  ["/commands/<script>", 404],
  ["/commands/__proto__", 200],
  ["/commands/%ff", 404],
  ["/etc/passwd", 404],
  ["/", 404],
  ["*", 400],
  ["http://other/commands/ruok", 400],
])("an unknown or invalid path is refused: %s", async (path, status) => {
  await using zk = await startTestServer(ADMIN);
  expect(await say(zk.adminPort, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).toMatch(
    new RegExp(`^HTTP/1\\.1 ${status} `),
  );
  expect((await ask(zk.adminPort, "/commands/ruok")).status).toBe(200);
});

test.each([
  ["TRACE", "/commands/ruok", 403],
  ["PUT", "/commands/ruok", 405],
  ["DELETE", "/commands/ruok", 405],
  ["OPTIONS", "/commands/ruok", 405],
  ["POST", "/commands/ruok", 405],
  ["GET", "/commands/restore", 405],
  ["POST", "/metrics", 405],
  ["POST", "/readyz", 405],
])("%s %s is answered with %d", async (method, path, status) => {
  await using zk = await startTestServer(ADMIN);
  expect((await ask(zk.adminPort, path, { method })).status).toBe(status);
});

test.each([
  ["a form of another site", { origin: "http://evil.example" }, 403],
  ["a fetch of another site", { "sec-fetch-site": "cross-site" }, 403],
  ["a frame or link of a sibling site", { "sec-fetch-site": "same-site" }, 403],
  ["an origin without a name", { origin: "null" }, 403],
  ["a foreign name that leads here", { host: "evil.example:8080" }, 421],
  ["this machine by name", { host: "localhost:8080" }, 200],
  ["a page of this port", { host: "localhost:1", origin: "http://localhost:1", "sec-fetch-site": "same-origin" }, 200],
])("%s is answered with the right status", async (_name, headers, status) => {
  await using zk = await startTestServer(ADMIN);
  expect((await ask(zk.adminPort, "/commands/srst", { headers })).status).toBe(status);
});

const HOST = "Host: localhost\r\nConnection: close\r\n";

test.each([
  ["no host", "GET /commands/ruok HTTP/1.1\r\n\r\n", 400],
  ["two lengths", `POST /commands/rest HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, 400],
  [
    "a length and chunks",
    `POST /commands/rest HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ["a negative length", `POST /commands/rest HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`, 400],
  ["a chunk of no size", `POST /commands/rest HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, "4\\d\\d"],
  ["ten thousand headers", `GET /commands/ruok HTTP/1.1\r\n${"a: b\r\n".repeat(10_000)}\r\n`, 431],
  ["a header of 17 KiB", `GET /commands/ruok HTTP/1.1\r\n${HOST}X: ${"a".repeat(17_408)}\r\n\r\n`, 431],
  ["a path of 17 KiB", `GET /${"a".repeat(17_408)} HTTP/1.1\r\n${HOST}\r\n`, 431],
  ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00", 400],
  ["a connect request of ZooKeeper's", "\0\0\0\x2d\0\0\0\0", 400],
  ["a header continued behind a bare line feed", `GET /commands/ruok HTTP/1.1\r\n${HOST}X: a\n b\r\n\r\n`, 400],
])("%s is refused, and others are served", async (_name, bytes, status) => {
  await using zk = await startTestServer(ADMIN);
  expect(await say(zk.adminPort, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect((await ask(zk.adminPort, "/commands/ruok")).status).toBe(200);
  expect(zk.lines).toEqual([]);
});

test("a path or header of 16 MiB is not read to its end", async () => {
  await using zk = await startTestServer(ADMIN);
  const much = "a".repeat(16 * 1024 * 1024);
  // The answer may be lost: the connection is reset while the rest arrives.
  expect(await say(zk.adminPort, `GET /${much}`)).toMatch(/^(HTTP\/1\.1 431 .*)?$/s);
  expect(await say(zk.adminPort, "GET / HTTP/1.1\r\nX: ", much)).toMatch(/^(HTTP\/1\.1 431 .*)?$/s);
  expect((await ask(zk.adminPort, "/commands/ruok")).status).toBe(200);
});

test("a body that is never sent is not waited for, and one of a mebibyte is not read", async () => {
  await using zk = await startTestServer(ADMIN);
  const start = `POST /commands/restore HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n`;
  const answer = await say(zk.adminPort, start);
  expect(answer).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close/s);
  // Else the end of the wait for the rest is an answer too.
  expect(answer).not.toContain("408");
  expect(await say(zk.adminPort, start, "x".repeat(100_000))).toMatch(/^HTTP\/1\.1 401 |^$/);
});

test("connections that wait give way to new ones, so that probes are answered and clients are served", async () => {
  await using zk = await startTestServer(ADMIN);
  const port = zk.adminPort ?? 0;
  const waiting = ["127.0.0.1", "127.0.0.5", "127.0.0.6"].flatMap((localAddress) =>
    Array.from({ length: 60 }, () => connect({ port, host: "127.0.0.1", localAddress })),
  );
  const oldest = waiting[0];
  const closed = oldest === undefined ? undefined : once(oldest, "close");
  for (const socket of waiting) {
    socket.on("error", () => {});
    await once(socket, "connect");
    // A request that does not come to its end.
    socket.write("POST /commands/restore HTTP/1.1\r\nHost: localhost\r\nContent-Le");
  }
  await closed;
  for (const path of ["/livez", "/readyz", "/commands/ruok"]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    expect(await say(zk.adminPort, request)).toMatch(/^HTTP\/1\.1 200 /);
  }
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
  for (const socket of waiting) socket.destroy();
});

test("an idle connection is closed", async () => {
  await using zk = await startTestServer({ admin: { port: 0, idleTimeoutMs: 1 } });
  expect(await say(zk.adminPort)).toBe("");
});

test("CONNECT and upgrades are refused", async () => {
  await using zk = await startTestServer(ADMIN);
  expect(await say(zk.adminPort, "CONNECT other:80 HTTP/1.1\r\nHost: other\r\n\r\n")).toBe("");
  const upgrade = `GET /commands/ruok HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
  expect(await say(zk.adminPort, upgrade)).not.toMatch(/^HTTP\/1\.1 101/);
});

/** The root belongs to one user with every permission and, for reading only, to another. */
function setRootAcl(): (writer: JuteWriter) => void {
  const digest = (user: string): string => `${user.split(":")[0]}:${createHash("sha1").update(user).digest("base64")}`;
  return (writer) => {
    writer.text("/");
    writer.int(2);
    for (const [permissions, user] of [
      [31, "all:bits"],
      [1, "one:bit"],
    ] as const) {
      writer.int(permissions);
      writer.text("digest");
      writer.text(digest(user));
    }
    writer.int(-1);
  };
}
