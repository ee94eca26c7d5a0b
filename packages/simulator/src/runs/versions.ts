import type { KnownLevels, ServerId } from "@zooid/model";
import { VERSION_MAX, versionWith } from "@zooid/model/testing/versions";
import type { Plan } from "./plan.ts";

export const LEVEL_MAX: number = VERSION_MAX;

const KNOWN: readonly KnownLevels[] = Array.from({ length: LEVEL_MAX }, (_, i) => versionWith(i + 1));

/** The level of each operation of a transaction. */
export const OP_LEVELS: ReadonlyMap<number, number> = versionWith(LEVEL_MAX).opLevels;

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
