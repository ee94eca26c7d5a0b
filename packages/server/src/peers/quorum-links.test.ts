import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type EntriesMessage, type PeerMessage, serverId, writeFrameHeader, type Zxid } from "@zooid/model";
import type { EnvelopeMessage } from "@zooid/peer-protocol";
import { afterEach, describe, expect, test } from "vitest";
import { sentenceOf } from "../operators/operator-sentences.ts";
import { frameOf, TestPeers } from "../testing/peers.ts";
import { Side, type SideOptions, stopSides, stopsWithSides } from "../testing/quorum-side.ts";
import { PeerPort } from "./peer-port.ts";

afterEach(stopSides);

const SID_1 = serverId(1);
const LEVEL: PeerMessage = { kind: "up-to-date", epoch: 7, committed: 9 as Zxid };

/** A leader (1) that listens, and a learner (2). */
async function pair(options: SideOptions = {}, atLeader: SideOptions = {}) {
  const peers = new TestPeers(3);
  const leader = new Side(peers, 1, atLeader);
  await leader.links.listen();
  peers.place(1, { quorumPort: leader.links.port });
  return { peers, leader, learner: new Side(peers, 2, options) };
}

async function linked(options: SideOptions = {}, atLeader: SideOptions = {}) {
  const sides = await pair(options, atLeader);
  sides.learner.links.dial(SID_1);
  await sides.learner.happened.until("opened 1 sid 1 dialed");
  await sides.leader.happened.until("opened 1 sid 2");
  return sides;
}

test("both sides get linkUp, and messages arrive in order, whatever their size", async () => {
  const { leader, learner } = await linked();
  const chunk = randomBytes(1_000_000);
  const sent: PeerMessage[] = [
    LEVEL,
    { kind: "snapshot-chunk", index: 3, isLast: true, bytes: chunk, start: 10, end: chunk.length },
    { kind: "ping", epoch: 7, check: 1, committed: 9 as Zxid, lacksRoom: false },
  ];
  leader.send(...sent);
  learner.send({ kind: "sync", sequence: 4 });
  await learner.happened.until("ping on 1");
  await leader.happened.until("sync on 1");
  expect(learner.messages[0]).toEqual(LEVEL);
  expect(learner.messages[1]).toMatchObject({ index: 3, isLast: true, bytes: Uint8Array.from(chunk.subarray(10)) });
  expect(learner.happened.list.slice(1)).toEqual(["up-to-date on 1", "snapshot-chunk on 1", "ping on 1"]);
});

test("a run of entries longer than a frame arrives as a longer row of shorter runs", async () => {
  const { leader, learner } = await linked();
  const size = 1_500_000;
  const bytes = new Uint8Array(4 * (size + 12));
  for (let i = 0; i < 4; i++) writeFrameHeader(bytes, i * (size + 12), (i + 1) as Zxid, size);
  const entries: EntriesMessage = {
    kind: "entries",
    epoch: 0,
    previous: 0 as Zxid,
    first: 1 as Zxid,
    last: 4 as Zxid,
    count: 4,
    bytes,
    start: 0,
    end: bytes.length,
    committed: 0 as Zxid,
    check: 0,
  };
  leader.send(entries);
  await learner.happened.until("entries on 1", 2);
  expect(learner.messages).toMatchObject([
    { previous: 0, first: 1, last: 2, count: 2 },
    { previous: 2, first: 3, last: 4, count: 2 },
  ]);
});

test("frames are no longer than the other side takes", async () => {
  const { leader, learner } = await linked({ frameBytesMax: 100_000 });
  const size = 50_000;
  const bytes = new Uint8Array(3 * (size + 12));
  for (let i = 0; i < 3; i++) writeFrameHeader(bytes, i * (size + 12), (i + 1) as Zxid, size);
  leader.send({
    kind: "entries",
    epoch: 0,
    previous: 0 as Zxid,
    first: 1 as Zxid,
    last: 3 as Zxid,
    count: 3,
    bytes,
    start: 0,
    end: bytes.length,
    committed: 0 as Zxid,
    check: 0,
  });
  await learner.happened.until("entries on 1", 3);
});

test("a dial continues until the other server listens", async () => {
  const { leader, peers } = await pair();
  let askedCount = 0;
  const addressOf = () => {
    askedCount++;
    return { host: "127.0.0.1", quorumPort: askedCount < 6 ? 1 : leader.links.port, electionPort: 0 };
  };
  const learner = new Side(peers, 2, { addressOf });
  learner.links.dial(SID_1);
  await learner.happened.until("opened 1 sid 1 dialed");
  expect(learner.happened.list).toHaveLength(1);
});

