import type { PeerRole } from "@zooid/model";
import { zooid } from "../gen/peer.js";
import { choiceOf, copyOf, type RecordCodec, voteOf, whole, zxidOf } from "./record-codec.ts";

export const ROLES: readonly PeerRole[] = ["looking", "following", "leading", "observing"];

export const notificationRecord: RecordCodec<"notification"> = {
  member: "notification",
  encode: ({ role, vote = null, config = null, ...same }, writer) =>
    void zooid.Notification.encode({ ...same, vote, config, role: ROLES.indexOf(role) }, writer),
  decode: (reader) => {
    const record = zooid.Notification.decode(reader);
    return {
      kind: "notification",
      role: choiceOf(ROLES, record.role),
      round: whole(record.round),
      vote: voteOf(record.vote),
      selfZxid: zxidOf(record.selfZxid),
      selfEpoch: whole(record.selfEpoch),
      ...configOf(record.config),
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
  encode: ({ role, vote = null, config = null, ...same }, writer) =>
    void zooid.PollAnswer.encode({ ...same, vote, config, role: ROLES.indexOf(role) }, writer),
  decode: (reader) => {
    const { number, role, vote, config } = zooid.PollAnswer.decode(reader);
    return {
      ...{ kind: "poll-answer", number: whole(number), role: choiceOf(ROLES, role), vote: voteOf(vote) },
      ...configOf(config),
    };
  },
};

function configOf(bytes: Uint8Array | null | undefined): { readonly config?: Uint8Array } {
  return bytes === null || bytes === undefined ? {} : { config: copyOf(bytes) };
}
