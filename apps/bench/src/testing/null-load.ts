import { afterEach, beforeEach } from "vitest";
import { readTemplate } from "../connections/request-template.ts";
import type { RequestJob } from "../load/request-load.ts";
import { type NullServerThread, startNullServer } from "../null-server/null-server-thread.ts";

/** For runs that nothing ends early. */
export const never: AbortSignal = new AbortController().signal;

/** A null server for each test. Returns it, and a job for it. */
export function eachNullServer(): {
  readonly server: () => NullServerThread;
  readonly jobOf: (change?: Partial<RequestJob>) => RequestJob;
} {
  let server: NullServerThread;
  beforeEach(async () => {
    server = await startNullServer({ payloadBytes: 100 });
  });
  afterEach(() => server[Symbol.asyncDispose]());
  return {
    server: () => server,
    jobOf: (change = {}) => ({
      kind: "requests",
      hosts: [{ name: "127.0.0.1", port: server.port }],
      connections: 4,
      loop: { kind: "closed", inFlight: 8 },
      templates: [readTemplate("read", "/b/n-#######")],
      weights: [1],
      nodes: 100,
      counterFrom: 0,
      warmupMs: 50,
      durationMs: 200,
      sessionTimeoutMs: 10_000,
      seed: 1,
      ...change,
    }),
  };
}
