/**
 * Replaces all servers of an ensemble under load, one at a time: {1,2,3} become {4,5,6}. Eight
 * clients of `@zooid/client`, which know the first servers and follow the configuration, and eight
 * of kazoo, which know all six addresses, write meanwhile.
 *
 *     npm run tool -- ensemble-replace [--rounds 20] [--own 8] [--kazoo 8] [--keep]
 *
 * A round begins with a new ensemble. A step starts a server, waits until it has been brought
 * level, puts it in another one's place by one change of the configuration, and stops that other
 * one. Printed for each step is the longest time without an answered write. The check of a round
 * asks that every answered write is there, once; that zxids agree with real time; that no session
 * is lost; and that the servers hold the same.
 */
import { connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { type EnsembleServer, until } from "./ensemble-servers.ts";
import { DEADLINE_MS, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({ rounds: 20, own: 8, kazoo: 8, keep: false });
const SERVER_COUNT = 3;

const rounds = new RollingRounds({
  ...options,
  name: "ensemble-replace",
  founders: SERVER_COUNT,
  ensemble: {
    serverCount: 2 * SERVER_COUNT,
    tickMs: 2000,
    syncLimit: 5,
    settings: ["reconfigEnabled=true", "skipACL=yes"],
    isListed: (sid, by) => sid <= SERVER_COUNT || sid === by,
  },
});
for (let number = 1; number <= options.rounds; number++)
  await rounds.play(`round ${number}`, async (round) => {
    await round.begin();
    const { servers } = round.ensemble;
    for (const joins of servers.slice(SERVER_COUNT)) {
      const leaves = servers[joins.sid - SERVER_COUNT - 1];
      if (leaves === undefined) throw new Error(`no server leaves for server ${joins.sid}`);
      const role = await leaves.role();
      const gapMs = await round.gapOf(async () => {
        await replace(leaves, joins);
        await round.ensemble.untilLevel(DEADLINE_MS, servers.slice(joins.sid - SERVER_COUNT, joins.sid));
      });
      rounds.gapsMs.push(gapMs);
      round.steps.push(`${leaves.sid} (${role}) → ${joins.sid} ${gapMs.toFixed(0)} ms`);
    }
    return servers.slice(SERVER_COUNT);
  });
rounds.end();

/** Puts a server in another one's place. */
async function replace(leaves: EnsembleServer, joins: EnsembleServer): Promise<void> {
  joins.launch();
  await joins.untilServing(DEADLINE_MS);
  const client = await connect(joins.address, { startTimeoutMs: DEADLINE_MS });
  await client.reconfig({ joining: [joins.line], leaving: [leaves.sid] });
  await client.close();
  await until("the server that left to serve no more", DEADLINE_MS, async () =>
    ["none", "observer"].includes(await leaves.role()),
  );
  await leaves.end("SIGTERM");
}
