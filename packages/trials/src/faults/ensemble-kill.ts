/**
 * Kills or stops the leader of a real ensemble under load (or a follower), repeatedly, and checks
 * the history of all clients after each round.
 *
 *     npm run tool -- ensemble-kill [--rounds 20] [--seed N] [--signal KILL|TERM|STOP] [--servers 3|5]
 *                            [--victim leader|follower] [--observers 0] [--keep]
 *
 * Observers, which come beside the servers that vote, reach their leader by followers.
 *
 * A round loads the ensemble, sends the signal to the victim, waits until another one leads and
 * writes are answered again, brings the victim back under load, lets the clients rest and reads
 * every server. Printed for each round is the longest time without an answered write after the
 * signal, and after the victim's return. The check asks that every answered write is there, once;
 * that what had no answer happened at most once; that zxids agree with real time and never go back
 * within a session; that a read behind a sync shows what was answered before the sync; that no
 * session is lost; and that all servers hold the same. The last line of a run compares all that was
 * ever made.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, oneOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inMs, quantiles } from "../figures/quantiles.ts";
import { longestGapMs } from "./ensemble-history.ts";
import { EnsembleLoad } from "./ensemble-load.ts";
import { Ensemble, type EnsembleServer } from "./ensemble-servers.ts";
import { playRounds } from "./load-rounds.ts";

const options = toolOptions({
  rounds: 20,
  seed: newSeed(),
  signal: oneOf("KILL", "TERM", "STOP"),
  servers: 3,
  victim: oneOf("leader", "follower"),
  observers: 0,
  keep: false,
});
const DEADLINE_MS = 30_000;

const signal = `SIG${options.signal}` as const;
// A pause is noticed by silence alone: short ticks keep the rounds short.
const [tickMs, syncLimit] = signal === "SIGSTOP" ? [500, 4] : [2000, 5];
const sessionTimeoutMs = 20 * tickMs;
const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "ensemble-kill-"));
const { servers: voterCount, observers: observerCount } = options;
const serverCount = voterCount + observerCount;
const ensemble = await Ensemble.create({ folder, serverCount, observerCount, tickMs, syncLimit });
const load = new EnsembleLoad({ servers: ensemble.servers, seed: options.seed, sessionTimeoutMs });
const outagesMs: number[] = [];
const returnsMs: number[] = [];
let writeCount = 0;
let readCount = 0;

console.log(
  `seed ${options.seed}, ${signal} to a ${options.victim} of ${voterCount} and ${observerCount} observers, tick ${tickMs} ms, sync limit ${syncLimit} ticks, in ${folder}`,
);
const isFine = await playRounds({ ensemble, load, rounds: options.rounds }, runRound);
if (isFine && !options.keep) rmSync(folder, { recursive: true, force: true });
console.log(`${outagesMs.length} rounds, ${writeCount} writes answered, ${readCount} reads checked`);
console.log(`without writes after ${signal}: ${inMs(quantiles(outagesMs))}`);
console.log(`longest pause from then until the victim was back and level: ${inMs(quantiles(returnsMs))}`);
console.log(isFine ? "no acknowledged write lost, no order violated, no session lost, all servers equal" : "FAILED");
// Loops of clients that cannot reach a server any more would continue.
process.exit(isFine ? 0 : 1);

async function runRound(round: number): Promise<readonly string[]> {
  const led = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  const followers = ensemble.servers.filter(({ sid }) => sid <= voterCount && sid !== led.sid);
  const victim = options.victim === "follower" ? random.pick(followers) : led;
  const startedAt = process.hrtime.bigint();
  await load.start();
  await delay(random.between(150, 500));
  const hitAt = process.hrtime.bigint();
  victim.signal(signal);
  const status = signal === "SIGSTOP" ? undefined : await victim.ended();
  const others = ensemble.servers.filter((server) => server !== victim);
  const leader = await ensemble.untilLeader(others, DEADLINE_MS);
  await load.untilDone(hitAt);
  await delay(random.between(50, 400));
  const backAt = process.hrtime.bigint();
  await bringBack(victim);
  await delay(100);
  await load.rest();
  const { writes, reads } = load.recorder;
  const outageMs = longestGapMs(writes, { after: hitAt, until: backAt });
  const returnMs = longestGapMs(writes, { after: backAt });
  const faults = await load.check();
  outagesMs.push(outageMs);
  returnsMs.push(returnMs);
  writeCount += writes.filter(({ outcome }) => outcome === "done").length;
  readCount += reads.length;
  const here = writes.filter(({ sentAt }) => sentAt > startedAt);
  const unknownCount = here.filter(({ outcome }) => outcome === "unknown").length;
  console.log(
    `round ${round}: ${options.victim} ${victim.sid}, leader ${led.sid} → ${leader.sid}, without writes ${outageMs.toFixed(0)} ms, ` +
      `later at most ${returnMs.toFixed(0)} ms; ${here.length} writes (${unknownCount} without an answer), ${reads.length} reads` +
      `${faults.length > 0 ? " FAILED" : ""}`,
  );
  const expected = signal === "SIGTERM" ? 0 : signal === "SIGKILL" ? "SIGKILL" : undefined;
  return status === expected ? faults : [...faults, `the victim ended with ${status}, not ${expected}`];
}

/** Starts or wakes the victim, and waits until it follows, level with the leader. */
async function bringBack(victim: EnsembleServer): Promise<void> {
  if (signal === "SIGSTOP") victim.signal("SIGCONT");
  else victim.launch();
  await ensemble.untilLevel(DEADLINE_MS);
}
