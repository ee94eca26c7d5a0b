import {
  assert,
  assertNever,
  type ElectionMessage,
  type PeerRole,
  type ServerId,
  type Vote,
  ZXID_NONE,
} from "@zooid/model";
import type { ElectionConfig } from "./config.ts";
import type { ElectionPosition, ElectionSinks, LeaderElection } from "./events.ts";
import { SettleDelay } from "./settle-delay.ts";
import { Tally } from "./tally.ts";
import { beats, better, firstVote, isSameLeadership, isSameVote, ownVote } from "./vote.ts";

/** A report of another server. */
type Notification = Extract<ElectionMessage, { readonly kind: "notification" }>;

interface Looking {
  readonly kind: "looking";
  /**
   * The vote that a server begins with, for itself or for its nominee; undefined without a vote.
   */
  readonly own: Vote | undefined;
  vote: Vote | undefined;
  /** Votes of this round, this server's among them. Emptied when the round rises. */
  readonly inRound: Tally;
  /** The votes of servers that follow or lead, whatever their round. */
  readonly outside: Tally;
  waitMs: number;
  resendAtMs: number;
  settleAtMs: number | undefined;
}

interface Decided {
  readonly kind: "decided";
  readonly role: Exclude<PeerRole, "looking">;
  vote: Vote;
  readonly supporters: Set<ServerId>;
  /**
   * The last notification of each voter that looks, and when it came. See
   * {@link FastLeaderElection.look}.
   */
  readonly overheard: Map<ServerId, { readonly heard: Notification; readonly atMs: number }>;
}

/** Messages are ignored until `look` is first called. */
type State = { readonly kind: "idle" } | Looking | Decided;

const NO_SUPPORTERS: ReadonlySet<ServerId> = new Set();

/**
 * Fast leader election (`electionAlg` 3). Every server sends its vote to all voters, changes to a
 * better vote when it hears one and sends that too, until a quorum agrees.
 *
 * ```
 *              look                       a quorum agrees in this round,
 *   ┌──────┐  round + 1  ┌─────────┐      and nothing better comes while it settles     ┌─────────┐
 *   │ idle │────────────▶│ looking │───────────────────────────────────────────────────▶│ decided │
 *   └──────┘             │         │───────────────────────────────────────────────────▶│         │
 *                        └─────────┘      a quorum follows, and the leader says it leads└────┬────┘
 *                             ▲                              look                            │
 *                             └──────────────────────────────────────────────────────────────┘
 * ```
 *
 * Source: the election of ZooKeeper's Zab 1.0, with a settle delay that follows the round trip.
 */
export class FastLeaderElection implements LeaderElection {
  readonly #config: ElectionConfig;
  readonly #sinks: ElectionSinks;
  readonly #settle: SettleDelay;
  #state: State = { kind: "idle" };
  #round = 0;
  #position: ElectionPosition | undefined;
  #avoided: { readonly leader: ServerId; readonly untilMs: number } | undefined;

