import { Socket } from "node:net";
import { serverId } from "@zooid/model";
import { afterEach, expect, test } from "vitest";
import { Happenings, TestPeers } from "../testing/peers.ts";
import { Side, stopSides, stopsWithSides } from "../testing/quorum-side.ts";
import type { ConnectionEnd } from "./peer-connection.ts";
import { PeerPort } from "./peer-port.ts";
import { type PeerTransport, PLAIN_TRANSPORT } from "./peer-transport.ts";

afterEach(stopSides);

/** Longer than a test may take, so that another limit ends the attempt. */
const CONNECT_TIMEOUT_MS = 3_600_000;

/** The first attempt is to an address that does not answer, as that of a host that is gone. */
function firstIsSilent(): PeerTransport {
  let count = 0;
  return {
    ...PLAIN_TRANSPORT,
    connect: (address, ready) => (count++ === 0 ? new Socket() : PLAIN_TRANSPORT.connect(address, ready)),
  };
}

test("a learner dials its leader again soon if the address does not answer", async () => {
  const peers = new TestPeers(2);
  const leader = new Side(peers, 1);
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  const config = { transport: firstIsSilent(), connectTimeoutMs: CONNECT_TIMEOUT_MS };
  const learner = new Side(peers, 2, { config });
  learner.links.dial(serverId(1));
  await learner.happened.until("opened 1 sid 1 dialed");
});

/** An attempt of server 2 at server 1, whose socket the test has. */
function attempt(
  host: string,
  connectTimeoutMs: number,
  limitMs: number,
): { readonly socket: Socket; readonly ended: Happenings } {
  const peers = new TestPeers(2);
  peers.place(1, { host });
  const socket = new Socket();
  const transport: PeerTransport = { ...PLAIN_TRANSPORT, connect: () => socket };
  const options = peers.options(2, { config: { transport, connectTimeoutMs } });
  const port = new PeerPort("quorum", options, {
    accepted: () => {
      throw new Error("nothing connects");
    },
    admit: () => undefined,
  });
  stopsWithSides(port);
  const ended = new Happenings();
  const note = ({ isSilent, isAnswered }: ConnectionEnd): void =>
    ended.add(`silent ${isSilent}, answered ${isAnswered}`);
  port.dial(serverId(1), { wake() {}, opened() {}, message() {}, drained() {}, ended: note }, { reachMs: limitMs });
  return { socket, ended };
}

test("an address that does not answer ends an attempt after the time to reach it", async () => {
  const { ended } = attempt("127.0.0.1", CONNECT_TIMEOUT_MS, 1);
  await ended.until("silent true, answered false");
});

test("the time to reach an address begins when its name is resolved", async () => {
  const { socket, ended } = attempt("name.test", CONNECT_TIMEOUT_MS, 1);
  const { ended: other } = attempt("127.0.0.1", CONNECT_TIMEOUT_MS, 20);
  await other.until("silent true, answered false");
  expect(ended.list).toEqual([]);
  socket.emit("lookup", null, "127.0.0.1", 4, "name.test");
  await ended.until("silent true, answered false");
});

test("an address that answers has the time of cnxTimeout for the rest", async () => {
  const { socket, ended } = attempt("127.0.0.1", CONNECT_TIMEOUT_MS, 1);
  socket.emit("connect");
  const { ended: other } = attempt("127.0.0.1", CONNECT_TIMEOUT_MS, 20);
  await other.until("silent true, answered false");
  expect(ended.list).toEqual([]);
});

test("an answer that came while the event loop was busy counts", async () => {
  const peers = new TestPeers(2);
  const leader = new Side(peers, 1);
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  const port = new PeerPort("quorum", peers.options(2, { config: { connectTimeoutMs: CONNECT_TIMEOUT_MS } }), {
    accepted: () => {
      throw new Error("nothing connects");
    },
    admit: () => undefined,
  });
  stopsWithSides(port);
  const happened = new Happenings();
  // Timers come next.
  await new Promise((resolve) => setImmediate(resolve));
  port.dial(
    serverId(1),
    {
      wake() {},
      opened: () => happened.add("opened"),
      message() {},
      drained() {},
      ended: ({ reason }) => happened.add(`ended: ${reason}`),
    },
    { reachMs: 1 },
  );
  // The system answers for the other side meanwhile.
  for (const until = performance.now() + 20; performance.now() < until; );
  await happened.until(/./);
  expect(happened.list).toEqual(["opened"]);
});

test("cnxTimeout ends an attempt before the time to reach the address", async () => {
  const { ended } = attempt("127.0.0.1", 1, CONNECT_TIMEOUT_MS);
  await ended.until("silent true, answered false");
});
