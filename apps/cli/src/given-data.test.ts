import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Invocation } from "./command.ts";
import { givenData } from "./given-data.ts";

test("waiting for standard input ends with the signal", async () => {
  const interrupted = new AbortController();
  const shell = { dataInput: new PassThrough() };
  const invocation = { shell, signal: interrupted.signal, connection: { frameBytesMax: 10 } };
  const reading = givenData("-", invocation as unknown as Invocation);
  interrupted.abort();
  await expect(reading).rejects.toMatchObject({ name: "AbortError" });
});
