import { CHAIN_NONE, composeZxid, type LinkRef, type PeerMessage, type StateOrigin } from "@zooid/model";
import { SNAPSHOT_CHUNK_BYTES, type SnapshotReceiver, type SnapshotSource } from "@zooid/txn-log";
import { describe, expect, test } from "vitest";
import { StoreSnapshotPort } from "./snapshot-port.ts";

const LINK = 1 as LinkRef;
const POSITION = { zxid: composeZxid(1, 1), chain: CHAIN_NONE };

/** Receives a state on a disk that takes the chunks as late as the test says. */
function receiving() {
  const results: object[] = [];
  const added: number[] = [];
  const stored = Promise.withResolvers<void>();
  const port = new StoreSnapshotPort({
    openSnapshot: () => Promise.reject(new Error("nothing is sent")),
    receiveSnapshot: () =>
      Promise.resolve({
        add: (chunk) => {
          added.push(chunk.length);
          return stored.promise;
        },
        finish: () => Promise.reject(new Error("it has no end")),
        abandon: () => Promise.resolve(),
      }),
    send: () => {},
    input: (step) => step(),
    note: () => {},
  });
  port.receive(LINK, POSITION, (result) => results.push(result));
  const chunk = (index: number, bytes: number): void => port.chunk(index, false, new Uint8Array(bytes), 0, bytes);
  return { results, added, stored, chunk, stop: () => port.stop() };
}

describe("a leader that sends a state", () => {
  test("ahead of what is stored is given up, and no more is kept in memory", async () => {
    const { results, chunk, stop } = receiving();
    for (let index = 0; index < 16; index++) chunk(index, 4);
    expect(results).toEqual([]);
    chunk(16, 4);
    expect(results).toEqual([{ failed: "chunk 16 has 4 bytes, and 0 are stored" }]);
    await stop();
  });

  test("in chunks that are too long is given up, and they are not copied", async () => {
    const { results, added, chunk, stop } = receiving();
    chunk(0, SNAPSHOT_CHUNK_BYTES);
    chunk(1, SNAPSHOT_CHUNK_BYTES + 1);
    expect(results).toEqual([{ failed: `chunk 1 has ${SNAPSHOT_CHUNK_BYTES + 1} bytes, and 0 are stored` }]);
    await stop();
    expect(added.every((length) => length === SNAPSHOT_CHUNK_BYTES)).toBe(true);
  });
});

/**
 * A port whose store takes and gives states as the test says, and the calls of that store in their
 * order.
 */
function stage({ isEndless = true, ready }: { isEndless?: boolean; ready?: StateOrigin } = {}) {
  const calls: string[] = [];
  const sent: PeerMessage[] = [];
  const sources: PromiseWithResolvers<SnapshotSource>[] = [];
  let receiverCount = 0;
  const port = new StoreSnapshotPort({
    openSnapshot: () => {
      const source = Promise.withResolvers<SnapshotSource>();
      sources.push(source);
      return source.promise;
    },
    receiveSnapshot: () => Promise.resolve(receiver(++receiverCount)),
    originOf: () => ready,
    readyState: (origin) =>
      origin !== ready
        ? undefined
        : async () => {
            calls.push("take");
            return { stateFile: "ready", abandon: () => void calls.push("abandon ready") };
          },
    send: (_, message) => void sent.push(message),
    input: (step) => step(),
    note: () => {},
  });
  const receiver = (number: number): SnapshotReceiver => {
    calls.push(`receiver ${number}`);
    return {
      add: async (chunk) => void calls.push(`add ${chunk.length} to ${number}`),
      finish: async () => {
        if (isEndless) throw new Error("it has no end");
        return { stateFile: `state ${number}`, epochs: [], position: POSITION, nodeCount: 1, sessionCount: 0 };
      },
      abandon: async () => void calls.push(`abandon ${number}`),
    };
  };
  const source = (number: number): SnapshotSource => ({
    position: POSITION,
    epochs: [],
    digestHigh: 0,
    digestLow: 0,
    nodeCount: 1,
    sessionCount: 0,
    next: async () => new Uint8Array(4),
    [Symbol.asyncDispose]: async () => void calls.push(`dispose ${number}`),
  });
  const open = (number: number): void => sources[number]?.resolve(source(number));
  return { port, calls, sent, open };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
}

