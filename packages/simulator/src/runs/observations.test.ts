import { CHAIN_NONE, ZXID_NONE } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import { describe, expect, test } from "vitest";
import { describeEvent } from "../invariants/operator-events.ts";
import { planOf } from "../seeds/draw-plan.ts";
import { MISSING, NOTHING, OTHER, Script } from "../testing/script.ts";
import type { Situation } from "./coverage.ts";
import { Observations } from "./observations.ts";
import { Run } from "./run.ts";

/** How often a situation is counted when servers do this. */
function countOf(what: Situation, act: (observations: Observations) => void): number {
  const run = new Run(planOf(1), undefined);
  act(new Observations(run));
  return run.coverage.count(what);
}

const COUNTED: readonly (readonly [Situation, ReplicaEvent["kind"], () => Script])[] = [
  [
    "leader with a smaller log refused",
    "learner-is-ahead",
    () => {
      const script = new Script();
      script.comes(script.peer);
      const logged = { zxid: MISSING, chain: CHAIN_NONE };
      const tails = [{ epoch: 1, last: 99 }];
      script.says(script.peer, {
        kind: "ack-epoch",
        isRepeated: false,
        currentEpoch: 1,
        logged,
        floor: ZXID_NONE,
        tails,
      });
      return script;
    },
  ],
  [
    "counter near its end, new epoch",
    "counter-used-up",
    () => {
      const script = new Script({ counterMax: 1 });
      script.joins(script.peer);
      script.commitsSession();
      script.run();
      return script;
    },
  ],
  [
    "leader lost its quorum",
    "quorum-lost",
    () => {
      const script = new Script();
      script.joins(script.peer);
      script.run(5000);
      return script;
    },
  ],
  [
    "successor led without an election",
    "leader-handed-over",
    () => {
      const script = new Script();
      script.syncsWithPeer();
      script.leads(script.peer, { kind: "leadership-transfer", epoch: 1, successor: OTHER });
      return script;
    },
  ],
];

describe("a situation is counted", () => {
  test.each(COUNTED)("%s, by the event %s", (what, kind, run) => {
    const script = run();
    const event = script.events.find((each) => each.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    const count = countOf(what, (observations) => event !== undefined && observations.noted(script.server, event));
    expect([countOf(what, () => {}), count]).toEqual([0, 1]);
  });

  test("SNAP interrupted, by a snapshot that is given up", () => {
    const script = new Script();
    script.followsPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "snap", from: NOTHING, epochs: [] });
    script.leads(script.peer, { kind: "refuse", reason: "unable", text: "in words" });
    expect(script.abandoned).toEqual([0]);
    const abandon = (observations: Observations): void => observations.snapshotAbandoned(script.server, 0);
    expect([countOf("SNAP interrupted", () => {}), countOf("SNAP interrupted", abandon)]).toEqual([0, 1]);
  });
});
