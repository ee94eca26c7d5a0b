import { FEATURE_LEVELS, type KnownLevels, levelsUpTo } from "../levels/feature-level.ts";
import { OpCode } from "../protocol/op-code.ts";

/** Operations of this version that belong to later levels in tests; all others to level 1. */
const LATER_OPS: ReadonlyMap<number, readonly number[]> = new Map([
  [2, [OpCode.SET_ACL]],
  [3, [OpCode.CREATE_TTL, OpCode.CREATE_CONTAINER]],
]);
const later: ReadonlySet<number> = new Set([...LATER_OPS.values()].flat());
const first = FEATURE_LEVELS.flatMap(({ ops }) => ops.filter((op) => !later.has(op)));
export const VERSION_MAX = 3;
const LEVELS = Array.from({ length: VERSION_MAX }, (_, i) => i + 1).map((level) => ({
  level,
  ops: LATER_OPS.get(level) ?? first,
}));

/**
 * For tests: the levels of a version whose own one is `highest`, from 1 to 3. `setACL` is of level
 * 2; `createTTL` and `createContainer` are of level 3.
 */
export function versionWith(highest: number): KnownLevels {
  return levelsUpTo(highest, LEVELS);
}
