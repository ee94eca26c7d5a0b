import { FEATURE_LEVELS, type FileFormats, type LevelRange, OWN_LEVELS } from "./feature-level.ts";

/**
 * The formats that this version writes while a level is in force.
 *
 * @param level 1 also where nothing was ever written: a version that does not know level 1 begins
 *   with the lowest level that it knows
 */
export function formatsAt(level: number): FileFormats {
  const known = Math.max(level, OWN_LEVELS.lowest);
  const { formats } = FEATURE_LEVELS.findLast((each) => each.level <= known) ?? FEATURE_LEVELS[0];
  return formats;
}

/** The formats of a kind of file that this version reads: those of the levels that it knows. */
export function readableFormats(
  kind: keyof FileFormats,
  { lowest, highest }: LevelRange = OWN_LEVELS,
): readonly number[] {
  const levels = FEATURE_LEVELS.filter(({ level }) => lowest <= level && level <= highest);
  return [...new Set(levels.map(({ formats }) => formats[kind]))];
}

/** The last level that has a format; undefined for one that no released version wrote. */
export function levelOfFormat(kind: keyof FileFormats, format: number): number | undefined {
  return FEATURE_LEVELS.findLast(({ formats }) => formats[kind] === format)?.level;
}
