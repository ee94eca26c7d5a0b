import { field, int, long } from "@zooid/wire/apache";
import { expect, test } from "vitest";
import { leader, packet } from "../testing/leader-packets.ts";
import { PacketReader } from "./packet-reader.ts";
import { ApachePeerError } from "./peer-error.ts";
import { PacketType } from "./quorum-packet.ts";

const DATA_BYTES_MAX = 1000;
const INT_MAX = 2 ** 31 - 1;

function read(bytes: Buffer): string {
  const reader = new PacketReader(DATA_BYTES_MAX);
  reader.push(bytes);
  try {
    return reader.next() === undefined ? "waits" : "read";
  } catch (error) {
    if (error instanceof ApachePeerError) return error.code;
    throw error;
  }
}

/** A packet whose end is written by hand. */
function inform(...end: readonly Buffer[]): Buffer {
  return Buffer.concat([int(PacketType.INFORM), long(1n), ...end]);
}

test.each([
  ["data as long as the limit", packet(PacketType.INFORM, 1n, Buffer.alloc(DATA_BYTES_MAX)), "read"],
  ["longer data", inform(int(DATA_BYTES_MAX + 1)), "MALFORMED"],
  ["data of 2^31 - 1 bytes", inform(int(INT_MAX)), "MALFORMED"],
  ["data of -2 bytes", inform(int(-2)), "MALFORMED"],
  ["an identity", inform(int(-1), int(1), field(Buffer.from("ip")), field(Buffer.from("10.0.0.1"))), "read"],
  ["2^31 - 1 identities", inform(int(-1), int(INT_MAX)), "MALFORMED"],
  ["-2 identities", inform(int(-1), int(-2)), "MALFORMED"],
  ["an identity of 2^31 - 1 bytes", inform(int(-1), int(1), int(INT_MAX)), "MALFORMED"],
  ["a type that is none", int(99), "MALFORMED"],
  ["the first bytes of TLS", Buffer.of(0x16, 0x03, 0x01, 0x02), "MALFORMED"],
  ["a text", Buffer.from("HTTP/1.1 400 Bad Request"), "MALFORMED"],
  ["the beginning of a packet", leader.inform(1n).subarray(0, 20), "waits"],
])("a packet with %s: %s", (_, bytes, outcome) => {
  expect(read(bytes)).toBe(outcome);
});

test.each([
  ["an alert of TLS", Buffer.of(0x15, 0x03, 0x03, 0x00), "a record of TLS, which is not set here"],
  ["another number", Buffer.of(0x15, 0x04, 0x03, 0x00), "a packet of type 352584448"],
])("%s is named", (_, bytes, found) => {
  const reader = new PacketReader(DATA_BYTES_MAX);
  reader.push(bytes);
  expect(() => reader.next()).toThrow(`found ${found};`);
});

test("behind a packet the rest is handed over, and the reader begins again", () => {
  const reader = new PacketReader(DATA_BYTES_MAX);
  reader.push(leader.snap(1n).subarray(0, 5));
  expect(reader.next()).toBe(undefined);
  reader.push(Buffer.concat([leader.snap(1n).subarray(5), Buffer.from("rest")]));
  expect(reader.next()).toMatchObject({ type: PacketType.SNAP, zxid: 1n, data: null });
  expect(reader.takeRest().toString()).toBe("rest");
  reader.push(leader.ping(2n));
  expect(reader.next()).toMatchObject({ type: PacketType.PING, zxid: 2n });
});
