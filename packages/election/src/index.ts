export { type Candidates, ELECTION_DEFAULTS, type ElectionConfig } from "./config.ts";
export { createElection } from "./create-election.ts";
export type { ElectionPosition, ElectionSinks, LeaderElection } from "./events.ts";
