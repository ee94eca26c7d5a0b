import type { Writable } from "node:stream";

/** Resolves when the stream takes more, or is closed. */
export async function untilDrained(stream: Writable): Promise<void> {
  if (stream.destroyed || !stream.writableNeedDrain) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    stream.off("drain", done);
    stream.off("close", done);
    resolve();
  };
  stream.on("drain", done);
  stream.on("close", done);
  await promise;
}
