import { constants, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";

export interface ReadLimits {
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** The bytes of a file, or, of a file beyond the limit, its size in words. */
export type LocalFile =
  | { readonly bytes: Buffer; readonly sizeText?: undefined }
  | { readonly bytes: undefined; readonly sizeText: string };

/**
 * Reads a file that a command's words name, in pieces: devices, pipes and files of `/proc` have no
 * size and perhaps no end.
 *
 * @returns no bytes for a file of more than `bytesMax`, of which at most a piece more is read
 * @throws the system's error; AbortError
 */
export async function readLocalFile(file: string, { bytesMax, signal }: ReadLimits): Promise<LocalFile> {
  const found = await stat(file);
  if (found.isFile() && found.size > bytesMax) return { bytes: undefined, sizeText: `${found.size}` };
  // `end` is the position of the last byte that is read.
  const source = found.isFIFO()
    ? addAbortSignal(signal, openPipe(file))
    : createReadStream(file, { end: bytesMax, signal });
  const chunks: Buffer[] = [];
  let count = 0;
  for await (const chunk of source) {
    const part: Buffer = chunk;
    count += part.length;
    if (count > bytesMax) return { bytes: undefined, sizeText: `more than ${bytesMax}` };
    chunks.push(part);
  }
  return { bytes: Buffer.concat(chunks) };
}

/**
 * A pipe is polled: a thread that waits for its writer could not be interrupted, and the process
 * would wait for the thread when it ends.
 */
function openPipe(file: string): Readable {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
