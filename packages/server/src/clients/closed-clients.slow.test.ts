import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode, OpCode } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { RawClient, read } from "@zooid/wire/testing/raw-client";
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ZooidServer } from "../server-api.ts";
import { ask } from "../testing/http.ts";
import { allServe, PATIENT } from "../testing/patient.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-closed-clients-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WAIT = { timeout: 60_000 };
type Server = ZooidServer & { readonly lines: string[] };

async function isRefused({ port }: Server): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

async function opened(server: Server): Promise<Record<string, unknown>> {
  const answer = await ask(server.adminPort, "/commands/open_clients", { method: "POST", headers: { ...SUPER } });
  return JSON.parse(answer.body);
}

test("an ensemble founded with clients=closed refuses them, also after restarts without the line", async () => {
  const ports = await freePorts(9);
  const servers = [1, 2, 3].map((sid, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(3 + 2 * i);
    return { sid, host: "127.0.0.1", quorumPort, electionPort };
  });
  const start = (sid: number, clients: "open" | "closed"): Promise<Server> =>
    startTestServer({
      port: ports[sid - 1] ?? 0,
      dataDir: join(folder, `data-${sid}`),
      superDigest: SUPER_DIGEST,
      admin: { port: 0 },
      ensemble: { sid, servers, clients, ...PATIENT },
    });
  // The line of one file is enough.
  const members = await Promise.all([start(1, "open"), start(2, "closed"), start(3, "open")]);
  const leads = async (): Promise<Server> => {
    await allServe(members);
    const roles = await Promise.all(members.map(({ role$ }) => firstValueFrom(role$)));
    return members[roles.indexOf("leading")] as Server;
  };
  try {
    await leads();
    for (const server of members) await expect.poll(() => isRefused(server), WAIT).toBe(true);
    const ready = await ask(members[0]?.adminPort, "/readyz?verbose");
    expect([ready.status, ready.body]).toEqual([200, expect.stringContaining("the ports for clients are closed")]);
    for (const server of members) await server.stop();
    members.splice(0, 3, ...(await Promise.all([1, 2, 3].map((sid) => start(sid, "open")))));
    const leader = await leads();
    for (const server of members) expect(await isRefused(server)).toBe(true);
    const [follower] = members.filter((server) => server !== leader);
    expect((await opened(follower as Server))["error"]).toContain("this server does not lead: server");
    expect(await opened(leader)).toMatchObject({ clients: "open", clients_before: "closed", error: null });
    for (const server of members) {
      await expect.poll(() => isRefused(server), WAIT).toBe(false);
      await using client = await RawClient.withSession(server.port);
      expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(ErrorCode.OK);
    }
    expect(await opened(leader)).toMatchObject({ clients: "open", clients_before: "open" });
    // The line in a file is of no effect on an ensemble that is open.
    await members[0]?.stop();
    members[0] = await start(1, "closed");
    await allServe(members);
    expect(await isRefused(members[0])).toBe(false);
  } finally {
    await Promise.all(members.map((server) => server.stop()));
  }
}, 120_000);
