import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { formatZxid } from "@zooid/model";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { json, text } from "./codec.ts";
import { DecodeError } from "./decode-error.ts";

interface Settings {
  readonly stock: number;
}

let server: ZooidServer;
let zk: Client;

beforeEach(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});
afterEach(async () => {
  await zk.close();
  await server.stop();
});

const of = (key: string) => ({ app: "shop", key }) as const;

test("nodes are created, read, written and deleted by the parameters of their path", async () => {
  const settings = zk.typed("/config/{app}/{key}", json<Settings>());
  const { path } = await settings.create(of("a"), { stock: 10 }, { parents: "container" });
  expect([path, settings.path(of("a"))]).toEqual(["/config/shop/a", "/config/shop/a"]);
  const { value, stat } = await settings.get(of("a"));
  expect(value).toEqual({ stock: 10 });
  await settings.set(of("a"), { stock: 9 }, { version: stat.version });
  await settings.put(of("b"), { stock: 1 });
  expect(await settings.getOrNull(of("a"))).toMatchObject({ value: { stock: 9 } });
  await settings.delete(of("a"));
  expect([await settings.getOrNull(of("a")), await settings.exists(of("a"))]).toEqual([null, null]);
  expect((await settings.exists(of("b")))?.version).toBe(0);
});

test("a stream emits decoded values", async () => {
  const settings = zk.typed("/{key}", json<Settings>());
  const seen = firstValueFrom(settings.watch$({ key: "a" }).pipe(filter(({ exists }) => exists)));
  await settings.create({ key: "a" }, { stock: 3 });
  expect(await seen).toMatchObject({ exists: true, value: { stock: 3 } });
});

test("concurrent updates are all applied", async () => {
  const counts = zk.typed("/counts/{key}", json<number>());
  const update = () => counts.update({ key: "a" }, (count = 0) => count + 1, { create: { parents: "persistent" } });
  await Promise.all(Array.from({ length: 8 }, update));
  expect((await counts.get({ key: "a" })).value).toBe(8);
  await expect(zk.typed("/none/{key}", text).update({ key: "a" }, () => "x")).rejects.toMatchObject({
    code: "NO_NODE",
  });
});

test.each(["", "a/b", "..", undefined as unknown as string])("%j cannot stand for a name", async (key) => {
  await expect(zk.typed("/config/{key}", text).get({ key })).rejects.toMatchObject({ code: "INVALID_PATH" });
});

test("an invalid path is refused at once", () => {
  expect(() => zk.typed("config/{key}", text)).toThrow(RangeError);
  expect(() => zk.typed("/config/{key}/", text)).toThrow(RangeError);
});

test("a template without parameters needs none", async () => {
  const fixed = zk.typed("/fixed", text);
  await zk.create("/fixed", "x");
  expect(fixed.path()).toBe("/fixed");
  expect((await fixed.get()).value).toBe("x");
  expect((await fixed.getOrNull({}, { sync: true }))?.value).toBe("x");
  expect((await firstValueFrom(fixed.watch$())).exists).toBe(true);
  expect((await fixed.exists())?.version).toBe(0);
  await fixed.delete();
  // @ts-expect-error a template with parameters needs them
  expect(() => zk.typed("/a/{b}", text).path()).toThrow("cannot stand for {b}");
});

test("data that cannot be decoded reject a read with path, zxid and cause", async () => {
  const { stat } = await zk.create("/broken", "{");
  const errors = await Promise.all(
    [
      () => zk.typed("/broken", json()).get(),
      () => zk.typed("/broken", json()).getOrNull(),
      () => zk.get("/broken", { codec: json() }),
      () => zk.getJson("/broken"),
    ].map((read) => read().catch((error: unknown) => error)),
  );
  for (const error of errors) {
    expect(error).toBeInstanceOf(DecodeError);
    expect(error).toMatchObject({
      code: "UNDECODABLE",
      path: "/broken",
      zxid: stat.mzxid,
      cause: expect.any(SyntaxError),
    });
    expect(String(error)).toContain("/broken");
  }
});

test("a stream leaves out data that cannot be decoded, logs them, and continues with the next", async () => {
  const warnings: unknown[] = [];
  const none = (): void => {};
  const logger = {
    debug: none,
    info: none,
    error: none,
    warn: (text: string, fields: object) => warnings.push([text, fields]),
  };
  await using watcher = await connect(server.connectString, { logger });
  await zk.create("/stream", "1");
  const values: unknown[] = [];
  const handled: unknown[] = [];
  const third = Promise.withResolvers<void>();
  watcher.watchData$("/stream", { codec: json() }).subscribe((node) => values.push(node.exists && node.value));
  watcher.watchData$("/stream", { codec: json(), onDecodeError: (error) => error.path }).subscribe((node) => {
    handled.push(node.exists && node.value);
    if (handled.length === 3) third.resolve();
  });
  await expect.poll(() => handled).toEqual([1]);
  const { mzxid } = await zk.set("/stream", "{");
  await expect.poll(() => handled).toEqual([1, "/stream"]);
  await zk.set("/stream", "3");
  await third.promise;
  expect(values).toEqual([1, 3]);
  expect(warnings).toEqual([
    [expect.stringContaining("cannot be decoded"), { path: "/stream", zxid: formatZxid(mzxid) }],
  ]);
});

test("onDecodeError may fail the stream", async () => {
  await zk.create("/strict", "{");
  const rethrow = (error: Error): never => {
    throw error;
  };
  const strict = zk.watchData$("/strict", { codec: json(), onDecodeError: rethrow });
  await expect(firstValueFrom(strict)).rejects.toBeInstanceOf(DecodeError);
});
