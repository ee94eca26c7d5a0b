import { type Chain, composeZxid, EPOCH_MAX, type PeerMessage, ZXID_NONE } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import type { LeaderFault, LearnerFault } from "@zooid/zab";
import { describe, expect, test } from "vitest";
import { Observations } from "../runs/observations.ts";
import { Run } from "../runs/run.ts";
import { planOf } from "../seeds/draw-plan.ts";
import { entryOf } from "../testing/false-leader.ts";
import { MISSING, NOTHING, PEER, Script } from "../testing/script.ts";
import { describeEvent, ILLEGAL_KINDS, isIllegal } from "./operator-events.ts";

function opening(timeoutMs: number): PeerMessage {
  const session = { sessionHigh: 2, sessionLow: 7, passwordHash: new Uint8Array(16) };
  return { kind: "open-session", sequence: 1, timeoutMs, ...session };
}

type Cases<Kind extends string> = Readonly<Record<Kind, (script: Script) => void>>;

const FAULTS: Cases<LearnerFault["fault"]["kind"] | LeaderFault["fault"]["kind"]> = {
  "epoch-acked-twice": (script) => {
    script.joins(script.peer);
    script.promises(script.peer);
  },
  "acceptance-not-offered": (script) => {
    script.comes(script.peer);
    script.promises(script.peer);
    script.says(script.peer, { kind: "ack-new-leader", epoch: 1, through: MISSING });
  },
  "ack-out-of-turn": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "ack", epoch: 1, durable: MISSING, check: 0 });
  },
  "pong-of-another-epoch": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "pong", epoch: 2, check: 0, applied: ZXID_NONE, touches: [], room: "enough" });
  },
  "request-before-synced": (script) => {
    script.comes(script.peer);
    script.says(script.peer, { kind: "sync", sequence: 1 });
  },
  "not-for-a-leader": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  },
  "requests-break-off": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "forward", count: 1, bytes: new Uint8Array(30), start: 0, end: 29 });
  },
  "session-exists": (script) => {
    script.joins(script.peer);
    script.says(script.peer, opening(1000));
    script.says(script.peer, opening(1000));
  },
  "session-impossible": (script) => {
    script.joins(script.peer);
    script.says(script.peer, opening(-1));
  },
  "epoch-named-twice": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
  },
  "up-to-date-out-of-turn": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  },
  "commit-of-what-is-missing": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { kind: "commit", epoch: 1, committed: MISSING });
  },
  "ping-of-another-epoch": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { kind: "ping", epoch: 2, check: 0, committed: ZXID_NONE, lacksRoom: false });
  },
  "epoch-impossible": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: EPOCH_MAX, incarnation: 1, ensembleId: "" });
  },
  "history-broken": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { ...entryOf(2), previous: ZXID_NONE });
  },
  "history-of-another-ensemble": (script) => {
    script.syncsWithPeer("ours");
    script.leads(script.peer, entryOf(1));
    script.leadsAgain(2);
    const rest = { endsAmnesia: false, ensembleId: "another", config: undefined, committedConfig: undefined };
    script.leads(script.peer, {
      kind: "sync-begin",
      epoch: 2,
      mode: "diff",
      from: script.server.disk.log.durable.tail,
      epochs: [],
    });
    script.leads(script.peer, { kind: "new-leader", epoch: 2, through: composeZxid(1, 1), ...rest });
  },
  "too-far-ahead": (script) => {
    script.syncsWithPeer();
    for (let counter = 1; counter < 100; counter++) if (script.peer.isLinked) script.peer.send(entryOf(counter));
    script.run();
  },
  "out-of-turn": (script) => {
    script.syncsWithPeer();
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
  },
};

const PARTED: Cases<
  | "committed-history-unknown"
  | "history-not-the-leaders"
  | "refused-by-leader"
  | "refused-by-learner"
  | "histories-differ"
  | "applied-beyond"
> = {
  "committed-history-unknown": (script) => {
    script.comes(script.peer);
    script.promises(script.peer, MISSING);
  },
  "history-not-the-leaders": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "refused-by-leader": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "refused-by-learner": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "histories-differ": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
    const from = { zxid: ZXID_NONE, chain: 1n as Chain };
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from, epochs: [] });
  },
  "applied-beyond": (script) => {
    // The server applies a session while it leads. Then another server leads, which does not have
    // it.
    script.joins(script.peer);
    script.commitsSession();
    expect(script.server.replica.tree.applied).toBe(composeZxid(1, 1));
    script.peer.leader = PEER;
    script.other.leader = PEER;
    script.says(script.peer, { kind: "refuse", reason: "unable", text: "in words" });
    script.run(1000);
    script.leads(script.peer, { kind: "leader-info", epoch: 2, incarnation: 1, ensembleId: "" });
    script.leads(script.peer, { kind: "sync-begin", epoch: 2, mode: "diff", from: NOTHING, epochs: [] });
  },
};

/** Passes an event to the observations of a run. */
function judge(script: Script, event: ReplicaEvent): void {
  new Observations(new Run(planOf(1), undefined)).noted(script.server, event);
}

describe("rule I32 fires at", () => {
  test.each(Object.entries(FAULTS))("a message that is %s", (kind, run) => {
    const script = new Script({ windowBytes: 64 });
    run(script);
    const event = script.events.find((each) => each.kind === "illegal-message" && each.fault.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    if (event !== undefined) expect(() => judge(script, event)).toThrow("I32");
    // Nothing that came before was illegal.
    expect(script.events.find(isIllegal)).toBe(event);
  });

  test.each(Object.entries(PARTED))("diverged histories: %s", (kind, run) => {
    const script = new Script();
    run(script);
    const event = script.events.find((each) => each.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    if (event !== undefined) expect(() => judge(script, event)).toThrow("I32");
  });

  test("no other kind", () => {
    expect([...ILLEGAL_KINDS].sort()).toEqual(["illegal-message", ...Object.keys(PARTED)].sort());
  });
});

test("rule I32 does not fire at a refusal for another reason than diverged histories", () => {
  const script = new Script();
  script.followsPeer();
  script.leads(script.peer, { kind: "refuse", reason: "not-leading", text: "in words" });
  const event = script.events.find(({ kind }) => kind === "refused-by-leader");
  expect(event).toBeDefined();
  if (event !== undefined) judge(script, event);
});
