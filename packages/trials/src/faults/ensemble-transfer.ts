/**
 * Transfers the leadership of an ensemble from server to server, under load.
 *
 *     npm run tool -- ensemble-transfer [--transfers 200] [--own 16] [--kazoo 0] [--seed N] [--keep]
 *
 * No server stops, so that each transfer is over as soon as its messages have come. A server that
 * waits for a timeout instead, or elects, says so in its log: that fails the run, however short the
 * timeout is. The check asks besides that every answered write is there, once; that zxids agree
 * with real time; that no session is lost; and that the servers hold the same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inMs, quantiles } from "../figures/quantiles.ts";
import { UpgradeCommands } from "../upgrade/upgrade-commands.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";
import { DEADLINE_MS, type RollingRound, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({ transfers: 200, own: 16, kazoo: 0, seed: newSeed(), keep: false });
const VOTERS = 3;
/** Events of roles that ended because another server did not do what the transfer asks of it. */
const STALLS: ReadonlySet<string> = new Set([
  "electors-lost",
  "leader-unreachable",
  "no-quorum-follows",
  "refused-by-leader",
]);

const serverCount = VOTERS + 1;
const random = new Random(options.seed);
const commands = await UpgradeCommands.atFreePort("zooid-cli");
const rounds = new RollingRounds({
  name: "ensemble-transfer",
  founders: serverCount,
  own: options.own,
  kazoo: options.kazoo,
  keep: options.keep,
  ensemble: { serverCount, observerCount: 1, tickMs: 2000, syncLimit: 5, settings: commands.settings },
});
console.log(`seed ${options.seed}`);
await rounds.play(`${options.transfers} transfers`, async (round) => {
  commands.configure(round.ensemble);
  await round.begin();
  const before = stalls(round.ensemble.servers).length;
  for (let i = 0; i < options.transfers; i++) rounds.gapsMs.push(await transfer(round));
  round.steps.push(inMs(quantiles(rounds.gapsMs)));
  round.faults.push(...stalls(round.ensemble.servers).slice(before));
  return round.founders;
});
rounds.end("transfer");

async function transfer(round: RollingRound): Promise<number> {
  const { ensemble } = round;
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  const voters = ensemble.servers.slice(0, VOTERS).filter((server) => server !== leader);
  const successor = voters[random.between(0, voters.length - 1)];
  if (successor === undefined) throw new Error("no voter but the leader");
  return await round.gapOf(async () => {
    await commands.transfer(leader, successor);
    await ensemble.untilLevel(DEADLINE_MS);
  });
}

/** The lines of logs that say that a server waited for another one until a timeout. */
function stalls(servers: readonly EnsembleServer[]): readonly string[] {
  return servers.flatMap(({ sid, folder }) =>
    readFileSync(join(folder, "server.log"), "utf8")
      .split("\n")
      .filter((line) => STALLS.has(eventOf(line)))
      .map((line) => `server ${sid}: ${line}`),
  );
}

function eventOf(line: string): string {
  return /"event":"([^"]+)"/.exec(line)?.[1] ?? "";
}
