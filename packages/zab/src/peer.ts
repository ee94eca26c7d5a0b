import {
  assert,
  COUNTER_HANDOVER,
  composeZxid,
  counterOf,
  EPOCH_MAX,
  epochOf,
  type FrameBatch,
  formatZxid,
  InvariantError,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { AckTally } from "./broadcast.ts";
import type { PeerState, ZabSinks } from "./events.ts";
import { ProposalQueue } from "./proposal-queue.ts";

export interface PeerConfig {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  /** Most entries proposed and not yet delivered; beyond it {@link ZabPeer.isFull} asks the driver to admit no more. */
  readonly outstandingCountMax: number;
  readonly outstandingBytesMax: number;
}

/**
 * One member of the broadcast. What it replicates is opaque to it.
 *
 * Each role that it takes has a generation; a completion that names an older one changes nothing. An ensemble of one walks the
 * same way as any other: it leads because its own promise and its own ack are a quorum, and it commits by counting acks.
 */
export class ZabPeer {
  readonly #config: PeerConfig;
  readonly #sinks: ZabSinks;
  #state: PeerState = "looking";
  #generation = 0;
  #epoch = 0;
  #queue = new ProposalQueue(ZXID_NONE);
  #tally: AckTally;
  #delivered: Zxid = ZXID_NONE;

  constructor(config: PeerConfig, sinks: ZabSinks) {
    this.#config = config;
    this.#sinks = sinks;
    this.#tally = new AckTally(config.verifier, ZXID_NONE);
  }

  get state(): PeerState {
    return this.#state;
  }

  get generation(): number {
    return this.#generation;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get committed(): Zxid {
    return this.#tally.committed;
  }

  get lastProposed(): Zxid {
    return this.#queue.last;
  }

  /** Entries proposed and not yet delivered. */
  get outstandingCount(): number {
    return this.#queue.count;
  }

  get isFull(): boolean {
    const { outstandingCountMax, outstandingBytesMax } = this.#config;
    return this.#queue.count >= outstandingCountMax || this.#queue.sizeBytes >= outstandingBytesMax;
  }

  /** Whether the epoch's counter nears its end, so that no more writes may be admitted before a new epoch begins. */
  get isExhausted(): boolean {
    return counterOf(this.#queue.last) >= COUNTER_HANDOVER;
  }

  /**
   * Becomes leader of an epoch whose promise is durable at a quorum, with a history that is durable at a quorum; alone, that is
   * this server's own disk.
   *
   * @param history the last entry of that history: everything up to it is committed
   */
  lead(epoch: number, history: Zxid): void {
    assert(
      this.#config.verifier.isQuorum([this.#config.sid]),
      "a server leads alone only where it is a quorum by itself",
    );
    assert(epoch > epochOf(history), `epoch ${epoch} follows the history's last zxid ${formatZxid(history)}`);
    assert(epoch < EPOCH_MAX, `epoch ${epoch} is below ${EPOCH_MAX}, where zxids would no longer be exact`);
    this.#generation++;
    this.#state = "leading";
    this.#epoch = epoch;
    const start = composeZxid(epoch, 0);
    this.#queue = new ProposalQueue(start);
    this.#tally = new AckTally(this.#config.verifier, start);
    this.#delivered = start;
  }

  /** Gives the role up: completions that are still under way are of an older generation from now on. */
  stopLeading(): void {
    this.#generation++;
    this.#state = "looking";
  }

  /** Proposes entries that continue the epoch. They are appended here and, later, at every follower. */
  propose(batch: FrameBatch): void {
    assert(this.#state === "leading", "only a leader proposes");
    if (epochOf(batch.first) !== this.#epoch) {
      throw new InvariantError(`a leader of epoch ${this.#epoch} proposes in it, not ${formatZxid(batch.first)}`);
    }
    if (batch.first !== this.#queue.last + 1) {
      throw new InvariantError(`${formatZxid(batch.first)} leaves a gap behind ${formatZxid(this.#queue.last)}`);
    }
    this.#queue.push(batch);
    this.#sinks.append(batch, this.#generation);
  }

  /** Everything up to a zxid is on this server's disk: its own ack. */
  synced(generation: number, zxid: Zxid): void {
    if (generation !== this.#generation || this.#state !== "leading") return;
    this.#tally.ack(this.#config.sid, zxid);
  }

  /**
   * Delivers what is committed, at most `most` entries.
   *
   * @returns whether more is due
   */
  deliver(most: number): boolean {
    const { committed } = this.#tally;
    if (this.#delivered >= committed) return false;
    const count = this.#queue.deliver(committed, most, this.#sinks);
    this.#delivered = (this.#delivered + count) as Zxid;
    return this.#delivered < committed;
  }
}
