import fc from "fast-check";
import { expect, test } from "vitest";
import { leader, packet, snapshot, zxidAt } from "../testing/leader-packets.ts";
import { Observed, position } from "../testing/observed.ts";
import { PacketReader } from "./packet-reader.ts";
import { ApachePeerError } from "./peer-error.ts";
import { PacketType } from "./quorum-packet.ts";
import { SnapshotStream } from "./snapshot-stream.ts";

const RANDOM_STRINGS = 100_000;
const STRING_BYTES_MAX = 120;
const LINKS = 3000;
const SESSIONS = [leader.info(5), leader.diff(zxidAt(5, 3)), leader.newLeader(5), leader.upToDate()];
const AT_3 = { acceptedEpoch: 5, currentEpoch: 5, position: position(5, 3) };

/** Whole conversations, of which the next one is likely to be a wrong one. */
const PACKETS: readonly Buffer[] = [
  ...SESSIONS,
  leader.snap(zxidAt(5, 3)),
  snapshot(),
  leader.trunc(zxidAt(5, 2)),
  leader.proposal(zxidAt(5, 4)),
  leader.commit(zxidAt(5, 4)),
  leader.inform(zxidAt(5, 4)),
  leader.inform(zxidAt(5, 5)),
  leader.activate(zxidAt(5, 4)),
  leader.ping(zxidAt(5, 4)),
  leader.synced(),
  leader.info(4),
  leader.newLeader(5, "server.100=a:1:2"),
  packet(PacketType.INFORM, zxidAt(5, 4)),
  packet(PacketType.INFORMANDACTIVATE, zxidAt(5, 4), Buffer.alloc(3)),
  packet(PacketType.REVALIDATE, 0n),
];

/** Only this error may end a link. */
function allowing(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApachePeerError)) throw error;
  }
}

test("whatever a leader sends, nothing but the handshake, two ACKs, PING and SYNC leaves", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0, 2, 4),
      fc.array(fc.constantFrom(...PACKETS, undefined), { maxLength: 12 }),
      (begun, rest) => {
        // The sink refuses any other packet with another error.
        const observed = new Observed(AT_3);
        allowing(() => {
          observed.take(SESSIONS.slice(0, begun));
          for (const one of rest) {
            if (one === undefined) observed.observer.sync();
            else observed.take([one]);
          }
        });
      },
    ),
    { numRuns: 1000 },
  );
});

test("the pieces in which a conversation comes make no difference", () => {
  const begin = [leader.info(5), leader.snap(zxidAt(5, 3)), snapshot(), leader.inform(zxidAt(5, 3), "x".repeat(300))];
  const conversation = [...begin, leader.newLeader(5), leader.upToDate(), leader.inform(zxidAt(5, 4)), leader.ping(1n)];
  const whole = new Observed().take(conversation);
  expect(whole.lines.at(-1)).toBe("send PING 0x1");
  for (const pieceBytes of [1, 2, 3, 5, 16, 17, 31, 60, 64, 127, 200, 333]) {
    const inPieces = new Observed().take(conversation, pieceBytes);
    expect([pieceBytes, inPieces.lines]).toEqual([pieceBytes, whole.lines]);
    expect(Buffer.concat(inPieces.snapshot)).toEqual(Buffer.concat(whole.snapshot));
  }
});

test(`${RANDOM_STRINGS} random strings are refused by the decoders of packets and snapshots, or wait for more`, () => {
  const strings = randomStrings(7);
  const parts = { acl: () => {}, node: () => {}, rest: () => {} };
  for (let i = 0; i < RANDOM_STRINGS; i++) {
    const bytes = strings();
    const pieceBytes = 1 + (i % 64);
    const [reader, stream] = [new PacketReader(STRING_BYTES_MAX), new SnapshotStream(parts, STRING_BYTES_MAX)];
    allowing(() => {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        if (i % 2 === 0) stream.take(bytes.subarray(at, at + pieceBytes));
        else reader.push(bytes.subarray(at, at + pieceBytes));
        while (i % 2 === 1 && reader.next() !== undefined) {
          // Each packet that is whole is taken.
        }
      }
    });
  }
});

test("random strings in place of what a leader sends next end the link, or more is waited for", () => {
  const strings = randomStrings(11);
  const begun = [SESSIONS.slice(0, 0), SESSIONS.slice(0, 1), [leader.info(5), leader.snap(1n)], SESSIONS];
  for (let i = 0; i < LINKS; i++) {
    const observed = new Observed(AT_3);
    observed.take(begun[i % begun.length] ?? []);
    allowing(() => observed.take([strings()], 1 + (i % 50)));
  }
});

test("a conversation in which a byte is another one is refused with the same error, or read", () => {
  const conversation = Buffer.concat([leader.info(5), leader.snap(zxidAt(5, 3)), snapshot(), leader.newLeader(5)]);
  for (let at = 0; at < conversation.length; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const damaged = Buffer.from(conversation);
      damaged[at] = value;
      allowing(() => new Observed().take([damaged]));
    }
  }
});

/** Mostly small bytes, so that lengths and counts are often possible ones. */
function randomStrings(seed: number): () => Buffer {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >>> 8;
  };
  return () => {
    const bytes = Buffer.alloc(random() % STRING_BYTES_MAX);
    for (let at = 0; at < bytes.length; at++) {
      const number = random();
      bytes[at] = number % 3 === 0 ? number >>> 4 : (number >>> 4) % 20;
    }
    return bytes;
  };
}
