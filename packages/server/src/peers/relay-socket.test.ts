import { once } from "node:events";
import { expect, test } from "vitest";
import { RelaySocket } from "./relay-socket.ts";

function socket() {
  const done: string[] = [];
  const way = {
    send: (bytes: Uint8Array) => done.push(`sent ${bytes.length}`),
    flush: () => done.push("flushed"),
    waitingBytes: () => 7,
    close: () => done.push("closed"),
  };
  return { socket: new RelaySocket(way), done };
}

test("bytes that arrive before accept are kept, in order", () => {
  const { socket: one } = socket();
  const bytes = Buffer.from("early");
  one.arrived(bytes);
  bytes.fill(0);
  one.arrived(Buffer.from(", still early"));
  const taken: string[] = [];
  one.begin((chunk) => taken.push(chunk.toString()));
  one.arrived(Buffer.from(", late"));
  expect(taken).toEqual(["early", ", still early", ", late"]);
});

test("writes are sent in pieces, and completed by end", () => {
  const { socket: one, done } = socket();
  one.cork();
  expect(one.write(new Uint8Array(600 * 1024))).toBe(true);
  one.uncork();
  expect(done).toEqual(["sent 262144", "sent 262144", "sent 90112", "flushed"]);
  expect(one.writableLength).toBe(7);
});

test("a closed one notifies its carrier once, and accepts nothing any more", async () => {
  const { socket: one, done } = socket();
  const taken: unknown[] = [];
  one.begin((chunk) => taken.push(chunk));
  one.end();
  one.destroy();
  expect(one).toMatchObject({ closed: true, writable: false, writableLength: 0 });
  await once(one, "close");
  one.write(new Uint8Array(1));
  one.uncork();
  one.arrived(new Uint8Array(1));
  one.lost("too late");
  expect(done).toEqual(["closed"]);
  expect(taken).toEqual([]);
});

test("a lost one reports the reason, after the call, and does not close the carrier", async () => {
  const { socket: one, done } = socket();
  const said: string[] = [];
  one.on("error", ({ message }) => said.push(message));
  one.lost("the follower is gone");
  expect(said).toEqual([]);
  await new Promise<void>((resolve) => one.on("close", resolve));
  expect(said).toEqual(["the follower is gone"]);
  one.destroy();
  expect(done).toEqual([]);
});
