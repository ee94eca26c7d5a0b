import type { StateOrigin } from "@zooid/model";
import { zooid } from "../gen/peer.js";
import {
  choiceOf,
  copyOf,
  diskIdOf,
  EPOCHS_MAX,
  ensembleIdOf,
  inPlace,
  levelRaiseOf,
  levelsOf,
  type MessageOf,
  namedStateOf,
  namedStateRecord,
  optionalCopyOf,
  positionOf,
  positionRecord,
  type RecordCodec,
  serverIdOf,
  versionOf,
  whole,
  zxidOf,
} from "./record-codec.ts";

/**
 * Discovery and synchronization, in the order in which they are sent:
 *
 * ```
 *  learner                            leader
 *     │ ───── learner-info ──────────▶ │   its promise, and whether it may have lost data
 *     │ ◀───── leader-info ─────────── │   the new epoch
 *     │ ─────── ack-epoch ───────────▶ │   promised, on disk; where the learner's log ends
 *     │ ◀───── sync-begin ──────────── │   diff, trunc or snap
 *     │ ◀─ snapshot-chunk, entries ─── │   ◀ snapshot-credit, staged: how much of them is stored
 *     │ ◀───── new-leader ──────────── │   the end of the history that the epoch begins with
 *     │ ───── ack-new-leader ────────▶ │   that history is on disk
 *     │ ◀───── up-to-date ──────────── │   a quorum has it: the learner may serve clients
 * ```
 *
 * Credit and `staged` bound what is on the way and promise nothing: a learner that crashes before
 * `ack-new-leader` has acknowledged none of it.
 */

export const MODES: readonly MessageOf<"sync-begin">["mode"][] = ["diff", "trunc", "snap"];

export const learnerInfoRecord: RecordCodec<"learner-info"> = {
  member: "learnerInfo",
  encode: ({ promise, list = null, levels, ...same }, writer) => {
    const { epoch: promisedEpoch, sid: promisedTo, incarnation: promisedIncarnation } = promise;
    const known = levels === undefined ? {} : { levelMin: levels.lowest, levelMax: levels.highest };
    zooid.LearnerInfo.encode({ ...same, ...known, list, promisedEpoch, promisedTo, promisedIncarnation }, writer);
  },
  decode: (reader) => {
    const record = zooid.LearnerInfo.decode(reader);
    return {
      kind: "learner-info",
      isObserver: record.isObserver,
      promise: {
        epoch: whole(record.promisedEpoch),
        sid: record.promisedTo,
        incarnation: whole(record.promisedIncarnation),
      },
      isFresh: record.isFresh,
      isAmnesiac: record.isAmnesiac,
      ensembleId: ensembleIdOf(record.ensembleId),
      isOwn: record.isOwn,
      configVersion: zxidOf(record.configVersion),
      attemptId: ensembleIdOf(record.attemptId),
      ...(record.list === null || record.list === undefined ? {} : { list: copyOf(record.list) }),
      ...(record.isWish ? { isWish: true } : {}),
      ...(record.diskId === "" ? {} : { diskId: diskIdOf(record.diskId) }),
      ...(record.levelMax === 0 ? {} : { levels: levelsOf(record.levelMin, record.levelMax) }),
      ...(record.version === "" ? {} : { version: versionOf(record.version) }),
      ...(record.namedBy === null || record.namedBy === undefined ? {} : { namedBy: serverIdOf(record.namedBy) }),
    };
  },
};

export const leaderInfoRecord: RecordCodec<"leader-info"> = {
  member: "leaderInfo",
  encode: (message, writer) => void zooid.LeaderInfo.encode(message, writer),
  decode: (reader) => {
    const { epoch, incarnation, ensembleId } = zooid.LeaderInfo.decode(reader);
    return {
      kind: "leader-info",
      epoch: whole(epoch),
      incarnation: whole(incarnation),
      ensembleId: ensembleIdOf(ensembleId),
    };
  },
};

export const ackEpochRecord: RecordCodec<"ack-epoch"> = {
  member: "ackEpoch",
  encode: ({ logged, tails, ...same }, writer) =>
    void zooid.AckEpoch.encode({ ...same, logged: positionRecord(logged), tails: [...tails] }, writer),
  decode: (reader) => {
    const record = zooid.AckEpoch.decode(reader);
    return {
      kind: "ack-epoch",
      isRepeated: record.isRepeated,
      currentEpoch: whole(record.currentEpoch),
      logged: positionOf(record.logged),
      floor: zxidOf(record.floor),
      tails: record.tails.map(({ epoch, last }) => ({ epoch: whole(epoch), last: whole(last) })),
      ...(record.isFloorUncommitted ? { isFloorUncommitted: true } : {}),
      ...(whole(record.level) === 0 ? {} : { level: whole(record.level) }),
    };
  },
};

