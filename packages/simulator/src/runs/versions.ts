import { FEATURE_LEVELS, type KnownLevels, levelsUpTo, OpCode, type ServerId } from "@zooid/model";
import type { Plan } from "./plan.ts";

/** The operations that come with later levels here: level 1 of the simulator has no others. */
const LATER_OPS: ReadonlyMap<number, readonly number[]> = new Map([
  [2, [OpCode.SET_ACL]],
  [3, [OpCode.CREATE_TTL, OpCode.CREATE_CONTAINER]],
]);
export const LEVEL_MAX = 3;

const later: ReadonlySet<number> = new Set([...LATER_OPS.values()].flat());
const first = FEATURE_LEVELS.flatMap(({ ops }) => ops.filter((op) => !later.has(op)));
const LEVELS = [1, 2, 3].map((level) => ({ level, ops: LATER_OPS.get(level) ?? first }));

const KNOWN: readonly KnownLevels[] = LEVELS.map(({ level }) => levelsUpTo(level, LEVELS));

/** The level of each operation of a transaction. */
export const OP_LEVELS: ReadonlyMap<number, number> = levelsUpTo(LEVEL_MAX, LEVELS).opLevels;

/**
 * The version of each server: the highest feature level that it knows, from 1 to 3. A version knows
 * the level before its own, too. Operations that every server of this repository has belong to
 * later levels here.
 */
export class Versions {
  readonly #highest: Map<ServerId, number>;
  readonly #ran = new Map<ServerId, Set<number>>();

  constructor({ levels }: Plan) {
    this.#highest = new Map(levels);
  }

  /** Whether servers have versions. */
  get areUsed(): boolean {
    return this.#highest.size > 0;
  }

  /** Undefined where versions are not used. */
  of(sid: ServerId): KnownLevels | undefined {
    return KNOWN[(this.#highest.get(sid) ?? 0) - 1];
  }

  highestOf(sid: ServerId): number {
    return this.#highest.get(sid) ?? 1;
  }

  /** The next start of a server is one of another version. */
  change(sid: ServerId, highest: number): void {
    this.#highest.set(sid, Math.min(LEVEL_MAX, Math.max(1, highest)));
  }

  started(sid: ServerId): void {
    const ran = this.#ran.get(sid) ?? new Set();
    this.#ran.set(sid, ran.add(this.highestOf(sid)));
  }

  /** Whether a server ever ran in a version that knows a level. */
  hasKnown(sid: ServerId, level: number): boolean {
    return [...(this.#ran.get(sid) ?? [])].some((highest) => highest === level || highest === level + 1);
  }
}
