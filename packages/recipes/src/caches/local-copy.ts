/** A map of bytes in a readable JSON file: text as text, other bytes in base64. */

import { isUtf8 } from "node:buffer";
import { readFile, rename, writeFile } from "node:fs/promises";

type Written = string | { readonly base64: string };

/** The content of the file; undefined if there is none, or another format. */
export async function readCopy(file: string): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  try {
    const written: Readonly<Record<string, Written>> | null = JSON.parse(await readFile(file, "utf8"));
    if (typeof written !== "object" || written === null || Array.isArray(written)) return undefined;
    return new Map(Object.entries(written).map(([key, value]) => [key, bytesOf(value)]));
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. */
export async function writeCopy(file: string, values: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const written = Object.fromEntries([...values].map(([key, value]) => [key, writtenOf(value)]));
  const next = `${file}.next`;
  await writeFile(next, `${JSON.stringify(written, null, 2)}\n`);
  await rename(next, file);
}

function bytesOf(value: Written): Uint8Array {
  return typeof value === "string" ? Buffer.from(value) : Buffer.from(value.base64, "base64");
}

function writtenOf(value: Uint8Array): Written {
  const bytes = Buffer.from(value);
  return isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString("base64") };
}
