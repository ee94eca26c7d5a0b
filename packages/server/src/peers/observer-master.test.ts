import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type EntriesMessage, type PeerMessage, serverId, writeFrameHeader, type Zxid } from "@zooid/model";
import { afterEach, describe, expect, test } from "vitest";
import { frameOf, helloFrame, type TestPeerOptions, TestPeers } from "../testing/peers.ts";
import { Side, stopSides, stopsWithSides } from "../testing/quorum-side.ts";
import { type PeerLinkOptions, PeerPort } from "./peer-port.ts";
import { type PeerSecret, peerSecret } from "./peer-secret.ts";
import { PLAIN_TRANSPORT } from "./peer-transport.ts";
import { RelayedDial } from "./relayed-dial.ts";

afterEach(stopSides);

const LEADER = serverId(1);
const UNEXPECTED = (): never => {
  throw new Error("unexpected connection");
};
const LEVEL: PeerMessage = { kind: "up-to-date", epoch: 7, committed: 9 as Zxid };
const SYNC: PeerMessage = { kind: "sync", sequence: 4 };

type SideOptions = TestPeerOptions & { readonly bufferedBytesMax?: number };

/**
 * Servers 1, 2 and 3 vote and take observers in, 4 and 5 observe. Server 4 tries 2 before 3, server
 * 5 the other way round.
 */
class Ensemble {
  readonly peers: TestPeers = new TestPeers(5, [4, 5]);

  side(sid: number, options: SideOptions = {}): Side {
    return new Side(this.peers, sid, withMasters(options));
  }

  options(sid: number): PeerLinkOptions {
    return this.peers.options(sid, withMasters({}));
  }

  async listening(sid: number, options?: SideOptions): Promise<Side> {
    const side = this.side(sid, options);
    await side.links.listen();
    const { port: quorumPort, observerMasterPort } = side.links;
    this.peers.place(sid, { quorumPort, observerMasterPort });
    return side;
  }
}

function withMasters({ config, ...options }: SideOptions): SideOptions {
  return { ...options, config: { observerMasterPort: 0, ...config } };
}

function isReachable(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}

/** A leader, a follower that follows it, and an observer that reached the leader by that. */
async function passedOn(options: { [sid: number]: SideOptions } = {}) {
  const ensemble = new Ensemble();
  const leader = await ensemble.listening(1, options[1]);
  const follower = await ensemble.listening(2, options[2]);
  await follow(follower, leader);
  const toFollower = leader.link;
  const observer = ensemble.side(4, options[4]);
  await follow(observer, leader);
  expect(follower.links.relayedObservers()).toEqual([4]);
  return { ensemble, leader, follower, observer, toFollower, toObserver: leader.link };
}

async function follow(learner: Side, leader: Side): Promise<void> {
  const [openedThere, openedHere] = [/^opened \d+ sid/, /^opened \d+ sid \d+ dialed/];
  const counts = [leader.happened.count(openedThere), learner.happened.count(openedHere)] as const;
  learner.links.dial(LEADER);
  await leader.happened.until(openedThere, counts[0] + 1);
  await learner.happened.until(openedHere, counts[1] + 1);
}

/** Observer 4 asks a server to be relayed to server 1, and says what it answers. */
function asked(ensemble: Ensemble, sid: number) {
  const hasAsked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const port = new PeerPort("observer", ensemble.options(4), { accepted: UNEXPECTED, admit: () => undefined });
  stopsWithSides(port);
  const connection = port.dial(serverId(sid), {
    wake() {},
    opened: () => {
      connection.append({ kind: "relay-to", leader: LEADER });
      connection.flush();
      hasAsked.resolve();
    },
    message: (message) => answer.resolve(message.kind === "link-refuse" ? message.text : message.kind),
    drained() {},
    ended() {},
  });
  return { hasAsked: hasAsked.promise, answer: answer.promise };
}

/** Entries with consecutive zxids from `first` on, and records of these sizes in bytes. */
function entries(first: number, sizes: readonly number[]): EntriesMessage {
  const bytes = randomBytes(sizes.reduce((sum, size) => sum + size + 12, 0));
  let at = 0;
  for (const [i, size] of sizes.entries()) {
    writeFrameHeader(bytes, at, (first + i) as Zxid, size);
    at += 12 + size;
  }
  const last = (first + sizes.length - 1) as Zxid;
  return {
    kind: "entries",
    epoch: 0,
    previous: (first - 1) as Zxid,
    first: first as Zxid,
    last,
    count: sizes.length,
    bytes,
    start: 0,
    end: bytes.length,
    committed: last,
    check: 0,
  };
}

