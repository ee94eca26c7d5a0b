import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateMode, copySlice, ErrorCode, OpCode } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServerOptions } from "../config.ts";
import type { ZooidServer } from "../server-api.ts";
import { ask } from "../testing/http.ts";
import { allServe, PATIENT } from "../testing/patient.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

let folder: string;
let target: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-running-restore-"));
  target = join(folder, "backup");
  mkdirSync(target);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WAIT = { timeout: 60_000 };
type Server = ZooidServer & { readonly lines: string[] };

function optionsOf(name: string): ServerOptions {
  return {
    dataDir: join(folder, name),
    history: { retainMs: 3_600_000, fileMs: 100 },
    backup: { target },
    superDigest: SUPER_DIGEST,
    admin: { port: 0 },
  };
}

async function fieldsOf(server: Server, command: string, method = "GET"): Promise<Record<string, unknown>> {
  return JSON.parse((await ask(server.adminPort, `/commands/${command}`, { method, headers: { ...SUPER } })).body);
}

/** Waits until the backup has all that was written. */
async function backedUp(server: Server, zxid: number): Promise<void> {
  const end = async (): Promise<number> => {
    const { last_zxid: last } = await fieldsOf(server, "backup_status");
    return typeof last === "string" ? Number(last) : 0;
  };
  await expect.poll(end, WAIT).toBeGreaterThanOrEqual(zxid);
}

async function phaseOf(server: Server): Promise<unknown> {
  const { phase } = await fieldsOf(server, "restore_state_status");
  return phase;
}

