import type { DiskRoom, RefuseReason } from "@zooid/model";
import { zooid } from "../gen/peer.js";
import {
  choiceOf,
  namedStateOf,
  namedStateRecord,
  type RecordCodec,
  serverIdOf,
  sessionBits,
  sessionOf,
  whole,
  zxidOf,
} from "./record-codec.ts";

/**
 * Broadcast, apart from what every write sends (`hot-decoder.ts`).
 *
 * A leader pings each learner twice a tick, and a learner answers with a pong; both carry more than
 * a sign that they are there:
 *
 * - `check`, the number of the newest leadership check. The answer with that number, or a higher
 *   one, shows that a quorum still follows, which makes a read at the leader current.
 * - `touches`: the sessions that the learner's clients used since the last pong. Sessions expire at
 *   the leader alone, so this is what keeps those of other servers alive.
 * - `room` and `lacksRoom`: disks that are nearly full, and whether the ensemble refuses writes
 *   that add data because of them.
 * - `standby`: the state of another ensemble that the learner keeps ready, or has taken over.
 */

export const ROOMS: readonly DiskRoom[] = ["enough", "low", "full"];
export const REASONS: readonly RefuseReason[] = ["not-leading", "epoch-low", "diverged", "unable", "level"];

export const pingRecord: RecordCodec<"ping"> = {
  member: "ping",
  encode: (message, writer) => void zooid.Ping.encode(message, writer),
  decode: (reader) => {
    const { epoch, check, committed, lacksRoom } = zooid.Ping.decode(reader);
    return { kind: "ping", epoch: whole(epoch), check: whole(check), committed: zxidOf(committed), lacksRoom };
  },
};

export const pongRecord: RecordCodec<"pong"> = {
  member: "pong",
  encode: ({ touches, room, standby, ...same }, writer) => {
    const sessions = touches.map((touch) => ({ session: sessionBits(touch), timeoutMs: touch.timeoutMs }));
    const ready = standby === undefined ? null : { ...namedStateRecord(standby), isTaken: standby.isTaken };
    zooid.Pong.encode({ ...same, touches: sessions, room: ROOMS.indexOf(room), standby: ready }, writer);
  },
  decode: (reader) => {
    const record = zooid.Pong.decode(reader);
    return {
      kind: "pong",
      epoch: whole(record.epoch),
      check: whole(record.check),
      applied: zxidOf(record.applied),
      touches: record.touches.map(({ session, timeoutMs }) => ({
        ...sessionOf(session),
        timeoutMs: whole(timeoutMs),
      })),
      room: choiceOf(ROOMS, record.room),
      ...(record.standby === null || record.standby === undefined
        ? {}
        : { standby: { ...namedStateOf(record.standby), isTaken: record.standby.isTaken === true } }),
    };
  },
};

export const leadershipTransferRecord: RecordCodec<"leadership-transfer"> = {
  member: "leadershipTransfer",
  encode: (message, writer) => void zooid.LeadershipTransfer.encode(message, writer),
  decode: (reader) => {
    const { epoch, successor } = zooid.LeadershipTransfer.decode(reader);
    return { kind: "leadership-transfer", epoch: whole(epoch), successor: serverIdOf(successor) };
  },
};

export const refuseRecord: RecordCodec<"refuse"> = {
  member: "refuse",
  encode: ({ reason, text }, writer) => void zooid.Refuse.encode({ reason: REASONS.indexOf(reason), text }, writer),
  decode: (reader) => {
    const { reason, text } = zooid.Refuse.decode(reader);
    return { kind: "refuse", reason: choiceOf(REASONS, reason), text };
  },
};
