import { serverId } from "@zooid/model";
import { ExpectationFailure } from "./expectations.ts";
import { ScenarioWorld } from "./world.ts";

/** Longer than an election takes, and than a leader takes to notice that its quorum is gone. */
const LOSS_MS = 2500;

/**
 * Crashes every set of servers in ensembles of several sizes, and tells with how many failures
 * writes still complete. From one set to the next a single server crashes or starts, as in a Gray
 * code.
 */
export function failureTable(from: number, to: number): readonly string[] {
  const lines: string[] = [];
  for (let count = from; count <= to; count++) {
    const tolerated = Math.ceil(count / 2) - 1;
    const world = new ScenarioWorld({
      voters: count,
      observers: 0,
      joiners: 0,
      isChangeable: false,
      electionAlg: 3,
      groups: undefined,
      server: {},
    });
    for (const { sid } of world.members) world.start(sid);
    world.run(LOSS_MS);
    for (let set = 0; set < 2 ** count; set++) {
      if (set > 0) change(world, Math.log2(set & -set) + 1);
      const failed = world.members.filter(({ server }) => server === undefined).map(({ sid }) => sid);
      if (isWriting(world) === failed.length <= tolerated) continue;
      const verb = failed.length <= tolerated ? "do not write" : "write";
      throw new ExpectationFailure(`${count} servers ${verb} when ${failed.join(", ")} have failed`);
    }
    const noun = count === 1 ? "1 server: " : `${count} servers:`;
    lines.push(`${noun} write with up to ${tolerated} failed, in all ${2 ** count} sets; never with ${tolerated + 1}`);
  }
  return lines;
}

/** A server crashes or starts. */
function change(world: ScenarioWorld, sid: number): void {
  if (world.member(serverId(sid)).server === undefined) world.start(serverId(sid));
  else world.crash(serverId(sid));
  world.run(LOSS_MS);
}

/** Whether a write completes, at every running server. */
function isWriting(world: ScenarioWorld): boolean {
  for (const server of world.running()) world.client(`c${server.sid}`).connect(server);
  world.run(20);
  const request = { kind: "one", write: { kind: "set", path: "/", data: "x", version: -1 } } as const;
  for (const client of world.clients) client.ask({ kind: "write", request }, "/ = x", world.invariants.committed);
  world.run(30);
  const answers = world.clients.map(({ lastAnswer }) => lastAnswer);
  world.forgetClients();
  const count = answers.filter((answer) => answer === "ok").length;
  if (count > 0 && count < answers.length) throw new ExpectationFailure("writes complete at some servers only");
  return count > 0;
}
