/** Each function that a caller gives the client, when it fails: the client continues to work. */
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { config } from "rxjs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CallbackFaults } from "./callers-callbacks.ts";
import type { Client } from "./client.ts";
import { connect } from "./connect.ts";
import { instrumentClients } from "./opentelemetry.ts";
import type { ClientOptions } from "./options.ts";
import type { Logger } from "./session/logger.ts";
import { ProcessNoise } from "./testing/process-noise.ts";
import { tcpTransport } from "./transport/tcp-transport.ts";

let server: ZooidServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.stop());

const fault = new Error("the caller's fault");
const thrower = (): never => {
  throw fault;
};
const rejecter = async (): Promise<never> => thrower();

/** The events, but for warnings of the test runner's own code. */
async function endOf(noise: ProcessNoise): Promise<readonly unknown[]> {
  const heard = await noise.end();
  return heard.filter((event) => !(event instanceof Error && event.name === "DeprecationWarning"));
}

/** A client of the test's server with these options, and what the process reported meanwhile. */
async function runs(
  options: ClientOptions,
  act: (zk: Client) => unknown = (zk) => zk.exists("/"),
): Promise<{ readonly result: unknown; readonly noise: readonly unknown[] }> {
  const noise = new ProcessNoise();
  // Of several hosts the order is random.
  const zk = await connect(`${server.connectString},localhost:${server.port}`, options);
  const result = await Promise.resolve(act(zk)).catch((error: unknown) => error);
  expect(await zk.children("/")).toBeDefined();
  await zk.close();
  return { result, noise: await endOf(noise) };
}

const asLogger = (write: () => unknown): Logger => ({ debug: write, info: write, warn: write, error: write }) as Logger;

test.each<[string, ClientOptions]>([
  ["logger, which throws", { logger: asLogger(thrower) }],
  ["logger, which rejects", { logger: asLogger(rejecter) }],
  ["logger of pino's kind", { logger: { ...asLogger(thrower), bindings: () => ({}) } as Logger }],
  ["random, which throws", { random: thrower }],
  ["random, which returns NaN", { random: () => Number.NaN }],
])("the option %s is reported once, and the client works without it", async (_, options) => {
  const { result, noise } = await runs(options);
  expect(result).toBeDefined();
  expect(noise).toEqual([expect.objectContaining({ name: "ZooidWarning", code: "ZOOID_CALLBACK_FAULT" })]);
});

test("a provider of hosts that fails gives its last ones, and the logger has the report", async () => {
  const records: string[] = [];
  const logger = { ...asLogger(() => undefined), warn: (message: string) => records.push(message) };
  let asked = 0;
  const hosts = { hosts: () => (asked++ === 0 ? [{ host: "127.0.0.1", port: server.port }] : thrower()) };
  const zk = await connect("", { hosts, logger });
  await zk.exists("/");
  await zk.close();
  expect(asked).toBeGreaterThan(1);
  expect(records).toEqual([
    "the option hosts of this program failed, and the client continues without it: the caller's fault",
  ]);
});

test.each(["resolve", "connect", "write", "destroy", "certificateFault"])(
  "a transport whose %s throws once fails an attempt at most",
  async (part) => {
    let left = 1;
    const failing = <T>(name: string, result: () => T): T => (name === part && left-- > 0 ? thrower() : result());
    const { result, noise } = await runs(
      {
        random: () => 0,
        transport: {
          isSecure: true,
          resolve: async (host) => failing("resolve", () => tcpTransport.resolve(host)),
          connect: (address, events) => {
            const connection = failing("connect", () => tcpTransport.connect(address, events));
            return {
              write: (bytes, written) => failing("write", () => connection.write(bytes, written)),
              destroy: () => {
                connection.destroy();
                failing("destroy", () => undefined);
              },
            };
          },
          certificateFault: () => failing("certificateFault", () => undefined),
        },
      },
      (zk) => zk.exists("/"),
    );
    expect(result).toBeDefined();
    expect(noise).toEqual([]);
  },
);

const codec = { encode: () => new Uint8Array(), decode: () => "" };

test.each<[string, ClientOptions, (zk: Client) => unknown]>([
  ["acl", { acl: thrower }, (zk) => zk.create("/x")],
  ["acl in a transaction", { acl: thrower }, async (zk) => zk.transaction().create("/x").commit()],
  ["intercept", { intercept: thrower }, (zk) => zk.getText("/")],
  ["intercept, which rejects", { intercept: rejecter }, (zk) => zk.getText("/")],
  ["retry", {}, (zk) => zk.get("/none", { retry: thrower }).catch(() => fault)],
  ["encode", {}, async (zk) => zk.typed("/{key}", { ...codec, encode: thrower }).set({ key: "x" }, "")],
  ["decode", {}, (zk) => zk.get("/", { codec: { ...codec, decode: thrower } }).catch(({ cause }) => cause)],
  ["protect", {}, (zk) => zk.create("/x", "", { mode: "ephemeral-sequential", protect: thrower })],
  ["the work of sessionScope", {}, (zk) => zk.sessionScope(rejecter)],
  ["select", {}, (zk) => new Promise((_, error) => zk.watchTree$("/", { select: thrower }).subscribe({ error }))],
])("the call rejects with the fault of %s", async (_, options, act) => {
  const noise = new ProcessNoise();
  const zk = await connect(server.connectString);
  const given = Object.keys(options).length === 0 ? zk : zk.with(options);
  const failure = await Promise.resolve(act(given)).catch((error: unknown) => error);
  expect(failure).toBe(fault);
  expect(await zk.exists("/")).not.toBeNull();
  await zk.close();
  expect(await endOf(noise)).toEqual([]);
});

test("a subscriber that throws is reported by rxjs, and others and the client continue", async () => {
  const reported: unknown[] = [];
  config.onUnhandledError = (error) => reported.push(error);
  onTestFinished(() => {
    config.onUnhandledError = null;
  });
  const zk = await connect(server.connectString);
  zk.state$.subscribe(thrower);
  const seen: string[] = [];
  zk.state$.subscribe(({ kind }) => seen.push(kind));
  await zk.close();
  expect(seen).toEqual(["connected", "closed"]);
  await expect.poll(() => reported).toEqual([fault, fault]);
});

test("a tracer or a meter that throws is reported once, and no call fails", async () => {
  const noise = new ProcessNoise();
  const span = { setAttributes: thrower, setStatus: thrower, end: thrower };
  const providers = [{ getTracer: () => ({ startSpan: thrower }) }, { getTracer: () => ({ startSpan: () => span }) }];
  for (const tracerProvider of providers) {
    using _ = instrumentClients({
      tracerProvider: tracerProvider as never,
      meterProvider: { getMeter: () => ({ createHistogram: () => ({ record: thrower }) }) } as never,
    });
    const { result } = await runs({});
    expect(result).not.toBeNull();
  }
  const faults = await endOf(noise);
  // The start and the end of the first, the end of the second.
  expect(faults).toHaveLength(3);
});

test("a fault without a message is reported as a text", () => {
  const records: string[] = [];
  new CallbackFaults({ ...asLogger(() => undefined), warn: (message) => records.push(message) }).report("x", undefined);
  expect(records).toEqual([expect.stringContaining("x of this program failed")]);
});
