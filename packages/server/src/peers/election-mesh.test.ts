import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";
import { type ElectionMessage, membersOf, parseMembers, type ServerId, serverId, type Zxid } from "@zooid/model";
import type { EnvelopeMessage } from "@zooid/peer-protocol";
import { afterEach, describe, expect, test } from "vitest";
import { Happenings, type TestPeerOptions, TestPeers } from "../testing/peers.ts";
import { ElectionMesh, type ElectionMeshOptions } from "./election-mesh.ts";
import { MemberDirectory } from "./member-directory.ts";
import { PeerPort } from "./peer-port.ts";
import { type PeerSecret, peerSecret } from "./peer-secret.ts";
import { type PeerTransport, PLAIN_TRANSPORT } from "./peer-transport.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

function portOf(server: Server): number {
  const bound = server.address();
  return bound !== null && typeof bound === "object" ? bound.port : 0;
}

type MeshOptions = Pick<ElectionMeshOptions, "othersTurnMs" | "isFounder" | "wallMs">;

/**
 * One server's mesh, and its events as words. Round trips are counted apart: they have no place in
 * the order.
 */
class Side {
  readonly happened = new Happenings();
  readonly measured = new Happenings();
  /** Servers with clocks that are seconds ahead, in whole seconds. */
  readonly clocks = new Happenings();
  readonly failures = new Happenings();
  readonly presence = new Happenings();
  readonly disks: string[] = [];
  readonly messages: ElectionMessage[] = [];
  readonly mesh: ElectionMesh;
  atLinkUp: () => void = () => {};

  constructor(peers: TestPeers, sid: number, options: TestPeerOptions & MeshOptions = {}) {
    const { othersTurnMs, isFounder = () => false, wallMs, ...more } = options;
    this.mesh = new ElectionMesh(
      {
        ...peers.options(sid, more),
        isFounder,
        ...(othersTurnMs === undefined ? {} : { othersTurnMs }),
        ...(wallMs === undefined ? {} : { wallMs }),
      },
      {
        wake: () => {},
        message: (from, message) => {
          this.messages.push(message);
          this.happened.add(
            message.kind === "notification" ? `round ${message.round} of ${from}` : `${message.kind} of ${from}`,
          );
        },
        linkUp: (other, { history }) => {
          this.disks.push(`${other} ${history}`);
          this.happened.add(`up ${other}`);
          this.atLinkUp();
        },
        linkDown: (other, _, isReplaced) => this.happened.add(`${isReplaced ? "replaced" : "down"} ${other}`),
        dialFailed: (other, reason) => this.failures.add(`${other}: ${reason}`),
        answers: (other) => this.presence.add(`${other} answers`),
        unheard: (other, refusal) => this.presence.add(`${other} unheard ${refusal?.kind ?? ""}`.trim()),
        unanswered: (other) => this.presence.add(`${other} unanswered`),
        clockCompared: (other, aheadMs, roundTripMs) => {
          this.clocks.add(`${other} ${Math.round((aheadMs - roundTripMs / 2) / 1000)}`);
        },
        measured: (other, roundTripMs) => {
          const isFirst = !this.happened.list.includes(`up ${other}`);
          this.measured.add(`${other} ${roundTripMs >= 0 && roundTripMs < 10_000}${isFirst ? " before it is up" : ""}`);
        },
      },
    );
    running.push(this.mesh);
  }

  send(to: number, round: number): void {
    this.mesh.send(serverId(to), {
      kind: "notification",
      role: "looking",
      round,
      selfZxid: 5 as Zxid,
      selfEpoch: 1,
      vote: { leader: serverId(2), zxid: 5 as Zxid, peerEpoch: 1 },
    });
  }
}

type Options = ConstructorParameters<typeof Side>[2];

/** Meshes that listen, know each other's addresses, and have started. */
async function started(peers: TestPeers, sids: readonly number[], options: Options = {}): Promise<readonly Side[]> {
  const sides = await listening(peers, sids, options);
  await Promise.all(sides.map(({ mesh }) => mesh.start()));
  return sides;
}

