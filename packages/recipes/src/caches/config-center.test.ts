import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, json, text } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage, tree } from "../testing/stage.ts";
import { ConfigCenter, type ConfigCenterOptions, type RejectedValue } from "./config-center.ts";

const PATH = "/config";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

const centers: ConfigCenter<unknown>[] = [];

function center(zk: Client, fallback?: ConfigCenterOptions<unknown>["fallback"]): ConfigCenter<unknown> {
  const options = { app: "shop", env: "test", codec: json<unknown>() };
  const made = new ConfigCenter(zk, PATH, fallback === undefined ? options : { ...options, fallback });
  centers.push(made);
  return stage.kept(made);
}

async function holds(one: ConfigCenter<unknown>, key: string, value: unknown): Promise<void> {
  await firstValueFrom(one.watch$(key).pipe(filter((now) => JSON.stringify(now) === JSON.stringify(value))));
}

test("a value set by one client reaches the copies of all", async () => {
  const [mine, theirs] = [center(a), center(b)];
  await Promise.all([mine.ready(), theirs.ready()]);
  expect(theirs.get("limit")).toBeUndefined();
  await mine.set("limit", 5);
  await mine.set("hosts", ["x", "y"]);
  await Promise.all([holds(theirs, "limit", 5), holds(theirs, "hosts", ["x", "y"])]);
  expect([theirs.get("limit"), theirs.get("hosts")]).toEqual([5, ["x", "y"]]);
  expect(await tree(b, PATH)).toEqual(["shop", "shop/test", "shop/test/hosts", "shop/test/limit"]);
  await mine.delete("limit");
  await mine.delete("limit");
  await holds(theirs, "limit", undefined);
  const { values, source } = await firstValueFrom(theirs.snapshot$);
  expect([[...values.keys()], source]).toEqual([["hosts"], "servers"]);
});

test("the first snapshot has all values", async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `key${i}`);
  const writer = center(a);
  await Promise.all(keys.map((key) => writer.set(key, 1)));
  const { values } = await firstValueFrom(center(b).snapshot$);
  expect([...values.keys()].sort()).toEqual(keys.sort());
});

test("a conditional set applies only to the version that was read", async () => {
  const [mine, theirs] = [center(a), center(b)];
  await mine.set("limit", 1);
  const seen = await theirs.read("limit");
  expect([seen, await theirs.read("nothing")]).toEqual([{ value: 1, version: 0 }, undefined]);
  expect(await theirs.set("limit", 2, seen)).toBe(true);
  expect(await mine.set("limit", 3, seen)).toBe(false);
  await mine.delete("limit");
  expect(await mine.set("limit", 3, seen)).toBe(false);
  await expect(mine.set("limit", 3, { value: 1, version: -1 })).rejects.toThrow(RangeError);
});

test("a value is emitted only when it changes", async () => {
  const [mine, theirs] = [center(a), center(b)];
  await mine.set("limit", 1);
  await mine.set("other", 1);
  await holds(theirs, "other", 1);
  const reported: unknown[] = [];
  theirs.watch$("limit").subscribe((value) => reported.push(value));
  await mine.set("other", 2);
  await mine.set("limit", 2);
  await Promise.all([holds(theirs, "limit", 2), holds(theirs, "other", 2)]);
  expect(reported).toEqual([1, 2]);
});

test("an unreadable value is reported, and the previous one stays in force", async () => {
  const theirs = center(b);
  const rejected = firstValueFrom(theirs.rejected$);
  await center(a).set("limit", 1);
  await holds(theirs, "limit", 1);
  await a.set(`${PATH}/shop/test/limit`, "{");
  expect(((await rejected) satisfies RejectedValue).key).toBe("limit");
  expect(theirs.get("limit")).toBe(1);
});

test("changes made while disconnected are known after it", async () => {
  const { zk, relay } = await stage.relayed();
  const [mine, theirs] = [center(a), center(zk)];
  await mine.set("limit", 1);
  await holds(theirs, "limit", 1);
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  await mine.set("limit", 2);
  expect(theirs.get("limit")).toBe(1);
  relay.accept();
  await holds(theirs, "limit", 2);
});

