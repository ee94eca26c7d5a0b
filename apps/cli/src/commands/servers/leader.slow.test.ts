import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { PATIENT } from "@zooid/embedded-server/testing/patient";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

const HOST = "127.0.0.1";
const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

test("leader transfer --wait transfers leadership to a server that starts later", { timeout: 60_000 }, async () => {
  const ports = await freePorts(9);
  const servers = [1, 2, 3].map((sid, at) => {
    const [quorumPort = 0, electionPort = 0, port = 0] = ports.slice(at * 3);
    return { sid, host: HOST, quorumPort, electionPort, clientAddress: { port } };
  });
  await using running = new AsyncDisposableStack();
  const start = async (sid: number) => {
    const port = servers[sid - 1]?.clientAddress.port ?? 0;
    const options = { port, admin: { port: 0 }, superDigest: SUPER_DIGEST, tickMs: 200 };
    return running.use(await startServer({ ...options, ensemble: { sid, servers, ...PATIENT } }));
  };
  const first = await Promise.all([start(1), start(2)]);
  const addresses = first.map(({ connectString }) => connectString).join(",");
  await (await connect(addresses, { startTimeoutMs: 60_000 })).close();
  await using session = await Session.open(addresses);
  const admins = first.map(({ adminPort }) => ["--admin", `http://${HOST}:${adminPort}`, "--auth", SUPER]);
  const asked = await Promise.all(
    admins.map(async (admin) => (await session.run("leader", "transfer", "3", "--dry-run", ...admin)).stderr),
  );
  const leader = admins[asked.findIndex((text) => text.includes("server 3 does not follow now"))] ?? [];
  const late = await session.run("leader", "transfer", "3", "--wait", "--timeout", "1", ...leader);
  expect([await late.ended, late.stderr]).toEqual([1, expect.stringContaining("server 3 does not follow now")]);
  const waiting = session.start("leader", "transfer", "3", "--wait", ...leader);
  await waiting.shows("waiting: server 3 does not follow now");
  await start(3);
  expect(await waiting.ended).toBe(0);
  expect(waiting.stdout.trim().split("\n").at(-1)).toBe("server 3 leads");
});