async function listening(peers: TestPeers, sids: readonly number[], options: Options = {}): Promise<readonly Side[]> {
  const sides = sids.map((sid) => new Side(peers, sid, options));
  for (const [index, { mesh }] of sides.entries()) {
    await mesh.listen();
    peers.place(sids[index] ?? 0, { electionPort: mesh.port });
  }
  return sides;
}

async function pair(options: Options = {}) {
  const peers = new TestPeers(3);
  const [low, high] = await started(peers, [1, 2], options);
  if (low === undefined || high === undefined) throw new Error("there are two");
  await low.happened.until("up 2");
  await high.happened.until("up 1");
  return { peers, low, high };
}

test("both sides get linkUp and each other's messages", async () => {
  const { low, high } = await pair();
  low.send(2, 7);
  high.send(1, 8);
  await high.happened.until("round 7 of 1");
  await low.happened.until("round 8 of 2");
  expect(low.messages).toEqual([
    {
      kind: "notification",
      role: "looking",
      round: 8,
      selfZxid: 5,
      selfEpoch: 1,
      vote: { leader: 2, zxid: 5, peerEpoch: 1 },
    },
  ]);
});

test("servers with the secret connect", async () => {
  const secrets = [peerSecret("a", Buffer.alloc(32, 1))];
  const { low, high } = await pair({ config: { secrets } });
  await low.measured.until("2 true before it is up");
  high.send(1, 8);
  await low.happened.until("round 8 of 2");
});

test("a round trip is measured before the connection is up, and again by echoes", async () => {
  const { low, high } = await pair({ tickMs: 10 });
  expect(high.measured.list[0]).toBe("1 true before it is up");
  await high.measured.until(/^1 true/, 4);
  await low.measured.until(/^2 true/, 3);
});

test("both sides learn how far the clock of the other one is ahead", async () => {
  const peers = new TestPeers(2);
  const low = new Side(peers, 1, { tickMs: 10, wallMs: () => 1_000_000 });
  const high = new Side(peers, 2, { tickMs: 10, wallMs: () => 1_009_000 });
  for (const [index, { mesh }] of [low, high].entries()) {
    await mesh.listen();
    peers.place(index + 1, { electionPort: mesh.port });
  }
  await Promise.all([low.mesh.start(), high.mesh.start()]);
  await high.clocks.until("1 -9");
  await low.clocks.until("2 9");
});

test("every pair is connected, except observers with each other; voters with lower ids and those beside observers do not dial", async () => {
  const peers = new TestPeers(5, [1, 5]);
  const dialed = new Set<string>();
  const sides = [1, 2, 3, 4, 5].map((sid) => {
    const addressOf = (other: ServerId) => {
      if (other !== sid) dialed.add(`${sid}>${other}`);
      return peers.addressOf(sid, other);
    };
    return new Side(peers, sid, { addressOf });
  });
  for (const [index, { mesh }] of sides.entries()) {
    await mesh.listen();
    peers.place(index + 1, { electionPort: mesh.port });
  }
  await Promise.all(sides.map(({ mesh }) => mesh.start()));
  const expected = [
    [2, 3, 4],
    [1, 3, 4, 5],
    [1, 2, 4, 5],
    [1, 2, 3, 5],
    [2, 3, 4],
  ];
  for (const [index, others] of expected.entries()) {
    for (const other of others) await sides[index]?.happened.until(`up ${other}`);
    expect(sides[index]?.happened.list.toSorted()).toEqual(others.map((other) => `up ${other}`));
  }
  expect([...dialed].toSorted()).toEqual(["1>2", "1>3", "1>4", "3>2", "4>2", "4>3", "5>2", "5>3", "5>4"]);
});

