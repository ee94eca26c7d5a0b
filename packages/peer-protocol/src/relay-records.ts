import { zooid } from "../gen/peer.js";
import { inPlace, type RecordCodec, serverIdOf, whole, zxidOf } from "./record-codec.ts";

/**
 * The messages by which an observer reaches the leader through a follower, which spares the leader
 * the bytes of its observers:
 *
 * ```
 *  observer                 follower                       leader
 *     │ ──── relay-to ────────▶ │                             │
 *     │                         │ ── relay-open (channel) ──▶ │
 *     │ ◀─── relay-ready ────── │                             │
 *     │ ◀══ relay-bytes (0) ══▶ │ ◀═ relay-bytes (channel) ═▶ │   a whole link inside
 *     │ ◀─ entries, by the ──── │ ◀── relay-run (channel) ─── │   entries that the follower has
 *     │    follower itself      │ ◀── relay-close ──────────▶ │   either end is gone
 * ```
 *
 * The follower passes the inner link's bytes on without reading them, wherever they are cut. The
 * leader keeps account of the entries that the follower must still hold, and names those by their
 * zxids alone.
 */

export const relayToRecord: RecordCodec<"relay-to"> = {
  member: "relayTo",
  encode: (message, writer) => void zooid.RelayTo.encode(message, writer),
  decode: (reader) => ({ kind: "relay-to", leader: serverIdOf(zooid.RelayTo.decode(reader).leader) }),
};

export const relayReadyRecord: RecordCodec<"relay-ready"> = {
  member: "relayReady",
  encode: (_, writer) => void zooid.RelayReady.encode({}, writer),
  decode: (reader) => {
    zooid.RelayReady.decode(reader);
    return { kind: "relay-ready" };
  },
};

export const relayOpenRecord: RecordCodec<"relay-open"> = {
  member: "relayOpen",
  encode: (message, writer) => void zooid.RelayOpen.encode(message, writer),
  decode: (reader) => {
    const { channel, sid } = zooid.RelayOpen.decode(reader);
    return { kind: "relay-open", channel: whole(channel), sid: serverIdOf(sid) };
  },
};

export const relayCloseRecord: RecordCodec<"relay-close"> = {
  member: "relayClose",
  encode: (message, writer) => void zooid.RelayClose.encode(message, writer),
  decode: (reader) => {
    const { channel, text } = zooid.RelayClose.decode(reader);
    return { kind: "relay-close", channel: whole(channel), text };
  },
};

export const relayBytesRecord: RecordCodec<"relay-bytes"> = {
  member: "relayBytes",
  encode: ({ channel, bytes, start, end }, writer) =>
    void zooid.RelayBytes.encode({ channel, data: bytes.subarray(start, end) }, writer),
  decode: (reader) => {
    const { channel, data } = zooid.RelayBytes.decode(reader);
    return { kind: "relay-bytes", channel: whole(channel), ...inPlace(data) };
  },
};

export const relayRunRecord: RecordCodec<"relay-run"> = {
  member: "relayRun",
  encode: (message, writer) => void zooid.RelayRun.encode(message, writer),
  decode: (reader) => {
    const record = zooid.RelayRun.decode(reader);
    return {
      kind: "relay-run",
      channel: whole(record.channel),
      epoch: whole(record.epoch),
      previous: zxidOf(record.previous),
      first: zxidOf(record.first),
      last: zxidOf(record.last),
      count: whole(record.count),
      committed: zxidOf(record.committed),
      check: whole(record.check),
    };
  },
};
