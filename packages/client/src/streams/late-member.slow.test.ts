/** Members whose histories begin at different transactions, or have gaps. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { allServe, PATIENT } from "@zooid/embedded-server/testing/patient";
import type { Zxid } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";

const WAIT = { timeout: 60_000 };
const SIDS = [1, 2, 3];

let folder = "";
let ports: readonly number[] = [];
let members: ZooidServer[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-late-member-"));
  ports = await freePorts(6);
  members = await Promise.all(SIDS.map(start));
  await allServe(members);
});
afterEach(async () => {
  await Promise.all(members.map((member) => member.stop()));
  rmSync(folder, { recursive: true, force: true });
});

function start(sid: number): Promise<ZooidServer> {
  const servers = SIDS.map((each, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
    return { sid: each, host: "127.0.0.1", quorumPort, electionPort };
  });
  const history = { retainMs: 3_600_000, fileMs: 100 };
  return startServer({ port: 0, dataDir: dirOf(sid), ensemble: { sid, servers, ...PATIENT }, history });
}

const dirOf = (sid: number): string => join(folder, `data-${sid}`);
const logOf = (sid: number): string => join(dirOf(sid), "archive/log");

/** Stops a member, changes its files, and starts it again. */
async function withoutFiles(sid: number, remove: (names: readonly string[]) => readonly string[]): Promise<void> {
  await members[sid - 1]?.stop();
  for (const name of remove(readdirSync(logOf(sid)).toSorted())) rmSync(join(logOf(sid), name));
  const member = await start(sid);
  members[sid - 1] = member;
  await allServe([member]);
}

/** Writes so that each member has a file behind each write. @returns the zxids */
async function written(count: number): Promise<readonly Zxid[]> {
  await using zk = await connect(addressOf(1));
  await zk.create("/a", "0");
  const zxids: Zxid[] = [];
  for (let i = 1; i <= count; i++) {
    const { mzxid } = await zk.set("/a", String(i));
    zxids.push(mzxid);
    for (const sid of SIDS) await vi.waitFor(() => expect(endOf(sid)).toBeGreaterThanOrEqual(mzxid), WAIT);
  }
  return zxids;
}

function endOf(sid: number): number {
  return Number.parseInt(readdirSync(logOf(sid)).toSorted().at(-1)?.slice(17) ?? "0", 16);
}

function addressOf(sid: number): string {
  return members[sid - 1]?.connectString ?? "";
}

/** The values behind a transaction that a stream emits until one of them, or its error. */
async function valuesBehind(zk: Client, after: Zxid, last: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const subscription = zk.changes$("/a", { after }).subscribe({
    next: (item) => {
      if (item.kind === "gap") found.push("gap");
      if (item.kind === "change") found.push(Buffer.from(item.data ?? "").toString());
      if (found.at(-1) === last) resolve();
    },
    error: (error: unknown) => {
      found.push(error);
      resolve();
    },
  });
  await promise;
  subscription.unsubscribe();
  return found;
}

/** A client that begins at the first of these members. */
function connectTo(...sids: readonly number[]): Promise<Client> {
  return connect(sids.map(addressOf).join(","), { hostOrder: "given" });
}

test("a stream on a member whose history begins later continues on one that has the next change, once", async () => {
  const [first = 0 as Zxid, , third = 0 as Zxid] = await written(4);
  const isBefore = (zxid: Zxid) => (names: readonly string[]) =>
    names.filter((name) => Number.parseInt(name.slice(17), 16) <= zxid);
  await withoutFiles(3, isBefore(third));
  await withoutFiles(2, isBefore(first));
  await using alone = await connectTo(3);
  expect(await valuesBehind(alone, first, "4")).toEqual([
    expect.objectContaining({
      code: "HISTORY_GONE",
      op: "changes$",
      reach: { first: third + 1, last: expect.any(Number) },
    }),
  ]);
  await using zk = await connectTo(3, 2, 1);
  expect(await valuesBehind(zk, first, "4")).toEqual(["2", "3", "4"]);
  // No member is left that has the second change; the one that begins earliest is named.
  await using two = await connectTo(3, 2);
  expect(await valuesBehind(two, (first - 1) as Zxid, "4")).toEqual([
    expect.objectContaining({ code: "HISTORY_GONE", reach: { first: first + 1, last: expect.any(Number) } }),
  ]);
});

test("a gap of one member comes from another one, and as a gap where no member has it", async () => {
  const [first = 0 as Zxid, second = 0 as Zxid] = await written(4);
  const has = (zxid: Zxid) => (names: readonly string[]) =>
    names.filter((name) => Number.parseInt(name, 16) < zxid && Number.parseInt(name.slice(17), 16) >= zxid);
  await withoutFiles(3, has(second));
  await withoutFiles(2, has(second));
  await using zk = await connectTo(3, 2, 1);
  expect(await valuesBehind(zk, first, "4")).toEqual(["2", "3", "4"]);
  await using two = await connectTo(3, 2);
  expect(await valuesBehind(two, first, "4")).toEqual(["gap", "3", "4"]);
});
