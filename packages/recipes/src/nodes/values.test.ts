import { ArgumentError, type Client, type Codec, DecodeError } from "@zooid/client";
import { firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { ConfigCenter } from "../caches/config-center.ts";
import { Topic } from "../caches/topic.ts";
import { SharedCount, SharedValue } from "../counters/shared-value.ts";
import { NamingService } from "../discovery/naming-service.ts";
import { DistributedQueue } from "../queues/distributed-queue.ts";
import { encodeItems } from "../queues/queue-item.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, type Stage } from "../testing/stage.ts";

let stage: Stage;
let a: Client;
let b: Client;
eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

const REASON = new RangeError("a share is from 0 to 1");

/** A number from 0 to 1. Like most codecs it checks what it reads, not what it writes. */
const share: Codec<number> = {
  encode: (value) => Buffer.from(`${value}`),
  decode: (bytes) => {
    const value = Number(Buffer.from(bytes ?? []));
    if (value >= 0 && value <= 1) return value;
    throw REASON;
  },
};

const ENV = { app: "shop", env: "test", codec: share };

interface Kind {
  readonly path: string;
  readonly read: (zk: Client) => Promise<unknown>;
  readonly write?: (zk: Client, value: number) => Promise<unknown>;
  /** The node's data where they are more than the value. */
  readonly data?: Uint8Array;
}

async function byCenter<T>(zk: Client, use: (center: ConfigCenter<number>) => Promise<T>): Promise<T> {
  await using center = new ConfigCenter(zk, "/config", ENV);
  return await use(center);
}

const KINDS: Readonly<Record<string, Kind>> = {
  "ConfigCenter.read": {
    path: "/config/shop/test/limit",
    read: (zk) => byCenter(zk, (center) => center.read("limit")),
    write: (zk, value) => byCenter(zk, (center) => center.set("limit", value)),
  },
  "ConfigCenter.rejected$": {
    path: "/config/shop/test/limit",
    read: (zk) =>
      byCenter(zk, async (center) => {
        throw (await firstValueFrom(center.rejected$)).error;
      }),
  },
  "Topic.latest": { path: "/topic", read: (zk) => new Topic(zk, "/topic", share).latest() },
  "NamingService.lookup": {
    path: "/names/hosts/db",
    read: (zk) => new NamingService(zk, "/names", share).lookup("hosts", "db"),
    write: (zk, value) => new NamingService(zk, "/names", share).register("hosts", "db", value),
  },
  "SharedValue.get": {
    path: "/shared",
    read: (zk) => new SharedValue(zk, "/shared", { seed: 0, codec: share }).get(),
    write: (zk, value) => new SharedValue(zk, "/shared", { seed: 0, codec: share }).set(value),
  },
  "SharedValue.getAndWatch": {
    path: "/shared",
    read: (zk) => new SharedValue(zk, "/shared", { seed: 0, codec: share }).getAndWatch(),
    write: (zk, value) => new SharedValue(zk, "/shared", { seed: value, codec: share }).get(),
  },
  "DistributedQueue.consume": {
    path: "/queue/queue-0000000000",
    data: encodeItems([Buffer.from("7")]),
    read: async (zk) => {
      const failed = Promise.withResolvers<never>();
      await using queue = new DistributedQueue(zk, "/queue", { codec: share });
      queue.consume(() => {}, { onError: failed.reject });
      return await failed.promise;
    },
  },
};

test.each(Object.entries(KINDS))(
  "%s names the path, the transaction and the cause of data that the codec refuses",
  async (_, { path, read, data = Buffer.from("7") }) => {
    const { stat } = await b.create(path, data, { parents: "persistent" });
    const error = await failure(read(a));
    expect(error).toBeInstanceOf(DecodeError);
    expect(error).toMatchObject({ path, zxid: stat.mzxid, cause: REASON });
    expect(a.watchCount).toBe(0);
  },
);

test.each(Object.values(KINDS).flatMap(({ path, write }) => (write === undefined ? [] : [[path, write] as const])))(
  "at %s a value that its own codec refuses to read is refused, and nothing is written",
  async (path, write) => {
    const error = await failure(write(a, 7));
    expect(error).toBeInstanceOf(ArgumentError);
    expect(error).toMatchObject({ cause: REASON, message: expect.stringContaining(path) });
    expect(await b.exists(path)).toBeNull();
    await write(a, 1);
    expect(Buffer.from((await b.get(path)).data ?? []).toString()).toBe("1");
  },
);

test("a conditional change to a value that the codec refuses to read is refused", async () => {
  const shared = new SharedValue(a, "/shared", { seed: 0, codec: share });
  const seen = await shared.get();
  await expect(shared.trySet(seen, 7)).rejects.toThrow(ArgumentError);
  await using center = stage.kept(new ConfigCenter(a, "/config", ENV));
  await center.set("limit", 1);
  await expect(center.set("limit", 7, await center.read("limit"))).rejects.toThrow(ArgumentError);
  expect((await center.read("limit"))?.value).toBe(1);
});

test("data that are not in a recipe's own format are NOT_OURS, with the path", async () => {
  await b.create("/count", "seven");
  expect(await failure(new SharedCount(a, "/count").get())).toMatchObject({
    code: "NOT_OURS",
    message: expect.stringContaining("/count: a number of 4 bytes"),
  });
});