/** The records of entries, in order, however they were cut into runs. */
function runOf(messages: readonly PeerMessage[]): Buffer {
  const runs = messages.flatMap((one) => (one.kind === "entries" ? [one.bytes.subarray(one.start, one.end)] : []));
  return Buffer.concat(runs);
}

test("an observer and its leader have a link like any other, and the follower between them has its own", async () => {
  const { leader, follower, observer, toFollower, toObserver } = await passedOn();
  const chunk = randomBytes(1_000_000);
  leader.links.send(toObserver, LEVEL);
  const data = { index: 3, isLast: true, bytes: chunk, start: 10, end: chunk.length };
  leader.links.send(toObserver, { kind: "snapshot-chunk", ...data });
  leader.links.send(toFollower, { kind: "ping", epoch: 7, check: 1, committed: 9 as Zxid, lacksRoom: true });
  leader.links.flush();
  observer.send(SYNC);
  follower.send({ kind: "sync", sequence: 5 });
  await observer.happened.until("snapshot-chunk on 1");
  await follower.happened.until("ping on 1");
  await leader.happened.until(/^sync on/, 2);
  expect(observer.messages[0]).toEqual(LEVEL);
  expect(observer.messages[1]).toMatchObject({ index: 3, isLast: true, bytes: Uint8Array.from(chunk.subarray(10)) });
  expect(follower.happened.list).toEqual(["opened 1 sid 1 dialed", "ping on 1"]);
  expect(leader.happened.list).toEqual(
    expect.arrayContaining([`opened ${toObserver} sid 4`, `sync on ${toObserver}`, `sync on ${toFollower}`]),
  );
});

test("entries that the follower was sent go to it once, and the observer gets what it is due, in its place", async () => {
  let toLeader: Socket | undefined;
  const transport: typeof PLAIN_TRANSPORT = {
    ...PLAIN_TRANSPORT,
    connect: (address, ready) => {
      const socket = PLAIN_TRANSPORT.connect(address, ready);
      if ("bytesRead" in socket) toLeader = socket;
      return socket;
    },
  };
  const { leader, follower, observer, toFollower, toObserver } = await passedOn({ 2: { config: { transport } } });
  const batches = [entries(1, [100_000, 100_000]), entries(3, [100_000]), entries(4, [100_000, 100_000, 100_000])];
  for (const batch of batches) leader.links.send(toFollower, batch);
  leader.links.flush();
  await follower.happened.until("entries on 1", 3);
  const readBefore = toLeader?.bytesRead ?? 0;
  expect(readBefore).toBeGreaterThan(600_000);
  const [a, b, c] = batches as [EntriesMessage, EntriesMessage, EntriesMessage];
  const frame = 100_012;
  const all = Buffer.concat(batches.map(({ bytes }) => bytes));
  const part = (first: number, last: number): EntriesMessage => ({
    ...a,
    previous: (first - 1) as Zxid,
    first: first as Zxid,
    last: last as Zxid,
    count: last - first + 1,
    bytes: all,
    start: (first - 1) * frame,
    end: last * frame,
    committed: last as Zxid,
  });
  leader.links.send(toObserver, LEVEL);
  leader.links.send(toObserver, part(1, 1));
  leader.links.send(toObserver, part(2, 4));
  leader.links.send(toObserver, { kind: "ping", epoch: 7, check: 1, committed: 9 as Zxid, lacksRoom: true });
  leader.links.send(toObserver, part(5, 6));
  leader.links.flush();
  await observer.happened.until("entries on 1", 3);
  expect(observer.happened.list.slice(1)).toEqual([
    ...["up-to-date on 1", "entries on 1", "entries on 1", "ping on 1", "entries on 1"],
  ]);
  expect(observer.messages).toMatchObject([
    { kind: "up-to-date" },
    { previous: 0, first: 1, last: 1, count: 1, committed: 1 },
    { previous: 1, first: 2, last: 4, count: 3, committed: 4 },
    { kind: "ping" },
    { previous: 4, first: 5, last: 6, count: 2, committed: 6 },
  ]);
  expect(runOf(observer.messages).equals(all)).toBe(true);
  expect((toLeader?.bytesRead ?? 0) - readBefore).toBeLessThan(2000);
  // The same again, as the follower was sent it: nothing of a run needs to be cut.
  for (const batch of [a, b, c]) leader.links.send(toObserver, batch);
  leader.links.flush();
  await observer.happened.until("entries on 1", 6);
  expect(runOf(observer.messages.slice(5)).equals(all)).toBe(true);
});

