/**
 * `DoubleBarrier` of `@zooid/recipes` with Curator's and kazoo's on the same paths: rounds without
 * a pause between them, with members that are slower than others.
 *
 *     rounds-scenario.ts CLASSPATH PYTHON NEIGHBOUR.PY HOST:PORT       prints one line for each step
 *
 * Two limits of Curator's members, with members of any client. One of a barrier of three or more
 * hangs when two others enter the next round before it has read that all have left: so all three on
 * one path begin a round when all have left. One that leaves before its event of the created
 * `ready` has arrived takes that for the others' leaving: Neighbour.java waits for its events.
 */
import { setTimeout as delay } from "node:timers/promises";
import { DoubleBarrier } from "@zooid/recipes";
import { orCode, say, startNeighbours } from "./neighbours.ts";

const ROUNDS = 15;
const SLOW_MS = 20;
const TIMEOUT_MS = 20_000;

await using neighbours = await startNeighbours(process.argv.slice(2));
const { curator, kazoo, zk } = neighbours;

/** Our rounds without a pause between them. @returns how many were complete */
async function rounds(path: string, members: number, workMs: number): Promise<string> {
  const barrier = new DoubleBarrier(zk, path, { members });
  for (let done = 0; done < ROUNDS; done++) {
    const end = await orCode(barrier.run(() => delay(workMs), { timeoutMs: TIMEOUT_MS }));
    if (end !== undefined) return `${done} rounds, then ${end}`;
  }
  return `${ROUNDS} rounds`;
}

// Two members: one of them slow, either.
for (const { who, peer } of [
  { who: "curator", peer: curator },
  { who: "kazoo", peer: kazoo },
]) {
  for (const { slow, oursMs, theirsMs } of [
    { slow: "neither", oursMs: 0, theirsMs: 0 },
    { slow: "zooid", oursMs: SLOW_MS, theirsMs: 0 },
    { slow: who, oursMs: 0, theirsMs: SLOW_MS },
  ]) {
    const path = `/${who}-${slow}-slow`;
    peer.tell("rounds", path, `2,${ROUNDS},${theirsMs}`);
    say("zooid", `${path} has`, await rounds(path, 2, oursMs));
    say(who, `${path} has`, await peer.answer());
  }
}

// Three of ours: rounds follow each other without any order between members.
const together = await Promise.all([0, 1, SLOW_MS].map((workMs) => rounds("/zooid", 3, workMs)));
say("zooid", "three of its own have", together.join(", "));

// All three.
const barrier = new DoubleBarrier(zk, "/all", { members: 3 });
const inside = new Set<string>();
let complete = 0;
for (let round = 0; round < ROUNDS; round++) {
  curator.tell("enter", "/all", 3);
  kazoo.tell("enter", "/all", 3);
  inside.clear();
  await barrier.enter({ timeoutMs: TIMEOUT_MS });
  inside.add(await curator.answer()).add(await kazoo.answer());
  // Each is the last to leave in turn.
  const leaves = [
    () => barrier.leave({ timeoutMs: TIMEOUT_MS }),
    () => curator.ask("leave", "/all"),
    () => kazoo.ask("leave", "/all"),
  ];
  const [last, ...others] = [...leaves.slice(round % 3), ...leaves.slice(0, round % 3)];
  const left = others.map((leave) => leave());
  await delay(SLOW_MS);
  const answers = await Promise.all([...left, last?.()]);
  if ([...inside].join() === "entered" && answers.filter((answer) => answer === "left").length === 2) complete++;
}
say("all", "three on one path have", `${complete} rounds`);
say("all", "have left behind", (await zk.children("/all")).names.join() || "nothing");
