import {
  ErrorCode,
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  knowsLevel,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type ServerId,
  type Zxid,
} from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import type { SimServer } from "../cluster/server.ts";
import type { CoverageCounts } from "../runs/coverage.ts";
import { OP_LEVELS } from "../runs/versions.ts";
import { Violation } from "./violation.ts";

interface Parts {
  readonly coverage: Pick<CoverageCounts, "reached">;
  readonly isCommitted: (zxid: number) => boolean;
  /** Whether a server ever ran in a version that knows a level. */
  readonly hasKnown: (sid: ServerId, level: number) => boolean;
  /** The level of a server's data that quorums count; undefined where there are none. */
  readonly levelOfData: (sid: ServerId) => number | undefined;
}

/**
 * The feature level, asserted while servers change their versions:
 *
 * - V1: no entry is proposed that needs a level above the committed one, and none is refused for
 *   its level once its leader has applied the raise
 * - V2: each configured member has run in a version that knows a level before it is raised, and has
 *   the raise before it on its disk
 * - V3: no server applies an entry that its version does not know
 * - V4: no server is at a level that is not committed, or below one that it has applied
 * - V5: no start is refused for a level that no leader raised
 */
export class FeatureLevelInvariants {
  readonly #parts: Parts;
  readonly #reader = new TxnReader();
  readonly #header = newTxnHeader();
  readonly #op = newTxnOp();
  /** The level that an entry needs, where it is above 1. */
  readonly #needed = new Map<number, number>();
  readonly #raises = new Map<number, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A leader hands entries to its log. */
  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const from = at + FRAME_HEADER_BYTES;
      const next = from + frameLength(bytes, at);
      this.#reader.open(bytes, from, next, this.#header);
      this.#proposed(server, frameZxid(bytes, at));
      at = next;
    }
  }

  #proposed(server: SimServer, zxid: Zxid): void {
    const op = this.#op;
    while (this.#reader.next(op)) {
      if (op.op === OpCode.RAISE_LEVEL) this.#raised(server, zxid, op.version);
      else if (op.op === OpCode.ERROR) this.#refused(server, zxid, op.code);
      else this.#needs(server, zxid, OP_LEVELS.get(op.op) ?? Number.POSITIVE_INFINITY);
    }
  }

  #needs({ sid }: SimServer, zxid: Zxid, level: number): void {
    if (level === 1) return;
    this.#parts.coverage.reached("request of a later level");
    this.#needed.set(zxid, Math.max(level, this.#needed.get(zxid) ?? 1));
    const { committed } = this;
    if (level <= committed) return;
    throw new Violation(
      "V1",
      `server ${sid} proposes ${formatZxid(zxid)} of level ${level}, and ${committed} is committed`,
    );
  }

  #refused({ sid, replica }: SimServer, zxid: Zxid, code: number): void {
    const needed = OP_LEVELS.get(this.#header.op) ?? 1;
    if (code !== ErrorCode.UNIMPLEMENTED) return;
    this.#parts.coverage.reached("request refused for its level");
    if (this.#header.op === OpCode.MULTI || needed > replica.tree.level) return;
    const at = `at level ${replica.tree.level}`;
    throw new Violation("V1", `server ${sid} refuses ${formatZxid(zxid)} of level ${needed} ${at}`);
  }

  #raised({ sid, replica }: SimServer, zxid: Zxid, level: number): void {
    const { committed } = this;
    if (level <= committed) throw new Violation("V4", `server ${sid} lowers level ${committed} to ${level}`);
    this.#needed.set(zxid, level);
    this.#raises.set(zxid, level);
    // The first entry of all founds an ensemble, which voters may be missing from.
    const { members } = replica.zab;
    if (replica.tree.applied === 0) return;
    const configured = [members.committed, members.lastSeen].flatMap((known) => known?.servers ?? []);
    for (const member of configured) {
      if (member.sid === sid) continue;
      if (!this.#parts.hasKnown(member.sid, level)) {
        throw new Violation("V2", `server ${sid} raises level ${level}, which server ${member.sid} never knew`);
      }
      const had = this.#parts.levelOfData(member.sid);
      if (had === undefined || had >= level - 1) continue;
      throw new Violation(
        "V2",
        `server ${sid} raises level ${level}, and the data of server ${member.sid} have ${had}`,
      );
    }
  }

  /** A server is about to apply an entry. */
  applying({ sid, levels }: SimServer, zxid: number): void {
    const raised = this.#raises.get(zxid);
    const needed = this.#needed.get(zxid) ?? 1;
    if (raised === undefined ? needed <= levels.highest : knowsLevel(levels, raised)) return;
    throw new Violation("V3", `server ${sid} applies ${formatZxid(zxid as Zxid)} of level ${needed}`);
  }

  /** A version does not start since it does not know a level. */
  startRefused(sid: ServerId, level: number): void {
    if (level === 1 || [...this.#raises.values()].includes(level)) return;
    throw new Violation("V5", `server ${sid} does not start at level ${level}, which was never raised`);
  }

  /** The level that is committed. */
  get committed(): number {
    return this.#committedUpTo(Number.POSITIVE_INFINITY);
  }

  stepped({ sid, replica }: SimServer): void {
    const { tree, zab } = replica;
    const { level } = zab;
    const { committed } = this;
    if (level > committed) {
      throw new Violation("V4", `server ${sid} is at level ${level}, and ${committed} is committed`);
    }
    const applied = this.#committedUpTo(tree.applied);
    if (tree.level >= applied && (!replica.isServing || level >= tree.level)) return;
    throw new Violation(
      "V4",
      `server ${sid} is at level ${level}, its tree at ${tree.level}, behind one of ${applied}`,
    );
  }

  /** The level that the committed raises up to a zxid have set. */
  #committedUpTo(zxid: number): number {
    let level = 1;
    for (const [at, raised] of this.#raises) {
      if (at <= zxid && raised > level && this.#parts.isCommitted(at)) level = raised;
    }
    return level;
  }
}
