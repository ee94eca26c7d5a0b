import type { QuorumVerifier, ServerId } from "@zooid/model";

/** Servers that may be elected. */
export type Candidates = Pick<ReadonlySet<ServerId>, "has">;

/** The settings of an election. Times are whole milliseconds. */
export interface ElectionConfig {
  /**
   * `electionAlg`: 3 is fast leader election, 0 the basic one. All servers of an ensemble use the
   * same.
   */
  readonly algorithm: number;
  readonly sid: ServerId;
  /** Its voters are asked and counted; no other server has a vote. */
  readonly verifier: QuorumVerifier;
  /**
   * Further servers that are asked and not counted: those of a configuration that may have come
   * into force without this server. Default: none.
   */
  readonly acquaintances?: ReadonlySet<ServerId>;
  /**
   * The servers that may lead: voters, except those of weight 0, and servers that a change of the
   * configuration makes voters.
   */
  readonly candidates: Candidates;
  /** At least 0, below 1. */
  readonly random: () => number;
  /**
   * The shortest time for which a vote with a quorum waits for a better one. Shorter elects sooner,
   * and wrongly more often.
   */
  readonly settleMsMin: number;
  /** The longest such time, for ensembles across sites, and while no round trip was measured. */
  readonly settleMsMax: number;
  /** How soon a vote is sent again: a lost one costs this much. */
  readonly resendMsMin: number;
  /** The longest interval, of a server that hears no other. */
  readonly resendMsMax: number;
  /**
   * Basic election: how long to wait for answers, and about how long to rest between rounds. Where
   * round trips take longer, no server is elected.
   */
  readonly pollWaitMs: number;
  /**
   * A server without a vote that looks again asks after up to this long, so that a fleet of
   * observers does not ask at once.
   */
  readonly askDelayMsMax: number;
}

/** Everything that has a default. */
export const ELECTION_DEFAULTS: Omit<ElectionConfig, "sid" | "verifier" | "candidates" | "random"> = {
  algorithm: 3,
  settleMsMin: 20,
  settleMsMax: 200,
  resendMsMin: 200,
  resendMsMax: 5_000,
  pollWaitMs: 200,
  askDelayMsMax: 200,
};

/** Throws a RangeError that names every problem. */
export function checkElectionConfig(config: ElectionConfig): void {
  const problems: string[] = [];
  const algorithm = algorithmProblem(config.algorithm);
  if (algorithm !== undefined) problems.push(algorithm);
  for (const [name, least] of [
    ["settleMsMin", 0],
    ["settleMsMax", 0],
    ["resendMsMin", 1],
    ["resendMsMax", 1],
    ["pollWaitMs", 1],
    ["askDelayMsMax", 0],
  ] as const) {
    const value = config[name];
    if (!Number.isInteger(value) || value < least) {
      problems.push(`${name} is a whole number of milliseconds from ${least}, found ${value}`);
    }
  }
  if (config.settleMsMin > config.settleMsMax) problems.push("settleMsMin is above settleMsMax");
  if (config.resendMsMin > config.resendMsMax) problems.push("resendMsMin is above resendMsMax");
  if (problems.length > 0) throw new RangeError(problems.join("; "));
}

function algorithmProblem(algorithm: number): string | undefined {
  switch (algorithm) {
    case 0:
    case 3:
      return undefined;
    case 1:
      return "electionAlg 1 (fast leader election over UDP) is not offered: anyone who can send a datagram could vote; use 3";
    case 2:
      return "electionAlg 2 (fast leader election over UDP, with a challenge to each sender) is not offered: links between servers are authenticated instead; use 3";
    default:
      return `electionAlg is 3 or 0, found ${algorithm}`;
  }
}
