import { CHAIN_NONE, composeZxid, type LinkRef } from "@zooid/model";
import { SNAPSHOT_CHUNK_BYTES } from "@zooid/txn-log";
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
