import { ZXID_NONE, type Zxid } from "../protocol/zxid.ts";

/**
 * The last raise of the feature level in a history. It comes into force when its entry is
 * committed; until then the level is the one that it replaces.
 */
export interface LevelRaise {
  readonly level: number;
  /** The zxid of its entry; ZXID_NONE: the history has none, or a committed one. */
  readonly zxid: Zxid;
  readonly replaced: number;
}

/** The level of a history without an entry. */
export const NO_RAISE: LevelRaise = { level: 1, zxid: ZXID_NONE, replaced: 1 };

/** A level that is in force, whatever is committed. */
export function levelInForce(level: number): LevelRaise {
  return level === 1 ? NO_RAISE : { level, zxid: ZXID_NONE, replaced: level };
}

/** The level in force where everything up to a zxid is committed. */
export function levelAt({ level, zxid, replaced }: LevelRaise, committed: Zxid): number {
  // rule: a-level-waits-for-its-commit
  return zxid <= committed ? level : replaced;
}

/** The level of a history that ends at a zxid; 0 where there is none: nothing was written yet. */
export function levelOfHistory({ level }: LevelRaise, end: Zxid): number {
  return level === 1 && end === ZXID_NONE ? 0 : level;
}

/** The raise as a history that ends at a zxid has it: the raise itself, or the level before it. */
export function raiseUpTo(raise: LevelRaise, end: Zxid): LevelRaise {
  return raise.zxid <= end ? raise : levelInForce(raise.replaced);
}
