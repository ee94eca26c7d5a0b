import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Zxid } from "@zooid/model";
import { type Chain, chainFromHalves, chainHigh, chainLow } from "../log/chain.ts";
import type { WalMark } from "../segments/wal-scan.ts";
import { StoreError } from "../store/store-error.ts";

/**
 * A second memory of what this server has acked and promised, 64 bytes beside the log, written
 * after each batch and not synced.
 *
 * SQLite's recovery forgets, without a word, everything after the first damaged frame of a WAL.
 * That looks like a log that never had those entries, and a voter that forgot what it acked can
 * complete a quorum that loses a committed entry. The witness distinguishes the two. It may lag
 * behind the log (so the power may set it back); it is never ahead, for a cut lowers it first, with
 * a sync.
 *
 * ```
 *  0 magic "ZOOIDWIT" · 8 zxid f64 · 16 chain u64 · 24 promise f64 · 32 bootCount f64 · 40 currentEpoch f64
 * 48 salt of the newest segment's WAL u64 · 56 frames of its commits u32 · 60 CRC-32 of 0..60
 * ```
 *
 * The frames tell of commits without entries (a configuration, an id). They say nothing of a WAL
 * with another salt, such as one that SQLite restarted after a program had checkpointed it. Zeros
 * from 40 on say nothing: earlier versions wrote them.
 */
export interface Witness {
  readonly zxid: Zxid;
  readonly chain: Chain;
  readonly promise: number;
  readonly bootCount: number;
  readonly currentEpoch: number;
  readonly wal: WalMark;
}

const WITNESS_BYTES = 64;
const MAGIC = "ZOOIDWIT";

/** Undefined when there is none, or a damaged one: it proves no more than that a log was here. */
export function readWitness(file: string): Witness | undefined {
  const bytes = startOf(file);
  if (bytes === undefined || damageIn(bytes) !== undefined) return undefined;
  return {
    zxid: bytes.readDoubleBE(8) as Zxid,
    chain: chainFromHalves(bytes.readInt32BE(16), bytes.readInt32BE(20)),
    promise: bytes.readDoubleBE(24),
    bootCount: bytes.readDoubleBE(32),
    currentEpoch: bytes.readDoubleBE(40),
    wal: { salt: bytes.readBigUInt64BE(48), frameCount: bytes.readUInt32BE(56) },
  };
}

/**
 * The damage of a witness: a flipped bit, or a power cut before its bytes were on the disk.
 * Undefined for none or a whole one.
 */
export function findWitnessDamage(file: string): StoreError | undefined {
  const bytes = startOf(file);
  const found = bytes === undefined ? undefined : damageIn(bytes);
  return found === undefined ? undefined : new StoreError({ code: "DAMAGED", file, place: "its record", found });
}

function damageIn(bytes: Buffer): string | undefined {
  if (bytes.length !== WITNESS_BYTES) return `${bytes.length} bytes instead of ${WITNESS_BYTES}, or more`;
  if (bytes.toString("latin1", 0, 8) !== MAGIC) return `it does not begin with ${MAGIC}`;
  return bytes.readUInt32BE(60) === crc32(bytes.subarray(0, 60)) ? undefined : "its sum does not match";
}

/** A witness's bytes and one more, should the file have more. */
function startOf(file: string): Buffer | undefined {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(WITNESS_BYTES + 1);
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(handle);
  }
}

export class WitnessFile {
  readonly #handle: number;
  readonly #bytes: Buffer = Buffer.alloc(WITNESS_BYTES);
  readonly #sum: Buffer = this.#bytes.subarray(0, 60);

  constructor(file: string) {
    this.#handle = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#bytes.write(MAGIC, "latin1");
  }

  write(witness: Witness): void {
    const bytes = this.#bytes;
    bytes.writeDoubleBE(witness.zxid, 8);
    bytes.writeInt32BE(chainHigh(witness.chain), 16);
    bytes.writeInt32BE(chainLow(witness.chain), 20);
    bytes.writeDoubleBE(witness.promise, 24);
    bytes.writeDoubleBE(witness.bootCount, 32);
    bytes.writeDoubleBE(witness.currentEpoch, 40);
    bytes.writeBigUInt64BE(witness.wal.salt, 48);
    bytes.writeUInt32BE(witness.wal.frameCount, 56);
    bytes.writeUInt32BE(crc32(this.#sum), 60);
    writeSync(this.#handle, bytes, 0, WITNESS_BYTES, 0);
  }

  sync(): void {
    fsyncSync(this.#handle);
  }

  close(): void {
    closeSync(this.#handle);
  }
}
