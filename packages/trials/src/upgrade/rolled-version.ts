/** A rolling restart of an ensemble into another version of the server, under load. */
import type { EnsembleServer } from "../faults/ensemble-servers.ts";
import { DEADLINE_MS, type RollingRound } from "../faults/rolling-rounds.ts";

export interface Pass {
  readonly name: string;
  /** The version's server. */
  readonly program: string;
  readonly signal: NodeJS.Signals;
  readonly isLeaderFirst: boolean;
}

/** A server that was restarted, and what its clients saw of it. */
export interface PassStep {
  readonly server: EnsembleServer;
  readonly gapMs: number;
}

/**
 * Restarts each server with the version of a pass, observers before voters or behind them.
 *
 * @param restarted called after each one, when it serves
 * @returns the longest time without an answered write, for each server
 */
export async function roll(
  round: RollingRound,
  { name, program, signal, isLeaderFirst }: Pass,
  restarted: (server: EnsembleServer) => Promise<void> = async () => {},
): Promise<readonly PassStep[]> {
  const { ensemble, steps } = round;
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  const followers = ensemble.servers.filter((server) => server !== leader);
  const order = isLeaderFirst ? [leader, ...followers] : [...followers.toReversed(), leader];
  const texts: string[] = [];
  const taken: PassStep[] = [];
  for (const server of order) {
    const role = await server.role();
    let leads = "";
    const gapMs = await round.gapOf(async () => {
      await server.restart(signal, program);
      leads = leadership(await ensemble.untilLevel(DEADLINE_MS), order, server);
    });
    taken.push({ server, gapMs });
    texts.push(`${server.sid} (${role}; ${leads} leads) ${gapMs.toFixed(0)} ms`);
    await restarted(server);
  }
  console.log(`${name} by ${signal}: ${texts.join(", ")}`);
  steps.push(name);
  return taken;
}

/** Which version leads: servers of the order up to the present one have the pass's version. */
function leadership(leader: EnsembleServer, order: readonly EnsembleServer[], present: EnsembleServer): string {
  return order.indexOf(leader) <= order.indexOf(present) ? "the new one" : "the old one";
}
