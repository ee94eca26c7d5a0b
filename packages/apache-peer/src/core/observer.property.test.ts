import fc from "fast-check";
import { expect, test } from "vitest";
import { leader, packet, snapshot, zxidAt } from "../testing/leader-packets.ts";
import { Observed, position } from "../testing/observed.ts";
import { ApachePeerError } from "./peer-error.ts";
import { PacketType } from "./quorum-packet.ts";

const RANDOM_STRINGS = 100_000;
const STRING_BYTES_MAX = 200;
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
    { numRuns: 5000 },
  );
});

test("the pieces in which a conversation comes make no difference", () => {
  const begin = [leader.info(5), leader.snap(zxidAt(5, 3)), snapshot(), leader.inform(zxidAt(5, 3), "x".repeat(300))];
  const conversation = [...begin, leader.newLeader(5), leader.upToDate(), leader.inform(zxidAt(5, 4)), leader.ping(1n)];
  const whole = new Observed().take(conversation);
  expect(whole.lines.at(-1)).toBe("send PING 0x1");
  for (let pieceBytes = 1; pieceBytes < 400; pieceBytes++) {
    const inPieces = new Observed().take(conversation, pieceBytes);
    expect([pieceBytes, inPieces.lines]).toEqual([pieceBytes, whole.lines]);
    expect(Buffer.concat(inPieces.snapshot)).toEqual(Buffer.concat(whole.snapshot));
  }
});

test(`${RANDOM_STRINGS} random strings, in place of packets and of a snapshot, are refused or wait for more`, () => {
  const random = numbers(7);
  const begun = [SESSIONS.slice(0, 0), SESSIONS.slice(0, 1), [leader.info(5), leader.snap(1n)], SESSIONS];
  for (let i = 0; i < RANDOM_STRINGS; i++) {
    const bytes = Buffer.alloc(random() % STRING_BYTES_MAX);
    for (let at = 0; at < bytes.length; at++) bytes[at] = random() % 3 === 0 ? random() : random() % 20;
    const observed = new Observed(AT_3);
    observed.take(begun[i % begun.length] ?? []);
    allowing(() => observed.take([bytes], 1 + (random() % 50)));
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

/** The same numbers for a seed, each below 2^31. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >>> 8;
  };
}
