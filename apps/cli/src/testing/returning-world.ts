/**
 * A Zooid ensemble with clients, the stopped servers of Apache's and the directory of an export, as
 * a model: it answers the acts of a return.
 */
import { assertNever, composeZxid, type Zxid } from "@zooid/model";
import type { Action, ActKind, Acts, Answer, Reply } from "../migrate/return/action.ts";
import type { DirectoryFacts, ExportRecord, MemberFacts } from "../migrate/return/facts.ts";
import type { PortState } from "../migrate/tcp-port.ts";
import { Crash, type Fault } from "./moving-world.ts";

export interface ReturningOptions {
  /** Facts of members that are other than usual, by their places. */
  readonly members?: Readonly<Record<number, Partial<MemberFacts>>>;
  /** Ports of Apache's servers; all refuse without it. */
  readonly apache?: readonly PortState[];
  /** The state of the directory, until something is exported. */
  readonly directory?: DirectoryFacts;
  /** A connection at a member that never ends. */
  readonly leak?: number;
  /** The ensemble has not been opened since it was founded. */
  readonly isFounded?: boolean;
  readonly isConfirmed?: boolean;
}

interface Exported {
  /** Acknowledged writes that are in it. */
  readonly writes: number;
  readonly record: ExportRecord;
}

const SLOW_MS = 1_000_000;
const ACT_MS = 5;
const SIDS = [1, 2, 3];

export class ReturningWorld {
  /** Writes that were answered by the ensemble. */
  acked = 0;
  epoch = 7;
  counter = 10;
  leader = 2;
  closedAt: Zxid | undefined;
  /** Connections of each server. */
  connections: readonly number[] = [2, 2, 2];
  staged: Exported | undefined;
  kept: Exported | undefined;
  nowMs = 1000;
  /** The kinds of the acts so far. */
  readonly acts: ActKind[] = [];
  /** The act, counted from 0, that goes wrong. */
  fault: { readonly at: number; readonly how: Fault } | undefined;
  /** Before this act another operator opens the ensemble. */
  openedBefore: number | undefined;
  readonly #options: ReturningOptions;

  constructor(options: ReturningOptions = {}) {
    this.#options = options;
    this.#clientsWrite();
  }

  get isOpen(): boolean {
    return this.closedAt === undefined && this.#options.isFounded !== true;
  }

  reply(action: Action): Reply {
    const index = this.acts.length;
    this.acts.push(action.kind);
    this.nowMs += ACT_MS;
    if (this.openedBefore === index) this.open();
    this.#clientsWrite();
    const how = this.fault?.at === index ? this.fault.how : undefined;
    const isDone = how === undefined || how === "lost-answer" || how === "slow" || how === "crash-behind";
    if (how === "crash") throw new Crash();
    const answer: Answer<ActKind> = isDone
      ? this.#do(action)
      : { kind: "failed", isRefused: how === "refused", reason: `${action.kind}: ${how}` };
    if (how === "crash-behind") throw new Crash();
    if (how === "slow") this.nowMs += SLOW_MS;
    if (how === "lost-answer")
      return { nowMs: this.nowMs, answer: { kind: "failed", isRefused: false, reason: "the answer is lost" } };
    return { nowMs: this.nowMs, answer };
  }

  open(): void {
    if (this.closedAt === undefined) return;
    this.closedAt = undefined;
    this.counter++;
    this.connections = [2, 2, 2];
    this.#clientsWrite();
  }

  /** An export that Apache may be started from has every write, and no client writes elsewhere. */
  get isReturned(): boolean {
    return !this.isOpen && this.kept?.record.closedAt === this.closedAt && this.kept?.writes === this.acked;
  }

  /** Clients are served as before, and nothing of the return is left. */
  get isAsBefore(): boolean {
    return this.isOpen && this.kept === undefined && this.staged === undefined;
  }

  /** Clients write where they can, and leave where they must. */
  #clientsWrite(): void {
    if (this.isOpen) {
      this.acked++;
      this.counter++;
    } else this.connections = this.connections.map((count, i) => (i === this.#options.leak ? count : count >> 1));
  }

  #close(): void {
    if (this.closedAt !== undefined) return;
    this.closedAt = composeZxid(this.epoch, ++this.counter);
    this.epoch++;
    this.counter = 0;
    this.leader = (this.leader % SIDS.length) + 1;
  }

  #do(action: Action): Answer<ActKind> {
    const { closedAt } = this;
    switch (action.kind) {
      case "look-members":
        return done<"look-members">(SIDS.map((sid, i) => ({ ...this.#member(sid), ...this.#options.members?.[i] })));
      case "look-apache":
        return done<"look-apache">(
          SIDS.map((sid, i) => ({ address: `zk${sid}:2181`, state: this.#options.apache?.[i] ?? "refused" })),
        );
      case "look-directory":
        return done<"look-directory">(
          this.kept === undefined
            ? (this.#options.directory ?? { kind: "free" })
            : { kind: "exported", record: this.kept.record },
        );
      case "confirm":
        return done<"confirm">(this.#options.isConfirmed !== false);
      case "wait":
        this.nowMs += action.ms;
        return NOTHING;
      case "close":
        this.#close();
        return NOTHING;
      case "export": {
        if (closedAt === undefined || closedAt !== action.closedAt) return refused("it serves clients");
        const zxid = composeZxid(action.epoch, 1);
        const counts = { nodes: 9, ephemeralsRemoved: 1, sessionsKept: 2, sessionsEnded: 1 };
        const more = { shortestTimeoutMs: 4000, ttlNodes: 0, dataBytesMax: 10 };
        const record = { closedAt, epoch: action.epoch, zxid, ...counts, ...more };
        this.staged = { writes: this.acked, record };
        return done<"export">(record);
      }
      case "keep":
        this.kept = this.staged;
        this.staged = undefined;
        return NOTHING;
      case "drop":
        this.staged = undefined;
        this.kept = undefined;
        return NOTHING;
      case "open":
        this.open();
        return NOTHING;
      default:
        return assertNever(action);
    }
  }

  #member(sid: number): MemberFacts {
    return {
      name: `m${sid}`,
      fault: undefined,
      sid,
      isServing: true,
      isLeader: sid === this.leader,
      sids: SIDS,
      clients: this.#options.isFounded === true ? "closed" : this.isOpen ? "open" : "closed-again",
      closedAt: this.closedAt,
      zxid: composeZxid(this.epoch, this.counter),
      connections: this.connections[sid - 1] ?? 0,
      sessions: 3,
      keptSessions: 2,
      apacheEpoch: this.epoch + 1024,
      apacheEpochNote: undefined,
    };
  }
}

const NOTHING: Answer<ActKind> = { kind: "done", value: undefined };

function refused(reason: string): Answer<never> {
  return { kind: "failed", isRefused: true, reason };
}

function done<K extends ActKind>(value: Acts[K]["answer"]): Answer<K> {
  return { kind: "done", value };
}
