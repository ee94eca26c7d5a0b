/** Invalid arguments are refused at run time, before anything is done, with the nearest name. */

import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ArgumentError } from "@zooid/model";
import { firstValueFrom, isObservable } from "rxjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "./client.ts";
import { connect, createClient } from "./connect.ts";
import { isZkError } from "./errors.ts";

let server: ZooidServer;
let zk: Client;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});

afterAll(async () => {
  await zk.close();
  await server.stop();
});

/** The client as a program without a type checker sees it. */
type Loose = Record<string, (...args: unknown[]) => unknown>;

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

test.each([
  ["create", ["/x", "", { mode: "EPHEMERAL" }], '"ephemeral"'],
  ["create", ["/x", "", { ephemeral: true }], 'mode: "ephemeral"'],
  ["create", ["/x", "", { sequential: true }], 'mode: "ephemeral-sequential"'],
  ["create", ["/x", "", { makeParents: true }], undefined],
  ["create", ["/x", "", { mode: "persistent", ttlMs: 5 }], undefined],
  ["create", ["/x", "", { mode: "persistent-with-ttl" }], undefined],
  ["create", ["/x", { a: 1 }], undefined],
  ["create", ["/x", 5], undefined],
  ["create", ["/x", "", "ephemeral"], undefined],
  ["set", ["/", { a: 1 }], undefined],
  ["set", ["/", "", { Version: 1 }], "version"],
  ["set", ["/", "", { version: "1" }], undefined],
  ["set", ["/", "", 1], undefined],
  ["put", ["/x", ["a"]], undefined],
  ["put", ["/x", "", { parent: "container" }], "parents"],
  ["get", ["/", { watched: true }], "watch"],
  ["get", ["/", { timeout: 5 }], "timeoutMs"],
  ["get", ["/", { timeoutMs: "5" }], undefined],
  ["getOrNull", ["/", { watch: true }], undefined],
  ["exists", ["/", { watch: () => {} }], undefined],
  ["children", ["/", { sink: true }], "sync"],
  ["delete", ["/x", { missingOK: true }], "missingOk"],
  ["delete", ["/x", { guaranteed: "Session" }], '"session"'],
  ["delete", ["/x", 3], undefined],
  ["deleteTree", ["/x", { batches: 3 }], "batch"],
  ["getAcl", ["/", { sync: 1 }], undefined],
  ["setAcl", ["/", "world:anyone:cdrwa"], undefined],
  ["sync", ["/", { retries: 3 }], "retry"],
  ["getEphemerals", ["/", { retry: 3 }], undefined],
  ["whoAmI", [{ timeoutMs: -1 }], undefined],
  ["addAuth", ["digest", { user: "x" }], undefined],
  ["addAuth", [undefined, "x"], undefined],
  ["connected", [{ timeoutMs: 5 }], undefined],
  ["with", [{ timeout: 5 }], "timeoutMs"],
  ["watchData$", ["/", { codecs: {} }], "codec"],
  ["watchExists$", ["/", { onExpire: "error" }], "onExpiry"],
  ["watchChildren$", ["/", { onExpiry: "fail" }], undefined],
  ["watchTree$", ["/", { depth: 1 }], "depthMax"],
  ["events$", ["/", { mode: "recursive" }], undefined],
  ["makeRoot", [{ mode: "containers" }], '"container"'],
] as const)("%s%j is refused", async (method, args, nearest) => {
  const error = await errorOf(() => {
    const made = (zk as unknown as Loose)[method]?.(...args);
    return isObservable(made) ? firstValueFrom(made) : made;
  });
  expect(error).toBeInstanceOf(ArgumentError);
  if (nearest !== undefined) expect((error as Error).message).toContain(`did you mean ${nearest}?`);
  expect(await zk.exists("/x")).toBeNull();
});

test.each(["get", "getOrNull", "exists", "create", "set", "put", "delete", "children", "getAcl", "sync", "deleteTree"])(
  "%s of no path is refused",
  async (method) => {
    for (const path of [null, 5, {}, ...(method === "sync" ? [] : [undefined])]) {
      const error = await errorOf(() => (zk as unknown as Loose)[method]?.(path, ""));
      expect([isZkError(error, "INVALID_PATH") || error instanceof ArgumentError, String(error)]).toEqual([
        true,
        expect.not.stringContaining("Cannot"),
      ]);
    }
  },
);

test.each([
  [() => zk.transaction().create("/x", "", { mode: "EPHEMERAL" as "ephemeral" })],
  [() => zk.transaction().create("/x", { a: 1 } as unknown as string)],
  [() => zk.transaction().set("/", "", { version: "1" as unknown as number })],
  [() => zk.transaction().delete("/x", 3 as unknown as { version: number })],
  [() => zk.transaction().check("/x", undefined as unknown as number)],
])("a step of a transaction is checked when it is added (case %#)", (add) => {
  expect(add).toThrow(ArgumentError);
});

test.each([
  [{ sessionTimeout: 1 }, "sessionTimeoutMs"],
  [{ hostOrder: "shuffled" }, undefined],
  [{ onExpiry: "new_session" }, '"new-session"'],
  [{ retry: 5 }, undefined],
  [{ logger: console.log }, undefined],
  [{ auth: "digest" }, undefined],
  [{ auth: [{ scheme: "digest", auth: 5 }] }, undefined],
  [{ session: { id: 5, password: new Uint8Array(16) } }, undefined],
  [{ session: { id: 5n } }, undefined],
  [{ defaultData: 5 }, undefined],
  [null, undefined],
  ["x", undefined],
])("createClient with %o is refused", (options, nearest) => {
  const make = (): Client => createClient("127.0.0.1:1", options as object);
  expect(make).toThrow(ArgumentError);
  if (nearest !== undefined) expect(make).toThrow(`did you mean ${nearest}?`);
});

test.each([[undefined], [null], [5], [["127.0.0.1:2181"]]])("a connect string %o is refused", async (hosts) => {
  await expect(connect(hosts as unknown as string)).rejects.toThrow(ArgumentError);
});

test("valid options of every method are accepted", async () => {
  const limits = { signal: new AbortController().signal, timeoutMs: 5_000, retry: () => false as const };
  await zk.create("/valid", null, { ...limits, mode: "ephemeral", idempotent: true });
  await zk.set("/valid", Buffer.from("x"), { ...limits, version: 0, idempotent: false });
  await zk.get("/valid", { ...limits, sync: true, watch: true });
  await zk.delete("/valid", { ...limits, version: 1, missingOk: true, guaranteed: "session" });
});
