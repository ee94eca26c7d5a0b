import {
  composeZxid,
  EPOCH_MAX,
  HierarchicalQuorum,
  type LinkRef,
  MajorityQuorum,
  type PeerMessage,
  parseMembers,
  type QuorumVerifier,
  type ServerId,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { expect, test } from "vitest";
import { ZabPeer } from "../peer.ts";
import { batchOf, RecordingSinks } from "../testing/batch.ts";
import { VolatileLog } from "../volatile-log.ts";

const NOTHING = { zxid: ZXID_NONE, chain: 0n } as const;

interface Info {
  readonly promise?: number;
  readonly isFresh?: boolean;
  readonly isAmnesiac?: boolean;
  readonly isObserver?: boolean;
  readonly isOwn?: boolean;
  readonly ensembleId?: string;
  readonly attemptId?: string;
}

/** Server 1, elected; the test sends its learners' messages. */
function elected(
  voters: number | QuorumVerifier,
  past: {
    readonly epoch?: number;
    readonly promise?: number;
    readonly isChangeable?: boolean;
    readonly foundingWaitMs?: number;
    readonly version?: Zxid;
  } = {},
) {
  const steps: (() => void)[] = [];
  const said: { readonly link: LinkRef; readonly message: PeerMessage }[] = [];
  const refused: { readonly link: LinkRef; readonly reason: string }[] = [];
  const log = new VolatileLog(
    1,
    (step) => steps.push(step),
    (generation, zxid) => peer.synced(generation, zxid),
  );
  if (past.epoch !== undefined) {
    log.setEnsembleId("an ensemble", () => {});
    log.setPromise({ epoch: past.epoch, sid: 1, incarnation: 1 }, () => {});
    log.setCurrentEpoch(past.epoch, () => {});
    run();
  }
  if (past.promise !== undefined) {
    log.setEnsembleId("an attempt", () => {});
    log.setPromise({ epoch: past.promise, sid: 1, incarnation: 1 }, () => {});
    run();
  }
  const sinks = Object.assign(new RecordingSinks(), {
    log,
    links: {
      dial: () => {},
      send: (link: LinkRef, message: PeerMessage) => said.push({ link, message }),
      refuse: (link: LinkRef, reason: string) => refused.push({ link, reason }),
      close: () => {},
    },
  });
  const { ends } = sinks;
  const verifier =
    typeof voters === "number" ? new MajorityQuorum(Array.from({ length: voters }, (_, i) => serverId(i + 1))) : voters;
  const { foundingWaitMs, isChangeable = past.version !== undefined, version = ZXID_NONE } = past;
  const members = isChangeable
    ? { ...parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2"), version }
    : undefined;
  const options = { foundingWaitMs, ...(members === undefined ? {} : { members }) };
  const peer = new ZabPeer({ sid: serverId(1), verifier, ...options }, sinks);
  peer.setTime(0);
  function run(): void {
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) step();
  }
  function informed(sid: number, info: Info = {}): LinkRef {
    const { promise = 0, isFresh = true, isAmnesiac = false } = info;
    const { isObserver = false, isOwn = false, ensembleId = "", attemptId = "" } = info;
    const link = sid as LinkRef;
    peer.linkOpened(link, serverId(sid) as ServerId, false);
    peer.onMessage(link, {
      kind: "learner-info",
      isObserver,
      promise: { epoch: promise, sid: promise === 0 ? 0 : sid, incarnation: 1 },
      isFresh,
      isAmnesiac,
      isOwn,
      ensembleId,
      attemptId,
      configVersion: ZXID_NONE,
    });
    run();
    return link;
  }
  function promises(link: LinkRef, epoch: number, raised: { readonly level?: number } = {}): void {
    const position = { currentEpoch: epoch - 1, logged: NOTHING as never, floor: ZXID_NONE, tails: [], ...raised };
    peer.onMessage(link, { kind: "ack-epoch", isRepeated: false, ...position });
    run();
  }
  function accepts(link: LinkRef, epoch: number): void {
    peer.onMessage(link, { kind: "ack-new-leader", epoch, through: ZXID_NONE });
    run();
  }
  /** A follower answers the newest leadership check. */
  function confirms(link: LinkRef, epoch: number): void {
    peer.flush();
    const check = said.reduce((newest, { message }) => (message.kind === "ping" ? message.check : newest), 0);
    peer.onMessage(link, { kind: "pong", epoch, check, applied: ZXID_NONE, touches: [], room: "enough" });
    run();
  }
  const kindsTo = (to: LinkRef): readonly string[] =>
    said.flatMap(({ link, message }) => (link === to ? [message.kind] : []));
  return { peer, sinks, ends, run, informed, promises, accepts, confirms, kindsTo, log, said, refused };
}

test("a voter that is a quorum alone leads without learners", () => {
  const { peer, sinks, run } = elected(1);
  peer.lead();
  run();
  expect([sinks.served, peer.phase]).toEqual([[1], "broadcast"]);
});

test("a voter with an empty disk gets no epoch to promise before a quorum with a history has accepted the leader", () => {
  const { peer, informed, promises, accepts, kindsTo, said } = elected(3, { epoch: 4 });
  peer.lead();
  const wiped = informed(2);
  expect(kindsTo(wiped)).toEqual([]);
  const level = informed(3, { promise: 4, isFresh: false });
  expect([kindsTo(level), kindsTo(wiped)]).toEqual([["leader-info"], []]);
  promises(level, 5);
  expect(kindsTo(wiped)).toEqual([]);
  accepts(level, 5);
  expect(kindsTo(wiped)).toEqual(["leader-info"]);
  expect(said.find(({ link }) => link === wiped)?.message).toMatchObject({ ensembleId: "" });
});

test("a server that says that it has promised an epoch beyond all others is refused, and the leader continues with the rest", () => {
  const { peer, informed, kindsTo, refused, log } = elected(3, { epoch: 4 });
  peer.lead();
  const liar = informed(2, { promise: EPOCH_MAX, isFresh: false });
  const level = informed(3, { promise: 4, isFresh: false });
  expect(refused).toEqual([{ link: liar, reason: "unable" }]);
  expect([kindsTo(level), log.durable.promise.epoch]).toEqual([["leader-info"], 5]);
});

test("servers that found an ensemble are counted, whether or not they promised in an earlier attempt", () => {
  const { peer, informed, kindsTo, log } = elected(5, { promise: 1 });
  peer.lead();
  const links = [informed(2), informed(3, { promise: 1 })];
  expect(links.map(kindsTo)).toEqual([["leader-info"], ["leader-info"]]);
  expect(log.durable.promise.epoch).toBe(2);
});

test("a leader leaves its epoch for one above the promise that keeps a voter out", () => {
  const { peer, informed, promises, accepts, ends, log, run } = elected(3, { epoch: 4 });
  peer.lead();
  const follower = informed(2, { promise: 4, isFresh: false });
  promises(follower, 5);
  accepts(follower, 5);
  informed(3, { promise: 9, isFresh: false });
  expect([ends, peer.state]).toEqual([[{ kind: "epoch-promised-elsewhere", sid: 3, epoch: 9, to: 3 }], "looking"]);
  peer.flush();
  peer.lead();
  run();
  informed(2, { promise: 5, isFresh: false });
  expect(log.durable.promise.epoch).toBe(10);
});

test("a server without a history leaves the founding to a voter that has one, also after its own promise", () => {
  const { peer, sinks, informed, ends, refused, run } = elected(3);
  peer.lead();
  informed(2);
  const holder = informed(3, { promise: 1, isFresh: false, isOwn: true });
  expect(ends).toEqual([{ kind: "history-missing-here", sid: 3 }]);
  expect(refused).toEqual([{ link: holder, reason: "not-leading" }]);
  peer.flush();
  informed(2);
  peer.flush();
  expect(sinks.wantedCount).toBe(0);
  peer.lead();
  run();
  expect(ends.length).toBe(2);
  // However much later, until that one says that it has no history.
  peer.flush();
  peer.setTime(20_000);
  peer.lead();
  run();
  informed(2);
  expect([ends.length, peer.epoch]).toEqual([3, 0]);
  peer.peerHeard(serverId(3), { history: "none", ensembleId: "" });
  peer.flush();
  peer.lead();
  run();
  informed(2);
  expect([ends.length, peer.epoch]).toEqual([3, 2]);
});

const [NOTHING_SAID, DATA_SAID] = [
  { history: "none", ensembleId: "" },
  { history: "ensemble", ensembleId: "an ensemble" },
] as const;

test("a founder names no epoch before every other voter was heard, and keeps its role while its quorum waits", () => {
  const { peer, informed, kindsTo, ends, run } = elected(3, { foundingWaitMs: 5000 });
  peer.lead();
  const follower = informed(2);
  peer.peerHeard(serverId(2), NOTHING_SAID);
  for (const nowMs of [2000, 4000, 6000]) {
    peer.setTime(nowMs);
    peer.tick();
  }
  expect([ends, kindsTo(follower)]).toEqual([[], []]);
  peer.peerHeard(serverId(3), NOTHING_SAID);
  run();
  expect(kindsTo(follower)).toEqual(["leader-info"]);
});

test("a founder names its epoch when an attempt to connect to the voter that it awaits has failed", () => {
  const { peer, informed, kindsTo, run } = elected(3, { foundingWaitMs: 5000 });
  peer.lead();
  const follower = informed(2);
  peer.peerHeard(serverId(2), NOTHING_SAID);
  peer.setTime(5000);
  peer.peerUnanswered(serverId(3), 1);
  run();
  expect(kindsTo(follower)).toEqual([]);
  peer.peerUnanswered(serverId(3), 0);
  run();
  expect(kindsTo(follower)).toEqual(["leader-info"]);
});

test("a founder leaves its epoch when a server with data is heard before that epoch is on its disk, and not later", () => {
  for (const isHeld of [false, true]) {
    const { peer, informed, promises, ends, log, run } = elected(3, { foundingWaitMs: 5000 });
    peer.lead();
    const follower = informed(2);
    peer.peerHeard(serverId(2), NOTHING_SAID);
    peer.peerHeard(serverId(3), NOTHING_SAID);
    run();
    if (isHeld) promises(follower, 1);
    peer.peerHeard(serverId(3), DATA_SAID);
    run();
    expect(ends).toEqual(isHeld ? [] : [{ kind: "history-missing-here", sid: 3 }]);
    expect(log.durable.currentEpoch).toBe(isHeld ? 1 : 0);
  }
});

test("a damaged server counts as one with data: no ensemble is founded beside it", () => {
  const { peer, informed, ends } = elected(3);
  peer.lead();
  informed(3, { isAmnesiac: true });
  expect(ends).toEqual([{ kind: "history-missing-here", sid: 3 }]);
});

test("a promise counts for the attempt in which it was made", () => {
  const { peer, sinks, informed } = elected(5, { epoch: 4 });
  const counted = (sid: number): boolean =>
    !sinks.notes.some((event) => event.kind === "learner-not-counted" && event.sid === sid);
  peer.lead();
  informed(2, { promise: 4, attemptId: "another" });
  informed(3, { promise: 4, attemptId: "an ensemble" });
  informed(4, { promise: 4 });
  expect([2, 3, 4].map(counted)).toEqual([false, true, false]);
});

test("a leader that holds an epoch and has nothing logged counts servers of other attempts once all voters follow it", () => {
  const { peer, informed, kindsTo, run } = elected(3, { epoch: 1 });
  peer.lead();
  const first = informed(2, { promise: 2, attemptId: "another" });
  run();
  expect(kindsTo(first)).toEqual([]);
  const second = informed(3);
  run();
  expect([kindsTo(first), kindsTo(second), peer.epoch]).toEqual([["leader-info"], ["leader-info"], 3]);
});

test("an ensemble is founded in an epoch above the version of the files", () => {
  const { peer, informed, log, run } = elected(3, { foundingWaitMs: 5000, version: composeZxid(5, 3) });
  peer.lead();
  informed(2);
  for (const sid of [2, 3]) peer.peerHeard(serverId(sid), NOTHING_SAID);
  run();
  expect(log.durable.promise.epoch).toBe(6);
});

test("a history of one server replaces no ensemble's data", () => {
  const { peer, sinks, informed, ends, refused, run, log } = elected(3);
  log.setPromise({ epoch: 1, sid: 1, incarnation: 1 }, () => {});
  log.setCurrentEpoch(1, () => {});
  run();
  peer.lead();
  const member = informed(2, { promise: 1, isFresh: false, ensembleId: "an ensemble" });
  expect(ends).toEqual([{ kind: "ensemble-has-data", sid: 2 }]);
  expect(refused).toEqual([{ link: member, reason: "not-leading" }]);
  peer.flush();
  expect([peer.mayVote, sinks.wantedCount]).toEqual([false, 0]);
  peer.setTime(20_000);
  expect(peer.mayVote).toBe(false);
  peer.peerHeard(serverId(2), { history: "none", ensembleId: "" });
  expect(peer.mayVote).toBe(true);
});

test("an established leader keeps its epoch when a server with a history of its own has promised it to itself", () => {
  const { peer, informed, promises, accepts, ends, kindsTo } = elected(3, { epoch: 4 });
  peer.lead();
  const follower = informed(2, { promise: 4, isFresh: false });
  promises(follower, 5);
  accepts(follower, 5);
  const alone = informed(3, { promise: 9, isFresh: false, isOwn: true });
  expect([ends, kindsTo(alone)]).toEqual([[], ["leader-info"]]);
});

test("a server without a vote has promised a later epoch: it changes no epoch, and gets none before a quorum follows", () => {
  const { peer, informed, promises, accepts, kindsTo, log } = elected(3, { epoch: 4 });
  peer.lead();
  const observer = informed(4, { promise: 9, isFresh: false, isObserver: true });
  const follower = informed(2, { promise: 4, isFresh: false });
  expect(log.durable.promise.epoch).toBe(5);
  promises(follower, 5);
  expect(kindsTo(observer)).toEqual([]);
  accepts(follower, 5);
  expect(kindsTo(observer)).toEqual(["leader-info"]);
});

// A change may make any of them a voter once it is synchronized, and later leaders judge it by its
// disk.
test.each([
  ["a voter that lost its disk", 3, { isFresh: true }],
  ["a voter that lost the end of its log", 3, { promise: 4, isFresh: false, isAmnesiac: true }],
  ["an observer that lost its disk", 4, { isFresh: true }],
  ["an observer that promised an epoch and got no history", 4, { promise: 4, isAmnesiac: true }],
  ["an observer with a promise and an ensemble's id, and no history", 4, { promise: 4 }],
  ["an observer that lost the end of its log", 4, { promise: 4, isFresh: false, isAmnesiac: true }],
])("%s is whole with the history, which it gets from a leader that a quorum confirms", (_, sid, info) => {
  for (const isChangeable of [true, false]) {
    const { peer, sinks, informed, promises, accepts, confirms, kindsTo, said } = elected(3, {
      epoch: 4,
      isChangeable,
    });
    peer.lead();
    const follower = informed(2, { promise: 4, isFresh: false });
    promises(follower, 5);
    accepts(follower, 5);
    sinks.deliver(peer, 10);
    const learner = informed(sid, { isObserver: sid === 4, ...info });
    promises(learner, 5);
    expect(kindsTo(learner)).toEqual(["leader-info", "sync-begin"]);
    confirms(follower, 5);
    const [leaderInfo, offer] = ["leader-info", "new-leader"].map((kind) =>
      said.find(({ link, message }) => link === learner && message.kind === kind),
    );
    expect(leaderInfo?.message).toMatchObject({ ensembleId: "" });
    expect(offer?.message).toMatchObject({ endsAmnesia: true, ensembleId: "an ensemble" });
  }
});

test("an observer that has forgotten nothing gets the history at once", () => {
  const { peer, informed, promises, accepts, said } = elected(3, { epoch: 4 });
  peer.lead();
  const follower = informed(2, { promise: 4, isFresh: false });
  promises(follower, 5);
  accepts(follower, 5);
  const observer = informed(4, { promise: 4, isFresh: false, isObserver: true });
  promises(observer, 5);
  const [leaderInfo, offer] = ["leader-info", "new-leader"].map((kind) =>
    said.find(({ link, message }) => link === observer && message.kind === kind),
  );
  expect(leaderInfo?.message).toMatchObject({ ensembleId: "an ensemble" });
  expect(offer?.message).toMatchObject({ endsAmnesia: false });
});

test("an observer that has more than is committed, as a voter of before, keeps it", () => {
  const { peer, sinks, run, informed, promises, accepts, said, log } = elected(3, { epoch: 4 });
  peer.lead();
  const follower = informed(2, { promise: 4, isFresh: false });
  promises(follower, 5);
  accepts(follower, 5);
  sinks.deliver(peer, 10);
  peer.propose(batchOf(5, 1));
  peer.flush();
  run();
  const { tail } = log.durable;
  expect(tail.zxid).toBe(composeZxid(5, 1));
  const observer = informed(4, { promise: 5, isFresh: false, isObserver: true });
  const position = { currentEpoch: 5, logged: tail, floor: ZXID_NONE, tails: [{ epoch: 5, last: 1 }] };
  peer.onMessage(observer, { kind: "ack-epoch", isRepeated: true, ...position });
  run();
  const offered = said.flatMap(({ link, message }) =>
    link === observer && message.kind === "new-leader" ? [message.through] : [],
  );
  expect(offered).toEqual([tail.zxid]);
});

test("a leader gives way to a learner with a newer history, and reports where that ends", () => {
  const { peer, informed, promises, ends } = elected(3, { epoch: 4 });
  peer.lead();
  promises(informed(2, { promise: 4, isFresh: false }), 6);
  expect(ends).toEqual([{ kind: "learner-is-ahead", sid: 2, zxid: ZXID_NONE, currentEpoch: 5 }]);
});

test("a leader does not give way to a newer history with a raise to a level that it does not know, and refuses it", () => {
  const { peer, refused, informed, promises, ends, kindsTo } = elected(3, { epoch: 4 });
  peer.lead();
  promises(informed(2, { promise: 4, isFresh: false }), 6, { level: 2 });
  const third = informed(3, { promise: 4, isFresh: false });
  promises(third, 5);
  expect([refused.map(({ reason }) => reason), ends, kindsTo(third).at(-1)]).toEqual([["level"], [], "new-leader"]);
});

test("up-to-date is sent when the leader serves, and no earlier", () => {
  const { peer, sinks, informed, promises, accepts, kindsTo } = elected(3, { epoch: 4 });
  let applied = -1 as Zxid;
  sinks.application.applied = () => applied;
  peer.lead();
  const learner = informed(2, { promise: 4, isFresh: false });
  promises(learner, 5);
  accepts(learner, 5);
  expect(kindsTo(learner)).not.toContain("up-to-date");
  applied = composeZxid(0, 0);
  sinks.deliver(peer, 10);
  expect([kindsTo(learner).at(-1), sinks.served]).toEqual(["up-to-date", [5]]);
});

test("accepting the epoch answers the leadership checks that began before it was offered", () => {
  const { peer, sinks, informed, promises, accepts } = elected(5, { epoch: 4 });
  peer.lead();
  const [first, second] = [informed(2, { promise: 4, isFresh: false }), informed(3, { promise: 4, isFresh: false })];
  for (const link of [first, second]) promises(link, 5);
  for (const link of [first, second]) accepts(link, 5);
  peer.linkClosed(second, "for the test");
  const check = peer.checkLeadership();
  peer.flush();
  peer.onMessage(first, { kind: "pong", epoch: 5, check, applied: ZXID_NONE, touches: [], room: "enough" });
  expect(sinks.confirmations).toEqual([]);
  const late = informed(4, { promise: 4, isFresh: false });
  promises(late, 5);
  accepts(late, 5);
  expect(sinks.confirmations).toEqual([check]);
});

test("a server with a promise but neither a history nor an ensemble's id does not vote", () => {
  const { peer, log, run } = elected(3);
  expect(peer.isAmnesiac).toBe(false);
  log.setPromise({ epoch: 3, sid: 2, incarnation: 1 }, () => {});
  run();
  expect(peer.isAmnesiac).toBe(true);
  log.setEnsembleId("colony", () => {});
  run();
  expect(peer.isAmnesiac).toBe(false);
});

test("an observer gets entries committed within a few milliseconds in one message, unless its own clients wait", () => {
  const { peer, sinks, run, informed, promises, accepts, kindsTo } = elected(1);
  peer.lead();
  run();
  sinks.deliver(peer, 10);
  const observer = informed(7, { promise: 1, isObserver: true });
  promises(observer, 2);
  peer.flush();
  run();
  accepts(observer, 1);
  expect(kindsTo(observer).at(-1)).toBe("up-to-date");
  let counter = 0;
  const entries = (): number => kindsTo(observer).filter((kind) => kind === "entries").length;
  const write = (): number => {
    peer.propose(batchOf(1, ++counter));
    run();
    peer.flush();
    return entries();
  };
  const at = (nowMs: number): number => {
    peer.setTime(nowMs);
    peer.tick();
    // Delivered before it is sent to the observer, and still not read from the log for it.
    sinks.deliver(peer, 10);
    peer.flush();
    return entries();
  };
  at(1000);
  expect([write(), write(), write()]).toEqual([1, 1, 1]);
  expect(peer.nextDueMs()).toBe(1005);
  // As one message.
  expect([at(1004), at(1005), write()]).toEqual([1, 2, 2]);
  peer.onMessage(observer, { kind: "sync", sequence: 1 });
  expect([entries(), write(), write()]).toEqual([3, 4, 5]);
});

test("observers learn of a successor before the voters, by which they may be reached", () => {
  const { peer, informed, promises, accepts, said } = elected(3, { epoch: 4 });
  peer.lead();
  const voter = informed(2, { promise: 4, isFresh: false });
  promises(voter, 5);
  accepts(voter, 5);
  const observer = informed(4, { promise: 4, isFresh: false, isObserver: true });
  promises(observer, 5);
  accepts(observer, 5);
  expect(peer.transferLeadership("stop")).toBe(2);
  const named = said.filter(({ message }) => message.kind === "leadership-transfer");
  expect(named.map(({ link }) => link)).toEqual([observer, voter]);
});

test("a leader that is a quorum alone confirms a check at the end of the turn in which it began", () => {
  const weights = [1, 0].map((weight, i) => ({ sid: serverId(i + 1), group: 0, weight }));
  const { peer, sinks, run, informed, promises, accepts } = elected(new HierarchicalQuorum(weights), { epoch: 4 });
  peer.lead();
  run();
  const learner = informed(2, { promise: 4, isFresh: false });
  promises(learner, 5);
  accepts(learner, 5);
  const first = peer.checkLeadership();
  peer.flush();
  expect(sinks.confirmations).toEqual([first]);
  const second = peer.checkLeadership();
  peer.onMessage(learner, { kind: "pong", epoch: 5, check: first, applied: ZXID_NONE, touches: [], room: "enough" });
  // A request that comes now shares the check, so it must not be confirmed before.
  expect(peer.checkLeadership()).toBe(second);
  expect(sinks.confirmations).toEqual([first]);
  peer.flush();
  expect(sinks.confirmations).toEqual([first, second]);
});
