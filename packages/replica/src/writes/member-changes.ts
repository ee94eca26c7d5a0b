import type { PrepareContext } from "@zooid/data-tree";
import {
  type ChangeRequest,
  changedMembers,
  counted,
  counterOf,
  ErrorCode,
  type Members,
  membersText,
  ServerNumberError,
  type TxnOp,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { AutomaticTransfer } from "../automatic-transfer.ts";
import type { GroundParts } from "../parts/ground.ts";

interface Parts extends GroundParts {
  readonly automaticTransfer: AutomaticTransfer;
}

/** Election messages carry the configuration in a frame of 64 KiB. */
const CONFIG_BYTES_MAX = 32 * 1024;
/** Characters of a request's lists together: no configuration that may be kept needs more. */
const REQUEST_CHARS_MAX = 32 * 1024;
const TOO_LONG = `its text has more than ${CONFIG_BYTES_MAX} bytes`;
/** Time between two reports of refused changes. */
const NOTE_MS = 5000;
const REASON_CHARS_MAX = 300;
/** Time until a list in files that is not in force is reported, and the interval of the reports. */
const WISH_REPORT_MS = 60_000;

/**
 * The answer to an operator who opens the ensemble to clients; `busy`: another change is under way.
 */
export type OpeningAnswer = "proposed" | "open" | "busy" | "not-leading";

/**
 * The answer to an operator who closes the ensemble to clients; `alone`: a server without an
 * ensemble has no configuration that would say so.
 */
export type ClosingAnswer = "proposed" | "closed" | "busy" | "alone" | "not-leading";

/**
 * Changes of the ensemble's configuration. A change is a write of `/zookeeper/config`: the leader
 * checks it, and every server sees the configuration when it logs the entry, before it is
 * committed.
 */
export class MemberChanges {
  readonly #parts: Parts;
  /** A change that is prepared, and may not be proposed yet. */
  #prepared: Zxid | undefined;
  #notedMs = Number.NEGATIVE_INFINITY;
  /** When the servers' files are looked at again. */
  #wishDueMs = Number.NEGATIVE_INFINITY;
  /** When lists in files that are not in force are reported; undefined while there are none. */
  #wishReportMs: number | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Checks a change in the order of Apache's server, but for the permission, and fills `op` with
   * its transaction. The permission is checked before anything is parsed: clients that may not
   * change the ensemble cost a look-up.
   *
   * @param isOperator it comes from this server's operator, who needs no permission in the tree
   */
  prepare(change: ChangeRequest, context: Readonly<PrepareContext>, op: TxnOp, isOperator = false): ErrorCode {
    const { config, tree, zab } = this.#parts;
    if (!config.isReconfigEnabled) return ErrorCode.RECONFIG_DISABLED;
    const { members } = zab;
    const current = members.committed;
    if (current === undefined) return ErrorCode.UNIMPLEMENTED;
    // rule: one-change-at-a-time
    if (members.isChanging || this.#isPending) return ErrorCode.RECONFIG_IN_PROGRESS;
    // The raise was checked against the members before this change.
    if (zab.isRaisingLevel) return ErrorCode.RECONFIG_IN_PROGRESS;
    // The servers' files may name different first ones.
    if (current.version === ZXID_NONE) return ErrorCode.RECONFIG_IN_PROGRESS;
    if (change.fromVersion !== -1 && change.fromVersion !== current.version) return ErrorCode.BAD_VERSION;
    if (!isOperator && !tree.mayReconfig(context)) return ErrorCode.NO_AUTH;
    if (charCountOf(change) > REQUEST_CHARS_MAX) {
      return this.#refused(ErrorCode.BAD_ARGUMENTS, `its lists have more than ${REQUEST_CHARS_MAX} characters`);
    }
    let next: Members;
    try {
      next = this.#completed(changedMembers(current, kindOf(change), context.zxid));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const isNoNumber = error instanceof ServerNumberError;
      return this.#refused(isNoNumber ? ErrorCode.MARSHALLING_ERROR : ErrorCode.BAD_ARGUMENTS, error.message);
    }
    const text = new TextEncoder().encode(membersText(next));
    const voterCount = next.verifier.voters.size;
    const voterCountMin = config.ensemble?.voterCountMin ?? 1;
    if (voterCount < voterCountMin) {
      return this.#refused(
        ErrorCode.BAD_ARGUMENTS,
        `it has ${counted(voterCount, "voter")}, and at least ${voterCountMin} are needed`,
      );
    }
    if (text.length > CONFIG_BYTES_MAX) {
      return this.#refused(ErrorCode.BAD_ARGUMENTS, TOO_LONG);
    }
    // 1. The ensemble of S1 changes to S1, S4, S5, of which 4 and 5 do not run.
    // 2. No entry behind the change is ever committed.
    // rule: a-quorum-of-the-next-is-synced
    if (!zab.isQuorumSynced(next.verifier)) {
      return this.#refused(ErrorCode.NEW_CONFIG_NO_QUORUM, "no quorum of its servers follows the leader");
    }
    // Their files still name the members of before, and the leader would propose those again.
    if (zab.wishes?.hasQuorumIn(next) === true) {
      return this.#refused(ErrorCode.RECONFIG_DISABLED, "a quorum of its servers takes the members from files");
    }
    const code = tree.prepareReconfig(text, context, op, isOperator);
    if (code === ErrorCode.OK) this.#prepared = context.zxid;
    return code;
  }

  /** Whether a change is prepared, or logged and not committed yet. */
  get isUnderWay(): boolean {
    return this.#isPending || this.#parts.zab.members.isChanging;
  }

  /**
   * The configuration that it is time to propose: with the disks of voters that wait to be counted,
   * or the list of servers that enough of them have in their files. Only at the leader.
   */
  takeDueWish(): Members | undefined {
    const { config, automaticTransfer, servingState, zab } = this.#parts;
    const { nowMs } = servingState;
    if (nowMs < this.#wishDueMs) return undefined;
    this.#wishDueMs = nowMs + config.tickMs / 2;
    this.#reportWishes();
    if (this.#isPending || automaticTransfer.isUnderWay || zab.isRaisingLevel) return undefined;
    // The disks first: a server waits to be counted.
    const wish = zab.voterDisks?.due ?? this.#listDue;
    if (wish === undefined || wishText(wish, wish.version).length <= CONFIG_BYTES_MAX) return wish;
    this.#refused(ErrorCode.BAD_ARGUMENTS, TOO_LONG);
    return undefined;
  }

  get #listDue(): Members | undefined {
    const wish = this.#parts.zab.wishes?.due;
    return wish && this.#completed(wish);
  }

  /** With what files and clients' requests do not say. */
  #completed(next: Members): Members {
    const { members, voterDisks } = this.#parts.zab;
    return {
      ...next,
      disks: voterDisks?.of(next) ?? next.disks,
      clients: members.committed?.clients ?? next.clients,
    };
  }

  /**
   * The configuration that opens the ensemble to clients, or why it is not proposed now. Only at
   * the leader.
   */
  opening(): Members | Exclude<OpeningAnswer, "proposed" | "not-leading"> {
    const { members } = this.#parts.zab;
    const { committed } = members;
    if (committed === undefined || !members.areClientsClosed) return "open";
    return this.#isBusyWith(committed) ? "busy" : { ...committed, clients: "open" };
  }

  /**
   * The configuration that closes the ensemble to clients, or why it is not proposed now. Only at
   * the leader.
   */
  closing(): Members | Exclude<ClosingAnswer, "proposed" | "not-leading"> {
    const { members } = this.#parts.zab;
    const { committed } = members;
    if (committed === undefined) return "alone";
    if (members.areClientsClosed) return "closed";
    return this.#isBusyWith(committed) ? "busy" : { ...committed, clients: "closed-again" };
  }

  #isBusyWith(committed: Members): boolean {
    const { automaticTransfer, zab } = this.#parts;
    const isElsewhere = this.isUnderWay || automaticTransfer.isUnderWay || zab.isRaisingLevel;
    return isElsewhere || committed.version === ZXID_NONE;
  }

  /**
   * Lists in files that are not in force for a minute: an operator may have forgotten a server, or
   * given one an old file.
   */
  #reportWishes(): void {
    const { servingState, sinks, zab } = this.#parts;
    const { nowMs } = servingState;
    const inForce = zab.members.committed;
    const waiting = zab.wishes?.waiting ?? [];
    if (waiting.length === 0 || inForce === undefined) {
      this.#wishReportMs = undefined;
      return;
    }
    this.#wishReportMs ??= nowMs + WISH_REPORT_MS;
    if (nowMs < this.#wishReportMs) return;
    this.#wishReportMs = nowMs + WISH_REPORT_MS;
    for (const wish of waiting) sinks.note({ kind: "list-differs", inForce, wish });
  }

  /** Fills `op` with the change to a list of the servers' files. */
  prepareWish(wish: Members, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    const code = this.#parts.tree.prepareReconfig(wishText(wish, context.zxid), context, op, true);
    if (code === ErrorCode.OK) this.#prepared = context.zxid;
    return code;
  }

  /** The change of that zxid is in the log. */
  logged(zxid: Zxid): void {
    if (this.#prepared === zxid) this.#prepared = undefined;
  }

  /** The configuration changed, or begins to. */
  changed(): void {
    const { membership, servingState } = this.#parts;
    if (servingState.isServing) this.show();
    membership.membersChanged();
  }

  /** The leadership has ended: what is prepared is not proposed any more. */
  discard(): void {
    this.#prepared = undefined;
    this.#wishReportMs = undefined;
  }

  /**
   * Shows the configuration in `/zookeeper/config`, unless a transaction wrote it there: the first
   * one of an ensemble is in no transaction, and a restored state has an earlier one. Each server
   * gives it its own time.
   */
  show(): void {
    const { servingState, tree, zab } = this.#parts;
    const { committed } = zab.members;
    // One that is not applied yet is written by its transaction.
    if (committed === undefined || (counterOf(committed.version) !== 0 && committed.version > tree.applied)) return;
    tree.showConfiguration(membersText(committed), committed.version, servingState.wallMs);
  }

  get #isPending(): boolean {
    return this.#prepared !== undefined;
  }

  /** Any client may ask, so that not every refusal is a line for operators. */
  #refused(code: ErrorCode, reason: string): ErrorCode {
    const { nowMs } = this.#parts.servingState;
    if (nowMs - this.#notedMs >= NOTE_MS) {
      this.#notedMs = nowMs;
      this.#parts.sinks.note({ kind: "change-refused", reason: reason.slice(0, REASON_CHARS_MAX) });
    }
    return code;
  }
}

function charCountOf({ joining = "", leaving = "", members = "" }: ChangeRequest): number {
  return joining.length + leaving.length + members.length;
}

function wishText(wish: Members, version: Zxid): Uint8Array {
  return new TextEncoder().encode(membersText({ ...wish, version }));
}

function kindOf({ joining, leaving, members }: ChangeRequest): Parameters<typeof changedMembers>[1] {
  return members === undefined ? { kind: "incremental", joining, leaving } : { kind: "bulk", members };
}
