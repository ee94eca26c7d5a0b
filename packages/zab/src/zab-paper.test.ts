/**
 * The protocol, sentence by sentence, as an introduction that runs: S1, S2 and S3 are servers, an
 * entry is named after its zxid (`1.2` is the second of epoch 1), and elections are acts of the
 * test. The sentences are those of Junqueira, Reed and Serafini, "Zab: High-performance broadcast
 * for primary-backup systems" (2011), and the invariants of docs/reference/zab.md, by their ids.
 */
import { composeZxid, epochOf, serverId } from "@zooid/model";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { describe, expect, test } from "vitest";
import { type Delivered, PaperEnsemble } from "./testing/paper-ensemble.ts";

/** S1 leads S2 and S3 in epoch 1. */
function established(): PaperEnsemble {
  const ensemble = new PaperEnsemble();
  ensemble.elect(1, 2, 3);
  return ensemble;
}

describe("phase 1, discovery", () => {
  test("followers tell the leader which epoch they promised last, and it takes a later one", () => {
    const ensemble = established();
    for (const sid of ensemble.sids) ensemble.crash(sid);
    ensemble.elect(2, 1, 3);
    const [reported, offered] = [ensemble.sentOf("learner-info"), ensemble.sentOf("leader-info")];
    expect(reported.map(({ message }) => message.promise.epoch)).toEqual([0, 0, 1, 1]);
    expect(offered.map(({ message }) => message.epoch)).toEqual([1, 1, 2, 2]);
  });

  test("the leader offers an epoch only when a quorum has connected", () => {
    const ensemble = new PaperEnsemble(5);
    ensemble.elect(1, 2);
    expect(ensemble.sentOf("leader-info")).toEqual([]);
    ensemble.follow(3, 1);
    expect(ensemble.sentOf("leader-info")).not.toEqual([]);
  });

  test("a server has its promise on disk before it sends it (I2)", () => {
    const ensemble = established();
    for (const { message, disk } of ensemble.sentOf("leader-info"))
      expect(disk.promise).toMatchObject({ epoch: message.epoch, sid: 1 });
    for (const { disk } of ensemble.sentOf("ack-epoch")) expect(disk.promise).toMatchObject({ epoch: 1, sid: 1 });
  });

  test("a follower that promised an epoch to one leader follows no leader of an earlier one", () => {
    const ensemble = established();
    for (const sid of [2, 3]) ensemble.crash(sid);
    ensemble.elect(2, 3);
    ensemble.crash(3);
    ensemble.follow(3, 1);
    const end = { kind: "epoch-promised-elsewhere", sid: 3, epoch: 2, to: 2 };
    expect(ensemble.ends).toContainEqual({ sid: 1, end });
    expect(ensemble.disk(3).promise).toMatchObject({ epoch: 2, sid: 2 });
  });

  test("two servers that both believe to lead have different epochs (I1)", () => {
    const ensemble = established();
    for (const sid of [2, 3]) ensemble.crash(sid);
    ensemble.elect(2, 3);
    const leaders = [1, 2].map((sid) => ensemble.peer(sid));
    expect(leaders.map(({ state, epoch }) => [state, epoch])).toEqual([
      ["leading", 1],
      ["leading", 2],
    ]);
  });

  test("a server does not lead a quorum of which one has a newer history", () => {
    const ensemble = established();
    ensemble.lose(({ message, to }) => to === 3 && message.kind === "entries");
    ensemble.propose(1);
    for (const sid of ensemble.sids) ensemble.crash(sid);
    ensemble.elect(3, 2);
    expect(ensemble.ends).toContainEqual({
      sid: 3,
      end: expect.objectContaining({ kind: "learner-is-ahead", sid: 2 }),
    });
    expect(ensemble.disk(2).tail.zxid).toBe(composeZxid(1, 1));
  });
});

