/**
 * The data of a node of Curator's queues: a version, then each item with its length, then an end
 * mark.
 *
 *     00010001 (01 length:int32 bytes)* 02
 */
import { RecipeError } from "../recipe-error.ts";

const VERSION = 0x0001_0001;
const ITEM = 1;
const END = 2;
const HEADER_BYTES = 5;

export function encodeItems(items: readonly Uint8Array[]): Buffer {
  const parts: Uint8Array[] = [int32(VERSION)];
  for (const item of items) parts.push(Uint8Array.of(ITEM), int32(item.length), item);
  return Buffer.concat([...parts, Uint8Array.of(END)]);
}

/** @throws NOT_OURS for other data; bytes behind the end mark are ignored, as in Curator */
export function decodeItems(bytes: Uint8Array): readonly Buffer[] {
  const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (read.length < HEADER_BYTES || read.readInt32BE(0) !== VERSION) throw notOurs("no item of a queue");
  const items: Buffer[] = [];
  let at = 4;
  while (read[at] === ITEM) {
    if (at + HEADER_BYTES > read.length) throw notOurs("an item without its length");
    const length = read.readInt32BE(at + 1);
    const start = at + HEADER_BYTES;
    if (length < 0 || start + length > read.length) throw notOurs(`an item of ${length} bytes that is not there`);
    items.push(read.subarray(start, start + length));
    at = start + length;
  }
  if (read[at] !== END) throw notOurs("an item of a queue without its end");
  return items;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function notOurs(what: string): RecipeError {
  return new RecipeError("NOT_OURS", `what the node holds is ${what}`);
}
