import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArgumentError } from "@zooid/model";
import { SilentPort } from "@zooid/wire/testing/silent-port";
import { firstValueFrom, take, toArray } from "rxjs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApachePeerError } from "../core/peer-error.ts";
import type { SessionTouch } from "../core/quorum-packet.ts";
import { leader, snapshot, zxidAt } from "../testing/leader-packets.ts";
import { position } from "../testing/observed.ts";
import { AT_3, ScriptedLeader } from "../testing/scripted-leader.ts";
import { type ApacheFollower, follow } from "./apache-follower.ts";
import type { FollowEvent } from "./follow-event.ts";
import { follow$ } from "./follow-observable.ts";
import type { FollowOptions } from "./follow-options.ts";

const AFTER_3 = { after: position(5, 3) };
const MIB = 1024 * 1024;

let apache: ScriptedLeader;
let folder: string;
const followers: ApacheFollower[] = [];

beforeEach(async () => {
  apache = await ScriptedLeader.start();
  folder = mkdtempSync(join(tmpdir(), "apache-follower-"));
});
afterEach(async () => {
  for (const each of followers.splice(0)) await each[Symbol.asyncDispose]();
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function started(options: FollowOptions = {}, hosts = apache.hosts): ApacheFollower {
  const follower = follow(hosts, { spoolDirectory: folder, ...options });
  followers.push(follower);
  return follower;
}

/** Events up to the first one of a kind. */
async function until(follower: ApacheFollower, kind: FollowEvent["kind"]): Promise<readonly FollowEvent[]> {
  const events: FollowEvent[] = [];
  for await (const event of follower) {
    events.push(event);
    if (event.kind === kind) break;
  }
  return events;
}

async function failureOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (error instanceof ApachePeerError) return error.code;
    throw error;
  }
  return "nothing";
}

describe("an ensemble is followed", () => {
  test("from a snapshot on: sessions, lists, nodes, then transactions in order", async () => {
    const follower = started();
    const link = await apache.link();
    expect(await link.greet(5)).toBe(-1n);
    link.send(leader.snap(AT_3), snapshot());
    await link.serve(5);
    link.send(leader.inform(zxidAt(5, 4), "four"));
    const events = await until(follower, "transaction");
    expect(events).toMatchObject([
      { kind: "connected", epoch: 5 },
      { kind: "snapshot", zxid: 0x5_0000_0003 },
      { kind: "session", id: 7n, timeoutMs: 4000 },
      { kind: "acl", key: 1n },
      { kind: "node", path: "", aclKey: 1n },
      { kind: "node", path: "/a", data: Buffer.from("data") },
      { kind: "snapshot-end", zxid: 0x5_0000_0003 },
      { kind: "up-to-date", epoch: 5 },
      { kind: "transaction", zxid: 0x5_0000_0004 },
    ]);
    expect(events.at(-1)).toMatchObject({ transaction: { changes: [{ kind: "set", data: Buffer.from("four") }] } });
  });

  test("behind a transaction, and behind the last one that came when the link ends", async () => {
    const follower = started(AFTER_3);
    const first = await apache.link();
    expect(await first.establish(5)).toBe(AT_3);
    first.send(leader.inform(zxidAt(5, 4)));
    await until(follower, "transaction");
    first.socket.destroy();
    const second = await apache.link();
    expect(await second.greet(6)).toBe(zxidAt(5, 4));
    second.send(leader.diff(zxidAt(6, 1)), leader.inform(zxidAt(6, 1)));
    const events = await until(follower, "transaction");
    expect(events.map(({ kind }) => kind)).toEqual(["disconnected", "connected", "continued", "transaction"]);
  });

  test("with a snapshot again, where one broke off", async () => {
    const follower = started();
    const first = await apache.link();
    await first.greet(5);
    first.send(leader.snap(AT_3), snapshot().subarray(0, 60));
    expect(await until(follower, "session")).toMatchObject([{ kind: "connected" }, { kind: "snapshot" }, {}]);
    first.socket.destroy();
    const second = await apache.link();
    expect(await second.greet(5)).toBe(-1n);
    const events = await until(follower, "disconnected");
    expect(events.at(-1)).toMatchObject({ isSnapshotLost: true });
  });

  test("with a snapshot, where the ensemble has taken back what it had committed", async () => {
    const follower = started(AFTER_3);
    const first = await apache.link();
    await first.greet(6);
    first.send(leader.trunc(zxidAt(5, 2)));
    const second = await apache.link();
    expect(await second.greet(6)).toBe(-1n);
    const events = await until(follower, "disconnected");
    expect(events.at(-1)).toMatchObject({ error: { code: "HISTORY_TAKEN_BACK" } });
  });

  test("as an Observable, whose link ends with the subscription", async () => {
    const events = firstValueFrom(follow$(apache.hosts, AFTER_3).pipe(take(3), toArray()));
    const link = await apache.link();
    await link.establish(5);
    expect((await events).map(({ kind }) => kind)).toEqual(["connected", "continued", "up-to-date"]);
    if (!link.socket.closed) await new Promise((resolve) => link.socket.once("close", resolve));
  });
});