describe("phase 2, synchronization", () => {
  test("a follower that lacks entries gets them, and the history is one transaction of its disk", () => {
    const ensemble = new PaperEnsemble();
    ensemble.elect(1, 2);
    ensemble.propose(1, 3);
    ensemble.follow(3, 1);
    expect(ensemble.sentOf("sync-begin").at(-1)).toMatchObject({ to: 3, message: { mode: "diff" } });
    expect(ensemble.disk(3)).toMatchObject({ currentEpoch: 1, tail: ensemble.disk(1).tail });
    expect(ensemble.delivered(3)).toEqual(["1.1", "1.2", "1.3"]);
  });

  test("a follower cuts what its leader's history lacks, and never delivers it (I20)", () => {
    const ensemble = established();
    ensemble.lose(({ message }) => message.kind === "entries");
    ensemble.propose(1, 2);
    expect(ensemble.disk(1).tail.zxid).toBe(composeZxid(1, 2));
    ensemble.lose(() => false);
    for (const sid of ensemble.sids) ensemble.crash(sid);
    ensemble.elect(2, 3);
    ensemble.propose(2);
    ensemble.follow(1, 2);
    expect(ensemble.sentOf("sync-begin").at(-1)).toMatchObject({ to: 1, message: { mode: "trunc" } });
    expect(ensemble.disk(1).tail.zxid).toBe(composeZxid(2, 1));
    expect(ensemble.sids.map((sid) => ensemble.delivered(sid))).toEqual([["2.1"], ["2.1"], ["2.1"]]);
  });

  test("a follower accepts the leader's history once it is on its disk, with the epoch (I18)", () => {
    const ensemble = established();
    for (const { message, disk } of ensemble.sentOf("ack-new-leader"))
      expect([disk.currentEpoch, disk.tail.zxid]).toEqual([message.epoch, message.through]);
  });

  test("a leader serves no client before a quorum has accepted the history", () => {
    const ensemble = new PaperEnsemble();
    ensemble.lose(({ message }) => message.kind === "ack-new-leader");
    ensemble.elect(1, 2, 3);
    expect(ensemble.sentOf("up-to-date")).toEqual([]);
    expect(ensemble.served).toEqual([]);
  });

  test("an entry of an earlier epoch is committed by the quorum that accepts the history with it", () => {
    const ensemble = established();
    // S2 has 1.1 on disk; its ack and the entry for S3 are lost.
    ensemble.lose(({ message, to }) => message.kind === "ack" || (message.kind === "entries" && to === 3));
    ensemble.propose(1);
    expect(ensemble.delivered(1)).toEqual([]);
    ensemble.lose(() => false);
    for (const sid of ensemble.sids) ensemble.crash(sid);
    ensemble.elect(2, 3);
    expect([ensemble.delivered(2), ensemble.delivered(3)]).toEqual([["1.1"], ["1.1"]]);
  });
});

describe("phase 3, broadcast", () => {
  test("a leader sends its proposals to all followers in the order of their zxids (I4)", () => {
    const ensemble = established();
    for (let i = 0; i < 3; i++) ensemble.propose(1, 2);
    for (const sid of [2, 3]) {
      const runs = ensemble.sentOf("entries").filter(({ to }) => to === sid);
      const zxids = runs.flatMap(({ message }) => [message.first, message.last]);
      expect(zxids).toEqual([...zxids].sort((a, b) => a - b));
      expect(zxids.at(-1)).toBe(composeZxid(1, 6));
    }
  });

  test("a follower acknowledges an entry once it is on its disk (I17)", () => {
    const ensemble = established();
    ensemble.holdDisk(2);
    ensemble.propose(1);
    ensemble.propose(1);
    expect(ensemble.sentOf("ack").filter(({ from }) => from === 2)).toEqual([]);
    ensemble.releaseDisk(2);
    expect(ensemble.sentOf("ack").some(({ from }) => from === 2)).toBe(true);
    for (const { message, disk } of ensemble.sentOf("ack"))
      expect(disk.tail.zxid).toBeGreaterThanOrEqual(message.durable);
  });

  test("an entry is committed when a quorum has it on disk, the leader among it or not (I9)", () => {
    const ensemble = established();
    ensemble.holdDisk(1);
    ensemble.propose(1);
    expect([ensemble.delivered(2), ensemble.delivered(3)]).toEqual([["1.1"], ["1.1"]]);
    // It is committed; the leader itself delivers what its own disk has.
    expect(ensemble.delivered(1)).toEqual([]);
    ensemble.releaseDisk(1);
    expect(ensemble.delivered(1)).toEqual(["1.1"]);
  });

  test("without a quorum nothing is committed", () => {
    const ensemble = established();
    ensemble.holdDisk(2);
    ensemble.holdDisk(3);
    ensemble.propose(1);
    expect(ensemble.sids.map((sid) => ensemble.delivered(sid))).toEqual([[], [], []]);
  });

  test("a follower that comes late is synchronized while the broadcast continues, and then counts", () => {
    const ensemble = new PaperEnsemble();
    ensemble.elect(1, 2);
    ensemble.propose(1);
    ensemble.peer(3).follow(serverId(1));
    ensemble.propose(1);
    ensemble.holdDisk(2);
    ensemble.propose(1);
    expect(ensemble.sids.map((sid) => ensemble.delivered(sid))).toEqual([
      ["1.1", "1.2", "1.3"],
      ["1.1", "1.2"],
      ["1.1", "1.2", "1.3"],
    ]);
  });

  test("a leader that was deposed commits nothing more", () => {
    const ensemble = established();
    for (const sid of [2, 3]) ensemble.crash(sid);
    ensemble.elect(2, 3);
    ensemble.propose(2);
    expect(ensemble.delivered(1)).toEqual([]);
    expect(ensemble.delivered(2)).toEqual(["2.1"]);
  });
});

