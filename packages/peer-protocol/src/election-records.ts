import type { PeerRole } from "@zooid/model";
import { zooid } from "../gen/peer.js";
import { choiceOf, copyOf, type RecordCodec, voteOf, whole, zxidOf } from "./record-codec.ts";

/**
 * Election: fast leader election pushes notifications, the basic one polls and gets answers. On a
 * link only the newest of each matters, so a slow link drops older ones instead of queueing them.
 *
 * Both may carry the sender's configuration: a server that was away while the ensemble changed
 * learns from any vote which servers there are, before it can find a leader that would tell it.
 */

export const ROLES: readonly PeerRole[] = ["looking", "following", "leading", "observing"];

export const notificationRecord: RecordCodec<"notification"> = {
  member: "notification",
  encode: (
    { role, vote = null, config = null, nextConfig = null, ensembleId = null, isFromFile = false, ...same },
    writer,
  ) =>
    void zooid.Notification.encode(
      { ...same, vote, config, nextConfig, ensembleId, isFromFile, role: ROLES.indexOf(role) },
      writer,
    ),
  decode: (reader) => {
    const record = zooid.Notification.decode(reader);
    return {
      kind: "notification",
      role: choiceOf(ROLES, record.role),
      round: whole(record.round),
      vote: voteOf(record.vote),
      selfZxid: zxidOf(record.selfZxid),
      selfEpoch: whole(record.selfEpoch),
      ...configsOf(record),
    };
  },
};

export const pollRecord: RecordCodec<"poll"> = {
  member: "poll",
  encode: (message, writer) => void zooid.Poll.encode(message, writer),
  decode: (reader) => ({ kind: "poll", number: whole(zooid.Poll.decode(reader).number) }),
};

export const pollAnswerRecord: RecordCodec<"poll-answer"> = {
  member: "pollAnswer",
  encode: (
    { role, vote = null, config = null, nextConfig = null, ensembleId = null, isFromFile = false, ...same },
    writer,
  ) =>
    void zooid.PollAnswer.encode(
      { ...same, vote, config, nextConfig, ensembleId, isFromFile, role: ROLES.indexOf(role) },
      writer,
    ),
  decode: (reader) => {
    const record = zooid.PollAnswer.decode(reader);
    return {
      kind: "poll-answer",
      number: whole(record.number),
      role: choiceOf(ROLES, record.role),
      vote: voteOf(record.vote),
      ...configsOf(record),
    };
  },
};

interface Configs<Absent> {
  readonly config?: Uint8Array | Absent;
  readonly nextConfig?: Uint8Array | Absent;
  readonly ensembleId?: string | Absent;
  readonly isFromFile?: boolean;
}

function configsOf({ config, nextConfig, ensembleId, isFromFile }: Configs<null | undefined>): Configs<never> {
  return {
    ...(isFromFile === true ? { isFromFile } : {}),
    ...(ensembleId === null || ensembleId === undefined ? {} : { ensembleId }),
    ...(config === null || config === undefined ? {} : { config: copyOf(config) }),
    ...(nextConfig === null || nextConfig === undefined ? {} : { nextConfig: copyOf(nextConfig) }),
  };
}
