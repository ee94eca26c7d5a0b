import { expect, test } from "vitest";
import { type AuditEntry, AuditTail } from "./audit-tail.ts";

function entry(path: string): AuditEntry {
  return {
    ...{ atMs: 0, session: "0x1", user: "alice", address: "127.0.0.1", operation: "create", path },
    result: "success",
  };
}

/** A source of which the test is the server. */
function stage() {
  let next: ((entries: readonly AuditEntry[]) => void) | undefined;
  let nowMs = 0;
  const tail = new AuditTail(
    (listener) => {
      next = listener;
      return () => {
        next = undefined;
      };
    },
    () => nowMs,
  );
  return {
    tail,
    write: (...paths: readonly string[]) => next?.(paths.map(entry)),
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("writes are kept from the first look on, and a cursor gives the newer ones", () => {
  const { tail, write } = stage();
  write("/unseen");
  expect(tail.read(0, 10).entries).toEqual([]);
  write("/a", "/b");
  expect(tail.read(0, 10).entries).toMatchObject([
    { number: 1, path: "/a" },
    { number: 2, path: "/b" },
  ]);
  write("/c");
  expect(tail.read(2, 10)).toMatchObject({ entries: [{ number: 3, path: "/c" }], droppedCount: 0 });
  tail.stop();
});

test("the server is followed until a minute after the last look", () => {
  const { tail, wait } = stage();
  tail.read(0, 10);
  wait(59_000);
  tail.stopIfUnread();
  expect(tail.isFollowing).toBe(true);
  wait(1_000);
  tail.stopIfUnread();
  expect(tail.isFollowing).toBe(false);
});

test("the oldest writes are dropped, and a reader learns how many", () => {
  const { tail, write } = stage();
  tail.read(0, 1);
  write("/first");
  for (let i = 0; i < 50; i++) write(...Array.from({ length: 100 }, (_, j) => `/${i}/${j}`));
  const page = tail.read(1, 100);
  expect(page.entries).toHaveLength(100);
  expect(page.droppedCount).toBe(4_900);
  tail.stop();
});
