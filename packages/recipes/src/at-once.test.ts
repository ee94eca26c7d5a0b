/** Async functions in the places of synchronous ones are refused; each rejection has an owner. */
import { type Client, type Codec, DecodeError } from "@zooid/client";
import { ArgumentError } from "@zooid/model";
import { firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import * as recipes from "./index.ts";
import { eachStaged } from "./testing/each-staged.ts";
import { failure, type Stage } from "./testing/stage.ts";

let stage: Stage;
let a: Client;
eachStaged((staged) => {
  ({ stage, a } = staged);
});

/** In the place of any function. */
const late = (async () => {
  throw new Error("a rejection without an owner");
}) as never;
const bytes = new Uint8Array(1);
const encoding: Codec<Uint8Array> = { encode: late, decode: () => bytes };
const decoding: Codec<Uint8Array> = { encode: () => bytes, decode: late };

async function provided(options: recipes.ServiceProviderOptions<unknown>): Promise<unknown> {
  const discovery = stage.kept(new recipes.ServiceDiscovery(a, "/d"));
  await discovery.register({ name: "a" });
  const provider = discovery.provider("a", options);
  await provider.ready();
  return provider.pick();
}

const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  "the schedule of a Cron": () =>
    stage.kept(new recipes.Cron(a, "/c", { schedule: late, work: () => {}, onError: () => {} })).finished(),
  "a strategy": () => provided({ strategy: { choose: late } }),
  "a weight": () => provided({ strategy: recipes.strategies.weighted(late) }),
  "a load": () => provided({ strategy: recipes.strategies.leastLoaded(late) }),
  "a filter": () => provided({ filter: late }),
  "encode of a codec": () => new recipes.NamingService(a, "/n", encoding).register("k", "n", bytes),
  "decode of a codec": () => new recipes.NamingService(a, "/n", decoding).register("k", "n", bytes),
  "decode of a codec, of a node": async () => {
    await a.create("/n/k/m", bytes, { parents: "container" });
    await new recipes.NamingService(a, "/n", decoding).lookup("k", "m");
  },
  "the selection of a TreeCache": async () => {
    await a.create("/t/a", "", { parents: "container" });
    await new recipes.TreeCache(a, "/t", { select: late }).ready();
  },
  "decode of a queue's codec": async () => {
    await a.create("/q", "");
    await new recipes.DistributedQueue(a, "/q").put(bytes);
    const failed = Promise.withResolvers<never>();
    const queue = stage.kept(new recipes.DistributedQueue(a, "/q", { codec: decoding }));
    queue.consume(() => {}, { onError: failed.reject });
    await failed.promise;
  },
  "decode of a configuration's codec": async () => {
    await a.create("/f/app/env/k", bytes, { parents: "container" });
    const config = stage.kept(new recipes.ConfigCenter(a, "/f", { app: "app", env: "env", codec: decoding }));
    throw (await firstValueFrom(config.rejected$)).error;
  },
};

test.each(Object.entries(CALLS))("%s is no async function", async (_, call) => {
  const error = await failure(call());
  // Of data in a node it is the cause.
  expect(error instanceof DecodeError ? error.cause : error).toBeInstanceOf(ArgumentError);
});