test("entries that the follower was not sent, or long ago, go to the observer themselves", async () => {
  const { leader, follower, observer, toFollower, toObserver } = await passedOn();
  const early = entries(1, [1000]);
  leader.links.send(toObserver, early);
  const chunks = Array.from({ length: 12 }, (_, i) => entries(i + 1, [1_000_000]));
  for (const chunk of chunks) leader.links.send(toFollower, chunk);
  leader.links.flush();
  await follower.happened.until("entries on 1", 12);
  for (const chunk of chunks) leader.links.send(toObserver, chunk);
  leader.links.flush();
  await observer.happened.until("entries on 1", 13);
  const expected = Buffer.concat([early, ...chunks].map(({ bytes }) => bytes));
  expect(runOf(observer.messages).equals(expected)).toBe(true);
});

test("an observer that comes again by the same follower gets what that was sent between", async () => {
  const { leader, follower, observer, toFollower } = await passedOn();
  leader.links.send(toFollower, entries(1, [1000]));
  leader.links.flush();
  await follower.happened.until("entries on 1");
  observer.links.close(observer.link, { kind: "stopped" });
  await leader.happened.until(/^closed/);
  const between = entries(2, [1000]);
  leader.links.send(toFollower, between);
  leader.links.flush();
  await follower.happened.until("entries on 1", 2);
  await follow(observer, leader);
  expect(follower.links.relayedObservers()).toEqual([4]);
  leader.links.send(leader.link, entries(1, [1000]));
  leader.links.send(leader.link, between);
  leader.links.flush();
  await observer.happened.until("entries on 2", 2);
});

test("a message as long as a frame may be passes between two others that take no longer ones", async () => {
  const { observer, leader, toObserver } = await passedOn();
  const bytes = randomBytes(4 * 1024 * 1024 - 200);
  leader.links.send(toObserver, {
    kind: "snapshot-chunk",
    index: 1,
    isLast: false,
    bytes,
    start: 0,
    end: bytes.length,
  });
  leader.links.flush();
  await observer.happened.until("snapshot-chunk on 1");
});

