import { zooid } from "../gen/peer.js";
import { copyOf, type MessageOf, type RecordCodec, sessionBits, sessionOf, whole, zxidOf } from "./record-codec.ts";

/**
 * The requests of learners to a leader, apart from clients' requests themselves (`forward`, see
 * `hot-decoder.ts`).
 *
 * `sequence` is the learner's own number for what it asks. Writes and `open-session` get no answer
 * of their own: their transaction carries the number back, in the order of the log, and the learner
 * answers its client when it applies it. `revalidate` and `sync` change nothing, so they are
 * answered by a message with the same number.
 *
 * `identities` comes before the first request of a client and after each change of them: requests
 * carry the client's number alone. A lost link forgets all of it.
 */

export const identitiesRecord: RecordCodec<"identities"> = {
  member: "identities",
  encode: ({ client, identities }, writer) =>
    void zooid.Identities.encode({ client, identities: [...identities] }, writer),
  decode: (reader) => {
    const { client, identities } = zooid.Identities.decode(reader);
    return {
      kind: "identities",
      client: whole(client),
      identities: identities.map(({ scheme, id }) => ({ scheme: scheme ?? "", id: id ?? "" })),
    };
  },
};

export const openSessionRecord: RecordCodec<"open-session"> = {
  member: "openSession",
  encode: (message, writer) => void zooid.OpenSession.encode(sessionRecord(message), writer),
  decode: (reader) => ({ kind: "open-session", ...sessionMessage(zooid.OpenSession.decode(reader)) }),
};

export const revalidateRecord: RecordCodec<"revalidate"> = {
  member: "revalidate",
  encode: (message, writer) => void zooid.Revalidate.encode(sessionRecord(message), writer),
  decode: (reader) => ({ kind: "revalidate", ...sessionMessage(zooid.Revalidate.decode(reader)) }),
};

type SessionMessage = MessageOf<"open-session"> | MessageOf<"revalidate">;

function sessionRecord(message: SessionMessage): zooid.OpenSession.$Properties {
  const { sequence, timeoutMs, passwordHash } = message;
  return { sequence, session: sessionBits(message), timeoutMs, passwordHash };
}

function sessionMessage(record: zooid.OpenSession | zooid.Revalidate): Omit<SessionMessage, "kind"> {
  const { sequence, session, timeoutMs, passwordHash } = record;
  return {
    sequence: whole(sequence),
    ...sessionOf(session),
    timeoutMs: whole(timeoutMs),
    passwordHash: copyOf(passwordHash),
  };
}

export const revalidatedRecord: RecordCodec<"revalidated"> = {
  member: "revalidated",
  encode: (message, writer) => void zooid.Revalidated.encode(message, writer),
  decode: (reader) => {
    const { sequence, isValid } = zooid.Revalidated.decode(reader);
    return { kind: "revalidated", sequence: whole(sequence), isValid };
  },
};

export const syncRecord: RecordCodec<"sync"> = {
  member: "sync",
  encode: (message, writer) => void zooid.Sync.encode(message, writer),
  decode: (reader) => ({ kind: "sync", sequence: whole(zooid.Sync.decode(reader).sequence) }),
};

export const syncReplyRecord: RecordCodec<"sync-reply"> = {
  member: "syncReply",
  encode: (message, writer) => void zooid.SyncReply.encode(message, writer),
  decode: (reader) => {
    const { sequence, readAt } = zooid.SyncReply.decode(reader);
    return { kind: "sync-reply", sequence: whole(sequence), readAt: zxidOf(readAt) };
  },
};
