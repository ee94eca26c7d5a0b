import type { Acl, ByteSlice, Zxid } from "@zooid/model";
import type { Chain } from "../log/chain.ts";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";

/**
 * The materialized tree: exactly the state at one zxid, brought forward lazily by a thread of its
 * own from log entries that are committed *and* durable. Derived from the log in every bit, so its
 * lag costs start time and log space, never safety.
 */
export interface StateStore extends AsyncDisposable {
  /** Where the state stands on disk, synced. Moves forward as checkpoints end. */
  readonly applied: StateMeta;

  /**
   * Log bytes between the newest mark and what is checkpointed: what a start would have to replay.
   * Marks of the time in which a state was sent are not counted until they are checkpointed, so
   * that no write waits for the state on account of a transfer; {@link stats} counts them.
   */
  readonly lagBytes: number;

  /**
   * Reads the whole state into the tree, synchronously: sessions first, then nodes by ascending id,
   * each row checked. Throws `DAMAGED` with the row. Best after open or after another state was
   * adopted, before anything is marked: a checkpoint that has begun is waited for.
   */
  load(sink: StateSink): StateMeta;

  /**
   * Marks a point that may be checkpointed up to: everything at or below it is committed and
   * durable, and the tree's digest there is known. Marks rise; the driver posts one at least each
   * 16 MiB or 50 000 entries, so that one checkpoint fits its memory. A mark above the log's end is
   * a defect, and so is a later cut below it.
   */
  advance(mark: CheckpointMark): void;

  /** Checkpoints up to the newest mark now, and resolves with what is then on disk. */
  flush(): Promise<StateMeta>;

  stats(): StateStats;

  /** Ends the thread without checkpointing further; stopping twice is harmless. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CheckpointMark {
  readonly zxid: Zxid;
  /** The chain there, if the driver knows it: compared with the log's own. */
  readonly chain?: Chain;
  /** The tree's digest there, as two signed halves. */
  readonly digestHigh: number;
  readonly digestLow: number;
  /** Log bytes since the mark before: what the lag is counted in. */
  readonly bytes: number;
  /**
   * Pairs of zxid and node id, in log order: transactions since the previous mark whose only effect
   * is to replace the data of that node. Optional, and need not be complete. The array is
   * transferred to the state thread.
   */
  readonly dataWrites?: Float64Array<ArrayBuffer>;
}

export interface StateMeta {
  readonly applied: LogPosition;
  /**
   * Both 0 where it is not known: before the first transaction, and of a state that was taken over
   * from elsewhere.
   */
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly ensembleId: string;
  /** The id that the next create takes: above every id ever used. */
  readonly nextNodeId: number;
  /** The feature level in force there. */
  readonly level: number;
}

/**
 * One node as stored. A single object is reused for every row: read it before returning, copy what
 * is kept.
 */
export interface StateNode {
  id: number;
  parentId: number;
  readonly name: ByteSlice;
  /** False is ZooKeeper's null. */
  hasData: boolean;
  readonly data: ByteSlice;
  /**
   * 68 bytes in wire order, in stored form: `cversion` counts the children ever created,
   * `ephemeralOwner` is the owner as stored, `numChildren` is 0.
   */
  readonly stat: ByteSlice;
  /** The same object for every node with an equal access list. */
  acl: Acl;
}

export interface StateSession {
  idHigh: number;
  idLow: number;
  timeoutMs: number;
  passwordHash: Uint8Array;
}

export interface StateSink {
  session(session: Readonly<StateSession>): void;
  node(node: Readonly<StateNode>): void;
}

export interface StateStats {
  /** Log bytes and marks between the newest mark and what is checkpointed. */
  readonly lagBytes: number;
  readonly lagMarks: number;
  readonly checkpointCount: number;
  readonly checkpointMsTotal: number;
  readonly checkpointMsLast: number;
  readonly checkpointedEntries: number;
  readonly writtenNodes: number;
  /** Checkpoints wait for room on the disk. */
  readonly isFull: boolean;
}

/**
 * A whole state in transit to a learner: a read transaction at one zxid, cut into chunks. Equal
 * states give equal chunks, on every server and whatever way they came about.
 *
 * The state file stands still until the last chunk is read; writes and commits continue. The log
 * keeps everything behind {@link position} until the source is disposed. Several may be open at
 * once and then share one position.
 */
export interface SnapshotSource extends AsyncDisposable {
  readonly position: LogPosition;
  /** The epoch table up to there. */
  readonly epochs: readonly EpochRange[];
  /** The tree's digest there, as two signed halves; both 0 where it is not known. */
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /**
   * The next chunk: 256 KiB, the last one less, with a CRC-32 of its own; undefined after the last.
   * The bytes are the caller's. Rejects with `DAMAGED` (and the place) when a row is not what was
   * written, `SNAPSHOT_ENDED` when nothing was asked for in `snapshotHoldMs` or another state was
   * adopted meanwhile.
   */
  next(): Promise<Uint8Array | undefined>;
}

/** The most in one chunk of a snapshot. */
export const SNAPSHOT_CHUNK_BYTES: number = 256 * 1024;

/**
 * Builds a state file of its own from a leader's chunks. Nothing visible changes: the log names the
 * file in its install, if it ever does, and a file that no log names is removed at the next open.
 * Faults of what came are reported by `SNAPSHOT_REFUSED`, a disk that cannot take it by
 * `WRITE_FAILED`; then nothing is left of it, and the process may continue.
 */
export interface SnapshotReceiver {
  /**
   * Takes the next chunk; its bytes are copied before it returns. Chunks may be added without
   * waiting for each other. Resolves when it is stored: written, though not yet synced.
   */
  add(chunk: Uint8Array): Promise<void>;

  /**
   * After the last chunk: checks what the trailer says, syncs file and directory. The answer is
   * what an install needs.
   */
  finish(): Promise<ReceivedSnapshot>;

  /** Removes what came so far, unless an install has named it. */
  abandon(): Promise<void>;
}

export interface ReceivedSnapshot {
  readonly stateFile: string;
  readonly epochs: readonly EpochRange[];
  /** Where the state stands, and how many nodes and sessions it has. */
  readonly position: LogPosition;
  readonly nodeCount: number;
  readonly sessionCount: number;
}

/**
 * A state file that was made elsewhere and lies beside the one in force, see `Store.placeState`.
 */
export interface PlacedState {
  /** Its name, which an install takes. */
  readonly stateFile: string;
  /** Removes it, unless an install has named it. */
  abandon(): void;
}

/** The content of a snapshot in Apache ZooKeeper's form. */
export interface SnapshotContent {
  readonly nodeCount: number;
  /** Ephemeral nodes that are left out, with their sessions. */
  readonly leftOutCount: number;
  readonly sessionCount: number;
  readonly leftOutSessionCount: number;
  /** The shortest timeout of the sessions that are not left out; 0 where there is none. */
  readonly shortestTimeoutMs: number;
  readonly ttlCount: number;
  /** The longest data of a node. */
  readonly dataBytesMax: number;
  /** Length of the whole. */
  readonly sizeBytes: number;
}

/**
 * A whole state in transit, as a snapshot of Apache ZooKeeper's: exact at one zxid, while
 * Apache's own are not. Sessions are named, but not their passwords. Otherwise as
 * {@link SnapshotSource}.
 */
export interface SnapshotExport extends AsyncDisposable, SnapshotContent {
  readonly position: LogPosition;
  /**
   * The next piece; undefined after the last. The bytes are the caller's. Rejects as
   * {@link SnapshotSource.next} does.
   */
  next(): Promise<Uint8Array | undefined>;
}
