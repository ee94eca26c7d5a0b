import { formatZxid, type SessionId, type TxnHeader } from "@zooid/model";
import type { RestoredSessions } from "../cluster/state-image.ts";
import { Violation } from "../invariants/violation.ts";
import type { ProposedEnd } from "./proposed-txns.ts";
import type { ModelTree } from "./tree.ts";

/** The last bits of an id are random. The others count: chance alone does not make ids differ. */
const RANDOM_BITS = 12n;

/** A session's life, in zxids. */
export interface SessionLife {
  readonly createdZxid: number;
  /** The transaction with the first part of its end, after which nothing of it takes effect. */
  endingZxid: number | undefined;
  /** The transaction with the last part of its end; often the same. */
  closedZxid: number | undefined;
  /** The leader ended it, not its client. */
  isExpired: boolean;
  /** The request that ended it, if its client did. */
  closeCxid: number;
  /** It is part of a state that is restored at this zxid, and its end has begun with that. */
  readonly restoredAt?: number;
  /** It is part of a state that is restored at this zxid, and lives on as it did then. */
  readonly keptAt?: number;
}

/**
 * The replicated sessions by the model: each is created once, and its end removes its ephemerals
 * and nothing else (I26).
 */
export class ModelSessions {
  readonly #lives = new Map<SessionId, SessionLife>();
  /** Their ids without the random bits. */
  readonly #counted = new Set<bigint>();
  /** Sessions that began as local ones. */
  readonly #localBeginnings = new Set<SessionId>();

  copy(): ModelSessions {
    const copy = new ModelSessions();
    for (const [session, life] of this.#lives) copy.#lives.set(session, { ...life });
    for (const counted of this.#counted) copy.#counted.add(counted);
    for (const session of this.#localBeginnings) copy.#localBeginnings.add(session);
    return copy;
  }

  /** The sessions of a state that is restored at a zxid: all others have ended there. */
  restored(past: ModelSessions, zxid: number, become: RestoredSessions): ModelSessions {
    const restored = this.copy();
    for (const session of this.#lives.keys()) {
      const life = past.#lives.get(session);
      if (life === undefined || life.closedZxid !== undefined) restored.#discard(session, zxid);
      else if (become === "keep") restored.#lives.set(session, { ...life, keptAt: zxid });
      else restored.#lives.set(session, { ...life, endingZxid: zxid, restoredAt: zxid });
    }
    return restored;
  }

  /** Sessions of a history that a restored state at a zxid has discarded are not in it. */
  discard(others: ModelSessions, zxid: number): void {
    for (const [session, life] of others.#lives) {
      const own = this.#lives.get(session);
      if (own === undefined) this.#lives.set(session, { ...life });
      else if (own.restoredAt !== undefined || (own.keptAt ?? 0) >= zxid) continue;
      this.#discard(session, zxid);
    }
  }

  #discard(session: SessionId, zxid: number): void {
    const life = this.#lives.get(session);
    if (life === undefined) return;
    life.endingZxid ??= zxid;
    life.closedZxid ??= zxid;
  }

  get(session: SessionId): SessionLife | undefined {
    return this.#lives.get(session);
  }

  /** Sessions whose end is not complete, and whether it has not begun. */
  *unclosed(): Generator<[session: SessionId, isLiving: boolean], void> {
    for (const [session, { endingZxid, closedZxid }] of this.#lives)
      if (closedZxid === undefined) yield [session, endingZxid === undefined];
  }

  /** Sessions whose end is not complete. */
  get livingCount(): number {
    let count = 0;
    for (const { closedZxid } of this.#lives.values()) if (closedZxid === undefined) count++;
    return count;
  }

  /** Whether the end of a session has begun and is not complete. */
  get hasUnfinishedEnd(): boolean {
    for (const { endingZxid, closedZxid } of this.#lives.values()) {
      if (endingZxid !== undefined && closedZxid === undefined) return true;
    }
    return false;
  }

  /** A client has a session that no transaction created. */
  beganLocally(session: SessionId): void {
    this.#localBeginnings.add(session);
  }

  /** Whether a session began as a local one; it may have been upgraded since. */
  hasBegunLocally(session: SessionId): boolean {
    return this.#localBeginnings.has(session);
  }

  /** Whether only its server knows a session. */
  isLocal(session: SessionId): boolean {
    return this.#localBeginnings.has(session) && !this.#lives.has(session);
  }

  create(session: SessionId, zxid: number): void {
    if (this.#lives.has(session)) throw new Violation("I26", `session ${session} is created twice`);
    const counted = session >> RANDOM_BITS;
    if (this.#counted.has(counted)) {
      throw new Violation("I26", `another session's id differs from ${session} in random bits only`);
    }
    this.#counted.add(counted);
    this.#lives.set(session, {
      createdZxid: zxid,
      endingZxid: undefined,
      closedZxid: undefined,
      isExpired: false,
      closeCxid: 0,
    });
  }

  /**
   * A part of the end of a session. The leader chooses which ephemerals go first; after the last
   * part all are gone.
   */
  end(session: SessionId, end: ProposedEnd, { cxid, zxid }: Readonly<TxnHeader>, model: ModelTree): SessionLife {
    const life = this.#lives.get(session);
    if (life === undefined) throw new Violation("I8", `${formatZxid(zxid)} was never proposed`);
    const where = `${formatZxid(zxid)}, a part of the end of session ${session},`;
    if (life.closedZxid !== undefined) throw new Violation("I26", `${where} comes after the last one`);
    if (life.endingZxid !== undefined) {
      if (end.isFirst || cxid !== 0) throw new Violation("I26", `${where} is a first one after another`);
    } else {
      if (!end.isFirst && !end.isLast) throw new Violation("I26", `${where} comes before the first one`);
      life.endingZxid = zxid;
      life.isExpired = cxid === 0;
      life.closeCxid = cxid;
    }
    for (const path of end.paths) {
      if (!model.removeOwned(session, path, zxid)) {
        throw new Violation("I26", `${where} removes ${path}, which is no ephemeral of it`);
      }
    }
    if (!end.isLast) return life;
    if (model.owners().has(session)) throw new Violation("I26", `${where} is the last one and leaves ephemerals`);
    life.closedZxid = zxid;
    return life;
  }
}
