import { assert, assertNever, type ElectionMessage, type PeerRole, type ServerId, type Vote } from "@zooid/model";
import type { Candidates, ElectionConfig } from "./config.ts";
import type { ElectionPosition, ElectionSinks, LeaderElection } from "./events.ts";
import { better, compareVotes, firstVote, ownVote } from "./vote.ts";

interface PollAnswer {
  readonly role: PeerRole;
  readonly vote: Vote | undefined;
}

type Answers = ReadonlyMap<ServerId, PollAnswer>;

interface Looking {
  readonly kind: "looking";
  /** A server's vote for itself; undefined without a vote. */
  readonly own: Vote | undefined;
  vote: Vote | undefined;
  /** Answers to this round's question; undefined between rounds. */
  answers: Map<ServerId, PollAnswer> | undefined;
  /** Candidates that are no voters and have answered in this round, by their roles. */
  readonly others: Map<ServerId, PeerRole>;
  /** When the round ends, or the next begins. */
  dueMs: number;
}

interface Decided {
  readonly kind: "decided";
  readonly role: Exclude<PeerRole, "looking">;
  vote: Vote;
  readonly supporters: Set<ServerId>;
}

/** Messages are ignored until `look` is first called. */
type State = { readonly kind: "idle" } | Looking | Decided;

const NO_SUPPORTERS: ReadonlySet<ServerId> = new Set();

/**
 * The basic election (`electionAlg` 0). In every round a server asks all voters for their votes,
 * moves to the best vote it hears, and has decided when a quorum named the same candidate.
 *
 * ```
 *   look ──▶ asking ──all answered, or pollWait──▶ count ──a quorum agrees──▶ decided
 *              ▲                                     │
 *              └───────────── rest ◀─────────────────┘
 * ```
 *
 * It pulls where fast leader election pushes: simpler, slower, with messages for every round.
 * Nothing after it knows which ran.
 */
export class BasicLeaderElection implements LeaderElection {
  readonly #config: ElectionConfig;
  readonly #sinks: ElectionSinks;
  /**
   * Polls are numbered from here, so that an answer meant for this server before it restarted is
   * not taken for a new one.
   */
  readonly #numberBefore: number;
  #state: State = { kind: "idle" };
  #avoided: { readonly leader: ServerId; readonly untilMs: number } | undefined;
  #round = 0;

  constructor(config: ElectionConfig, sinks: ElectionSinks) {
    this.#config = config;
    this.#sinks = sinks;
    this.#numberBefore = Math.floor(config.random() * 2 ** 31);
  }

  get role(): PeerRole {
    return this.#state.kind === "decided" ? this.#state.role : "looking";
  }

  get round(): number {
    return this.#round;
  }

  get vote(): Vote | undefined {
    return this.#state.kind === "idle" ? undefined : this.#state.vote;
  }

  get supporters(): ReadonlySet<ServerId> {
    return this.#state.kind === "decided" ? this.#state.supporters : NO_SUPPORTERS;
  }

  look(position: ElectionPosition | undefined, nowMs: number, nominee?: Vote): void {
    const { sid, verifier, candidates, askDelayMsMax, random } = this.#config;
    const hasLooked = this.#round > 0;
    const own = ownVote(sid, verifier.voters.has(sid) ? position : undefined);
    const vote = firstVote(own, nominee, candidates);
    const looking: Looking = { kind: "looking", own, vote, answers: undefined, others: new Map(), dueMs: nowMs };
    this.#state = looking;
    if (own === undefined && hasLooked) looking.dueMs = nowMs + Math.floor(random() * askDelayMsMax);
    else this.#ask(looking, nowMs);
  }

  adopt(role: Exclude<PeerRole, "looking">, vote: Vote): void {
    this.#state = { kind: "decided", role, vote, supporters: new Set(this.#config.verifier.voters) };
  }

  avoid(leader: ServerId, untilMs: number): void {
    this.#avoided = { leader, untilMs };
  }

