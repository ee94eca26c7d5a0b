/** Data of a node as a command's operand gives it: the word itself, a file, or standard input. */
import { addAbortSignal } from "node:stream";
import { CliError, usageError } from "./cli-error.ts";
import type { Invocation } from "./command.ts";
import { readLocalFile } from "./local-file.ts";

/**
 * `-` is standard input, `@file` a file's bytes, `@@word` the word `@word`; any other word is the
 * data.
 *
 * @throws USAGE where standard input is not free; UNREADABLE_FILE; PACKET_TOO_LARGE
 */
export async function givenData(word: string, invocation: Invocation): Promise<string | Buffer> {
  if (word === "-") return await standardInput(invocation);
  if (word.startsWith("@@")) return word.slice(1);
  return word.startsWith("@") && word.length > 1 ? await fileBytes(word.slice(1), invocation) : word;
}

async function standardInput({ shell, signal, connection }: Invocation): Promise<Buffer> {
  const { dataInput } = shell;
  if (dataInput === undefined) {
    throw usageError("- is standard input, which commands are read from here; name a file, as @file");
  }
  const bytesMax = connection.frameBytesMax;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of addAbortSignal(signal, dataInput)) {
    const part = Buffer.from(chunk as Uint8Array);
    chunks.push(part);
    bytes += part.length;
    if (bytes > bytesMax) throw tooLarge("standard input", `more than ${bytesMax}`, bytesMax);
  }
  return Buffer.concat(chunks);
}

async function fileBytes(file: string, { connection, signal }: Invocation): Promise<Buffer> {
  const bytesMax = connection.frameBytesMax;
  const { bytes, sizeText } = await readLocalFile(file, { bytesMax, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`the file cannot be read: ${reason}`, {
      code: "UNREADABLE_FILE",
      hint: `for data that begins with @, write @@${file}`,
    });
  });
  if (bytes === undefined) throw tooLarge(file, sizeText, bytesMax);
  return bytes;
}

function tooLarge(what: string, bytes: string, bytesMax: number): CliError {
  const text = `${what} has ${bytes} bytes, and a request has at most ${bytesMax}`;
  return new CliError(text, { code: "PACKET_TOO_LARGE" });
}
