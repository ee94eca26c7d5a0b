import type { Random } from "@zooid/conformance/internal/random";

/** Numbers at which lengths, counts and versions turn over. */
const INTERESTING = [0, 1, -1, -2, 4, 8, 0x7f, 0x80, 0xff, 0xffff, 0x10_0000, 0x7fff_ffff, -0x8000_0000, 0xf_ffff];
const INPUT_BYTES_MAX = 4096;

/** One input made from another, changed in one to six places. */
export function mutate(random: Random, input: Buffer, others: readonly Buffer[], words: readonly string[]): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let left = random.between(1, 6); left > 0; left--) bytes = change(random, bytes, others, words);
  return bytes.length > INPUT_BYTES_MAX ? bytes.subarray(0, INPUT_BYTES_MAX) : bytes;
}

function change(random: Random, bytes: Buffer, others: readonly Buffer[], words: readonly string[]): Buffer {
  const at = random.between(0, bytes.length);
  switch (random.between(0, 8)) {
    case 0:
      if (bytes.length > 0) bytes[at % bytes.length] = random.between(0, 255);
      return bytes;
    case 1:
      if (bytes.length > 0) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << random.between(0, 7));
      return bytes;
    case 2:
    case 3:
      if (bytes.length >= 4) bytes.writeInt32BE(random.pick(INTERESTING), Math.min(at, bytes.length - 4));
      return bytes;
    case 4:
      return bytes.subarray(0, at);
    case 5:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + random.between(1, 16)))]);
    case 6: {
      const end = Math.min(bytes.length, at + random.between(1, 64));
      const copies = Array.from({ length: random.between(1, 8) }, () => bytes.subarray(at, end));
      return Buffer.concat([bytes.subarray(0, end), ...copies, bytes.subarray(end)]);
    }
    case 7: {
      const other = random.pick(others);
      return Buffer.concat([bytes.subarray(0, at), other.subarray(random.between(0, other.length))]);
    }
    default: {
      const word = words.length === 0 ? Buffer.of(random.between(0, 255)) : Buffer.from(random.pick(words));
      return Buffer.concat([bytes.subarray(0, at), word, bytes.subarray(at)]);
    }
  }
}