  constructor(config: ElectionConfig, sinks: ElectionSinks) {
    this.#config = config;
    this.#sinks = sinks;
    this.#settle = new SettleDelay(config);
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
    const { sid, verifier, candidates, resendMsMin, askDelayMsMax, random } = this.#config;
    const hasLooked = this.#round > 0;
    const overheard = this.#state.kind === "decided" ? this.#state.overheard : undefined;
    this.#position = verifier.voters.has(sid) ? position : undefined;
    // A server may have named the last possible round: the election stays in it, since a later one
    // could not be sent.
    this.#round = Math.min(this.#round + 1, Number.MAX_SAFE_INTEGER);
    const own = firstVote(ownVote(sid, this.#position), nominee, candidates);
    const looking: Looking = {
      kind: "looking",
      own,
      vote: own,
      inRound: new Tally(isSameVote),
      outside: new Tally(isSameLeadership),
      waitMs: resendMsMin,
      resendAtMs: nowMs + resendMsMin,
      settleAtMs: undefined,
    };
    this.#state = looking;
    if (own === undefined) {
      if (hasLooked) looking.resendAtMs = nowMs + Math.floor(random() * askDelayMsMax);
      else this.#tellVoters();
      return;
    }
    this.#changeVote(looking, own, nowMs);
    this.#recount(looking, nowMs);
    // Other voters may have noticed a moment earlier that the leader is gone, and have sent their
    // votes while this server still followed it. Without these votes the election would wait until
    // they are repeated. Older ones have been repeated since, or are out of date.
    for (const [from, { heard, atMs }] of overheard ?? []) {
      if (this.#state !== looking) return;
      if (heard.round >= this.#round && nowMs - atMs <= resendMsMin)
        this.#heardWhileLooking(looking, from, heard, nowMs);
    }
  }

  adopt(role: Exclude<PeerRole, "looking">, vote: Vote): void {
    // The leader that named the successor named it to all: all may be expected to come.
    this.#state = {
      kind: "decided",
      role,
      vote,
      supporters: new Set(this.#config.verifier.voters),
      overheard: new Map(),
    };
  }

  avoid(leader: ServerId, untilMs: number): void {
    this.#avoided = { leader, untilMs };
  }

  established(epoch: number): void {
    assert(this.#state.kind === "decided", `epoch ${epoch} is established at a server that looks for a leader`);
    // Members remember different zxids and epochs of the leader they elected. The epoch it took is
    // the same for all.
    this.#state.vote = { ...this.#state.vote, peerEpoch: epoch };
  }

  receive(from: ServerId, message: ElectionMessage, nowMs: number): void {
    if (message.kind !== "notification" || from === this.#config.sid) return;
    switch (this.#state.kind) {
      case "idle":
        return;
      case "looking":
        this.#heardWhileLooking(this.#state, from, message, nowMs);
        return;
      case "decided":
        this.#heardWhileDecided(this.#state, from, message, nowMs);
        return;
      default:
        assertNever(this.#state);
    }
  }

  linkUp(sid: ServerId, nowMs: number): void {
    // A server that has decided sends nothing unasked: the other one, if it looks, asks over this
    // same link.
    if (this.#state.kind !== "looking") return;
    this.#hurry(this.#state, nowMs);
    if (sid !== this.#config.sid && this.#config.verifier.voters.has(sid)) this.#notify(sid);
  }

  linkDown(sid: ServerId): void {
    if (this.#state.kind === "decided") this.#state.supporters.delete(sid);
  }

  measured(sid: ServerId, roundTripMs: number): void {
    this.#settle.measured(sid, roundTripMs);
  }

  tick(nowMs: number): void {
    const looking = this.#state;
    if (looking.kind !== "looking") return;
    if (looking.resendAtMs <= nowMs) {
      this.#tellVoters();
      looking.waitMs = Math.min(2 * looking.waitMs, this.#config.resendMsMax);
      looking.resendAtMs = nowMs + looking.waitMs;
    }
    if (looking.settleAtMs !== undefined && looking.settleAtMs <= nowMs && looking.vote !== undefined) {
      this.#decide(looking.vote, looking.inRound.supporters(looking.vote));
    }
  }

  nextDueMs(): number | undefined {
    if (this.#state.kind !== "looking") return undefined;
    return Math.min(this.#state.resendAtMs, this.#state.settleAtMs ?? Number.POSITIVE_INFINITY);
  }

  #heardWhileDecided(decided: Decided, from: ServerId, heard: Notification, nowMs: number): void {
    if (heard.role !== "looking") {
      decided.overheard.delete(from);
      return;
    }
    if (this.#config.verifier.voters.has(from)) decided.overheard.set(from, { heard, atMs: nowMs });
    // In this round and for this leader: it is about to decide the same. Anything else, and it has
    // gone to look elsewhere.
    if (heard.round === this.#round && heard.vote?.leader === decided.vote.leader) decided.supporters.add(from);
    else decided.supporters.delete(from);
    this.#notify(from);
  }

  #heardWhileLooking(looking: Looking, from: ServerId, heard: Notification, nowMs: number): void {
    this.#hurry(looking, nowMs);
    const hasVote = looking.vote !== undefined;
    if (!this.#config.verifier.voters.has(from)) {
      const { role, vote: itself } = heard;
      if (role === "leading" && itself?.leader === from && this.#config.candidates.has(from)) {
        this.#heardMember(looking, from, { round: heard.round, vote: itself, role }, nowMs);
        return;
      }
      // Only to a server that knows it has no vote. One that believes it votes would answer the
      // answer, and the exchange would never end.
      if (heard.role === "looking" && heard.vote === undefined && hasVote) this.#notify(from);
      return;
    }
    if (heard.vote === undefined) {
      // It lost its storage. What it said before that counts no longer.
      this.#withdraw(looking, from, nowMs);
      if (heard.role === "looking" && hasVote) this.#notify(from);
      return;
    }
    switch (heard.role) {
      case "looking":
        this.#heardLooker(looking, from, { round: heard.round, vote: heard.vote }, nowMs);
        return;
      case "following":
      case "leading":
        this.#heardMember(looking, from, { round: heard.round, vote: heard.vote, role: heard.role }, nowMs);
        return;
      case "observing":
        this.#withdraw(looking, from, nowMs);
        return;
      default:
        assertNever(heard.role);
    }
  }

  #heardLooker(looking: Looking, from: ServerId, heard: { round: number; vote: Vote }, nowMs: number): void {
    // Whatever leader it had, it has left.
    looking.outside.withdraw(from);
    const { own, vote } = looking;
    if (own === undefined || vote === undefined) return;
    if (heard.round < this.#round) {
      // It restarted, or lags: without an answer it would vote in its old round until its next
      // resend.
      this.#withdraw(looking, from, nowMs);
      this.#notify(from);
      return;
    }
    const { verifier, candidates } = this.#config;
    if (!verifier.voters.has(heard.vote.leader) && !candidates.has(heard.vote.leader)) {
      this.#withdraw(looking, from, nowMs);
      return;
    }
    if (heard.round > this.#round) {
      this.#round = heard.round;
      looking.inRound.clear();
      this.#changeVote(looking, better(heard.vote, own, candidates), nowMs);
    } else if (beats(heard.vote, vote, candidates)) {
      this.#changeVote(looking, heard.vote, nowMs);
    }
    looking.inRound.cast(from, { vote: heard.vote, role: "looking" });
    this.#recount(looking, nowMs);
  }

  #heardMember(
    looking: Looking,
    from: ServerId,
    heard: { readonly round: number; readonly vote: Vote; readonly role: "following" | "leading" },
    nowMs: number,
  ): void {
    const { vote, role, round } = heard;
    looking.inRound.withdraw(from);
    if (round === this.#round && looking.vote !== undefined && this.#config.verifier.voters.has(from)) {
      looking.inRound.cast(from, { vote, role });
      if (this.#isLedAlready(looking.inRound, vote, round) && !this.#avoids(vote.leader, nowMs)) {
        this.#decide(vote, looking.inRound.supporters(vote));
        return;
      }
    }
    // rule: members-of-any-round-count
    looking.outside.cast(from, { vote, role });
    if (this.#isLedAlready(looking.outside, vote, round) && !this.#avoids(vote.leader, nowMs)) {
      this.#round = round;
      this.#decide(vote, looking.outside.supporters(vote));
      return;
    }
    this.#recount(looking, nowMs);
  }

  /**
   * A quorum names this leader, and the leader says so itself. Unless the leader itself claims the
   * role, stale votes could elect a dead leader; without the quorum one that was deposed and does
   * not know it captures every server that asks.
   */
  #isLedAlready(tally: Tally, vote: Vote, round: number): boolean {
    if (!this.#config.verifier.isQuorum(tally.supporters(vote))) return false;
    // rule: a-leader-says-that-it-leads
    if (vote.leader !== this.#config.sid) return tally.saysItLeads(vote.leader);
    // The others were quicker to decide for this server. In another round, they speak of a time
    // before it restarted.
    return round === this.#round && this.#position !== undefined && this.#config.candidates.has(vote.leader);
  }

  #avoids(leader: ServerId, nowMs: number): boolean {
    return this.#avoided?.leader === leader && nowMs < this.#avoided.untilMs;
  }

  #withdraw(looking: Looking, sid: ServerId, nowMs: number): void {
    looking.inRound.withdraw(sid);
    looking.outside.withdraw(sid);
    this.#recount(looking, nowMs);
  }

  /** Any change of the vote restarts the settle delay. */
  #changeVote(looking: Looking, vote: Vote, nowMs: number): void {
    looking.vote = vote;
    looking.settleAtMs = undefined;
    looking.resendAtMs = nowMs + looking.waitMs;
    looking.inRound.cast(this.#config.sid, { vote, role: "looking" });
    this.#tellVoters();
  }

  /**
   * Starts the settle delay when this server's vote has a quorum, stops it when it has none any
   * more.
   */
  #recount(looking: Looking, nowMs: number): void {
    const { verifier, candidates } = this.#config;
    const { vote } = looking;
    if (vote === undefined) return;
    const supporters = looking.inRound.supporters(vote);
    if (!candidates.has(vote.leader) || !verifier.isQuorum(supporters)) {
      looking.settleAtMs = undefined;
      return;
    }
    if (supporters.size === verifier.voters.size) {
      // All have spoken and agree: nothing better can come.
      this.#decide(vote, supporters);
      return;
    }
    looking.settleAtMs ??= nowMs + this.#settle.delayMs(verifier.voters);
  }

  #decide(vote: Vote, supporters: Set<ServerId>): void {
    const { sid } = this.#config;
    const role = vote.leader === sid ? "leading" : this.#position === undefined ? "observing" : "following";
    if (role !== "observing") supporters.add(sid);
    this.#state = { kind: "decided", role, vote, supporters, overheard: new Map() };
    this.#sinks.decided(role, vote);
  }

  /**
   * Others are there: what they missed, they should soon have. What arrives brings the next
   * repetition nearer and never puts it off. If it did, as in a wait for silence, a crowd of
   * observers that ask would keep a voter from repeating a vote that was lost.
   */
  #hurry(looking: Looking, nowMs: number): void {
    looking.waitMs = this.#config.resendMsMin;
    looking.resendAtMs = Math.min(looking.resendAtMs, nowMs + looking.waitMs);
  }

  #tellVoters(): void {
    const { sid, verifier, acquaintances } = this.#config;
    for (const voter of verifier.voters) if (voter !== sid) this.#notify(voter);
    for (const other of acquaintances ?? []) if (other !== sid && !verifier.voters.has(other)) this.#notify(other);
  }

  #notify(to: ServerId): void {
    this.#sinks.send(to, {
      kind: "notification",
      role: this.role,
      round: this.#round,
      vote: this.vote,
      selfZxid: this.#position?.zxid ?? ZXID_NONE,
      selfEpoch: this.#position?.currentEpoch ?? 0,
    });
  }
}
