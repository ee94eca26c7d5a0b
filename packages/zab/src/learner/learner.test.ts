import {
  composeZxid,
  counterOf,
  type LinkRef,
  MajorityQuorum,
  type Members,
  type PeerMessage,
  parseMembers,
  serverId,
  ZXID_NONE,
} from "@zooid/model";
import { expect, test } from "vitest";
import type { PeerOptions } from "../config.ts";
import { decodeMembers, encodeMembers } from "../known-members.ts";
import { ZabPeer } from "../peer.ts";
import { batchOf, RecordingSinks } from "../testing/batch.ts";
import { VolatileLog } from "../volatile-log.ts";

const LEADER = serverId(1);
const LINK = 1 as LinkRef;
const ENTRY_BYTES = batchOf(1, 1).end;

/** A server with an empty log that is synced with a leader whose log is empty too, in epoch 1. */
function level(isObserver: boolean, config: Pick<PeerOptions, "members" | "windowBytes"> = {}, logged?: Members) {
  const steps: (() => void)[] = [];
  const said: PeerMessage[] = [];
  const log = new VolatileLog(
    2,
    (step) => steps.push(step),
    (generation, zxid) => peer.synced(generation, zxid),
  );
  const sinks = Object.assign(new RecordingSinks(), {
    log,
    links: {
      dial: () => {},
      send: (_: LinkRef, message: PeerMessage) => said.push(message),
      refuse: () => {},
      close: () => {},
    },
  });
  const voters = isObserver ? [LEADER] : [LEADER, serverId(2)];
  const verifier = new MajorityQuorum(voters);
  if (logged !== undefined) log.setConfigs({ lastSeen: encodeMembers(logged) }, () => {});
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) step();
  const peer = new ZabPeer({ sid: serverId(2), isObserver, verifier, ...config }, sinks);
  const hears = (message: PeerMessage): void => {
    peer.onMessage(LINK, message);
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) step();
  };
  peer.setTime(1000);
  peer.follow(LEADER);
  peer.linkOpened(LINK, LEADER, true);
  const from = { zxid: ZXID_NONE, chain: 0n } as never;
  hears({ kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
  hears({ kind: "sync-begin", epoch: 1, mode: "diff", from, epochs: [] });
  hears({
    kind: "new-leader",
    epoch: 1,
    through: ZXID_NONE,
    endsAmnesia: false,
    ensembleId: "",
    config: undefined,
    committedConfig: undefined,
  });
  hears({ kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  let counter = 0;
  let previous = ZXID_NONE;
  const entry = (): void => {
    const { bytes, end, first, last, count } = batchOf(1, ++counter);
    const run = { bytes, start: 0, end, first, last, count };
    hears({ kind: "entries", epoch: 1, previous, ...run, committed: last, check: 0 });
    previous = last;
  };
  const acked = (): number[] => said.flatMap((message) => (message.kind === "ack" ? [counterOf(message.durable)] : []));
  return { peer, log, entry, acked };
}

test("a voter acks each append when it is on its disk", () => {
  const { entry, acked } = level(false);
  for (let i = 0; i < 3; i++) entry();
  expect(acked()).toEqual([1, 2, 3]);
});

test("an observer acks the entries of 100 ms at once, and sends no ack without entries", () => {
  const { peer, entry, acked } = level(true);
  const at = (nowMs: number): number => {
    peer.setTime(nowMs);
    peer.tick();
    return acked().length;
  };
  for (let i = 0; i < 3; i++) entry();
  expect(acked()).toHaveLength(1);
  expect(peer.nextDueMs()).toBe(1100);
  expect([at(1019), at(1100), at(1500)]).toEqual([1, 2, 2]);
  expect(acked()).toEqual([1, 3]);
  entry();
  expect(acked()).toHaveLength(3);
});

test("an observer acks before its leader has sent the whole window ahead", () => {
  const { entry, acked } = level(true, { windowBytes: 8 * ENTRY_BYTES * 2 });
  for (let i = 0; i < 6; i++) entry();
  expect(acked()).toEqual([1, 3, 5]);
});

test("a logged change of the members is cut by a history that has no configuration, in memory and on the disk", () => {
  const members = parseMembers("server.1=a:1:2\nserver.2=b:1:2");
  const change = { ...parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2"), version: composeZxid(1, 5) };
  const { peer, log } = level(false, { members }, change);
  expect([peer.members.isChanging, peer.members.lastSeen]).toEqual([false, members]);
  expect(decodeMembers(log.durable.lastSeenConfig ?? new Uint8Array())?.version).toBe(ZXID_NONE);
});
