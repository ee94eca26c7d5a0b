import {
  COUNTER_TRANSFER,
  composeZxid,
  EPOCH_MAX,
  type LinkRef,
  MajorityQuorum,
  type PeerMessage,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { describe, expect, test } from "vitest";
import { ZabPeer } from "./peer.ts";
import { batchOf, RecordingSinks } from "./testing/batch.ts";

function newPeer(
  limits: { outstandingCountMax?: number; outstandingBytesMax?: number } = {},
  voters = 1,
  history: Zxid = ZXID_NONE,
) {
  const sinks = new RecordingSinks(history);
  const verifier = new MajorityQuorum(Array.from({ length: voters }, (_, i) => serverId(i + 1)));
  const config = { sid: serverId(1), verifier, outstandingCountMax: 100, outstandingBytesMax: 10_000, ...limits };
  return { sinks, peer: new ZabPeer(config, sinks) };
}

describe("an ensemble of one", () => {
  test("commits what its own disk has, and not before", () => {
    const { peer, sinks } = newPeer();
    peer.leadAlone(1);
    peer.propose(batchOf(1, 1, 2));
    expect([sinks.deliver(peer, 10), sinks.delivered]).toEqual([false, []]);
    peer.synced(peer.generation, composeZxid(1, 1));
    expect([sinks.deliver(peer, 10), sinks.delivered]).toEqual([false, ["entry 1"]]);
    peer.synced(peer.generation, composeZxid(1, 2));
    sinks.deliver(peer, 10);
    expect([sinks.delivered, peer.outstandingCount, sinks.released.length]).toEqual([["entry 1", "entry 2"], 0, 1]);
  });

  test("delivers no more at a time than the caller allows", () => {
    const { peer, sinks } = newPeer();
    peer.leadAlone(1);
    peer.propose(batchOf(1, 1, 2, 3, 4, 5));
    peer.synced(peer.generation, composeZxid(1, 5));
    expect([sinks.deliver(peer, 2), sinks.deliver(peer, 2), sinks.deliver(peer, 2), sinks.deliver(peer, 2)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(sinks.delivered).toHaveLength(5);
  });

  test("cannot be claimed by one of three", () => {
    expect(() => newPeer({}, 3).peer.leadAlone(1)).toThrow("a server leads alone only where it alone is a quorum");
  });
});

describe("roles", () => {
  test("a completion of an older role changes nothing", () => {
    const { peer, sinks } = newPeer();
    peer.leadAlone(1);
    peer.propose(batchOf(1, 1));
    const stale = peer.generation;
    peer.resign({ kind: "quorum-lost" });
    expect(peer.state).toBe("looking");
    peer.synced(stale, composeZxid(1, 1));
    expect([sinks.deliver(peer, 10), sinks.delivered]).toEqual([false, []]);
    expect(peer.committed).toBe(ZXID_NONE);
  });

  test("each role has a generation of its own, which its appends carry", () => {
    const { peer, sinks } = newPeer();
    peer.leadAlone(1);
    peer.propose(batchOf(1, 1));
    peer.resign({ kind: "quorum-lost" });
    peer.synced(1, composeZxid(1, 1));
    peer.leadAlone(2);
    peer.propose(batchOf(2, 1));
    const [first, second] = sinks.appended.map(({ generation }) => generation);
    expect(second).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
  });

  test("a server that does not lead cannot propose", () => {
    const { peer } = newPeer();
    expect(() => peer.propose(batchOf(1, 1))).toThrow("only a leader proposes");
  });
});

describe("epochs", () => {
  test.each([
    ["the history's own", 3, composeZxid(3, 9), "epoch 3 follows the history's last zxid 0x300000009"],
    ["an older one", 2, composeZxid(3, 9), "epoch 2 follows"],
    ["one beyond exact zxids", EPOCH_MAX, composeZxid(3, 9), "where zxids would no longer be exact"],
  ])("%s cannot be led", (_, epoch, history, reason) => {
    expect(() => newPeer({}, 1, history).peer.leadAlone(epoch)).toThrow(reason);
  });

  test.each([
    ["another epoch", batchOf(2, 1), "proposes in it"],
    ["a gap", batchOf(1, 2), "leaves a gap behind"],
  ])("a proposal in %s is a defect", (_, batch, reason) => {
    const { peer } = newPeer();
    peer.leadAlone(1);
    expect(() => peer.propose(batch)).toThrow(reason);
  });

  test("the last epoch but one is led like any other", () => {
    const epoch = EPOCH_MAX - 1;
    const { peer, sinks } = newPeer({}, 1, composeZxid(epoch - 1, 0xffff_ffff));
    peer.leadAlone(epoch);
    peer.propose(batchOf(epoch, 1, 2));
    peer.synced(peer.generation, composeZxid(epoch, 2));
    sinks.deliver(peer, 10);
    expect(sinks.zxids).toEqual([composeZxid(epoch, 1), composeZxid(epoch, 2)]);
  });

  test("an epoch whose counter nears its end says so", () => {
    const { peer } = newPeer();
    peer.leadAlone(1);
    expect(peer.isExhausted).toBe(false);
    const counters = { first: composeZxid(1, 1), last: composeZxid(1, COUNTER_TRANSFER) };
    peer.propose({ ...batchOf(1, 1), ...counters });
    expect(peer.isExhausted).toBe(true);
  });
});

test("it is full by entries or by bytes, until they are delivered", () => {
  for (const limits of [{ outstandingCountMax: 3 }, { outstandingBytesMax: batchOf(1, 1, 2, 3).end }]) {
    const { peer, sinks } = newPeer(limits);
    peer.leadAlone(1);
    peer.propose(batchOf(1, 1, 2));
    expect(peer.isFull).toBe(false);
    peer.propose(batchOf(1, 3));
    expect(peer.isFull).toBe(true);
    peer.synced(peer.generation, composeZxid(1, 3));
    sinks.deliver(peer, 10);
    expect(peer.isFull).toBe(false);
  }
});

describe("learners that come to a server without a role", () => {
  const info = {
    kind: "learner-info",
    isObserver: false,
    promise: { epoch: 0, sid: 0, incarnation: 0 },
    isFresh: true,
    isAmnesiac: false,
    isOwn: false,
    ensembleId: "",
    attemptId: "",
    configVersion: ZXID_NONE,
  } as const;
  const [first, second] = [7, 8] as [LinkRef, LinkRef];

  function looking(voters: number) {
    const said: string[] = [];
    const sinks = Object.assign(new RecordingSinks(), {
      links: {
        dial: () => {},
        send: (link: LinkRef, message: PeerMessage) => said.push(`${link} ${message.kind}`),
        refuse: (link: LinkRef, reason: string, { kind }: { kind: string }) => said.push(`${link} ${reason}: ${kind}`),
        close: (link: LinkRef) => said.push(`${link} closed`),
      },
    });
    const verifier = new MajorityQuorum(Array.from({ length: voters }, (_, i) => serverId(i + 1)));
    const peer = new ZabPeer({ sid: serverId(1), verifier }, sinks);
    peer.setTime(0);
    peer.flush();
    return { peer, said, wanted: () => sinks.wantedCount };
  }

  test("make it lead when they are a quorum with it", () => {
    const { peer, wanted } = looking(5);
    peer.linkOpened(first, serverId(2), false);
    peer.onMessage(first, info);
    expect(wanted()).toBe(0);
    peer.linkOpened(second, serverId(3), false);
    peer.onMessage(second, info);
    expect(wanted()).toBe(1);
  });

  test.each([
    ["that they alone wrote, may be followed by its vote", true, ""],
    ["of an ensemble, take its vote", false, "e"],
  ])("with entries %s", (_, isOwn, ensembleId) => {
    const { peer } = looking(3);
    peer.lead();
    peer.linkOpened(first, serverId(2), false);
    peer.onMessage(first, {
      ...info,
      isFresh: false,
      promise: { epoch: 1, sid: 2, incarnation: 3 },
      isOwn,
      ensembleId,
    });
    peer.flush();
    expect([peer.state, peer.mayVote]).toEqual(["looking", isOwn]);
  });

  test("are refused when it does not lead in time", () => {
    const { peer, said } = looking(5);
    peer.linkOpened(first, serverId(2), false);
    peer.onMessage(first, info);
    expect(peer.nextDueMs()).toBe(2000);
    peer.setTime(1999);
    peer.tick();
    expect(said).toEqual([]);
    peer.setTime(2000);
    peer.tick();
    expect(said).toEqual(["7 not-leading: no-leader-known", "7 closed"]);
    expect(peer.nextDueMs()).toBeUndefined();
  });

  test("are refused by one that follows another", () => {
    const { peer, said } = looking(3);
    peer.linkOpened(first, serverId(2), false);
    peer.onMessage(first, info);
    peer.follow(serverId(3));
    expect(said).toEqual(["7 not-leading: follows-another", "7 closed"]);
  });

  test.each([
    ["that follows another", {}],
    ["that follows another leader than the one that named it", { namedBy: serverId(2) }],
  ])("are refused when they come to a server %s", (_, fields) => {
    const { peer, said } = looking(3);
    peer.follow(serverId(3));
    peer.linkOpened(first, serverId(2), false);
    peer.onMessage(first, { ...info, ...fields });
    expect(said).toEqual(["7 not-leading: follows-another", "7 closed"]);
  });

  test("wait at a server whose leader has named it as successor, until it has had the time to hear of that", () => {
    const { peer, said } = looking(3);
    peer.follow(serverId(3));
    peer.linkOpened(first, serverId(2), false);
    peer.linkOpened(second, serverId(3), true);
    peer.onMessage(first, { ...info, namedBy: serverId(3) });
    expect(said).toEqual(["8 learner-info"]);
    expect(peer.nextDueMs()).toBe(2000);
    peer.setTime(2000);
    peer.tick();
    expect(said.slice(1)).toEqual(["7 not-leading: follows-another", "7 closed"]);
  });
});