test("a dial fails with its reason if no leader was reached within initLimit ticks", async () => {
  const learner = new Side(new TestPeers(3), 2, { tickMs: 10, config: { initLimit: 4 } });
  await learner.dialUntilFailed(SID_1, /^dial failed: server 1 cannot be reached at 127\.0\.0\.1:1: .*ECONNREFUSED/);
});

test("a dial that has failed makes no further attempt", async () => {
  const counts = { failing: 0, lasting: 0 };
  const peers = new TestPeers(3);
  const side = (name: keyof typeof counts, initLimit: number): Side => {
    const addressOf = () => {
      counts[name]++;
      return { host: "127.0.0.1", quorumPort: 1, electionPort: 0 };
    };
    return new Side(peers, 2, { addressOf, tickMs: 10, config: { initLimit } });
  };
  const [failing, lasting] = [side("failing", 4), side("lasting", 10_000)];
  failing.links.dial(SID_1);
  lasting.links.dial(SID_1);
  await failing.happened.until(/^dial failed/);
  const before = { ...counts };
  // The other one shows how much time attempts take.
  await expect.poll(() => counts.lasting).toBeGreaterThan(before.lasting + 3);
  expect(counts.failing).toBe(before.failing);
});

test("a dial to a server that is not listed fails", async () => {
  const learner = new Side(new TestPeers(3), 2);
  learner.links.dial(serverId(9));
  await learner.happened.until("dial failed: server 9 is not listed");
});

test("a cancelled dial has no result, and another one may follow", async () => {
  const { leader, learner } = await pair();
  learner.links.dial(SID_1);
  learner.links.cancelDial();
  learner.links.dial(SID_1);
  await leader.happened.until(/^opened/);
  await learner.happened.until(/^opened/);
  expect(learner.happened.list).toEqual(["opened 1 sid 1 dialed"]);
});

const NO_LEADER = { kind: "no-leader-known" } as const;

test("messages sent before a close arrive; only the other side gets linkClosed", async () => {
  const { leader, learner } = await linked();
  leader.links.refuse(leader.link, "not-leading", NO_LEADER);
  leader.links.close(leader.link, NO_LEADER);
  leader.send(LEVEL);
  await learner.happened.until(/^closed/);
  expect(learner.happened.list.slice(1)).toEqual(["refuse on 1", "closed 1: the other side closed it"]);
  expect(learner.messages).toContainEqual({ kind: "refuse", reason: "not-leading", text: sentenceOf(NO_LEADER) });
  expect(leader.happened.list).toEqual(["opened 1 sid 2"]);
});

test("the last messages before a close arrive at a side that writes while it reads them", async () => {
  const { leader, learner } = await linked();
  const chunk = randomBytes(1_000_000);
  leader.send({ kind: "snapshot-chunk", index: 0, isLast: true, bytes: chunk, start: 0, end: chunk.length }, LEVEL);
  leader.links.close(leader.link, NO_LEADER);
  const isOver = (): boolean => learner.happened.list.some((line) => line.startsWith("closed"));
  for (let i = 0; !isOver(); i++) {
    learner.send({ kind: "sync", sequence: i });
    await nextTurn();
  }
  expect(learner.happened.list.slice(1, -1)).toEqual(["snapshot-chunk on 1", "up-to-date on 1"]);
});

test("a link stays while another server is dialed", async () => {
  const { leader, learner } = await linked();
  learner.links.dial(serverId(9));
  await learner.happened.until(/^dial failed/);
  leader.send(LEVEL);
  await learner.happened.until("up-to-date on 1");
});

test("a closed link delivers nothing, though more of it had arrived", async () => {
  const { leader, learner } = await linked();
  learner.closesAtMessage = true;
  leader.send(LEVEL, LEVEL, LEVEL);
  await leader.happened.until(/^closed/);
  expect(learner.happened.list.slice(1)).toEqual(["up-to-date on 1"]);
});

test("numbers of links are never used again", async () => {
  const { leader, learner } = await linked();
  learner.links.close(learner.link, { kind: "stopped" });
  await leader.happened.until(/^closed 1/);
  learner.links.dial(SID_1);
  await leader.happened.until("opened 2 sid 2");
  await learner.happened.until("opened 2 sid 1 dialed");
});