  established(epoch: number): void {
    assert(this.#state.kind === "decided", `epoch ${epoch} is established at a server that looks for a leader`);
    this.#state.vote = { ...this.#state.vote, peerEpoch: epoch };
  }

  receive(from: ServerId, message: ElectionMessage, nowMs: number): void {
    if (this.#state.kind === "idle" || from === this.#config.sid) return;
    switch (message.kind) {
      case "poll":
        this.#answer(from, message.number);
        return;
      case "poll-answer":
        this.#answered(from, message, nowMs);
        return;
      case "notification":
        return; // Of the other algorithm: the links refuse its servers.
      default:
        assertNever(message);
    }
  }

  linkDown(sid: ServerId): void {
    if (this.#state.kind === "decided") this.#state.supporters.delete(sid);
  }

  linkUp(sid: ServerId): void {
    // The question, or the answer to it, may have died with the old link.
    if (this.#state.kind !== "looking" || sid === this.#config.sid || !this.#config.verifier.voters.has(sid)) return;
    if (this.#state.answers?.has(sid) === false) this.#poll(sid);
  }

  measured(): void {
    // Nothing here waits for a better vote: the next round finds it.
  }

  tick(nowMs: number): void {
    const looking = this.#state;
    if (looking.kind !== "looking" || looking.dueMs > nowMs) return;
    if (looking.answers === undefined) this.#ask(looking, nowMs);
    else this.#count(looking, looking.answers, nowMs);
  }

  nextDueMs(): number | undefined {
    return this.#state.kind === "looking" ? this.#state.dueMs : undefined;
  }

  #ask(looking: Looking, nowMs: number): void {
    const { sid, verifier, acquaintances, pollWaitMs } = this.#config;
    this.#round++;
    const answers = new Map<ServerId, PollAnswer>();
    if (looking.vote !== undefined) answers.set(sid, { role: "looking", vote: looking.vote });
    looking.answers = answers;
    looking.others.clear();
    looking.dueMs = nowMs + pollWaitMs;
    for (const voter of verifier.voters) if (voter !== sid) this.#poll(voter);
    // Their answers are not counted; they may bring a newer configuration, or be a candidate's.
    for (const other of acquaintances ?? []) if (other !== sid && !verifier.voters.has(other)) this.#poll(other);
    this.#countIfComplete(looking, answers, nowMs);
  }

  #answer(to: ServerId, number: number): void {
    const { role } = this;
    this.#sinks.send(to, { kind: "poll-answer", number, role, vote: role === "observing" ? undefined : this.vote });
  }

  #poll(to: ServerId): void {
    this.#sinks.send(to, { kind: "poll", number: this.#number() });
  }

  #number(): number {
    return this.#numberBefore + this.#round;
  }

  #answered(from: ServerId, answer: PollAnswer & { readonly number: number }, nowMs: number): void {
    const looking = this.#state;
    if (looking.kind !== "looking" || looking.answers === undefined) return;
    const { verifier, candidates } = this.#config;
    if (answer.number !== this.#number()) return;
    if (verifier.voters.has(from)) looking.answers.set(from, { role: answer.role, vote: answer.vote });
    else if (candidates.has(from)) looking.others.set(from, answer.role);
    else return;
    this.#countIfComplete(looking, looking.answers, nowMs);
  }

  #countIfComplete(looking: Looking, answers: Answers, nowMs: number): void {
    const { sid, verifier } = this.#config;
    // One that lost its storage is a voter that may not vote: it has no answer of its own to wait
    // for.
    const expected =
      verifier.voters.has(sid) && looking.own === undefined ? verifier.voters.size - 1 : verifier.voters.size;
    if (answers.size === expected && !this.#awaitsCandidate(looking, answers)) this.#count(looking, answers, nowMs);
  }

  /**
   * Whether a vote names a candidate that is no voter, and whose answer may still come in this
   * round.
   */
  #awaitsCandidate({ others }: Looking, answers: Answers): boolean {
    const { verifier, candidates } = this.#config;
    for (const { vote } of answers.values()) {
      if (vote === undefined || verifier.voters.has(vote.leader) || others.has(vote.leader)) continue;
      if (candidates.has(vote.leader)) return true;
    }
    return false;
  }

  #count(looking: Looking, answers: Answers, nowMs: number): void {
    const { sid, verifier, pollWaitMs, random } = this.#config;
    const { own } = looking;
    const counted = own === undefined ? ofMembers(answers) : answers;
    const candidacies = standingsOf(counted, this.#config.candidates, (candidate) => {
      // The candidate must have answered itself, and have a vote: a dead leader is not elected
      // again by hearsay.
      if (verifier.voters.has(candidate)) return counted.get(candidate)?.vote !== undefined;
      const role = looking.others.get(candidate);
      return own === undefined ? role === "leading" : role !== undefined;
    });
    for (const { best, supporters } of candidacies) {
      if (!verifier.isQuorum(supporters)) continue;
      if (this.#avoided?.leader === best.leader && nowMs < this.#avoided.untilMs) continue;
      const role = best.leader === sid ? "leading" : own === undefined ? "observing" : "following";
      if (own !== undefined) supporters.add(sid);
      this.#state = { kind: "decided", role, vote: best, supporters };
      this.#sinks.decided(role, best);
      return;
    }
    if (own !== undefined) {
      // From its own vote, not from the one it has: that one may name a server that is gone, and
      // what is left may be worse than itself.
      looking.vote = candidacies.reduce((vote, { best }) => better(best, vote, this.#config.candidates), own);
    }
    looking.answers = undefined;
    // Jitter keeps servers that lost their leader together from asking in one burst.
    looking.dueMs = nowMs + Math.floor(pollWaitMs * (0.5 + random()));
  }
}

/** The answers about one candidate. */
interface Candidacy {
  /** The best position that any answer gives it: answers may be of different age. */
  best: Vote;
  readonly supporters: Set<ServerId>;
}

function standingsOf(
  answers: Answers,
  candidates: Candidates,
  hasAnswered: (candidate: ServerId) => boolean,
): readonly Candidacy[] {
  const candidacies = new Map<ServerId, Candidacy>();
  for (const [sid, { vote }] of answers) {
    if (vote === undefined || !candidates.has(vote.leader) || !hasAnswered(vote.leader)) continue;
    const standing = candidacies.get(vote.leader);
    if (standing === undefined) candidacies.set(vote.leader, { best: vote, supporters: new Set([sid]) });
    else {
      if (compareVotes(vote, standing.best) > 0) standing.best = vote;
      standing.supporters.add(sid);
    }
  }
  return [...candidacies.values()];
}

/**
 * For a server without a vote, which takes part in no election: the word of a leader and of those
 * that follow.
 */
function ofMembers(answers: Answers): Answers {
  return new Map([...answers].filter(([, { role }]) => role === "leading" || role === "following"));
}
