import { connect } from "node:net";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { helloFrame, TestPeers } from "../testing/peers.ts";
import { QuorumLinks } from "./quorum-links.ts";

test("any input at a peer port is taken for a peer's or closes its connection, and other connections continue", async () => {
  const peers = new TestPeers(2);
  const config = { observerMasterPort: 0 };
  let openedCount = 0;
  const links = new QuorumLinks(
    { ...peers.options(1, { handshakeTimeoutMs: 30, failureWindowMs: 0, config }), warn: () => {} },
    {
      wake() {},
      linkOpened: (link) => {
        openedCount++;
        links.close(link, { kind: "stopped" });
      },
      dialFailed() {},
      received() {},
      linkClosed() {},
    },
  );
  await links.listen();
  const sent = (bytes: Uint8Array, port = links.port): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.on("error", () => {});
      socket.once("close", () => resolve());
      socket.resume();
      socket.write(bytes);
    });

  const changed = fc
    .tuple(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.boolean())
    .map(([changes, isSummedAnew]) => {
      const frame = helloFrame(peers, 2);
      for (const [where, value] of changes) frame[8 + (where % (frame.length - 8))] = value;
      if (isSummedAnew) frame.writeUInt32BE(crc32(frame.subarray(8)), 4);
      return frame;
    });
  const anything = fc.oneof(changed, fc.uint8Array({ minLength: 1, maxLength: 200 }));
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 4 }), fc.boolean(), (list, isForObservers) =>
      sent(Buffer.concat(list), isForObservers ? links.observerMasterPort : links.port),
    ),
    { numRuns: 150 },
  );
  openedCount = 0;
  await sent(helloFrame(peers, 2));
  expect(openedCount).toBe(1);
  await links.stop();
});