describe("where no server answers", () => {
  let directory: string;
  let file: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "config-center-"));
    file = join(directory, "config.json");
  });
  afterEach(async () => {
    // A center writes its file until it is closed.
    await Promise.all(centers.splice(0).map((each) => each.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  /** A client whose server is not listening yet. */
  function alone(): Client {
    const zk = createClient("127.0.0.1:1");
    stage.kept(zk);
    return zk;
  }

  test("it starts with the last known values", async () => {
    const mine = center(a, { file });
    await mine.set("limit", 1);
    await mine.set("limit", 2);
    await mine.set("name", "é");
    await a.create(`${PATH}/shop/test/bytes`, new Uint8Array([0xff, 0xfe]));
    await holds(mine, "limit", 2);
    await holds(mine, "name", "é");
    await mine.close();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ limit: "2", name: '"é"' });
    const later = center(alone(), { file, afterMs: 0 });
    await later.ready();
    expect([later.get("limit"), later.get("name")]).toEqual([2, "é"]);
    expect((await firstValueFrom(later.snapshot$)).source).toBe("file");
  });

  test("the servers' values replace them", async () => {
    writeFileSync(file, JSON.stringify({ limit: "1", gone: "1" }));
    const { zk, relay } = await stage.relayed();
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    const mine = center(zk, { file, afterMs: 0 });
    await mine.ready();
    expect([mine.get("limit"), mine.get("gone")]).toEqual([1, 1]);
    await center(a).set("limit", 2);
    relay.accept();
    await holds(mine, "limit", 2);
    expect([mine.get("limit"), mine.get("gone")]).toEqual([2, undefined]);
  });

  test.each(["", "[", "5"])("a file that holds %j is none", async (content) => {
    writeFileSync(file, content);
    const mine = center(alone(), { file, afterMs: 0 });
    const giveUp = AbortSignal.timeout(50);
    await expect(mine.ready({ signal: giveUp })).rejects.toThrow();
    expect(mine.get("limit")).toBeUndefined();
  });

  test("an error of the file is reported, and has no other effect", async () => {
    const failed = Promise.withResolvers<unknown>();
    const mine = center(a, { file: join(directory, "missing", "config.json"), onError: failed.resolve });
    await mine.set("limit", 1);
    await holds(mine, "limit", 1);
    expect(await failed.promise).toMatchObject({ code: "ENOENT" });
  });
});

test("with a codec for each key, values have the types of their keys, and other keys are reported", async () => {
  const codecs = { limit: json<number>(), mode: text };
  const one = stage.kept(new ConfigCenter(a, PATH, { app: "shop", env: "typed", codecs }));
  await one.ready();
  const rejected: RejectedValue[] = [];
  one.rejected$.subscribe((value) => rejected.push(value));
  await one.set("limit", 5);
  await one.set("mode", "fast");
  const limit: number | undefined = await firstValueFrom(one.watch$("limit").pipe(filter((now) => now === 5)));
  const mode: string | undefined = await firstValueFrom(one.watch$("mode").pipe(filter((now) => now === "fast")));
  expect([limit, mode, (await one.read("mode"))?.value]).toEqual([5, "fast", "fast"]);
  // @ts-expect-error a mode is text
  await expect(one.set("mode", 5)).rejects.toThrow();
  await b.create(`${PATH}/shop/typed/other`, "x");
  await expect.poll(() => rejected.map(({ key }) => key)).toEqual(["other"]);
});

test("one codec or several are given, not both", () => {
  const place = { app: "shop", env: "typed" };
  const make = (more: object): unknown => new ConfigCenter(a, PATH, { ...place, ...more } as never);
  expect(() => make({})).toThrow(RangeError);
  expect(() => make({ codec: text, codecs: { mode: text } })).toThrow(RangeError);
});
