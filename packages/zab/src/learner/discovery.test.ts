import { type LinkRef, MajorityQuorum, type ServerId, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import type { SaidDisk } from "../founding.ts";
import { ZabPeer } from "../peer.ts";
import { RecordingSinks } from "../testing/batch.ts";
import { VolatileLog } from "../volatile-log.ts";

const [LEADER, OTHER] = [serverId(1), serverId(3)];
const LINK = 1 as LinkRef;
const DATA: SaidDisk = { history: "ensemble", ensembleId: "e" };

/**
 * Server 2 of three, without a history, linked to server 1, which it has elected.
 *
 * @param said what server 1 says of its disk on that link
 * @param heard what others say of theirs before
 */
function learner(said?: SaidDisk, heard: readonly (readonly [ServerId, SaidDisk])[] = []) {
  const steps: (() => void)[] = [];
  const kinds: string[] = [];
  const log = new VolatileLog(
    2,
    (step) => steps.push(step),
    () => {},
  );
  const sinks = Object.assign(new RecordingSinks(), {
    log,
    links: {
      dial: () => {},
      send: (_: LinkRef, message: { readonly kind: string }) => kinds.push(message.kind),
      refuse: () => {},
      close: () => {},
    },
  });
  const verifier = new MajorityQuorum([LEADER, serverId(2), OTHER]);
  const peer = new ZabPeer({ sid: serverId(2), verifier, foundingWaitMs: 5000 }, sinks);
  peer.setTime(0);
  peer.follow(LEADER);
  for (const [sid, disk] of heard) peer.peerHeard(sid, disk);
  peer.linkOpened(LINK, LEADER, true, said);
  const run = (): void => {
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) step();
  };
  const named = (ensembleId: string): void =>
    peer.onMessage(LINK, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId });
  return { peer, log, kinds, ends: sinks.ends, run, named };
}

test("a server without a history promises nothing in an attempt beside data", () => {
  const { peer, log, ends, run, named } = learner();
  peer.peerHeard(OTHER, DATA);
  expect(peer.state).toBe("following");
  named("an attempt");
  run();
  expect([ends, log.durable.promise.epoch]).toEqual([[{ kind: "history-missing-here", sid: 3 }], 0]);
});

test("it leaves an attempt in which it has promised, when it hears of data", () => {
  const { peer, kinds, ends, run, named } = learner();
  named("an attempt");
  run();
  expect(kinds).toEqual(["learner-info", "ack-epoch"]);
  peer.peerHeard(OTHER, DATA);
  expect(ends).toEqual([{ kind: "history-missing-here", sid: 3 }]);
});

test("it follows the leader of an ensemble beside that ensemble's data", () => {
  const { peer, kinds, ends, run, named } = learner();
  for (const sid of [LEADER, OTHER]) peer.peerHeard(sid, DATA);
  named("");
  run();
  expect([ends, kinds]).toEqual([[], ["learner-info", "ack-epoch"]]);
});

const ELSEWHERE: SaidDisk = { history: "ensemble", ensembleId: "f" };
const REFUSED = { kind: "beside-another-ensemble", leader: 1, theirs: "f", sid: 3, ensembleId: "e" };

test.each([
  ["with data", ELSEWHERE],
  ["in which nothing was written yet", { ...ELSEWHERE, history: "attempt" } as const],
])("a server without a history follows no leader of an ensemble %s beside the data of another one", (_, said) => {
  const { log, kinds, ends, run } = learner(said, [[OTHER, DATA]]);
  run();
  expect([ends, kinds, log.durable.promise.epoch]).toEqual([[REFUSED], [], 0]);
});

test("it leaves such a leader when it hears of the other data", () => {
  const { peer, ends, run, named } = learner(ELSEWHERE);
  named("");
  run();
  expect(ends).toEqual([]);
  peer.peerHeard(OTHER, DATA);
  expect(ends).toEqual([REFUSED]);
});

test("it follows no leader whose number a server with other data has", () => {
  const { ends } = learner(ELSEWHERE, [[LEADER, DATA]]);
  expect(ends).toEqual([{ ...REFUSED, sid: 1 }]);
});

test.each([
  ["of the same ensemble", DATA, DATA],
  ["beside a server that holds the epoch of an attempt", ELSEWHERE, { ...DATA, history: "attempt" } as const],
  ["beside a server without data", ELSEWHERE, { history: "none", ensembleId: "" } as const],
])("it follows a leader %s", (_, said, other) => {
  const { ends, kinds } = learner(said, [[OTHER, other]]);
  expect([ends, kinds]).toEqual([[], ["learner-info"]]);
});