test("a link that does not read is closed at its limit, with a warning", async () => {
  const { leader, learner } = await linked({ bufferedBytesMax: 50_000 });
  const chunk: PeerMessage = {
    kind: "snapshot-chunk",
    index: 0,
    isLast: false,
    bytes: randomBytes(20_000),
    start: 0,
    end: 20_000,
  };
  for (let i = 0; i < 4; i++) learner.links.send(learner.link, chunk);
  expect(learner.happened.list).toEqual(["opened 1 sid 1 dialed"]);
  await learner.happened.until(/^closed 1: \d+ bytes wait for it/);
  await leader.happened.until(/^closed/);
  expect(learner.warnings).toEqual([expect.stringMatching(/closed the link with server 1: \d+ bytes wait/)]);
  learner.send(LEVEL);
  expect(learner.happened.list).toHaveLength(2);
});

test("a message that no frame holds ends its link", async () => {
  const { leader, learner } = await linked();
  learner.send({ kind: "refuse", reason: "unable", text: "x".repeat(5 * 1024 * 1024) });
  await learner.happened.until(/^closed 1: a refuse message is longer than/);
  await leader.happened.until(/^closed/);
});

describe("a second link of one server", () => {
  test("replaces the first", async () => {
    const { peers, leader } = await linked({ bootCount: 5 });
    for (const bootCount of [5, 6]) {
      const again = new Side(peers, 2, { bootCount });
      again.links.dial(SID_1);
      await again.happened.until("opened 1 sid 1 dialed");
    }
    await leader.happened.until("opened 3 sid 2");
    expect(leader.happened.list).toEqual([
      ...["opened 1 sid 2", "closed 1: a newer link of the same server replaced it"],
      ...["opened 2 sid 2", "closed 2: a newer link of the same server replaced it", "opened 3 sid 2"],
    ]);
  });
});

test("a copy of a server is refused, and the link of the first stays", async () => {
  const refusalOf: SideOptions["refusalOf"] = ({ startId }) =>
    startId === "copy" ? { reason: "configuration", text: "another server runs as server 2 already" } : undefined;
  const { peers, leader, learner } = await linked({ startId: "first" }, { refusalOf });
  const copy = new Side(peers, 2, { startId: "copy", tickMs: 20 });
  await copy.dialUntilFailed(SID_1, /another server runs as server 2/);
  learner.send({ kind: "sync", sequence: 4 });
  await leader.happened.until("sync on 1");
  expect(leader.happened.list).toEqual(["opened 1 sid 2", "sync on 1"]);
});

test("why the leader was not reached is known until it is reached", async () => {
  let isRefused = true;
  const refusalOf: SideOptions["refusalOf"] = () =>
    isRefused ? { reason: "configuration", text: "not that one" } : undefined;
  const { learner } = await pair({ tickMs: 20 }, { refusalOf });
  expect(learner.links.lastDialFault).toBeUndefined();
  await learner.dialUntilFailed(SID_1, /not that one/);
  expect(learner.links.lastDialFault).toContain("not that one");
  isRefused = false;
  learner.links.dial(SID_1);
  await learner.happened.until(/^opened .* dialed$/);
  expect(learner.links.lastDialFault).toBeUndefined();
});

