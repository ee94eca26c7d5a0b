import type { ConnectionRef } from "@zooid/model";
import { expect, test } from "vitest";
import { CommitGate, NO_CONNECTION } from "./commit-gate.ts";

const ref = (value: number): ConnectionRef => value as ConnectionRef;

test("writes come back in the order in which they were sent off, with who waits for them", () => {
  const gate = new CommitGate();
  const first = gate.put(ref(7), 100, 1, 5.5, 30);
  const second = gate.put(NO_CONNECTION, 0, -11, 6, 0);
  expect([first, second, gate.count, gate.sizeBytes]).toEqual([1, 2, 2, 30]);
  gate.take(first);
  expect([gate.connection, gate.xid, gate.op, gate.receivedMs]).toEqual([7, 100, 1, 5.5]);
  gate.take(second);
  expect([gate.connection, gate.xid, gate.op, gate.count]).toEqual([NO_CONNECTION, 0, -11, 0]);
});

test("a commit out of order is a defect", () => {
  const gate = new CommitGate();
  gate.put(ref(0), 1, 1, 0, 0);
  gate.put(ref(0), 2, 1, 0, 0);
  expect(() => gate.take(2)).toThrow("own writes commit in order: 2 came where 1 was due");
});

test("the ring grows while it is half walked, and forgets nothing", () => {
  const gate = new CommitGate();
  let taken = 0;
  let put = 0;
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 300; i++) gate.put(ref(put % 50), put++, put % 7, put / 2, 1);
    for (let i = 0; i < 100; i++) {
      gate.take(taken + 1);
      expect([gate.connection, gate.xid]).toEqual([taken % 50, taken]);
      taken++;
    }
  }
  expect(gate.count).toBe(put - taken);
});

test("what was sent off before a clearing is waited for by nobody, and numbers go on", () => {
  const gate = new CommitGate();
  gate.startAt(2 ** 33);
  const before = gate.put(ref(1), 1, 1, 0, 10);
  gate.clear();
  expect([before, gate.count, gate.sizeBytes]).toEqual([2 ** 33, 0, 0]);
  const after = gate.put(ref(2), 2, 1, 0, 10);
  expect(gate.take(before)).toBe(false);
  expect([gate.take(after), gate.connection]).toEqual([true, 2]);
});

test("numbers of another life are waited for by nobody, whether they lie below or above", () => {
  const gate = new CommitGate();
  gate.startAt(1000);
  const own = gate.put(ref(3), 1, 1, 0, 10);
  expect([gate.take(999), gate.take(1001), gate.take(5000), gate.count]).toEqual([false, false, false, 1]);
  expect([gate.take(own), gate.connection]).toEqual([true, 3]);
  expect([gate.take(1001), gate.count]).toEqual([false, 0]);
});