test("two survivors that were recovered apart hear of each other by their files, and refuse each other", async () => {
  const peers = new TestPeers(3);
  const alone = (sid: number, ensembleId: string): Options => {
    const { ensemble } = peers.options(sid);
    const own = ensemble.servers.filter((server) => server.sid === sid);
    const directory = new MemberDirectory({
      sid: serverId(sid),
      servers: ensemble.servers,
      observerMasterPort: undefined,
      addressOf: (other) => peers.addressOf(sid, other),
    });
    directory.isOpen = true;
    directory.update([membersOf(own, 5 as Zxid)]);
    return { ensembleId, othersTurnMs: 20, config: { directory } };
  };
  const one = new Side(peers, 1, alone(1, "of 1"));
  const three = new Side(peers, 3, alone(3, "of 3"));
  for (const [sid, { mesh }] of [[1, one] as const, [3, three] as const]) {
    await mesh.listen();
    peers.place(sid, { electionPort: mesh.port });
  }
  for (const { mesh } of [one, three]) await mesh.start();
  await three.presence.until("1 unheard ensemble");
  await one.presence.until("3 unheard ensemble");
});

describe("a server that may found an ensemble", () => {
  const founder = { isFounder: () => true, othersTurnMs: 60_000 };

  test("dials all others at once, and hears what is on their disks", async () => {
    const peers = new TestPeers(2);
    await started(peers, [2], { history: "none" });
    const [low] = await started(peers, [1], founder);
    await low?.happened.until("up 2");
    expect(low?.disks).toEqual(["2 none"]);
  });

  test("knows one that refuses connections from one that accepts them and says nothing", async () => {
    const peers = new TestPeers(3);
    const silent = createServer((socket) => void socket.resume()).listen(0, "127.0.0.1");
    running.push({ stop: async () => void silent.close() });
    await once(silent, "listening");
    peers.place(3, { electionPort: portOf(silent) });
    const [low] = await started(peers, [1], { ...founder, handshakeTimeoutMs: 20 });
    await low?.presence.until("2 unanswered");
    await low?.presence.until("3 answers", 2);
    expect(low?.presence.count(/^3 unheard timeout$/)).toBeGreaterThan(0);
    expect(low?.presence.count(/^3 unanswered$|^2 answers$/)).toBe(0);
  });

  test("learns that one is there that refuses it", async () => {
    const peers = new TestPeers(2);
    await started(peers, [2], { ensembleId: "e" });
    const [low] = await started(peers, [1], { ...founder, ensembleId: "f" });
    await low?.presence.until("2 unheard ensemble");
    expect(low?.presence.list[0]).toBe("2 answers");
  });

  test("learns that one is there whose certificate it does not accept", async () => {
    const peers = new TestPeers(2);
    await started(peers, [2]);
    const transport: PeerTransport = { ...PLAIN_TRANSPORT, distrust: () => "it is for another host" };
    const [low] = await started(peers, [1], { ...founder, config: { transport } });
    await low?.presence.until("2 unheard auth");
    expect(low?.presence.count(/unanswered/)).toBe(0);
  });

  test("takes one that accepts a connection and never completes it for one that is there", async () => {
    const peers = new TestPeers(2);
    const transport: PeerTransport = {
      ...PLAIN_TRANSPORT,
      connect: () => {
        const socket = new Socket();
        setImmediate(() => socket.emit("connect"));
        return socket;
      },
    };
    const [low] = await started(peers, [1], { ...founder, config: { transport, connectTimeoutMs: 20 } });
    await low?.presence.until("2 unheard", 2);
    expect(low?.presence.list.slice(0, 3)).toEqual(["2 answers", "2 unheard", "2 answers"]);
  });

  test("dials once more when the wait is over, in place of an attempt that began before", async () => {
    const peers = new TestPeers(2);
    const dialed = new Happenings();
    const transport: PeerTransport = {
      ...PLAIN_TRANSPORT,
      // Packets are lost: no attempt is answered.
      connect: () => {
        dialed.add("dialed");
        return new Socket();
      },
    };
    await started(peers, [1], { ...founder, config: { transport, foundingWaitMs: 30 } });
    await dialed.until("dialed", 2);
  });
});

