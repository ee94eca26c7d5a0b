import { createHash } from "node:crypto";
import { EPOCH_MAX } from "@zooid/model/storage";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";
import { SNAPSHOT_CHUNK_BYTES } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";
import { ARCHIVE_FORMAT, damaged, parsePosition, positionText } from "./archive-format.ts";

/** A base: the first line of its manifest. The second line is the SHA-256 of the first. */
export interface BaseManifest {
  readonly format: number;
  readonly ensembleId: string;
  readonly position: LogPosition;
  /** The epoch table up to there. */
  readonly epochs: readonly EpochRange[];
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** When it was taken, in ms since 1970. */
  readonly takenMs: number;
  readonly parts: readonly BasePart[];
}

export interface BasePart {
  readonly bytes: number;
  readonly sha256: string;
}

export const MANIFEST_FILE = "manifest.json";
export const MANIFEST_BYTES_MAX: number = 16 * 1024 * 1024;
export const CHUNKS_PER_PART = 64;
export const PART_BYTES_MAX: number = CHUNKS_PER_PART * SNAPSHOT_CHUNK_BYTES;
/** The name of a part has four digits or more. */
const PARTS_MAX = 100_000;
const ID_CHARS_MAX = 256;
const SHA256 = /^[0-9a-f]{64}$/;

/** The name of a part in the folder of its base. */
export function partName(number: number): string {
  return String(number).padStart(4, "0");
}

/** Undefined for a name that no part has. */
export function parsePartName(name: string): number | undefined {
  const number = /^\d{4,6}$/.test(name) ? Number(name) : PARTS_MAX;
  return number < PARTS_MAX && partName(number) === name ? number : undefined;
}

export function encodeManifest(manifest: BaseManifest): Buffer {
  const text = `${JSON.stringify({ ...manifest, position: positionText(manifest.position) })}\n`;
  return Buffer.from(`${text}${sumOf(Buffer.from(text))}\n`);
}

/**
 * Reads a manifest from an untrusted source: each field is checked.
 *
 * @param file where it was found, for the error
 * @throws StoreError `DAMAGED` or `NEWER_FORMAT`
 */
export function parseManifest(bytes: Buffer, file: string): BaseManifest {
  const end = bytes.indexOf("\n") + 1;
  if (end === 0 || bytes.toString("latin1", end) !== `${sumOf(bytes.subarray(0, end))}\n`) {
    throw damaged(file, "its sum", "another one");
  }
  const fields = new Fields(objectIn(bytes.toString("utf8", 0, end), file), file);
  const format = fields.count("format");
  if (format > ARCHIVE_FORMAT) {
    throw new StoreError({ code: "NEWER_FORMAT", file, known: ARCHIVE_FORMAT, found: format });
  }
  return {
    format,
    ensembleId: fields.text("ensembleId", ID_CHARS_MAX),
    position: parsePosition(fields.text("position", ID_CHARS_MAX), file),
    epochs: fields.rows("epochs").map(epochOf),
    digestHigh: fields.number("digestHigh"),
    digestLow: fields.number("digestLow"),
    nodeCount: fields.count("nodeCount"),
    sessionCount: fields.count("sessionCount"),
    takenMs: fields.count("takenMs"),
    parts: partsIn(fields),
  };
}

/** The SHA-256 of bytes, in hexadecimal digits. */
export function sumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function epochOf(row: Fields): EpochRange {
  const [epoch, first, last] = [row.count("epoch"), row.count("first"), row.count("last")];
  if (epoch > EPOCH_MAX) throw row.damage("epoch", epoch);
  return { epoch, first, last };
}

function partsIn(fields: Fields): readonly BasePart[] {
  const rows = fields.rows("parts");
  if (rows.length > PARTS_MAX) throw fields.damage("parts", `${rows.length} of them`);
  return rows.map((row) => {
    const [bytes, sha256] = [row.count("bytes"), row.text("sha256", 64)];
    if (bytes > PART_BYTES_MAX) throw row.damage("bytes", bytes);
    if (!SHA256.test(sha256)) throw row.damage("sha256", sha256);
    return { bytes, sha256 };
  });
}

function objectIn(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(file, "its first line", "it is no JSON");
  }
}

/** The fields of an object in a manifest, each of which is there or named. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #file: string;

  constructor(value: unknown, file: string) {
    if (typeof value !== "object" || value === null) throw damaged(file, "its first line", "it has no fields");
    this.#values = value as Readonly<Record<string, unknown>>;
    this.#file = file;
  }

  number(name: string): number {
    const value = this.#values[name];
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.damage(name, value);
  }

  count(name: string): number {
    const value = this.number(name);
    if (value < 0) throw this.damage(name, value);
    return value;
  }

  text(name: string, charsMax: number): string {
    const value = this.#values[name];
    if (typeof value === "string" && value.length <= charsMax) return value;
    throw this.damage(name, value);
  }

  rows(name: string): readonly Fields[] {
    const value = this.#values[name];
    if (!Array.isArray(value)) throw this.damage(name, value);
    return value.map((row) => new Fields(row, this.#file));
  }

  damage(name: string, found: unknown): StoreError {
    return damaged(this.#file, name, `${JSON.stringify(found)}`.slice(0, 100));
  }
}
