import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { startServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

// Apache's own servers are checked by the trial apache-migrate.

async function check(...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1", "json");
  const run = await session.run("migrate", "check", ...words);
  return { status: await run.ended, report: run.objects[0], notes: run.stderr };
}

function idsOf(report: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const findings = report?.["findings"] as readonly { readonly id: string }[] | undefined;
  return findings?.map(({ id }) => id) ?? [];
}

async function listening<T extends Server | TcpServer>(server: T): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A port that answers four-letter words, and nothing else. */
function wordPort(answers: Readonly<Record<string, string>>): TcpServer {
  return createTcpServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => socket.end(answers[bytes.toString()] ?? `${bytes} is not executed\n`));
  });
}

const SRVR = (version: string, mode = "leader"): string =>
  `Zookeeper version: ${version}-abc, built on 2024-01-01\nLatency min/avg/max: 0/0.0/0\nReceived: 1\nSent: 0\n` +
  `Connections: 1\nOutstanding: 0\nZxid: 0x500000007\nMode: ${mode}\nNode count: 5\n`;
const CONF =
  "clientPort=2181\ntickTime=2000\nmaxClientCnxns=0\nminSessionTimeout=4000\nmaxSessionTimeout=40000\nserverId=2\n";
const CONS = " /10.0.0.1:41234[1](queued=0,recved=4,sent=4,sid=0x200000000000001,lop=PING,est=1,to=5000,lcxid=0x0)\n\n";

test("a server that is too old is named with what to do, and what it does not show is said", async () => {
  const words = wordPort({ srvr: SRVR("3.4.14"), conf: CONF, cons: CONS });
  const port = await listening(words);
  try {
    const { status, report } = await check(`127.0.0.1:${port}`, "--admin", "http://127.0.0.1:1", "--sids", "2,11");
    expect(status).toBe(1);
    expect(report).toMatchObject({ sound: false, looked: "1 server" });
    const ids = idsOf(report);
    expect(ids).toEqual([
      "apache-version",
      "server-number-taken",
      "digests-missing",
      "timeout-short",
      "limits-to-copy",
    ]);
    expect(report?.["missing"]).toEqual([
      expect.stringMatching(/^the admin port at http:.*--admin$/),
      expect.stringMatching(/^nodes of 127\.0\.0\.1:\d+: no session with/),
      expect.stringMatching(/^settings of .*localSessionsEnabled/),
      "nodes: no server could be read",
    ]);
  } finally {
    words.close();
  }
}, 30_000);

test("a server of ours is none that is moved", async () => {
  await using server = await startServer({ port: 0, admin: { enabled: false } });
  const { status, report } = await check(server.connectString, "--admin", "http://127.0.0.1:1");
  expect(status).toBe(1);
  expect(report).toMatchObject({ findings: [{ id: "apache-is-zooid" }], facts: { tree: null } });
});

test("the admin server's settings are seen, and no secret among them is shown", async () => {
  const words = wordPort({ srvr: SRVR("3.9.5") });
  const port = await listening(words);
  const answers: Readonly<Record<string, object>> = {
    configuration: {
      client_port: port,
      tick_time: 2000,
      min_session_timeout: 4000,
      max_session_timeout: 40_000,
      max_client_cnxns: 60,
      server_id: 3,
    },
    initial_configuration: { initial_configuration: "localSessionsEnabled=true\nsslQuorum=true\n" },
    system_properties: {
      "java.version": "17",
      "zookeeper.DigestAuthenticationProvider.superDigest": "super:hidden",
    },
    connections: { connections: [] },
  };
  const admin = createServer((request, response) => {
    const name = request.url?.slice("/commands/".length) ?? "";
    response.end(JSON.stringify({ ...answers[name], command: name, error: null }));
  });
  const adminPort = await listening(admin);
  try {
    const found = await check(`127.0.0.1:${port}`, "--admin", `http://127.0.0.1:${adminPort}`);
    const ids = idsOf(found.report);
    expect(ids).toEqual(["quorum-tls", "fence-by-stop", "local-sessions", "super-user"]);
    expect(JSON.stringify(found)).not.toContain("hidden");
  } finally {
    words.close();
    admin.close();
    admin.closeAllConnections();
  }
}, 30_000);

test("where no server answers there is nothing to check, which has a status of its own", async () => {
  const { status, report } = await check(`127.0.0.1:${await freePort()}`, "--admin", "http://127.0.0.1:1");
  expect([status, report]).toMatchObject([3, { sound: false, findings: [] }]);
});

test.each([
  ["a:b"],
  ["127.0.0.1:1/app"],
  ["127.0.0.1:1", "--sids", "0"],
  ["127.0.0.1:1", "--sids", "a"],
  ["127.0.0.1:1", "--rate", "0"],
  ["127.0.0.1:1", "--auth", "digest"],
  ["127.0.0.1:1", "--admin", "8080"],
])("%s %s %s is refused", async (...words) => {
  expect(await check(...words)).toMatchObject({ status: 2 });
});