test("a server whose address does not answer is dialed again soon", async () => {
  const peers = new TestPeers(2);
  let count = 0;
  const transport: PeerTransport = {
    ...PLAIN_TRANSPORT,
    connect: (address, ready) => (count++ === 0 ? new Socket() : PLAIN_TRANSPORT.connect(address, ready)),
  };
  // The other side does not dial in the time of a test.
  await started(peers, [1], { othersTurnMs: 3_600_000 });
  const [high] = await started(peers, [2], { config: { transport, connectTimeoutMs: 3_600_000 } });
  await high?.happened.until("up 1");
});

test("of the messages that wait for a connection only the newest arrives", async () => {
  const peers = new TestPeers(2);
  const [low] = await started(peers, [1]);
  for (const round of [1, 2, 3]) low?.send(2, round);
  const [high] = await started(peers, [2]);
  await high?.happened.until("round 3 of 1");
  expect(high?.happened.list).toEqual(["up 1", "round 3 of 1"]);
});

test("the last message is repeated on a new connection", async () => {
  const { peers, low, high } = await pair();
  low.send(2, 3);
  await high.happened.until("round 3 of 1");
  await high.mesh.stop();
  await low.happened.until("down 2");
  const [next] = await started(peers, [2], { bootCount: 2 });
  await next?.happened.until("round 3 of 1");
  await low.happened.until("up 2", 2);
});

test("a message sent at the moment of the connection is sent once", async () => {
  const peers = new TestPeers(2);
  const [low] = await started(peers, [1]);
  low?.send(2, 1);
  if (low !== undefined) low.atLinkUp = () => low.send(2, 2);
  const [high] = await started(peers, [2]);
  await high?.happened.until("round 2 of 1");
  low?.send(2, 3);
  await high?.happened.until("round 3 of 1");
  expect(high?.happened.list).toEqual(["up 1", "round 2 of 1", "round 3 of 1"]);
});

test("a message to a server that does not listen, or is not listed, is dropped", async () => {
  const { low } = await pair();
  low.send(3, 1);
  low.send(99, 1);
  low.send(1, 1);
  expect(low.happened.list).toEqual(["up 2"]);
});

test("the side whose turn it is not dials when the other does not come", async () => {
  const peers = new TestPeers(2);
  const [low] = await listening(peers, [1], { othersTurnMs: 1 });
  // The other one knows a port that is not bound.
  const closed = () => ({ host: "127.0.0.1", quorumPort: 0, electionPort: 1 });
  const high = new Side(peers, 2, { addressOf: (sid) => (sid === 1 ? closed() : peers.addressOf(2, sid)) });
  await high.mesh.start();
  peers.place(2, { electionPort: high.mesh.port });
  await low?.mesh.start();
  await low?.happened.until("up 2");
  low?.send(2, 4);
  await high.happened.until("round 4 of 1");
});

test("the side whose turn it becomes, by a change of roles, dials at once", async () => {
  const peers = new TestPeers(2);
  const [high] = await listening(peers, [2]);
  const { directory } = peers.options(1).ensemble;
  const [low] = await started(peers, [1], { othersTurnMs: 60_000, config: { directory } });
  const line = (sid: number, electionPort = 1, role = "") => `server.${sid}=127.0.0.1:1:${electionPort}${role}`;
  directory.update([parseMembers([line(1, 1, ":observer"), line(2, high?.mesh.port)].join("\n"))]);
  low?.mesh.membersChanged();
  await low?.happened.until("up 2");
});

test("a server that is not listed any more gets messages while its connection stays", async () => {
  const peers = new TestPeers(2);
  const { directory } = peers.options(1).ensemble;
  const [low] = await started(peers, [1], { config: { directory } });
  const [high] = await started(peers, [2]);
  await low?.happened.until("up 2");
  directory.isChangeable = true;
  directory.update([parseMembers("server.1=127.0.0.1:1:2")]);
  expect(directory.find(serverId(2))).toBeUndefined();
  low?.mesh.membersChanged();
  low?.send(2, 7);
  await high?.happened.until("round 7 of 1");
});