describe("a link ends", () => {
  test("when the leader closes it, behind what was said", async () => {
    const { leader, follower, observer, toObserver } = await passedOn();
    leader.links.refuse(toObserver, "unable", { kind: "no-state-to-send" });
    leader.links.close(toObserver, { kind: "no-state-to-send" });
    await observer.happened.until(/^closed 1/);
    expect(observer.happened.list.slice(1)).toEqual([
      "refuse on 1",
      "closed 1: by way of server 2: the other side closed it",
    ]);
    expect(follower.links.relayedObservers()).toEqual([]);
    expect(leader.happened.list).toHaveLength(2);
  });

  test("when the observer closes it, behind what was said", async () => {
    const { leader, observer, toObserver } = await passedOn();
    observer.links.send(observer.link, SYNC);
    observer.links.close(observer.link, { kind: "stopped" });
    await leader.happened.until(/^closed/);
    expect(leader.happened.list.slice(2)).toEqual([
      `sync on ${toObserver}`,
      `closed ${toObserver}: the other side closed it`,
    ]);
    expect(observer.happened.list).toHaveLength(1);
  });

  test("when the leader leaves, behind what was said to all", async () => {
    const { leader, follower, observer, toFollower, toObserver } = await passedOn();
    follower.closesAtMessage = true;
    for (const link of [toObserver, toFollower])
      leader.links.send(link, { kind: "leadership-transfer", epoch: 7, successor: serverId(2) });
    for (const link of [toFollower, toObserver]) leader.links.close(link, { kind: "stopped" });
    await observer.happened.until(/^closed 1/);
    expect(follower.messages).toHaveLength(1);
    expect(observer.happened.list.slice(1)).toEqual([
      "leadership-transfer on 1",
      "closed 1: by way of server 2: the other side closed it",
    ]);
  });

  test("when the follower leaves its leader", async () => {
    const { leader, follower, observer, toObserver } = await passedOn();
    follower.links.close(follower.link, { kind: "stopped" });
    await observer.happened.until(/^closed 1: by way of server 2/);
    await leader.happened.until(new RegExp(`^closed ${toObserver}: by way of server 2`));
  });

  test("when the leader gives the follower up", async () => {
    const { leader, observer, toFollower, toObserver } = await passedOn();
    leader.links.close(toFollower, { kind: "learner-silent", limitMs: 500 });
    await leader.happened.until(new RegExp(`^closed ${toObserver}: by way of server 2: it was silent for 500 ms`));
    await observer.happened.until(/^closed 1/);
  });

  test("when the follower stops; the next way is by another", async () => {
    const { ensemble, leader, follower, observer, toObserver } = await passedOn();
    const other = await ensemble.listening(3);
    await follow(other, leader);
    await follower.links.stop();
    await observer.happened.until(/^closed 1/);
    await leader.happened.until(new RegExp(`^closed ${toObserver}`));
    await follow(observer, leader);
    expect(other.links.relayedObservers()).toEqual([4]);
    observer.send(SYNC);
    await leader.happened.until(`sync on ${leader.link}`);
  });

  test("when the observer does not read; the leader is notified", async () => {
    const { leader, follower, observer, toFollower, toObserver } = await passedOn({ 2: { bufferedBytesMax: 50_000 } });
    const batch = entries(1, [200_000]);
    leader.links.send(toFollower, batch);
    leader.links.send(toObserver, batch);
    leader.links.flush();
    await leader.happened.until(new RegExp(`^closed ${toObserver}: \\d+ bytes wait for it`));
    await observer.happened.until(/^closed 1/);
    expect(follower.warnings).toEqual([expect.stringMatching(/^closed the link with observer 4: \d+ bytes wait/)]);
    expect(follower.happened.list).toEqual(["opened 1 sid 1 dialed", "entries on 1"]);
  });
});

