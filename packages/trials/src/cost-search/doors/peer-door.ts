import { crc32 } from "node:zlib";
import { type Chain, type LinkRef, OpCode, type PeerMessage, WireError, type Zxid } from "@zooid/model";
import { type EnvelopeMessage, PeerFrameReader, PeerFrameWriter } from "@zooid/peer-protocol";
import { TestEnsemble } from "@zooid/replica/testing/ensemble";
import { create } from "@zooid/replica/testing/requests";
import { BufferPool } from "@zooid/wire";
import { type Door, type DoorShape, sizeOf, wordOf } from "./door.ts";

const KINDS = ["identities", "pong", "ack-epoch", "forward", "open-session", "revalidate", "sync", "ack", "refuse"];

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
/** The most in one message: the decoder refuses more. */
const ELEMENTS_MAX = 65_536;
const LEAST_BYTES = 20;
/** The most in all messages of one shape. */
const BYTES_MAX = 8 * 1024 * 1024;

/**
 * Messages of a server that has proved that it is one, to the leader: as many entries as its frame
 * holds. Decoding counts too.
 */
export function peerDoor(): Door {
  return {
    name: "peers",
    limitMs: 50,
    fields: {
      kind: { words: KINDS },
      count: { sizes: [0, 10, 1000, 10_000, ELEMENTS_MAX] },
      size: { sizes: [0, 1, 100, 1000, 100_000] },
      times: { sizes: [1, 10, 100, 1000] },
    },
    seeds: [
      { kind: "identities", count: ELEMENTS_MAX, size: 1, times: 1 },
      { kind: "identities", count: 10, size: 100_000, times: 10 },
      { kind: "identities", count: 1, size: 1, times: 1000 },
      { kind: "pong", count: ELEMENTS_MAX, size: 0, times: 1 },
      { kind: "ack-epoch", count: ELEMENTS_MAX, size: 0, times: 1 },
      { kind: "forward", count: 1000, size: 100, times: 1 },
      { kind: "open-session", count: 0, size: 0, times: 1000 },
      { kind: "sync", count: 0, size: 0, times: 1000 },
      { kind: "refuse", count: 0, size: 100_000, times: 1 },
    ],
    send(shape) {
      const ensemble = new TestEnsemble(3);
      const [liar] = ensemble.followers;
      if (liar === undefined) throw new Error("no follower");
      const { leader } = ensemble;
      const link: LinkRef = ensemble.linkOf(liar);
      leader.ask(leader.open(), OpCode.CREATE, create("/before"));
      let bytes = 0;
      let heldMs = 0;
      for (let i = 0; i < Math.max(1, sizeOf(shape, "times")) && leader.replica.isLeading; i++) {
        const chunks = encoded(messageOf(shape, i));
        const reader = new PeerFrameReader({ crc32, frameBytesMax: FRAME_BYTES_MAX });
        const startMs = performance.now();
        const isRead = takes(reader, chunks, (message) => leader.replica.receivePeer(link, message as PeerMessage));
        heldMs = Math.max(heldMs, performance.now() - startMs);
        bytes += chunks.reduce((sum, { length }) => sum + length, 0);
        // The link would end; or it was much already.
        if (!isRead || bytes > BYTES_MAX) break;
      }
      return Promise.resolve({ bytes, heldMs });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** @returns false for bytes that end a link */
function takes(
  reader: PeerFrameReader,
  chunks: readonly Buffer[],
  receive: (message: EnvelopeMessage) => void,
): boolean {
  try {
    for (const chunk of chunks) {
      reader.push(chunk, (message) => {
        receive(message);
        return true;
      });
    }
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

function encoded(message: EnvelopeMessage): readonly Buffer[] {
  const writer = new PeerFrameWriter({ pool: new BufferPool(), crc32, frameBytesMax: FRAME_BYTES_MAX });
  const chunks: Buffer[] = [];
  writer.append(message);
  writer.take(({ buffer, end }) => void chunks.push(Buffer.from(buffer.subarray(0, end))));
  return chunks;
}

function messageOf(shape: DoorShape, nth: number): PeerMessage {
  const count = sizeOf(shape, "count");
  const size = sizeOf(shape, "size");
  const many = <T>(make: (i: number) => T): T[] =>
    Array.from({ length: Math.min(count, ELEMENTS_MAX) }, (_, i) => make(i));
  const zero = 0 as Zxid;
  switch (wordOf(shape, "kind")) {
    case "identities":
      return {
        kind: "identities",
        client: nth,
        identities: many((i) => i)
          .slice(0, FRAME_BYTES_MAX / 2 / (size + LEAST_BYTES))
          .map((i) => ({ scheme: "digest", id: `${i}${"u".repeat(size)}` })),
      };
    case "pong":
      return {
        kind: "pong",
        room: "enough",
        epoch: 1,
        check: 0,
        applied: zero,
        touches: many((i) => ({ sessionHigh: i, sessionLow: i, timeoutMs: 1000 })),
      };
    case "ack-epoch":
      return {
        kind: "ack-epoch",
        isRepeated: false,
        currentEpoch: 1,
        floor: zero,
        logged: { zxid: zero, chain: 0n as Chain },
        tails: many((i) => ({ epoch: i, last: i })),
      };
    case "forward": {
      const bytes = new Uint8Array(Math.min(FRAME_BYTES_MAX / 2, count * (size + 1)));
      return { kind: "forward", count, bytes, start: 0, end: bytes.length };
    }
    case "open-session":
    case "revalidate":
      return {
        kind: "open-session",
        sequence: nth,
        sessionHigh: nth,
        sessionLow: nth,
        timeoutMs: 1000,
        passwordHash: new Uint8Array(16),
      };
    case "sync":
      return { kind: "sync", sequence: nth };
    case "ack":
      return { kind: "ack", epoch: 1, durable: zero, check: 0 };
    default:
      return { kind: "refuse", reason: "unable", text: "t".repeat(size) };
  }
}