test("a failed attempt is reported with the system's reason, and a connection that another one replaces is not", async () => {
  const peers = new TestPeers(2);
  const [high] = await started(peers, [2]);
  await high?.failures.until(/^1: .*ECONNREFUSED/);
  const [low] = await started(peers, [1]);
  await high?.happened.until("up 1");
  expect(low?.failures.list).toEqual([]);
});

test("two that dial each other at the same moment end up with one connection", async () => {
  for (let i = 0; i < 20; i++) {
    const peers = new TestPeers(2);
    const [low, high] = await started(peers, [1, 2], { othersTurnMs: 0 });
    await low?.happened.until("up 2");
    await high?.happened.until("up 1");
    low?.send(2, 4);
    high?.send(1, 5);
    await high?.happened.until("round 4 of 1");
    await low?.happened.until("round 5 of 2");
    for (const one of running.splice(0)) await one.stop();
  }
});

test("a server that accepts and sends nothing does not delay others", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const peers = new TestPeers(3);
  peers.place(1, { electionPort: portOf(silent) });
  const [second, third] = await started(peers, [2, 3]);
  await third?.happened.until("up 2");
  await second?.happened.until("up 3");
  silent.close();
});

describe("of two connections that a pair dialed at the same moment", () => {
  /**
   * A port of a server that takes every connection and answers nothing, and what became of its own
   * dial.
   */
  async function other(peers: TestPeers, sid: number) {
    const ended = new Happenings();
    const handler = { wake() {}, message() {}, drained() {} };
    const port = new PeerPort("election", peers.options(sid), {
      accepted: () => ({ ...handler, opened() {}, ended: ({ reason }) => ended.add(`accepted: ${reason}`) }),
      admit: () => undefined,
    });
    running.push(port);
    await port.listen();
    peers.place(sid, { electionPort: port.port });
    const dial = (to: number) =>
      port.dial(serverId(to), { ...handler, opened() {}, ended: ({ reason }) => ended.add(`dialed: ${reason}`) });
    return { ended, dial };
  }

  test("the one stays whose dialer has the higher id", async () => {
    const peers = new TestPeers(2);
    const { ended, dial } = await other(peers, 1);
    const [high] = await started(peers, [2]);
    await high?.happened.until("up 1");
    dial(2);
    await ended.until("dialed: refused by the other side: servers 2 and 1 are connected");
    expect(high?.happened.list).toEqual(["up 1"]);
  });

  test("the other one gives way", async () => {
    const peers = new TestPeers(2);
    const { ended, dial } = await other(peers, 2);
    const [low] = await started(peers, [1], { othersTurnMs: 1 });
    await low?.happened.until("up 2");
    dial(1);
    await low?.happened.until("up 2", 2);
    await ended.until("accepted: refused by the other side: a newer connection replaces it");
    expect(ended.list).toHaveLength(1);
  });
});