export const syncBeginRecord: RecordCodec<"sync-begin"> = {
  member: "syncBegin",
  // And the position, the origin, its position and its level.
  elementsMax: EPOCHS_MAX + 4,
  encode: ({ mode, from, epochs, origin, ...same }, writer) => {
    const record = { ...same, mode: MODES.indexOf(mode), from: positionRecord(from), epochs: [...epochs] };
    const made = origin === undefined ? null : { ...namedStateRecord(origin), level: origin.level };
    zooid.SyncBegin.encode({ ...record, origin: made }, writer);
  },
  decode: (reader) => {
    const record = zooid.SyncBegin.decode(reader);
    return {
      kind: "sync-begin",
      epoch: whole(record.epoch),
      mode: choiceOf(MODES, record.mode),
      from: positionOf(record.from),
      epochs: record.epochs.map(({ epoch, first, last }) => ({
        epoch: whole(epoch),
        first: whole(first),
        last: whole(last),
      })),
      ...(record.isUncommitted ? { isUncommitted: true } : {}),
      ...(record.origin === null || record.origin === undefined ? {} : { origin: originOf(record.origin) }),
    };
  },
};

function originOf(record: zooid.NamedState.$Properties): StateOrigin {
  return { ...namedStateOf(record), level: whole(record.level) };
}

export const snapshotChunkRecord: RecordCodec<"snapshot-chunk"> = {
  member: "snapshotChunk",
  encode: ({ index, isLast, bytes, start, end }, writer) =>
    void zooid.SnapshotChunk.encode({ index, isLast, data: bytes.subarray(start, end) }, writer),
  decode: (reader) => {
    const { index, isLast, data } = zooid.SnapshotChunk.decode(reader);
    return { kind: "snapshot-chunk", index: whole(index), isLast, ...inPlace(data) };
  },
};

export const snapshotCreditRecord: RecordCodec<"snapshot-credit"> = {
  member: "snapshotCredit",
  encode: (message, writer) => void zooid.SnapshotCredit.encode(message, writer),
  decode: (reader) => {
    const { next, isWhole } = zooid.SnapshotCredit.decode(reader);
    return { kind: "snapshot-credit", next: whole(next), ...(isWhole ? { isWhole: true } : {}) };
  },
};

export const stagedRecord: RecordCodec<"staged"> = {
  member: "staged",
  encode: (message, writer) => void zooid.Staged.encode(message, writer),
  decode: (reader) => {
    const { epoch, through } = zooid.Staged.decode(reader);
    return { kind: "staged", epoch: whole(epoch), through: zxidOf(through) };
  },
};

export const newLeaderRecord: RecordCodec<"new-leader"> = {
  member: "newLeader",
  // A configuration may be empty, which is something else than absent.
  encode: ({ config = null, committedConfig = null, levelRaise = null, ...same }, writer) =>
    void zooid.NewLeader.encode({ ...same, config, committedConfig, levelRaise }, writer),
  decode: (reader) => {
    const record = zooid.NewLeader.decode(reader);
    const { epoch, through, endsAmnesia, ensembleId, config, committedConfig, levelRaise } = record;
    return {
      kind: "new-leader",
      epoch: whole(epoch),
      through: zxidOf(through),
      endsAmnesia,
      ensembleId: ensembleIdOf(ensembleId),
      config: optionalCopyOf(config),
      committedConfig: optionalCopyOf(committedConfig),
      ...(levelRaise === null || levelRaise === undefined ? {} : { levelRaise: levelRaiseOf(levelRaise) }),
    };
  },
};

export const ackNewLeaderRecord: RecordCodec<"ack-new-leader"> = {
  member: "ackNewLeader",
  encode: (message, writer) => void zooid.AckNewLeader.encode(message, writer),
  decode: (reader) => {
    const { epoch, through } = zooid.AckNewLeader.decode(reader);
    return { kind: "ack-new-leader", epoch: whole(epoch), through: zxidOf(through) };
  },
};

export const upToDateRecord: RecordCodec<"up-to-date"> = {
  member: "upToDate",
  encode: (message, writer) => void zooid.UpToDate.encode(message, writer),
  decode: (reader) => {
    const { epoch, committed } = zooid.UpToDate.decode(reader);
    return { kind: "up-to-date", epoch: whole(epoch), committed: zxidOf(committed) };
  },
};