describe("the dial of an observer", () => {
  test("uses another follower for each of several observers", async () => {
    const { ensemble, leader, follower } = await passedOn();
    const other = await ensemble.listening(3);
    await follow(other, leader);
    const observer = ensemble.side(5);
    await follow(observer, leader);
    expect(other.links.relayedObservers()).toEqual([5]);
    expect(follower.links.relayedObservers()).toEqual([4]);
  });

  test("goes straight to the leader if no server follows it, or no follower accepts observers", async () => {
    const ensemble = new Ensemble();
    const leader = await ensemble.listening(1);
    const ends: string[] = [];
    const transport: typeof PLAIN_TRANSPORT = {
      ...PLAIN_TRANSPORT,
      accept: (socket, ...more) => {
        socket.once("finish", () => ends.push("closed by the follower"));
        socket.once("end", () => ends.push("closed by the observer"));
        PLAIN_TRANSPORT.accept(socket, ...more);
      },
    };
    const idle = await ensemble.listening(2, { config: { transport } });
    const observer = ensemble.side(4);
    await follow(observer, leader);
    // The refused observer closes it as well: the follower does not wait for that.
    expect(ends[0]).toBe("closed by the follower");
    expect(idle.links.relayedObservers()).toEqual([]);
    expect(observer.happened.list).toEqual(["opened 1 sid 1 dialed"]);
    observer.send(SYNC);
    await leader.happened.until("sync on 1");
  });

  test("waits a little for a follower that has not reached its leader yet", async () => {
    const ensemble = new Ensemble();
    const leader = await ensemble.listening(1);
    const follower = await ensemble.listening(2);
    const observer = ensemble.side(4, {
      config: {
        transport: {
          ...PLAIN_TRANSPORT,
          connect: (address, ready) =>
            PLAIN_TRANSPORT.connect(address, (socket) => {
              follower.links.dial(LEADER);
              ready(socket);
            }),
        },
      },
    });
    observer.links.dial(LEADER);
    await observer.happened.until("opened 1 sid 1 dialed");
    await leader.happened.until(/sid 4$/);
    expect(follower.links.relayedObservers()).toEqual([4]);
  });

  test("does not wait for a follower of another leader, or one that becomes it", async () => {
    const ensemble = new Ensemble();
    const follower = await ensemble.listening(2);
    const other = await ensemble.listening(3);
    // It follows no server: it may come to follow the leader.
    const slow = asked(ensemble, 3);
    await slow.hasAsked;
    const early = asked(ensemble, 2);
    await early.hasAsked;
    follower.links.dial(serverId(3));
    expect(await Promise.race([slow.answer, early.answer])).toBe("server 2 does not follow server 1");
    await other.happened.until(/sid 2$/);
    expect(await Promise.race([slow.answer, asked(ensemble, 2).answer])).toBe("server 2 does not follow server 1");
  });

  test("uses another follower than the last one, if there is one", async () => {
    const { ensemble, leader, follower, observer } = await passedOn();
    const other = await ensemble.listening(3);
    await follow(other, leader);
    observer.links.close(observer.link, { kind: "leader-silent", silentMs: 500 });
    await leader.happened.until(/^closed/);
    await follow(observer, leader);
    expect(other.links.relayedObservers()).toEqual([4]);
    expect(follower.links.relayedObservers()).toEqual([]);
  });

  test("does not use a follower of another leader", async () => {
    const { ensemble, follower } = await passedOn();
    const other = await ensemble.listening(3);
    const observer = ensemble.side(4, { bootCount: 2 });
    observer.links.dial(serverId(3));
    await observer.happened.until("opened 1 sid 3 dialed");
    await other.happened.until("opened 1 sid 4");
    expect(follower.links.relayedObservers()).toEqual([4]);
    expect(ensemble.peers.lines).toEqual([]);
  });

  test("uses another follower if one does not answer", async () => {
    const ensemble = new Ensemble();
    const leader = await ensemble.listening(1);
    const mute = new PeerPort("observer", ensemble.options(2), {
      accepted: () => ({ wake() {}, opened() {}, message() {}, drained() {}, ended() {} }),
      admit: () => undefined,
    });
    stopsWithSides(mute);
    await mute.listen();
    ensemble.peers.place(2, { observerMasterPort: mute.port });
    await follow(ensemble.side(4, { handshakeTimeoutMs: 50 }), leader);
  });

  test("ends when it is cancelled, and may be repeated", async () => {
    const { ensemble, leader, follower } = await passedOn();
    const observer = ensemble.side(4, { bootCount: 2 });
    observer.links.dial(LEADER);
    observer.links.cancelDial();
    await follow(observer, leader);
    expect(observer.happened.list).toEqual(["opened 1 sid 1 dialed"]);
    expect(follower.links.relayedObservers()).toEqual([4]);
  });
});

describe("with shared secrets", () => {
  const secret = (id: string): PeerSecret => peerSecret(id, Buffer.alloc(32, id));

  test("observer and leader authenticate each other, through the follower", async () => {
    const config = { secrets: [secret("a")] };
    const { leader, observer, toObserver } = await passedOn({ 1: { config }, 2: { config }, 4: { config } });
    observer.send(SYNC);
    await leader.happened.until(`sync on ${toObserver}`);
  });

  test("an observer whose proof only the follower accepts is refused", async () => {
    const ensemble = new Ensemble();
    const leader = await ensemble.listening(1, { config: { secrets: [secret("a")] } });
    const follower = await ensemble.listening(2, { config: { secrets: [secret("a"), secret("b")] } });
    await follow(follower, leader);
    const observer = ensemble.side(4, { tickMs: 20, config: { secrets: [secret("b")] } });
    await observer.dialUntilFailed(LEADER, /the two servers have no secret in common/);
    expect(leader.happened.list).toEqual(["opened 1 sid 2"]);
    expect(ensemble.peers.lines.join("\n")).toMatch(/no secret in common/);
  });
});

describe("the port", () => {
  test("accepts observers only", async () => {
    const { ensemble } = await passedOn();
    const voter = ensemble.side(3, { config: { isObserver: true } });
    voter.links.dial(LEADER);
    const lines = (): string => ensemble.peers.lines.join("\n");
    await expect.poll(lines).toMatch(/server 3 has a vote; observerMasterPort is for observers/);
  });

  test("that is taken is named by its setting, does not stop the server, and is had once it is free", async () => {
    const { ensemble, follower } = await passedOn();
    const config = { bindRetryCount: 1 };
    const addressOf = () => ({
      host: "127.0.0.1",
      quorumPort: 0,
      electionPort: 0,
      observerMasterPort: follower.links.observerMasterPort,
    });
    const { observerMasterPort } = follower.links;
    const other = ensemble.side(3, { bindRetryMs: 1, addressOf, config });
    await other.links.listen();
    expect(other.warnings).toEqual([
      `observers cannot come by this server: the observer port ${observerMasterPort} on 127.0.0.1 is taken by another process; see observerMasterPort; it is tried again until it is free`,
    ]);
    await follower.links.stop();
    while (!(await isReachable(observerMasterPort ?? 0)));
  });
});

