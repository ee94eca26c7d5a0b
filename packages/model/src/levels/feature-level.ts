import { OpCode } from "../protocol/op-code.ts";

/**
 * A feature level: what the servers of an ensemble may write. All of it can be read by each version
 * that knows the level, so that a server may go back to such a version while the level is in force.
 */
export interface FeatureLevel {
  readonly level: number;
  /** The first version that knows it. */
  readonly since: string;
  /** Operations of transactions that may be written from this level on. */
  readonly ops: readonly number[];
  /** Members of the peer protocol's `Envelope` that may be sent from this level on. */
  readonly messages: readonly string[];
  /** The formats that servers write while this level is in force. */
  readonly formats: FileFormats;
}

/** The numbers of the formats of files, and of the states that are sent. */
export interface FileFormats {
  readonly log: number;
  readonly state: number;
  readonly snapshot: number;
}

/**
 * All levels that this version knows of, lowest first; the last one is its own. An ensemble whose
 * history has no entry of a level is at level 1.
 */
export const FEATURE_LEVELS: readonly [FeatureLevel, ...FeatureLevel[]] = [
  {
    level: 1,
    since: "0.1.0",
    ops: [
      ...[OpCode.CREATE, OpCode.CREATE2, OpCode.CREATE_CONTAINER, OpCode.CREATE_TTL, OpCode.DELETE],
      ...[OpCode.DELETE_CONTAINER, OpCode.SET_DATA, OpCode.SET_ACL, OpCode.CHECK, OpCode.ERROR],
      ...[OpCode.CREATE_SESSION, OpCode.BEGIN_CLOSE_SESSION, OpCode.CLOSE_SESSION, OpCode.RAISE_LEVEL],
    ],
    messages: [
      ...["hello", "auth_proof", "link_refuse", "heartbeat", "notification", "poll", "poll_answer"],
      ...["learner_info", "leader_info", "ack_epoch", "sync_begin", "snapshot_chunk", "snapshot_credit"],
      ...["entries", "staged", "new_leader", "ack_new_leader", "up_to_date", "ack", "commit", "ping", "pong"],
      ...["leadership_transfer", "refuse", "identities", "forward", "open_session", "revalidate"],
      ...["revalidated", "sync", "sync_reply", "relay_to", "relay_ready", "relay_open", "relay_close"],
      ...["relay_bytes", "relay_run"],
    ],
    formats: { log: 3, state: 3, snapshot: 1 },
  },
];

/** The levels that a version reads and writes: its own, and the one before. */
export interface LevelRange {
  readonly lowest: number;
  readonly highest: number;
}

/** The levels of a server, and the level of each operation of a transaction. */
export interface KnownLevels extends LevelRange {
  /** The level from which on an operation may be written. */
  readonly opLevels: ReadonlyMap<number, number>;
}

/** The levels of a version whose own one is `highest`. */
export function levelsUpTo(highest: number, table: readonly Pick<FeatureLevel, "level" | "ops">[]): KnownLevels {
  const known = table.filter(({ level }) => level <= highest);
  return {
    lowest: Math.max(1, highest - 1),
    highest,
    opLevels: new Map(known.flatMap(({ level, ops }) => ops.map((op) => [op, level] as const))),
  };
}

/** The levels of this version. */
export const OWN_LEVELS: KnownLevels = levelsUpTo(FEATURE_LEVELS.at(-1)?.level ?? 1, FEATURE_LEVELS);

/**
 * Whether a version that knows these levels can be a member while a level is in force.
 *
 * @param level 0 where there is no history yet: each version can begin one
 */
export function knowsLevel({ lowest, highest }: LevelRange, level: number): boolean {
  return level === 0 || (lowest <= level && level <= highest);
}

/** Whether there is a level that both of two versions know. */
export function haveCommonLevel(one: LevelRange, other: LevelRange): boolean {
  return one.lowest <= other.highest && other.lowest <= one.highest;
}

/** Levels, as a part of a sentence: "level 1", "levels 1 to 2". */
export function levelsText({ lowest, highest }: LevelRange): string {
  return lowest === highest ? `level ${highest}` : `levels ${lowest} to ${highest}`;
}

/**
 * Why a server that knows some levels cannot use data, or follow an ensemble, of another level, as
 * a sentence that says what helps.
 *
 * @param what has the level: "the data", "the ensemble"
 */
export function unknownLevelText(what: string, level: number, levels: LevelRange): string {
  const known = levelsText(levels);
  const helps =
    level > levels.highest
      ? `a version that knows level ${level} is needed: a level that was raised is never lowered`
      : `run a version between the two first, and raise the level there (zooid-cli upgrade finalize)`;
  return `${what} has feature level ${level}, and this version knows ${known}; ${helps}`;
}