/** The deliveries in a random life of three servers: crashes, lost messages, slow disks. */
function randomLife(seed: number): PaperEnsemble {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const ensemble = new PaperEnsemble();
  for (let i = 0; i < 30; i++) {
    const sid = 1 + below(3);
    const peer = ensemble.peer(sid);
    const act = below(6);
    if (act === 0) ensemble.crash(sid);
    else if (act === 1) ensemble.holdDisk(sid);
    else if (act === 2) ensemble.releaseDisk(sid);
    else if (act === 3) ensemble.lose(() => random() < 0.05);
    else if (act === 4) {
      ensemble.lose(() => false);
      for (const each of ensemble.sids) ensemble.crash(each);
      const others = ensemble.sids.filter((each) => each !== sid).slice(below(2));
      ensemble.elect(sid, ...others);
    } else if (peer.state === "leading" && peer.phase === "broadcast") ensemble.propose(sid, 1 + below(3));
  }
  return ensemble;
}

const LIVES = Array.from({ length: 200 }, (_, i) => randomLife(i + 1));

/** All pairs of entries that a server delivered, the earlier one first. */
function pairsOf(entries: readonly Delivered[]): readonly (readonly [Delivered, Delivered])[] {
  return entries.flatMap((a, i) => entries.slice(i + 1).map((b) => [a, b] as const));
}

describe("what follows for every run", () => {
  const servers = LIVES.flatMap((life) => life.sids.map((sid) => ({ life, entries: life.deliveredEntries(sid) })));

  test("the random lives have deliveries in several epochs, and entries that are never delivered", () => {
    const epochs = servers.map(({ entries }) => new Set(entries.map(({ zxid }) => epochOf(zxid))).size);
    expect(epochs.filter((count) => count > 1).length).toBeGreaterThan(50);
    const isLost = LIVES.some(({ proposed, sids }, i) =>
      proposed.some(({ name }) => sids.every((sid) => !LIVES[i]?.delivered(sid).includes(name))),
    );
    expect(isLost).toBe(true);
  });

  test("integrity: each delivered entry was proposed (I7)", () => {
    for (const { life, entries } of servers) expect(life.proposed).toEqual(expect.arrayContaining([...entries]));
  });

  test("total order: the histories of any two servers are prefixes of one another (I13)", () => {
    for (const life of LIVES) {
      const histories = life.sids.map((sid) => life.delivered(sid)).sort((a, b) => a.length - b.length);
      for (const [i, shorter] of histories.entries())
        for (const longer of histories.slice(i + 1)) expect(longer.slice(0, shorter.length)).toEqual(shorter);
    }
  });

  test("local primary order: a leader's entries are delivered in the order of its proposals, without a gap", () => {
    for (const { life, entries } of servers) {
      const places = entries.map(({ name }) => life.proposed.findIndex((each) => each.name === name));
      for (const [i, { zxid }] of entries.entries()) {
        const before = entries[i - 1];
        if (before !== undefined && epochOf(before.zxid) === epochOf(zxid))
          expect(places[i]).toBe((places[i - 1] ?? 0) + 1);
        else expect(zxid).toBe(composeZxid(epochOf(zxid), 1));
      }
    }
  });

  test("global primary order: entries of an earlier epoch come first, each once (I21)", () => {
    for (const { entries } of servers) for (const [a, b] of pairsOf(entries)) expect(a.zxid).toBeLessThan(b.zxid);
  });

  test("primary integrity: a leader proposes after it has delivered all that anyone delivers of earlier epochs (I22)", () => {
    for (const { life, entries } of servers) {
      for (const [epoch, before] of life.deliveredBefore) {
        if (!entries.some(({ zxid }) => epochOf(zxid) === epoch)) continue;
        expect(before).toEqual(entries.filter(({ zxid }) => epochOf(zxid) < epoch));
      }
    }
  });

  test("committed entries are on the disks of a quorum (I11)", () => {
    for (const life of LIVES) {
      const newest = Math.max(...life.sids.map((sid) => life.deliveredEntries(sid).at(-1)?.zxid ?? 0));
      const holders = life.sids.filter((sid) => life.disk(sid).tail.zxid >= newest);
      expect(holders.length).toBeGreaterThanOrEqual(2);
    }
  });
});
