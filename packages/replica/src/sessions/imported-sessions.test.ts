import { createHash } from "node:crypto";
import type { SessionRecord } from "@zooid/data-tree";
import { derivedPassword, OpCode, type SessionId, serverId, sessionIdHigh, sessionIdLow } from "@zooid/model";
import { expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, read } from "../testing/requests.ts";
import { newSessionId } from "./session-id.ts";

const EPHEMERAL = 1;
const TIMEOUT_MS = 4000;
/** Long after the clock's start, as behind an import and a slow load. */
const LED_MS = 500_000;

/** The ids of this server's first and second session: `TestReplica` counts its secrets. */
const OWN_IDS = [1, 2].map((counter) => newSessionId({ sid: serverId(1), bootCount: 1, counter, random: 0x0101 }));

/** A server that leads on a tree with these sessions of Apache's. */
function importing(ids: readonly SessionId[]): TestReplica {
  const tree = new TestReplica().replica.tree;
  const sessions = ids.map((id) => ({ kind: "session" as const, ...recordOf(id) }));
  const records = [...tree.snapshot()];
  const imported = new TestReplica({}, {}, ({ tree: own }) => {
    own.loadSnapshot([...sessions, ...records.filter(({ kind }) => kind !== "session")]);
  });
  imported.advance(LED_MS);
  imported.replica.lead(2, 1);
  return imported;
}

function recordOf(id: SessionId): SessionRecord {
  const passwordHash = createHash("sha256").update(passwordOf(id)).digest().subarray(0, 16);
  const [high, low] = [sessionIdHigh(id), sessionIdLow(id)];
  return { high, low, timeoutMs: TIMEOUT_MS, passwordHash, hasDerivedPassword: true };
}

function passwordOf(id: SessionId): Uint8Array {
  return derivedPassword(sessionIdHigh(id), sessionIdLow(id));
}

test("a client continues with the id and the password that it had at Apache's server", () => {
  const [session = 0n as SessionId] = OWN_IDS;
  const zk = importing([session]);
  const ref = zk.connect({ session, password: passwordOf(session) });
  expect(zk.take(ref)).toEqual(["connected 10000"]);
  expect(zk.password).toEqual(passwordOf(session));
  expect(zk.ask(ref, OpCode.CREATE, create("/e", "", EPHEMERAL))).toBe("path /e");
});

test("another password is refused, and the session lives on", () => {
  const [session = 0n as SessionId] = OWN_IDS;
  const zk = importing([session]);
  const stranger = zk.connect({ session, password: new Uint8Array(16) });
  expect(zk.take(stranger)).toEqual(["expired", "close"]);
  const ref = zk.connect({ session, password: passwordOf(session) });
  expect(zk.take(ref)).toEqual(["connected 10000"]);
});

test("a new session gets an id that no imported session has", () => {
  const zk = importing(OWN_IDS);
  const ref = zk.open();
  expect(OWN_IDS).not.toContain(zk.session);
  expect(zk.ask(ref, OpCode.EXISTS, read("/"))).toBe("stat");
  expect(zk.replica.tree.sessionCount).toBe(OWN_IDS.length + 1);
});

test("imported sessions live their full timeouts from when the server leads", () => {
  const zk = importing(OWN_IDS);
  expireAfter(zk, TIMEOUT_MS - 1);
  expect(zk.replica.tree.sessionCount).toBe(OWN_IDS.length);
  expireAfter(zk, 1000);
  expect(zk.replica.tree.sessionCount).toBe(0);
});

function expireAfter(zk: TestReplica, ms: number): void {
  zk.advance(ms);
  for (let due = zk.replica.nextExpiryMs(); due !== undefined && due <= zk.replica.nowMs; ) {
    zk.replica.expireSessions();
    zk.turn();
    const next = zk.replica.nextExpiryMs();
    due = next === due ? undefined : next;
  }
}

test("sessions whose passwords follow from their ids are counted until they end", () => {
  const zk = importing(OWN_IDS);
  expect(zk.replica.tree.derivedPasswordCount).toBe(2);
  const [session = 0n as SessionId] = OWN_IDS;
  const ref = zk.connect({ session, password: passwordOf(session) });
  zk.take(ref);
  zk.open();
  expect(zk.replica.tree.derivedPasswordCount).toBe(2);
  zk.ask(ref, OpCode.CLOSE_SESSION);
  expect(zk.replica.tree.derivedPasswordCount).toBe(1);
});