test("an observer keeps the identity that it proved to the follower", async () => {
  const { ensemble } = await passedOn();
  const quiet = { accepted: UNEXPECTED, admit: () => undefined };
  const ports = {
    observer: new PeerPort("observer", ensemble.options(4), quiet),
    // It claims another sid there than in the follower's proof.
    quorum: new PeerPort("quorum", ensemble.options(5), quiet),
  };
  stopsWithSides(ports.observer);
  stopsWithSides(ports.quorum);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  new RelayedDial(
    ports,
    { leader: LEADER, by: serverId(2), limits: {}, answerTimeoutMs: 5000 },
    { wake() {}, opened() {}, message() {}, drained() {}, entries() {}, ended: ({ reason }) => resolve(reason) },
  );
  await ended;
  expect(ensemble.peers.lines.join("\n")).toMatch(/server 2 knows it as server 4, not as server 5/);
});

test("an observer's first message may arrive together with its request, and its handshake is over then", async () => {
  const ensemble = new Ensemble();
  const leader = await ensemble.listening(1, { handshakeTimeoutMs: 100 });
  const port = new PeerPort("quorum", ensemble.options(2), { accepted: UNEXPECTED, admit: () => undefined });
  stopsWithSides(port);
  const hello = helloFrame(ensemble.peers, 4);
  const follower = port.dial(LEADER, {
    wake() {},
    message() {},
    drained() {},
    ended() {},
    opened: () => {
      follower.append({ kind: "relay-open", channel: 1, sid: serverId(4) });
      follower.append({ kind: "relay-bytes", channel: 1, bytes: hello, start: 0, end: hello.length });
      follower.flush();
    },
  });
  await leader.happened.until("opened 2 sid 4");
  // A later connection that sends nothing is closed, because the time of a handshake has passed.
  const mute = connect({ host: "127.0.0.1", port: leader.links.port }).resume();
  await once(mute, "close");
  const sync = frameOf(SYNC);
  follower.append({ kind: "relay-bytes", channel: 1, bytes: sync, start: 0, end: sync.length });
  follower.flush();
  await leader.happened.until("sync on 2");
  expect(leader.happened.list).toEqual(["opened 1 sid 2", "opened 2 sid 4", "sync on 2"]);
});

test("a relayed message before the handshake closes the connection", async () => {
  const { ensemble } = await passedOn();
  const port = new PeerPort("observer", ensemble.options(5), { accepted: UNEXPECTED, admit: () => undefined });
  stopsWithSides(port);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const connection = port.dial(serverId(2), {
    wake() {},
    message() {},
    drained() {},
    ended: ({ reason }) => resolve(reason),
    opened: () => {
      connection.append({ kind: "relay-bytes", channel: 1, bytes: new Uint8Array(9), start: 0, end: 9 });
      connection.flush();
    },
  });
  await ended;
});

test("an observer relays no connection", async () => {
  const { ensemble, leader } = await passedOn();
  const direct = ensemble.side(5, { config: { observerMasterPort: undefined } });
  await follow(direct, leader);
  direct.send({ kind: "relay-open", channel: 1, sid: serverId(4) } as unknown as PeerMessage);
  await leader.happened.until(`closed ${leader.link}: it relays server 4 out of turn`);
});

test("only a voter that follows relays connections", async () => {
  const { leader, follower, observer, toFollower, toObserver } = await passedOn();
  const open = { kind: "relay-open", channel: 9, sid: serverId(5) };
  observer.send(open as unknown as PeerMessage);
  await leader.happened.until(`closed ${toObserver}: it relays server 5 out of turn`);
  leader.links.send(toFollower, open as unknown as PeerMessage);
  leader.links.flush();
  await follower.happened.until("closed 1: it relays server 5 out of turn");
});
