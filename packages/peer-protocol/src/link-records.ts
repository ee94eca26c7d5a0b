import { WireError } from "@zooid/wire";
import { zooid } from "../gen/peer.js";
import type { LinkPurpose, LinkRefuseReason } from "./envelope-message.ts";
import { choiceOf, copyOf, ensembleIdOf, levelsOf, type RecordCodec, serverIdOf, whole } from "./record-codec.ts";

/**
 * The messages of links about themselves: first `hello` from both sides, and a proof where they
 * share a secret; then, on election links, heartbeats. `link-refuse` comes in place of any of them,
 * and the sender closes the link behind it: the other side can log a reason instead of a lost
 * connection. `server/peers/handshake.ts` has the order and the proofs.
 *
 * These are the only messages that a server reads before it knows who sent them. So what is kept of
 * them is bounded here, and their frames are (`HANDSHAKE_FRAME_BYTES_MAX`).
 */

export const PURPOSES: readonly LinkPurpose[] = ["election", "quorum", "observer"];
const START_ID_CHARS_MAX = 64;
export const LINK_REASONS: readonly LinkRefuseReason[] = [
  ...(["version", "auth", "ensemble", "configuration", "duplicate", "busy"] as const),
];

export const helloRecord: RecordCodec<"hello"> = {
  member: "hello",
  encode: ({ purpose, features, keyIds, startId, levels, ...same }, writer) => {
    const lists = { features: [...features], keyIds: [...keyIds] };
    const start = startId === "" ? {} : { startId };
    const known = { levelMin: levels.lowest, levelMax: levels.highest };
    zooid.Hello.encode({ ...same, ...lists, ...start, ...known, purpose: PURPOSES.indexOf(purpose) }, writer);
  },
  decode: (reader) => {
    const record = zooid.Hello.decode(reader);
    return {
      kind: "hello",
      ensembleId: ensembleIdOf(record.ensembleId),
      sid: serverIdOf(record.sid),
      bootCount: whole(record.bootCount),
      nonce: copyOf(record.nonce),
      versionMin: record.versionMin,
      versionMax: record.versionMax,
      features: record.features,
      purpose: choiceOf(PURPOSES, record.purpose),
      frameBytesMax: record.frameBytesMax,
      keyIds: record.keyIds,
      electionAlg: record.electionAlg,
      host: record.host,
      startId: startIdOf(record.startId),
      levels: levelsOf(record.levelMin, record.levelMax),
      level: record.level,
    };
  },
};

/** It is kept while the link lasts. */
function startIdOf(id: string): string {
  if (id.length > START_ID_CHARS_MAX) {
    throw new WireError("LENGTH", `the id of a start has at most ${START_ID_CHARS_MAX} characters, found ${id.length}`);
  }
  return id;
}

export const authProofRecord: RecordCodec<"auth-proof"> = {
  member: "authProof",
  encode: (message, writer) => void zooid.AuthProof.encode(message, writer),
  decode: (reader) => {
    const { keyId, mac } = zooid.AuthProof.decode(reader);
    return { kind: "auth-proof", keyId, mac: copyOf(mac) };
  },
};

export const linkRefuseRecord: RecordCodec<"link-refuse"> = {
  member: "linkRefuse",
  encode: ({ reason, ...same }, writer) =>
    void zooid.LinkRefuse.encode({ ...same, reason: LINK_REASONS.indexOf(reason) }, writer),
  decode: (reader) => {
    const { reason, text, retryAfterMs } = zooid.LinkRefuse.decode(reader);
    return {
      kind: "link-refuse",
      reason: choiceOf(LINK_REASONS, reason),
      text,
      retryAfterMs: whole(retryAfterMs),
    };
  },
};

export const heartbeatRecord: RecordCodec<"heartbeat"> = {
  member: "heartbeat",
  encode: (message, writer) => void zooid.Heartbeat.encode(message, writer),
  decode: (reader) => {
    const { sequence, isEcho, wallMs } = zooid.Heartbeat.decode(reader);
    return { kind: "heartbeat", sequence: whole(sequence), isEcho, wallMs: whole(wallMs) };
  },
};
