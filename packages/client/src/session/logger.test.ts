import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createClient } from "../connect.ts";
import type { ClientOptions } from "../options.ts";
import { messageFirst, pinoLogger } from "./logger.ts";

/** Records of a client that fails to connect and is closed, as pino writes them. */
async function recordsOf(loggerOf: (log: ReturnType<typeof pino>) => NonNullable<ClientOptions["logger"]>) {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const zk = createClient("127.0.0.1:1", { logger: loggerOf(pino({ level: "debug", base: null }, stream)) });
  await new Promise<void>((resolve) => {
    zk.state$.subscribe((state) => {
      if (state.kind === "connecting" && (state.attempt ?? 0) > 0) resolve();
    });
  });
  await zk.close();
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

test.each<[string, (log: ReturnType<typeof pino>) => NonNullable<ClientOptions["logger"]>]>([
  ["itself", (log) => log],
  ["by a child", (log) => log.child({})],
  ["by pinoLogger", (log) => pinoLogger(log)],
])("a logger of pino's gets message and fields, given %s", async (_, loggerOf) => {
  const records = await recordsOf(loggerOf);
  expect(records).toContainEqual(expect.objectContaining({ state: "connecting", msg: "connecting" }));
  const failed = records.find(({ attempt }) => attempt === 1);
  expect(failed).toMatchObject({
    server: "127.0.0.1:1",
    reason: expect.any(String),
    msg: expect.stringContaining("failed"),
  });
});

test("a logger that takes the message first is used as it is", () => {
  expect(messageFirst(console)).toBe(console);
});