test("a state that another one replaces is abandoned before that is received, and gets no more chunks", async () => {
  const { port, calls, sent } = stage();
  const results: object[] = [];
  const receive = (link: number): void => port.receive(link as LinkRef, POSITION, (result) => results.push(result));
  receive(1);
  port.chunk(0, false, new Uint8Array(1), 0, 1);
  await turns();
  receive(2);
  port.chunk(0, false, new Uint8Array(2), 0, 2);
  await turns();
  expect(calls).toEqual(["receiver 1", "add 1 to 1", "abandon 1", "receiver 2", "add 2 to 2"]);
  expect(sent).toEqual([1, 1].map((next) => ({ kind: "snapshot-credit", next })));
  expect(results).toEqual([]);
  await port.stop();
  expect(calls.at(-1)).toBe("abandon 2");
});

test("a link that ends closes its state, while that is opened and while it is sent, and no other one", async () => {
  const { port, calls, sent, open } = stage();
  const opened: unknown[] = [];
  const start = (link: LinkRef): void => port.open(link, (at) => opened.push(at?.position));
  for (const link of [1, 2, 3]) start(link as LinkRef);
  port.end(1 as LinkRef);
  for (const number of [0, 1, 2]) open(number);
  await turns();
  expect([calls, opened]).toEqual([["dispose 0"], [POSITION, POSITION]]);
  port.start(2 as LinkRef, () => {});
  await turns();
  const before = sent.length;
  expect(before).toBeGreaterThan(0);
  port.end(2 as LinkRef);
  port.credit(2 as LinkRef, before);
  await turns();
  expect([calls, sent.length]).toEqual([["dispose 0", "dispose 1"], before]);
  await port.stop();
  expect(calls).toEqual(["dispose 0", "dispose 1", "dispose 2"]);
});

const ORIGIN: StateOrigin = { zxid: composeZxid(7, 9), chain: CHAIN_NONE, digestHigh: 1, digestLow: 2, level: 1 };

test("a state that is ready is taken in place of its chunks, and abandoned before the next one", async () => {
  const { port, calls, sent } = stage({ ready: ORIGIN });
  const results: object[] = [];
  const receive = (link: number, origin?: StateOrigin): void =>
    port.receive(link as LinkRef, POSITION, (result) => results.push(result), origin);
  receive(1, ORIGIN);
  port.chunk(0, true, new Uint8Array(4), 0, 4);
  await turns();
  expect(results).toEqual([{ stateFile: "ready" }]);
  expect(sent).toEqual([{ kind: "snapshot-credit", next: 0, isWhole: true }]);
  receive(2, { ...ORIGIN, digestLow: 3 });
  port.chunk(0, false, new Uint8Array(2), 0, 2);
  await turns();
  expect(calls).toEqual(["take", "abandon ready", "receiver 1", "add 2 to 1"]);
  await port.stop();
});

test("a state that came whole, and that no log names, is abandoned before the next one", async () => {
  const { port, calls } = stage({ isEndless: false });
  const results: object[] = [];
  const receive = (link: number): void => port.receive(link as LinkRef, POSITION, (result) => results.push(result));
  receive(1);
  port.chunk(0, true, new Uint8Array(1), 0, 1);
  await turns();
  receive(2);
  await turns();
  expect(results).toMatchObject([{ stateFile: "state 1" }]);
  expect(calls).toEqual(["receiver 1", "add 1 to 1", "abandon 1", "receiver 2"]);
  await port.stop();
});

test("a learner that has the state ready is sent no more of it", async () => {
  const { port, calls, sent, open } = stage({ ready: ORIGIN });
  const events: unknown[] = [];
  port.open(1 as LinkRef, (at) => events.push(at?.origin));
  open(0);
  await turns();
  port.start(1 as LinkRef, () => events.push("sent"));
  port.credit(1 as LinkRef, 0, true);
  await turns();
  expect(events).toEqual([ORIGIN, "sent"]);
  expect(sent.length).toBeLessThanOrEqual(1);
  port.end(1 as LinkRef);
  expect(calls).toEqual(["dispose 0"]);
});
