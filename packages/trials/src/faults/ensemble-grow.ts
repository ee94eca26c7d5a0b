/**
 * Grows and shrinks an ensemble without `reconfigEnabled` under load, by edited files and restarts:
 * 3, 4, 5, 4 and 3 servers, then 5 at once. Eight clients of `@zooid/client` and eight of kazoo
 * write meanwhile.
 *
 *     npm run tool -- ensemble-grow [--rounds 20] [--sizes 4,5,4,3,5] [--own 8] [--kazoo 8] [--seed 1] [--keep]
 *                                      [--calm] [--against zooid|apache]
 *
 * A round begins with a new ensemble of three. A step gives servers a list of another size as
 * docs/operations.md says: new servers start first, then each other one that stays is restarted,
 * the leader last, each when the one before serves; servers that leave are stopped last. At a
 * random moment of each step the leader is killed, and started again. Printed for each step is the
 * longest time without an answered write. The check of a round is that of ensemble-replace. With
 * `--against apache` the servers are those of Apache ZooKeeper 3.9.5, whose faults are printed and
 * end nothing. `--calm` kills no leader: one of Apache's that is killed before it has the new list
 * finds no leader again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { type Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { DEADLINE_MS, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({
  rounds: 20,
  sizes: [4, 5, 4, 3, 5],
  own: 8,
  kazoo: 8,
  seed: 1,
  keep: false,
  calm: false,
  against: "zooid",
});
if (options.against !== "zooid" && options.against !== "apache") {
  console.error(`--against is zooid or apache, not ${options.against}`);
  process.exit(2);
}
const FOUNDERS = 3;
/** The leader is killed within this time of a restart. */
const KILL_MS_MAX = 1500;

const random = new Random(options.seed);
const rounds = new RollingRounds({
  ...options,
  name: "ensemble-grow",
  founders: FOUNDERS,
  ensemble: {
    serverCount: Math.max(FOUNDERS, ...options.sizes),
    tickMs: 2000,
    syncLimit: 5,
    ...(options.against === "apache" ? { apacheJars: fetchApacheJars() } : {}),
    isListed: (sid, by) => sid <= Math.max(FOUNDERS, by),
  },
});
for (let number = 1; number <= options.rounds; number++)
  await rounds.play(`round ${number}`, async (round) => {
    const { ensemble, founders, steps } = round;
    await round.begin();
    let members = founders;
    for (const size of options.sizes) {
      const beganMs = performance.now();
      const next = ensemble.servers.slice(0, size);
      let killed = "";
      const gapMs = await round.gapOf(async () => {
        killed = await change(ensemble, members, next);
      });
      const tookMs = performance.now() - beganMs;
      rounds.gapsMs.push(gapMs);
      steps.push(
        `${members.length}→${size} ${(tookMs / 1000).toFixed(1)} s, ${killed} killed, gap ${gapMs.toFixed(0)} ms`,
      );
      members = next;
    }
    return members;
  });
rounds.end();

/**
 * Gives the servers of a list that list, one after another. @returns the leader that was killed
 * meanwhile
 */
async function change(
  ensemble: Ensemble,
  before: readonly EnsembleServer[],
  next: readonly EnsembleServer[],
): Promise<string> {
  for (const server of next) {
    if (before.includes(server)) continue;
    edit(ensemble, server, next);
    server.launch();
    await server.untilServing(DEADLINE_MS);
  }
  const stays = before.filter((server) => next.includes(server));
  const leader = await ensemble.untilLeader(before, DEADLINE_MS);
  const ordered = [...stays.filter((server) => server !== leader), ...stays.filter((server) => server === leader)];
  const killBehind = options.calm ? -1 : random.between(0, ordered.length - 1);
  let killed = "none";
  for (const [index, server] of ordered.entries()) {
    edit(ensemble, server, next);
    await server.restart();
    await server.untilServing(DEADLINE_MS);
    if (index === killBehind) killed = await killLeader(ensemble, [...new Set([...before, ...next])]);
  }
  await until(
    "the new list to be in force",
    DEADLINE_MS,
    async () => {
      const roles = await Promise.all(next.map((server) => server.role()));
      const leaders = roles.filter((role) => role === "leader");
      return leaders.length === 1 && !roles.includes("observer") && !roles.includes("none");
    },
    () => ensemble.describe(),
  );
  for (const server of before) if (!next.includes(server)) await server.end("SIGTERM");
  await ensemble.untilLevel(DEADLINE_MS, next);
  return killed;
}

async function killLeader(ensemble: Ensemble, running: readonly EnsembleServer[]): Promise<string> {
  await delay(random.between(0, KILL_MS_MAX - 1));
  const leader = await ensemble.untilLeader(running, DEADLINE_MS);
  await leader.kill();
  const next = await ensemble.untilLeader(running, DEADLINE_MS);
  leader.launch();
  await leader.untilServing(DEADLINE_MS);
  return `${leader.sid} (${next.sid} leads)`;
}

/** The zoo.cfg of a server lists these servers from its next start on. */
function edit({ options: common, servers }: Ensemble, server: EnsembleServer, list: readonly EnsembleServer[]): void {
  const sids = list.map(({ sid }) => sid);
  server.configure(
    { ...common, isListed: (sid) => sids.includes(sid) },
    servers.map(({ place }) => place),
  );
}
