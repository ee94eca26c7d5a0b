import { startServer, type ZooidServer } from "@zooid/server";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { json, text } from "./codec.ts";

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

test("a value that a codec refuses rejects with the codec's error", async () => {
  await zk.create("/broken", "{");
  await expect(zk.typed("/{key}", json<Settings>()).get({ key: "broken" })).rejects.toThrow(SyntaxError);
});

test("an invalid path is refused at once", () => {
  expect(() => zk.typed("config/{key}", text)).toThrow(RangeError);
  expect(() => zk.typed("/config/{key}/", text)).toThrow(RangeError);
});