test("pings are answered, with the sessions that were touched, while nothing reads the events", async () => {
  const follower = started(AFTER_3);
  const link = await apache.link();
  await link.establish(5);
  follower.touch([{ id: 7n, timeoutMs: 4000 }]);
  // The touch comes by another way than the ping.
  let data: Buffer | null = null;
  for (let i = 4; data === null || data.length === 0; i++) {
    link.send(leader.inform(zxidAt(5, i)), leader.ping(zxidAt(5, i)));
    const answer = await link.next();
    expect(answer).toMatchObject({ name: "PING", zxid: zxidAt(5, i) });
    data = answer.data;
  }
  expect(data.toString("hex")).toBe("000000000000000700000fa0");
});

test.each<SessionTouch>([
  { id: 7 as unknown as bigint, timeoutMs: 4000 },
  { id: 2n ** 63n, timeoutMs: 4000 },
  { id: 7n, timeoutMs: 2 ** 31 },
  { id: 7n, timeoutMs: Number.NaN },
])("a touch that is none is refused by the call: %o", (touch) => {
  const follower = started(AFTER_3);
  expect(() => follower.touch([{ id: 1n, timeoutMs: 1 }, touch])).toThrow("touches[1] must be { id, timeoutMs }");
});

test("a sync is fulfilled when everything before its answer was read, also over a new link", async () => {
  const follower = started(AFTER_3);
  const first = await apache.link();
  await first.establish(5);
  let isSynced = false;
  const sync = follower.sync().then(() => {
    isSynced = true;
  });
  expect(await first.next()).toMatchObject({ name: "REQUEST" });
  first.socket.destroy();
  const second = await apache.link();
  await second.establish(5);
  expect(await second.next()).toMatchObject({ name: "REQUEST" });
  second.send(leader.inform(zxidAt(5, 4)), leader.synced());
  await until(follower, "transaction");
  expect(isSynced).toBe(false);
  await until(follower, "synced");
  await sync;
});

