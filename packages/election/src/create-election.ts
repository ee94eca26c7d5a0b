import { BasicLeaderElection } from "./basic-leader-election.ts";
import { checkElectionConfig, type ElectionConfig } from "./config.ts";
import type { ElectionSinks, LeaderElection } from "./events.ts";
import { FastLeaderElection } from "./fast-leader-election.ts";

/**
 * The election that a configuration names. Throws a RangeError that names every problem, and why an
 * algorithm is not offered.
 */
export function createElection(config: ElectionConfig, sinks: ElectionSinks): LeaderElection {
  checkElectionConfig(config);
  return config.algorithm === 0 ? new BasicLeaderElection(config, sinks) : new FastLeaderElection(config, sinks);
}
