import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return address !== null && typeof address === "object" ? address.port : 0;
}

test("a server alone is one row and serves", async () => {
  await using server = await startServer({ port: 0 });
  await using session = await Session.open(server.connectString);
  const found = await session.run("status");
  const [head = "", row = "", verdict = ""] = found.stdout.split("\n");
  expect(head.split(/ +/)).toEqual([
    "SERVER",
    "ROLE",
    "EPOCH",
    "ZXID",
    "LAG",
    "LATENCY",
    "CONNECTIONS",
    "OUTSTANDING",
    "ZNODES",
    "VERSION",
  ]);
  expect(row).toMatch(new RegExp(`^${server.connectString} +standalone +1 +0x1[0-9a-f]{8} +0 +`));
  expect([verdict, await found.ended]).toEqual(["1 of 1 server serves", 0]);
});

test("a server that does not answer has its reason, and the status is 0 while another one serves alone or leads", async () => {
  await using server = await startServer({ port: 0 });
  const absent = `127.0.0.1:${await closedPort()}`;
  await using session = await Session.open(`${server.connectString},${absent}`, "json");
  const found = await session.run("status");
  expect(await found.ended).toBe(0);
  expect(found.objects).toMatchObject([
    {
      healthy: true,
      members: [
        { server: server.connectString, mode: "standalone", epoch: 1, lag: 0 },
        { server: absent, error: expect.stringContaining("ECONNREFUSED") },
      ],
    },
  ]);
  await using none = await Session.open(absent, "json");
  const without = await none.run("status");
  expect([await without.ended, without.objects]).toMatchObject([1, [{ healthy: false }]]);
});

test("sessions of Apache's are named while there are some", async () => {
  const answers = { srvr: srvrText("standalone"), mntr: "zk_zooid_derived_password_sessions\t3\n" };
  using server = await answeringWith(answers);
  await using session = await Session.open(server.address, "json");
  const found = await session.run("status");
  expect([await found.ended, found.objects]).toMatchObject([0, [{ healthy: true, derivedPasswordSessions: 3 }]]);
  await using plain = await Session.open(server.address);
  expect((await plain.run("status")).stdout).toContain("3 sessions of Apache's servers");
});

/** A server's answer to `srvr`. */
function srvrText(mode: string): string {
  return `Zookeeper version: 3.9.5\nLatency min/avg/max: 0/1.0/2\nZxid: 0x100000002\nMode: ${mode}\nNode count: 5\n`;
}

function answering(mode: string) {
  return answeringWith({ srvr: srvrText(mode) });
}

async function answeringWith(answers: Readonly<Record<string, string>>) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (word) => socket.end(answers[word.toString()] ?? ""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, [Symbol.dispose]: () => server.close() };
}

test.each<readonly [modes: readonly string[], isWell: boolean, verdict: string]>([
  [["leader"], true, "1 of 1 server serves; leader #0"],
  [["leader", "follower", "observer"], true, "3 of 3 servers serve; leader #0"],
  [["follower", "leader"], true, "2 of 2 servers serve; leader #1"],
  [["standalone"], true, "1 of 1 server serves"],
  [["follower"], false, "1 of 1 server serves; no leader among them"],
  [["follower", "observer"], false, "2 of 2 servers serve; no leader among them"],
  [["read-only", "read-only"], false, "0 of 2 servers serve; no leader among them"],
  [["leader", "leader"], false, "2 of 2 servers serve; several lead or stand alone: #0, #1"],
  [["leader", "standalone"], false, "2 of 2 servers serve; several lead or stand alone: #0, #1"],
  [["standalone", "standalone"], false, "2 of 2 servers serve; several lead or stand alone: #0, #1"],
])("of servers that say %j", async (modes, isWell, verdict) => {
  using servers = new DisposableStack();
  const addresses: string[] = [];
  for (const mode of modes) addresses.push(servers.use(await answering(mode)).address);
  await using session = await Session.open(addresses.join(","));
  const found = await session.run("status");
  const said = verdict.replace(/#(\d)/g, (_, at) => addresses[Number(at)] ?? "");
  expect([await found.ended, found.stdout.trimEnd().split("\n").at(-1)]).toEqual([isWell ? 0 : 1, said]);
});

test("4lw sends a word to each server, and prints what a server answers to words that it does not list", async () => {
  await using server = await startServer({ port: 0, fourLetterWords: "ruok" });
  await using session = await Session.open(server.connectString);
  expect((await session.run("4lw", "ruok")).stdout).toBe("imok\n");
  expect((await session.run("4lw", "mntr", server.connectString)).stdout).toBe(
    "mntr is not executed because it is not in the whitelist.\n",
  );
  const wrong = await session.run("4lw", "RUOK");
  expect([wrong.stderr, await wrong.ended]).toEqual(['a word has four small letters, found "RUOK"\n', 1]);
});