describe("strangers", () => {
  async function sent(port: number, bytes: Uint8Array): Promise<void> {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume();
    socket.write(bytes);
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  }

  test.each<[string, Buffer, RegExp]>([
    ["of another protocol", Buffer.from("GET / HTTP/1.1\r\n\r\n"), /a frame of 1195725856 bytes; between 1 and 65536/],
    ["with a broken frame", Buffer.from("00000002000000000102", "hex"), /does not have the checksum/],
    [
      "that say something else first",
      frameOf({ kind: "sync", sequence: 1 }),
      /sync came before the handshake was over/,
    ],
    ["that say a frame is huge", Buffer.from("0001000100000000", "hex"), /a frame of 65537 bytes/],
  ])("%s are closed, with a log line, and other links continue", async (_, bytes, line) => {
    const { peers, leader, learner } = await linked();
    await sent(leader.links.port, bytes);
    expect(peers.lines).toEqual([expect.stringMatching(line)]);
    learner.send({ kind: "sync", sequence: 4 });
    await leader.happened.until("sync on 1");
    expect(leader.happened.list).toEqual(["opened 1 sid 2", "sync on 1"]);
  });

  test("that say nothing are closed when the handshake has taken too long", async () => {
    const peers = new TestPeers(2);
    const { links } = new Side(peers, 1, { handshakeTimeoutMs: 20 });
    await links.listen();
    await sent(links.port, new Uint8Array(0));
    expect(peers.lines).toEqual([expect.stringMatching(/the handshake took too long/)]);
  });

  /** Connections from an address that say nothing. */
  async function idle(port: number, localAddress: string, count: number): Promise<readonly Socket[]> {
    const sockets = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1", localAddress }));
    for (const socket of sockets) socket.on("error", () => {});
    for (const socket of sockets) await once(socket, "connect");
    return sockets;
  }

  const isOpen = (socket: Socket): boolean => !socket.closed;

  async function closed(socket: Socket | undefined): Promise<void> {
    if (socket?.closed === false) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  }

  test("of one address are turned away when there are too many that say nothing", async () => {
    const { leader } = await linked();
    const sockets = await idle(leader.links.port, "127.0.0.2", 16);
    const [more] = await idle(leader.links.port, "127.0.0.2", 1);
    await closed(more);
    expect(sockets.filter(isOpen)).toHaveLength(16);
    for (const socket of sockets) socket.destroy();
  });

  test("of many addresses make room for each other, and a server that returns finds room of its own", async () => {
    const { leader, learner } = await pair();
    const sockets: Socket[] = [];
    for (let i = 2; i < 20; i++) sockets.push(...(await idle(leader.links.port, `127.0.0.${i}`, 16)));
    // The port has room for 256 of these 288.
    for (const socket of sockets.slice(0, 32)) await closed(socket);
    learner.links.dial(SID_1);
    await leader.happened.until("opened 1 sid 2");
    expect(sockets.filter(isOpen)).toEqual(sockets.slice(32));
    for (const socket of sockets) socket.destroy();
  });

  test("of a server's own address make room for it", async () => {
    const { leader, learner } = await pair();
    const sockets = await idle(leader.links.port, "127.0.0.1", 64);
    learner.links.dial(SID_1);
    await leader.happened.until("opened 1 sid 2");
    await closed(sockets[0]);
    expect(sockets.map(isOpen)).toEqual([false, ...Array.from({ length: 63 }, () => true)]);
    for (const socket of sockets) socket.destroy();
  });

  test("that fail again and again are turned away for a while", async () => {
    const peers = new TestPeers(2);
    const { links } = new Side(peers, 1);
    await links.listen();
    for (let i = 0; i < 35; i++) await sent(links.port, Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    expect([...peers.refusals.counts]).toEqual([["quorum link, FRAME_SIZE by this side", 30]]);
  });
});

test.each<[string, EnvelopeMessage]>([
  ["an election's message", { kind: "poll", number: 1 }],
  ["a second hello", { kind: "auth-proof", keyId: "a", mac: new Uint8Array(32) }],
])("%s has no place on a link and ends it", async (_, message) => {
  const { leader, peers } = await pair();
  const port = new PeerPort("quorum", peers.options(3), {
    accepted: () => {
      throw new Error("unexpected dial");
    },
    admit: () => undefined,
  });
  stopsWithSides(port);
  const connection = port.dial(SID_1, {
    wake() {},
    opened: () => {
      connection.append(message);
      connection.flush();
    },
    message() {},
    drained() {},
    ended() {},
  });
  await leader.happened.until(/^closed 1: .* does not belong on a link/);
});

test("a taken port is tried again, and then a clear error", async () => {
  const { leader, peers } = await pair();
  const addressOf = () => ({ host: "127.0.0.1", quorumPort: leader.links.port, electionPort: 0 });
  const other = new Side(peers, 2, { bindRetryMs: 1, addressOf, config: { bindRetryCount: 2 } });
  await expect(other.links.listen()).rejects.toThrow(
    `the quorum port ${leader.links.port} on 127.0.0.1 is taken by another process`,
  );
});

test("a port that becomes free within the retries is had", async () => {
  const { leader, peers } = await pair();
  const addressOf = () => ({ host: "127.0.0.1", quorumPort: leader.links.port, electionPort: 0 });
  const other = new Side(peers, 2, { bindRetryMs: 1, addressOf, config: { bindRetryCount: 0 } });
  const listening = other.links.listen();
  await leader.links.stop();
  await listening;
});

test("stopping closes the links behind what was sent, and the port; twice is harmless", async () => {
  const { leader, learner } = await linked();
  leader.send(LEVEL);
  await leader.links.stop();
  await leader.links.stop();
  await learner.happened.until(/^closed/);
  expect(learner.happened.list).toContain("up-to-date on 1");
  expect(leader.happened.list).toEqual(["opened 1 sid 2"]);
});
