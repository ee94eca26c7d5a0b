/** Streams of states emit no value twice in a row. */
import { isDeepStrictEqual } from "node:util";
import { type Client, isZkError } from "@zooid/client";
import fc from "fast-check";
import { isObservable, type Observable } from "rxjs";
import { expect, test } from "vitest";
import * as recipes from "./index.ts";
import { put } from "./nodes/named-node.ts";
import { EVERY_RECIPE } from "./testing/every-recipe.ts";
import { Stage } from "./testing/stage.ts";
import { Warnings } from "./testing/warnings.ts";

/** Nodes below a recipe's path that other programs write, and data of them. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  ClusterMonitor: ["x"],
  ConfigCenter: ["app/env/key"],
  GroupMember: ["x", "m"],
  LeaderLatch: [],
  MasterCluster: ["master", "backup-masters/x", "rs/x", "running"],
  MasterElection: ["master"],
  NamingService: ["kind/name"],
  PersistentNode: ["node"],
  PersistentTtlNode: ["node"],
  Registration: ["a/1"],
  ServiceCache: ["a/2", "a/no-instance"],
  ServiceDiscovery: ["a/2"],
  SetPartitioner: ["party/0123456789abcdef0123456789abcdef-x"],
  SharedCount: [""],
  SharedValue: [""],
  TreeCache: ["x"],
  UnfairElection: ["leader"],
};
/** Streams whose values are published, which may be published twice. */
const NO_STATES = ["Topic.messages$"];
/** Methods that return a stream, and their arguments. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  "ConfigCenter.watch$": ["key"],
  "NamingService.lookup$": ["kind", "name"],
  "ServiceDiscovery.instances$": ["a"],
};

const encoded = (port: number): Uint8Array =>
  recipes.instanceCodec().encode({
    name: "a",
    id: "2",
    address: "x",
    port,
    sslPort: null,
    payload: { port },
    registeredAtMs: 0,
    serviceType: "static",
    uriSpec: null,
    enabled: true,
  });
/** JSON all of them; the first two are counts, too. */
const DATA = ["1234", "5678", encoded(1), encoded(2)];

interface Target {
  readonly path: string;
  readonly data: readonly (string | Uint8Array)[];
}

const TARGETS: readonly Target[] = Object.entries(WRITTEN).flatMap(([name, below]) =>
  below.map((node) => ({
    path: node === "" ? `/${name}` : `/${name}/${node}`,
    data: name === "SharedCount" ? DATA.slice(0, 2) : DATA,
  })),
);

/** The streams of a recipe, by their names. */
function streamsOf(name: string, recipe: object): readonly (readonly [name: string, stream$: Observable<unknown>])[] {
  const found: [string, Observable<unknown>][] = [];
  for (let at = Object.getPrototypeOf(recipe); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Object.getOwnPropertyNames(at).filter((key) => key.endsWith("$"))) {
      const value: unknown = Reflect.get(recipe, key);
      const full = `${name}.${key}`;
      const stream$ = typeof value === "function" ? value.apply(recipe, ARGUMENTS[full]) : value;
      if (!isObservable(stream$)) throw new Error(`${full} is no stream`);
      found.push([full, stream$]);
    }
  }
  return found;
}

const act = fc.oneof(
  { weight: 9, arbitrary: fc.record({ at: fc.nat(TARGETS.length - 1), write: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ at: fc.nat(TARGETS.length - 1), write: fc.constant(undefined) }) },
  { weight: 1, arbitrary: fc.constant("cut" as const) },
  { weight: 4, arbitrary: fc.constant("pass" as const) },
);

test("no state comes twice in a row, whatever is written, with any connection", async () => {
  await using stage = await Stage.start({ ttlNodes: true });
  const witness = await stage.client();
  const { zk, relay } = await stage.relayed({ logger: new Warnings().logger });
  const streams: string[] = [];
  const twice = new Set<string>();
  for (const [name, open] of Object.entries(EVERY_RECIPE)) {
    const recipe = await open(zk, `/${name}`);
    for (const [stream, values$] of streamsOf(name, recipe).filter(([stream]) => !NO_STATES.includes(stream))) {
      streams.push(stream);
      let last: unknown = Symbol("none");
      values$.subscribe({
        next: (value) => {
          if (isDeepStrictEqual(value, last)) twice.add(stream);
          last = value;
        },
        error: (error) => twice.add(`${stream}: ${error}`),
      });
    }
  }
  expect(streams.length).toBeGreaterThan(25);
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60, size: "max" }), async (acts) => {
      twice.clear();
      for (const each of acts) {
        if (each === "cut") relay.cut();
        else if (each === "pass") await zk.sync().catch(() => {});
        else await write(witness, TARGETS[each.at], each.write);
      }
      await zk.sync().catch(() => {});
      expect([...twice]).toEqual([]);
    }),
    { numRuns: 10 },
  );
});

async function write(zk: Client, target: Target | undefined, at: number | undefined): Promise<void> {
  if (target === undefined) return;
  const { path, data } = target;
  try {
    if (at === undefined) await zk.delete(path, { missingOk: true });
    else await put(zk, path, data[at % data.length] ?? "");
  } catch (error) {
    if (!isZkError(error, "NOT_EMPTY")) throw error;
  }
}
