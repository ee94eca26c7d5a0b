import { freePorts } from "@zooid/wire/testing/free-ports";
import { RawClient } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import type { LogFields } from "./operators/log-fields.ts";
import { ElectionMesh } from "./peers/election-mesh.ts";
import { startServer } from "./server.ts";
import { Happenings, type TestPeerOptions, TestPeers } from "./testing/peers.ts";

test("a server of another ensemble is reported again after it was linked", async () => {
  const [quorumPort = 0, electionPort = 0, otherQuorumPort = 0, otherElectionPort = 0] = await freePorts(4);
  const peers = new TestPeers(2);
  peers.place(1, { quorumPort: otherQuorumPort, electionPort: otherElectionPort });
  peers.place(2, { quorumPort, electionPort });
  const events = new Happenings();
  const note = (_: string, { event, role }: LogFields): void => events.add(`${event} ${role ?? ""}`.trim());
  await using server = await startServer({
    port: 0,
    ensemble: {
      sid: 2,
      // A quorum is server 2 alone.
      servers: [
        {
          sid: 1,
          host: "127.0.0.1",
          quorumPort: otherQuorumPort,
          electionPort: otherElectionPort,
          group: 1,
          weight: 0,
        },
        { sid: 2, host: "127.0.0.1", quorumPort, electionPort, group: 1 },
      ],
      foundingWaitMs: 1,
    },
    log: { info: note, warn: note, error: note },
  });
  await events.until("role leading");
  // With its first transaction it belongs to an ensemble.
  await using _client = await RawClient.withSession(server.port);
  for (const count of [1, 2]) {
    {
      await using linked = new OtherMesh(peers, { ensembleId: "", history: "none" });
      await linked.start();
      await linked.happened.until("up");
    }
    await using other = new OtherMesh(peers, { ensembleId: "another" });
    await other.start();
    await events.until("another-ensemble", count);
  }
  expect(events.count(/^another-ensemble$/)).toBe(2);
});

/** The election links of server 1, which dials at once. */
class OtherMesh implements AsyncDisposable {
  readonly happened = new Happenings();
  readonly #mesh: ElectionMesh;

  constructor(peers: TestPeers, options: TestPeerOptions) {
    const nothing = (): void => {};
    this.#mesh = new ElectionMesh(
      { ...peers.options(1, options), othersTurnMs: 0 },
      {
        linkUp: () => this.happened.add("up"),
        linkDown: nothing,
        wake: nothing,
        message: nothing,
        answers: nothing,
        unheard: nothing,
        unanswered: nothing,
        dialFailed: nothing,
        clockCompared: nothing,
        measured: nothing,
      },
    );
  }

  async start(): Promise<void> {
    await this.#mesh.listen();
    await this.#mesh.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#mesh.stop();
  }
}