describe("what waits to be read", () => {
  test("goes to files, keeps its order, and leaves no file", async () => {
    const follower = started({ ...AFTER_3, spoolMemoryBytesMax: MIB });
    const link = await apache.link();
    await link.establish(5);
    const count = 200;
    for (let i = 0; i < count; i++) link.send(leader.inform(zxidAt(5, 4 + i), `${i}`.repeat(10_000)));
    link.send(leader.ping(1n));
    await link.next();
    expect(readdirSync(folder).length).toBe(1);
    // The status comes unasked.
    await expect.poll(() => follower.status).toMatchObject({ state: "following", transactionCount: count });
    expect(follower.status.spoolBytes).toBeGreaterThan(2 * MIB);
    const zxids: number[] = [];
    for await (const event of follower) {
      if (event.kind === "transaction") zxids.push(event.zxid);
      if (zxids.length === count) break;
    }
    expect(zxids).toEqual(Array.from({ length: count }, (_, i) => position(5, 4 + i)));
    await follower[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("has a bound: there the link ends, and is resumed when half of it was read", async () => {
    const follower = started({ ...AFTER_3, spoolBytesMax: MIB });
    const first = await apache.link();
    await first.establish(5);
    const closed = new Promise((resolve) => first.socket.once("close", resolve));
    for (let i = 0; i < 20; i++) first.send(leader.inform(zxidAt(5, 4 + i), "x".repeat(100_000)));
    await closed;
    const events = await until(follower, "disconnected");
    const read = events.filter(({ kind }) => kind === "transaction").length;
    expect(events.at(-1)).toMatchObject({ error: { code: "SPOOL_FULL" } });
    const second = await apache.link();
    expect(await second.greet(5)).toBe(zxidAt(5, 3 + read));
  });

  test("must have room for a snapshot: a larger one ends the link for good", async () => {
    const follower = started({ spoolBytesMax: MIB });
    const link = await apache.link();
    await link.greet(5);
    const nodes = Array.from({ length: 30 }, (_, i) => [`/n${i}`, "x".repeat(50_000)] as const);
    link.send(leader.snap(AT_3), snapshot({ nodes }));
    expect(await failureOf(() => until(follower, "up-to-date"))).toBe("SNAPSHOT_TOO_LARGE");
    expect(await failureOf(() => follower.sync())).toBe("SNAPSHOT_TOO_LARGE");
  });
});

describe("epochs", () => {
  test("are in their file before they are promised, and are named by the next process", async () => {
    const file = join(folder, "epochs");
    const first = started({ ...AFTER_3, epochFile: file });
    const link = await apache.link();
    await link.greet(5);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ acceptedEpoch: 5, currentEpoch: 0 });
    await first[Symbol.asyncDispose]();
    started({ ...AFTER_3, epochFile: file });
    const again = await apache.link();
    expect(await again.next()).toMatchObject({ name: "OBSERVERINFO", zxid: zxidAt(5, 0) });
  });

  test("that are older than the file's end the link for good: this is another ensemble", async () => {
    const file = join(folder, "epochs");
    writeFileSync(file, '{"acceptedEpoch":9,"currentEpoch":9}');
    const follower = started({ epochFile: file });
    const link = await apache.link();
    await link.next();
    link.send(leader.info(5));
    expect(await failureOf(() => until(follower, "connected"))).toBe("EPOCH_BACKWARDS");
  });

  test.each([
    ["that is none", "7"],
    ["that is damaged", '{"acceptedEpoch":'],
    ["whose epochs contradict each other", '{"acceptedEpoch":1,"currentEpoch":2}'],
  ])("in a file %s are refused, and no server is asked", async (_, text) => {
    const file = join(folder, "epochs");
    writeFileSync(file, text);
    expect(await failureOf(() => until(started({ epochFile: file }), "connected"))).toBe("EPOCH_FILE");
  });
});

describe("where no leader is", () => {
  test("a round of failures is reported once, and the search continues", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as { readonly port: number };
    await new Promise((resolve) => closed.close(resolve));
    const follower = started(AFTER_3, `127.0.0.1:${port},${apache.hosts}`);
    const first = await apache.link();
    first.socket.destroy();
    const events = await until(follower, "no-leader");
    expect(events).toMatchObject([
      { failures: [{ error: { code: "CONNECTION_LOST" } }, { error: { code: "CONNECTION_LOST" } }] },
    ]);
    const second = await apache.link();
    await second.establish(5);
    await until(follower, "up-to-date");
  });

  test("an address that stays silent is left after half a second, not after the time for a connection", async () => {
    await using silent = await SilentPort.open();
    const hosts = `127.0.0.1:${silent.port},${apache.hosts}`;
    // Longer than a test may take, so that another limit ends the attempt.
    const follower = started({ ...AFTER_3, connectTimeoutMs: 3_600_000 }, hosts);
    const link = await apache.link();
    await link.establish(5);
    await until(follower, "up-to-date");
    expect(follower.status.lastError).toEqual({ code: "UNREACHED", address: `127.0.0.1:${silent.port}`, ms: 500 });
  });

  test("another protocol is named", async () => {
    const follower = started(AFTER_3);
    const link = await apache.link();
    link.send(Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const [event] = await until(follower, "no-leader");
    expect(event).toMatchObject({ failures: [{ error: { code: "MALFORMED" } }] });
  });

  test("a leader that accepts connections and says nothing is left", async () => {
    const follower = started({ ...AFTER_3, initTimeoutMs: 50 });
    const [event] = await until(follower, "no-leader");
    expect(event).toMatchObject({ failures: [{ error: { code: "SILENT" } }] });
  });
});

test("a second close does nothing more, and the events end", async () => {
  const follower = started(AFTER_3);
  const events = until(follower, "up-to-date");
  await follower[Symbol.asyncDispose]();
  await follower[Symbol.asyncDispose]();
  expect(await events).toEqual([]);
  await expect(follower.sync()).rejects.toThrow(ArgumentError);
});

test.each([
  ["", {}, 'found ""'],
  ["a:2888,b", {}, 'found "b"'],
  ["a:70000", {}, "quorum ports"],
  ["::1:2888", {}, "quorum ports"],
  ["a:2888", { sid: 255 }, "sid"],
  ["a:2888", { after: -1 as never, spoolBytesMax: 0 }, "spoolBytesMax"],
  ["a:2888", { tls: { key: "k", cert: "" } as never }, "tls.ca"],
  ["a:2888", { login: { username: "u" } as never }, "login.password"],
] as const)("hosts %j with %j are refused", (hosts, options, said) => {
  expect(() => follow(hosts, options as FollowOptions)).toThrow(ArgumentError);
  expect(() => follow(hosts, options as FollowOptions)).toThrow(said);
});
