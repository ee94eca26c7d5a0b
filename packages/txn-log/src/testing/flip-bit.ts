import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** Flips a bit of the last byte before `end` that is not zero. @returns the byte's place */
export function flipBitBefore(file: string, end: number): number {
  const handle = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  let at = end;
  do at--;
  while (readSync(handle, byte, 0, 1, at) === 1 && byte[0] === 0);
  writeSync(handle, Buffer.of((byte[0] ?? 0) ^ 4), 0, 1, at);
  closeSync(handle);
  return at;
}
