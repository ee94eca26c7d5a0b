import { serverId } from "@zooid/model";
import { ExpectationFailure } from "./scenario-expectations.ts";
import { ScenarioWorld } from "./scenario-world.ts";

/** Longer than an election takes, and than a leader takes to notice that its quorum is gone. */
const ELECTION_MS = 400;
const LOSS_MS = 1700;

/**
 * Takes every set of servers away from ensembles of several sizes, each in a world of its own, and says with how many failures writes
 * still come to their end. Sets of one size that differ in this would be a defect.
 */
export function failureTable(from: number, to: number): readonly string[] {
  const lines: string[] = [];
  for (let count = from; count <= to; count++) {
    const verdicts: boolean[] = [];
    for (let set = 0; set < 2 ** count; set++) {
      const failed = Array.from({ length: count }, (_, i) => i + 1).filter((sid) => (set >> (sid - 1)) & 1);
      const writes = writesWithout(count, failed);
      const known = verdicts[failed.length];
      if (known !== undefined && known !== writes) {
        throw new ExpectationFailure(`of ${count} servers ${failed.join(", ")} fail, which differs from other sets`);
      }
      verdicts[failed.length] = writes;
    }
    const tolerated = verdicts.lastIndexOf(true);
    if (tolerated !== Math.ceil(count / 2) - 1) {
      throw new ExpectationFailure(`${count} servers tolerate ${tolerated} failures`);
    }
    const noun = count === 1 ? "1 server: " : `${count} servers:`;
    lines.push(`${noun} write with up to ${tolerated} failed, in all ${2 ** count} sets; never with ${tolerated + 1}`);
  }
  return lines;
}

function writesWithout(count: number, failed: readonly number[]): boolean {
  const world = new ScenarioWorld({ voters: count, observers: 0, electionAlg: 3, groups: undefined, server: {} });
  for (const { sid } of world.members) world.start(sid);
  world.run(ELECTION_MS);
  for (const sid of failed) world.crash(serverId(sid));
  world.run(LOSS_MS);
  for (const server of world.running()) world.client(`c${server.sid}`).connect(server);
  world.run(20);
  const request = { kind: "one", write: { kind: "set", path: "/", data: "x", version: -1 } } as const;
  for (const client of world.clients) client.ask({ kind: "write", request }, "/ = x", world.invariants.committed);
  world.run(30);
  const answers = new Set(world.clients.map(({ lastAnswer }) => lastAnswer));
  return answers.size === 1 && answers.has("ok");
}
