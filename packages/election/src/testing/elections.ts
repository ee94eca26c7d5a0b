import {
  composeZxid,
  type ElectionMessage,
  MajorityQuorum,
  type PeerRole,
  type QuorumVerifier,
  type ServerId,
  serverId,
  type Vote,
} from "@zooid/model";
import { ELECTION_DEFAULTS, type ElectionConfig } from "../config.ts";
import { createElection } from "../create-election.ts";
import type { ElectionPosition, LeaderElection } from "../events.ts";

export type Notification = Extract<ElectionMessage, { readonly kind: "notification" }>;

/** Voters 1 to `count`. */
export function majorityOf(count: number): QuorumVerifier {
  return new MajorityQuorum(Array.from({ length: count }, (_, index) => serverId(index + 1)));
}

/** A log whose last entry is the counter-th of the epoch. */
export function position(epoch: number, counter: number): ElectionPosition {
  return { zxid: composeZxid(epoch, counter), currentEpoch: epoch };
}

export function vote(leader: number, epoch: number, counter: number): Vote {
  return { leader: serverId(leader), zxid: composeZxid(epoch, counter), peerEpoch: epoch };
}

export function notification(role: PeerRole, round: number, named: Vote | undefined): Notification {
  return { kind: "notification", role, round, vote: named, selfZxid: composeZxid(0, 0), selfEpoch: 0 };
}

/** For tests: one election whose messages are kept, with servers by number. */
export class TestElection {
  readonly election: LeaderElection;
  readonly sent: { readonly to: ServerId; readonly message: ElectionMessage }[] = [];
  /** As `role leader`. */
  readonly decisions: string[] = [];
  /** Runs within the decision. */
  onDecided: () => void = () => {};

  constructor(config: Partial<ElectionConfig> & Pick<ElectionConfig, "verifier">, sid = 1) {
    const whole: ElectionConfig = {
      ...ELECTION_DEFAULTS,
      sid: serverId(sid),
      candidates: config.verifier.voters,
      random: () => 0.5,
      ...config,
    };
    this.election = createElection(whole, {
      send: (to, message) => this.sent.push({ to, message }),
      decided: (role, decided) => {
        this.decisions.push(`${role} ${decided.leader}`);
        this.onDecided();
      },
    });
  }

  /** Hears a message, and returns what it says to that, as `to: message`. */
  hear(from: number, message: ElectionMessage, nowMs = 0): readonly string[] {
    this.sent.length = 0;
    this.election.receive(serverId(from), message, nowMs);
    return this.take();
  }

  /** The messages since the last time. */
  take(): readonly string[] {
    return this.sent.splice(0).map(({ to, message }) => `${to}: ${describe(message)}`);
  }
}

/**
 * As `role round leader/epoch.counter`; polls as `poll`, and their answers as
 * `role leader/epoch.counter`.
 */
function describe(message: ElectionMessage): string {
  switch (message.kind) {
    case "poll":
      return "poll";
    case "poll-answer":
      return `${message.role} ${describeVote(message.vote)}`;
    case "notification":
      return `${message.role} ${message.round} ${describeVote(message.vote)}`;
  }
}

function describeVote(named: Vote | undefined): string {
  return named === undefined ? "none" : `${named.leader}/${named.peerEpoch}.${named.zxid % 2 ** 32}`;
}

/** Server 1 of `voters`, looking at time 0 in round 1 with the log 5.10; nothing said is kept. */
export function looking(
  voters = 3,
  options: Partial<ConstructorParameters<typeof TestElection>[0]> = {},
): TestElection {
  const server = new TestElection({ verifier: majorityOf(voters), ...options });
  server.election.look(position(5, 10), 0);
  server.take();
  return server;
}

/** An observer, number 9, looking at time 0 in round 1. */
export function observer(voters = 3): TestElection {
  const server = new TestElection({ verifier: majorityOf(voters) }, 9);
  server.election.look(undefined, 0);
  server.take();
  return server;
}