function subscribed(server: Server, audited: string[]): Disposable {
  const subscription = server.audit$.subscribe((records) => {
    for (const { operation, result } of records) audited.push(`${operation} ${result}`);
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

/** The code of a read of a node, by a client of its own. */
async function codeOf(server: Server, path: string): Promise<number> {
  await using client = await RawClient.withSession(server.port);
  return (await client.ask(OpCode.GET_DATA, read(path))).code;
}

/** Writes a node. @returns its zxid */
async function write(server: Server, path: string): Promise<number> {
  await using client = await RawClient.withSession(server.port);
  return (await client.ask(OpCode.CREATE, create(path))).zxid;
}

describe("a server alone", () => {
  test("restores a state of its backup while it runs, and undoes that by another restore", async () => {
    await using zk = await startTestServer(optionsOf("data"));
    const audited: string[] = [];
    using _ = subscribed(zk, audited);
    const kept = await write(zk, "/kept");
    const discarded = await write(zk, "/discarded");
    await backedUp(zk, discarded);
    const at = `to=0x${kept.toString(16)}`;
    await fieldsOf(zk, `restore_state?${at}&plan=true`, "POST");
    await expect.poll(() => phaseOf(zk), WAIT).toBe("planned");
    await fieldsOf(zk, `restore_state?${at}`, "POST");
    await expect.poll(() => phaseOf(zk), WAIT).toBe("restored");
    expect([await codeOf(zk, "/kept"), await codeOf(zk, "/discarded")]).toEqual([ErrorCode.OK, ErrorCode.NO_NODE]);
    expect(existsSync(join(folder, "data", "restoring"))).toBe(false);
    expect(audited.filter((line) => line.startsWith("restore"))).toEqual(["restore success"]);
    const later = await write(zk, "/later");
    await backedUp(zk, later);
    await fieldsOf(zk, `restore_state?to=0x${discarded.toString(16)}`, "POST");
    await expect
      .poll(() => fieldsOf(zk, "restore_state_status"), WAIT)
      .toMatchObject({ phase: "restored", zxid: `0x${discarded.toString(16)}` });
    expect([await codeOf(zk, "/discarded"), await codeOf(zk, "/later")]).toEqual([ErrorCode.OK, ErrorCode.NO_NODE]);
  });

  test("ends the sessions of that time, or keeps them where it is asked to", async () => {
    await using zk = await startTestServer(optionsOf("data"));
    const first = await RawClient.open(zk.port);
    const { sessionId, password: granted } = await first.handshake({ timeoutMs: 40_000 });
    const password = copySlice(granted);
    const { zxid } = await first.ask(OpCode.CREATE, create("/of-the-session", "", CreateMode.EPHEMERAL));
    await backedUp(zk, zxid);
    const renewed = async (): Promise<boolean> => {
      await using client = await RawClient.open(zk.port);
      return (await client.handshake({ sessionId, password, timeoutMs: 40_000 })).timeoutMs > 0;
    };
    const restoredBy = async (query: string): Promise<void> => {
      const { epoch } = zk.summary;
      await fieldsOf(zk, `restore_state?to=0x${zxid.toString(16)}${query}`, "POST");
      await expect.poll(() => zk.summary.epoch, WAIT).toBe(epoch + 2);
      await expect.poll(() => phaseOf(zk), WAIT).toBe("restored");
    };
    await restoredBy("&keepSessions=true");
    expect([await renewed(), await codeOf(zk, "/of-the-session")]).toEqual([true, ErrorCode.OK]);
    await restoredBy("");
    expect(await renewed()).toBe(false);
    await expect.poll(() => codeOf(zk, "/of-the-session"), WAIT).toBe(ErrorCode.NO_NODE);
  });

  test("names what it cannot do, and changes nothing", async () => {
    await using zk = await startTestServer(optionsOf("data"));
    const zxid = await write(zk, "/kept");
    await backedUp(zk, zxid);
    const refused = async (query: string): Promise<unknown> =>
      (await fieldsOf(zk, `restore_state?${query}`, "POST"))["error"];
    expect(await refused("")).toBe("one of to, a zxid, and timeMs, milliseconds since 1970, is needed");
    expect(await refused("to=tomorrow")).toContain("a zxid is hexadecimal");
    expect(await refused("timeMs=1e9")).toContain("timeMs is milliseconds since 1970");
    await fieldsOf(zk, "restore_state?to=0xf00000001", "POST");
    await expect.poll(() => phaseOf(zk), WAIT).toBe("failed");
    const { problem } = await fieldsOf(zk, "restore_state_status");
    expect(problem).toContain("nothing follows it");
    await fieldsOf(zk, "restore_state?timeMs=1", "POST");
    await expect
      .poll(async () => (await fieldsOf(zk, "restore_state_status"))["problem"], WAIT)
      .toMatch(/^the history begins after 0x0, at .*, and so later than 1970-01-01T00:00:00.001Z$/);
    expect(await codeOf(zk, "/kept")).toBe(ErrorCode.OK);
    await using without = await startTestServer({ ...optionsOf("other"), backup: {} });
    expect((await fieldsOf(without, "restore_state?to=0x1", "POST"))["error"]).toContain("zooid.backup.target");
  });

  test("has the restored state after a restart", async () => {
    {
      await using zk = await startTestServer(optionsOf("data"));
      await write(zk, "/kept");
      const keptMs = Date.now();
      await expect.poll(() => Date.now()).toBeGreaterThan(keptMs);
      await backedUp(zk, await write(zk, "/discarded"));
      await fieldsOf(zk, `restore_state?timeMs=${keptMs}`, "POST");
      await expect.poll(() => phaseOf(zk), WAIT).toBe("restored");
    }
    await using zk = await startTestServer(optionsOf("data"));
    expect([await codeOf(zk, "/kept"), await codeOf(zk, "/discarded")]).toEqual([ErrorCode.OK, ErrorCode.NO_NODE]);
  });
});

describe("an ensemble", () => {
  test("has the restored state on every member, also one that was away", async () => {
    const ports = await freePorts(9);
    const servers = [1, 2, 3].map((sid, i) => {
      const [quorumPort = 0, electionPort = 0] = ports.slice(3 + 2 * i);
      return { sid, host: "127.0.0.1", quorumPort, electionPort };
    });
    const start = (sid: number): Promise<Server> =>
      startTestServer({ ...optionsOf(`data-${sid}`), ensemble: { sid, servers, ...PATIENT } });
    const members = await Promise.all([1, 2, 3].map(start));
    try {
      await allServe(members);
      const roles = await Promise.all(members.map(({ role$ }) => firstValueFrom(role$)));
      const leader = members[roles.indexOf("leading")] as Server;
      const followers = members.filter((server) => server !== leader);
      const [away, other] = followers as [Server, Server];
      const kept = await write(other, "/kept");
      const discarded = await write(other, "/discarded");
      await backedUp(leader, discarded);
      expect((await fieldsOf(other, "restore_state?to=0x1", "POST"))["error"]).toContain("does not lead: server");
      await away.stop();
      await fieldsOf(leader, `restore_state?to=0x${kept.toString(16)}`, "POST");
      await expect.poll(() => phaseOf(leader), WAIT).toBe("restored");
      await allServe([leader, other]);
      const back = await start(members.indexOf(away) + 1);
      members[members.indexOf(away)] = back;
      await allServe([back]);
      for (const server of [leader, other, back]) {
        expect([await codeOf(server, "/kept"), await codeOf(server, "/discarded")]).toEqual([
          ErrorCode.OK,
          ErrorCode.NO_NODE,
        ]);
      }
      await using alone = await startTestServer(optionsOf("alone"));
      await fieldsOf(alone, `restore_state?to=0x${kept.toString(16)}`, "POST");
      await expect
        .poll(async () => (await fieldsOf(alone, "restore_state_status"))["problem"], WAIT)
        .toMatch(/has the history of the ensemble \S+, and this is a server alone$/);
    } finally {
      await Promise.all(members.map((server) => server.stop()));
    }
  });
});