test("of the messages that wait because the other side does not read only the newest arrives", async () => {
  const peers = new TestPeers(2);
  let accepted: Socket | undefined;
  let dialed: Socket | undefined;
  const accepting: PeerTransport = {
    ...PLAIN_TRANSPORT,
    accept: (socket, ready, failed) => {
      accepted = socket;
      PLAIN_TRANSPORT.accept(socket, ready, failed);
    },
  };
  const dialing: PeerTransport = {
    ...PLAIN_TRANSPORT,
    connect: (address, ready) => {
      dialed = PLAIN_TRANSPORT.connect(address, ready);
      return dialed;
    },
  };
  // Neither side is given up while it is silent.
  const tickMs = 600_000;
  const [low] = await started(peers, [1], { tickMs, config: { transport: accepting } });
  const [high] = await started(peers, [2], { tickMs, config: { transport: dialing } });
  await low?.happened.until("up 2");
  await high?.happened.until("up 1");
  dialed?.pause();
  let round = 0;
  while (accepted?.writableNeedDrain === false) {
    round++;
    low?.send(2, round);
    // Writes that the kernel takes at once leave nothing to wait for.
    if (round % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  for (let i = 0; i < 1000; i++) low?.send(2, round + i);
  low?.send(2, 1_000_000_000);
  dialed?.resume();
  await high?.happened.until("round 1000000000 of 1");
  expect(high?.messages.length).toBeLessThan(round + 500);
});

interface JoinOptions {
  /** It answers heartbeats. */
  readonly echoes?: boolean;
  readonly secrets?: readonly PeerSecret[];
}

describe("a connection", () => {
  /** A server 2 that completes the handshake with server 1 and then follows the test's commands. */
  async function stranger(bootCount = 1, options: Options = {}) {
    const peers = new TestPeers(2);
    const [low] = await started(peers, [1], options);
    if (low === undefined) throw new Error("there is one");
    const heard = new Happenings();
    const join = (
      as = bootCount,
      startId = "",
      { echoes = false, secrets = options.config?.secrets ?? [] }: JoinOptions = {},
    ) => {
      const port = new PeerPort("election", peers.options(2, { bootCount: as, startId, config: { secrets } }), {
        accepted: () => {
          throw new Error("unexpected dial");
        },
        admit: () => undefined,
      });
      running.push(port);
      const connection = port.dial(serverId(1), {
        wake() {},
        opened: () => heard.add("opened"),
        message: (message) => {
          heard.add(message.kind);
          if (echoes && message.kind === "heartbeat" && !message.isEcho) say({ ...message, isEcho: true });
        },
        drained() {},
        ended: ({ reason }) => heard.add(`ended: ${reason}`),
      });
      const say = (message: EnvelopeMessage): void => {
        connection.append(message);
        connection.flush();
      };
      return { say, connection };
    };
    return { peers, low, heard, join };
  }

  /** Another start of the server attempts to connect, until it is refused because both run. */
  async function refusedByName(heard: Happenings, attempt: () => unknown): Promise<void> {
    const reasons = (): readonly string[] => heard.list.filter((text) => text.startsWith("ended: refused"));
    for (;;) {
      const before = reasons().length;
      attempt();
      await heard.until(/^ended: refused/, before + 1);
      const reason = reasons().at(-1) ?? "";
      if (!reason.includes("asked whether it is alive")) {
        expect(reason).toMatch(/another server runs as server 2 already .* a data directory was copied/);
        return;
      }
    }
  }

  test.each([
    ["a later start", 4],
    ["the same start", 3],
    ["an earlier start", 2],
  ])("of a copy of a server with the count of %s is refused while that one answers", async (_, count) => {
    const { peers, low, heard, join } = await stranger(3, { config: { secrets: [peerSecret("a", Buffer.alloc(32))] } });
    const first = join(3, "first", { echoes: true });
    await low.happened.until("up 2");
    await refusedByName(heard, () => join(count, "copy"));
    expect(low.happened.list).toEqual(["up 2"]);
    expect(peers.lines.some((line) => line.includes("another server runs as server 2 already"))).toBe(true);
    expect(heard.list.some((text) => text.includes(`start 3; this one: 127.0.0.1, start ${count}`))).toBe(true);
    // The first one stops: it is replaced.
    first.connection.destroy();
    await low.happened.until("down 2");
    join(count, "copy");
    await low.happened.until("up 2", 2);
  });

  test.each([
    ["a later start", 4],
    ["an earlier start", 2],
  ])("of a server that is dead gives way to one of %s, before three silent ticks", async (_, count) => {
    const { low, heard, join } = await stranger(3, { tickMs: 20 });
    // It answers no heartbeats.
    join(3, "first");
    await low.happened.until("up 2");
    join(count, "restarted");
    await heard.until(/^ended: refused by the other side: server 2 has a connection already/);
    await low.happened.until("down 2");
    join(count, "restarted");
    await low.happened.until("up 2", 2);
  });

  test("is not asked on behalf of a server that does not prove the secret", async () => {
    const secrets = [peerSecret("a", Buffer.alloc(32))];
    const { low, heard, join } = await stranger(3, { tickMs: 60_000, config: { secrets } });
    join(3, "first");
    await low.happened.until("up 2");
    await heard.until("heartbeat");
    join(4, "liar", { secrets: [peerSecret("a", Buffer.alloc(32, 1))] });
    await heard.until(/^ended: .*proof of the shared secret is wrong/);
    expect(heard.list.filter((kind) => kind === "heartbeat")).toHaveLength(1);
    expect(low.happened.list).toEqual(["up 2"]);
  });

  test("on which nothing arrives is closed after three ticks", async () => {
    const { low, heard, join } = await stranger(1, { tickMs: 5 });
    join();
    await low.happened.until("up 2");
    await low.happened.until("down 2");
    await heard.until(/^ended/);
    // One at once, then one a tick.
    expect(heard.list.filter((kind) => kind === "heartbeat")).toHaveLength(4);
  });

  test("is closed by a message that does not belong there", async () => {
    const { low, heard, join } = await stranger();
    const { say } = join();
    await low.happened.until("up 2");
    say({ kind: "sync", sequence: 1 });
    await heard.until(/^ended/);
    expect(low.happened.list).toEqual(["up 2", "down 2"]);
  });

  test("gives way to a newer one of the same start", async () => {
    const { low, heard, join } = await stranger();
    join(5);
    await low.happened.until("up 2");
    join(5);
    await low.happened.until("up 2", 2);
    expect(low.happened.list).toEqual(["up 2", "up 2"]);
    await heard.until("ended: refused by the other side: a newer connection replaces it");
  });

  test("that the other side replaces is reported as such", async () => {
    const { low, join } = await stranger();
    const { connection } = join();
    await low.happened.until("up 2");
    connection.refuse({ reason: "duplicate", text: "a newer connection replaces it", retryAfterMs: 0 });
    await low.happened.until("replaced 2");
  });
});

test("a mesh that is stopped closes its connections and its port, and emits nothing more", async () => {
  const { low, high } = await pair();
  await high.mesh.stop();
  await high.mesh.stop();
  await low.happened.until("down 2");
  expect(high.happened.list).toEqual(["up 1"]);
});

test("a server whose own name does not resolve yet waits for it, with one line, and then listens", async () => {
  const { peers } = await pair();
  const addressOf = () => ({ host: "zk-3", quorumPort: 0, electionPort: 0 });
  const lines: string[] = [];
  const codes = ["ENOTFOUND", "EAI_AGAIN", "ENOTFOUND"];
  const lookup = async (host: string): Promise<string> => {
    const code = codes.shift();
    if (code !== undefined) throw Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code });
    return "127.0.0.1";
  };
  const early = new Side(peers, 3, { bindRetryMs: 1, addressOf, lookup, warn: (text) => lines.push(text) });
  const listening = early.mesh.listen();
  while (early.mesh.waitsFor === undefined) await new Promise((resolve) => setImmediate(resolve));
  expect(early.mesh.waitsFor).toContain("zk-3 in this server's line server.N does not resolve yet");
  await listening;
  expect(early.mesh.waitsFor).toBeUndefined();
  expect(early.mesh.port).toBeGreaterThan(0);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("zk-3");
});

test("a taken port is a clear error, and a mesh that waits for one can be stopped", async () => {
  const { peers, low } = await pair();
  const addressOf = () => ({ host: "127.0.0.1", quorumPort: 0, electionPort: low.mesh.port });
  const refused = new Side(peers, 3, { bindRetryMs: 1, addressOf, config: { bindRetryCount: 1 } });
  await expect(refused.mesh.start()).rejects.toThrow(
    `the election port ${low.mesh.port} on 127.0.0.1 is taken by another process; see this server's line server.N`,
  );
  const waiting = new Side(peers, 3, { addressOf, config: { bindRetryCount: 0 } });
  const starting = waiting.mesh.start();
  while (waiting.mesh.waitsFor === undefined) await new Promise((resolve) => setImmediate(resolve));
  expect(waiting.mesh.waitsFor).toContain(`the election port ${low.mesh.port} on 127.0.0.1 is taken`);
  await waiting.mesh.stop();
  await starting;
});
