import type { SessionId } from "@zooid/model";
import { Subject } from "rxjs";
import { expect, test } from "vitest";
import { AuditTail } from "./audit-tail.ts";
import type { AuditRecord } from "./audit-trail.ts";

function record(path: string, user = "alice"): AuditRecord {
  return {
    zxid: 1 as AuditRecord["zxid"],
    session: 1n as SessionId,
    identities: [{ scheme: "digest", id: `${user}:hash` }],
    address: "127.0.0.1",
    operation: "create",
    path,
    createMode: "persistent",
    acl: undefined,
    result: "success",
  };
}

/** A source of which the test is the server. */
function stage() {
  const records = new Subject<readonly AuditRecord[]>();
  let nowMs = 0;
  const tail = new AuditTail(records, { now: () => nowMs, wall: () => 1_000 });
  return {
    tail,
    write: (...paths: readonly string[]) => records.next(paths.map((path) => record(path))),
    writeAs: (user: string) => records.next([record("/a", user)]),
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("writes are kept from the first reading on, and a cursor gives the newer ones", () => {
  const { tail, write } = stage();
  write("/unseen");
  const { sinceMs, entries } = tail.read(undefined, 10);
  expect(entries).toEqual([]);
  write("/a", "/b");
  expect(tail.read(undefined, 10).entries).toMatchObject([
    { number: 1, path: "/a", user: "alice", session: "0x1" },
    { number: 2, path: "/b" },
  ]);
  write("/c");
  const newer = tail.read({ sinceMs, number: 2 }, 10);
  expect(newer).toMatchObject({ entries: [{ number: 3, path: "/c" }], droppedCount: 0 });
  tail.stop();
});

test("the server is followed until a minute after the last reading; then numbers are of another time", () => {
  const { tail, wait, write } = stage();
  const { sinceMs } = tail.read(undefined, 10);
  write("/a", "/b");
  wait(59_000);
  tail.stopIfUnread();
  expect(tail.isFollowing).toBe(true);
  wait(1_000);
  tail.stopIfUnread();
  expect(tail.isFollowing).toBe(false);
  write("/unseen");
  const again = tail.read({ sinceMs, number: 2 }, 10);
  expect(again).toMatchObject({ entries: [], droppedCount: 0 });
  expect(again.sinceMs).toBeGreaterThan(sinceMs);
  write("/c");
  expect(tail.read({ sinceMs, number: 2 }, 10).entries).toMatchObject([{ number: 1, path: "/c" }]);
  tail.stop();
});

test("the oldest writes are dropped, and a reader learns how many", () => {
  const { tail, write } = stage();
  const { sinceMs } = tail.read(undefined, 1);
  write("/first");
  for (let i = 0; i < 50; i++) write(...Array.from({ length: 100 }, (_, j) => `/${i}/${j}`));
  expect(tail.read({ sinceMs, number: 1 }, 100)).toMatchObject({ droppedCount: 4_900 });
  write(...Array.from({ length: 3_000 }, (_, j) => `/one-turn/${j}`));
  const page = tail.read({ sinceMs, number: 5_001 }, 5_000);
  expect(page.droppedCount + page.entries.length).toBe(3_000);
  expect(page.entries.at(-1)).toMatchObject({ number: 8_001, path: "/one-turn/2999" });
  tail.stop();
});

test("long paths and names are kept by their beginnings", () => {
  const { tail, write, writeAs } = stage();
  tail.read(undefined, 1);
  write(`/${"x".repeat(5_000)}`);
  writeAs("y".repeat(5_000));
  const [path, user] = tail.read(undefined, 2).entries;
  expect([path?.path?.length, path?.isCut]).toEqual([1_024, true]);
  expect([user?.user?.length, user?.isCut]).toEqual([1_024, true]);
  tail.stop();
});
