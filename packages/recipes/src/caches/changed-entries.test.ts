/**
 * Each copy of nodes, with an entry in each state, and each change of it to another one: the table
 * of states and changes is complete by construction. All entries are changed together, so that one
 * lost connection serves them all.
 */
import { isDeepStrictEqual } from "node:util";
import { type Client, json, Permission, text } from "@zooid/client";
import { filter, firstValueFrom, lastValueFrom } from "rxjs";
import { describe, expect, test } from "vitest";
import { ServiceCache } from "../discovery/service-cache.ts";
import { instanceCodec } from "../discovery/service-instance.ts";
import { ServiceProvider } from "../discovery/service-provider.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, failure, type Stage } from "../testing/stage.ts";
import { ConfigCenter } from "./config-center.ts";
import { TreeCache } from "./tree-cache.ts";

const PATH = "/copied/shop/test";
const INSTANCES = instanceCodec<null>();
const VALUES = json<unknown>();

let stage: Stage;
let a: Client;

eachStaged((staged) => {
  ({ stage, a } = staged);
});

/**
 * The data of an entry; null for one that does not exist. An instance is a value of JSON as well.
 */
const STATES = {
  absent: null,
  valid: instanceText("1"),
  "valid otherwise": instanceText("2"),
  "no JSON": "{",
  "no instance": "[]",
  "an instance with a part of no form": '{"name":"n","id":"3","uriSpec":{"parts":[null]}}',
  empty: "",
} as const;
type State = keyof typeof STATES;

const STATE_NAMES: readonly State[] = ["absent", "valid", "valid otherwise", ...damaged()];
const CHANGES = ["set", "replaced at once", "deleted and created"] as const;

interface Entry {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly change: (typeof CHANGES)[number];
}

const ENTRIES: readonly Entry[] = STATE_NAMES.flatMap((from) =>
  STATE_NAMES.flatMap((to) =>
    CHANGES.map((change) => ({
      name: `${from}, ${change}, ${to}`,
      before: STATES[from],
      after: STATES[to],
      change,
    })),
  ),
);

function damaged(): readonly State[] {
  return ["no JSON", "no instance", "an instance with a part of no form", "empty"];
}

function instanceText(id: string): string {
  const address = { name: "n", id, address: null, port: 80, sslPort: null };
  const rest = { payload: null, registeredAtMs: 0, serviceType: "dynamic", uriSpec: null, enabled: true } as const;
  return text.decode(INSTANCES.encode(Object.assign(address, rest)));
}

async function createAll(): Promise<void> {
  await a.create(PATH, "", { parents: "persistent" });
  await Promise.all(ENTRIES.map(({ name, before }) => before !== null && a.create(`${PATH}/${name}`, before)));
}

/** @param between is called while nodes are absent that are deleted and created */
async function changeAll(between: () => Promise<void>): Promise<void> {
  const created: Entry[] = [];
  const changes = ENTRIES.map(async (entry) => {
    const { name, before, after, change } = entry;
    const path = `${PATH}/${name}`;
    const isPresent = before !== null && after !== null;
    if (isPresent && change === "set") await a.set(path, after);
    else if (isPresent && change === "replaced at once")
      await a.transaction().delete(path).create(path, after).commit();
    else {
      created.push(entry);
      if (before !== null) await a.delete(path);
    }
  });
  await Promise.all(changes);
  await between();
  await Promise.all(created.map(({ name, after }) => after !== null && a.create(`${PATH}/${name}`, after)));
}

/**
 * Requests of a client after which its copies are what they become: a busy server answers reads in
 * many turns.
 */
async function settled(zk: Client, isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !isDone(); i++) await zk.sync();
  for (let i = 0; i < 5; i++) await zk.sync();
}

function decoded(data: string | null, decode: (bytes: Uint8Array) => unknown): string | undefined {
  if (data === null) return undefined;
  try {
    return JSON.stringify(decode(Buffer.from(data)));
  } catch {
    return undefined;
  }
}

function copiesOf(zk: Client) {
  const cache = new TreeCache(zk, PATH);
  const center = stage.kept(new ConfigCenter(zk, "/copied", { app: "shop", env: "test", codec: VALUES }));
  const services = new ServiceCache(zk, PATH, INSTANCES);
  return {
    cache,
    center,
    services,
    ready: () => Promise.all([cache.ready(), center.ready(), services.ready()]),
    /** The entry as each copy has it. */
    shown: ({ name }: Entry) => {
      const node = cache.get(`${PATH}/${name}`);
      const value = center.get(name);
      return {
        bytes: node && text.decode(node.data),
        value: value === undefined ? undefined : JSON.stringify(value),
      };
    },
  };
}

/**
 * A value that is not readable leaves the one before in force, unless the copy has seen that its
 * node was deleted.
 */
function expectedOf({ before, after, change }: Entry, seenDeletions: readonly Entry["change"][]) {
  const value = decoded(after, VALUES.decode);
  const isKept = after !== null && !seenDeletions.includes(change);
  return {
    bytes: after ?? undefined,
    value: value ?? (isKept ? decoded(before, VALUES.decode) : undefined),
  };
}

const idsOf = (data: readonly (string | null)[]): readonly string[] =>
  data.flatMap((each) => {
    const instance = decoded(each, (bytes) => INSTANCES.decode(bytes).id);
    return instance === undefined ? [] : [instance];
  });

describe.each(["persistent", "one-shot"] as const)("entries of copies by %s watches", (treeWatches) => {
  test.each(["connected", "without a connection", "between two sessions"])(
    "from each state to each other one, %s",
    async (where) => {
      await createAll();
      const { zk, relay } = await stage.relayed({ treeWatches });
      const copies = copiesOf(zk);
      using _cache = copies.cache;
      using services = copies.services;
      await copies.ready();
      const isConnected = where === "connected";
      if (!isConnected) {
        relay.refuse();
        relay.cut();
        await enters(zk, "suspended");
        if (where === "between two sessions") await stage.expire(zk);
      }
      const deleted = ENTRIES.filter(({ change }) => change === "deleted and created");
      await changeAll(async () => {
        if (!isConnected) return;
        await settled(zk, () => deleted.every((entry) => copies.shown(entry).bytes === undefined));
      });
      relay.accept();

      // One watch of all nodes has the events of one transaction together; watches of one shot do
      // not.
      const replaced: Entry["change"][] = treeWatches === "one-shot" ? ["replaced at once"] : [];
      const seenDeletions = isConnected ? replaced.concat("deleted and created") : [];
      const expected = ENTRIES.map((entry) => ({ name: entry.name, ...expectedOf(entry, seenDeletions) }));
      const shown = () => ENTRIES.map((entry) => ({ name: entry.name, ...copies.shown(entry) }));
      await settled(zk, () => isDeepStrictEqual(shown(), expected));
      expect(shown()).toEqual(expected);
      const ids = services.instances().map(({ id }) => JSON.stringify(id));
      expect(ids.toSorted()).toEqual(idsOf(ENTRIES.map(({ after }) => after)).toSorted());
    },
  );

  test("an entry that may not be read any more ends the copies with an error, and new ones work once it may", async () => {
    await a.create(PATH, "", { parents: "persistent" });
    await a.create(`${PATH}/one`, STATES.valid);
    const { zk, relay } = await stage.relayed({ treeWatches });
    const copies = copiesOf(zk);
    using _cache = copies.cache;
    using services = copies.services;
    using strict = new ServiceProvider(services, { staleMsMax: 0 });
    await copies.ready();
    const ends = [copies.cache.changes$, copies.center.snapshot$, services.instances$].map((stream$) =>
      failure(lastValueFrom<unknown>(stream$)),
    );
    expect([services.staleMs, strict.pick()?.id]).toEqual([0, "1"]);
    await a.setAcl(`${PATH}/one`, [{ scheme: "world", id: "anyone", perms: Permission.WRITE | Permission.ADMIN }]);
    await a.set(`${PATH}/one`, STATES["valid otherwise"]);
    relay.cut();
    for (const error of await Promise.all(ends)) expect(error).toMatchObject({ code: "NO_AUTH" });
    expect(() => copies.cache.snapshot()).toThrow("NO_AUTH");
    expect(() => copies.center.get("one")).toThrow("NO_AUTH");
    // No later connection brings these up to date: they grow old as without one.
    relay.cut();
    await enters(zk, "suspended");
    await firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "connected")));
    expect(services.staleMs).toBeGreaterThan(0);
    expect(strict.pick()).toBeUndefined();

    await a.setAcl(`${PATH}/one`, [{ scheme: "world", id: "anyone", perms: Permission.ALL }]);
    const again = copiesOf(zk);
    using _again = again.cache;
    using servicesAgain = again.services;
    await again.ready();
    expect(servicesAgain.instances().map(({ id }) => id)).toEqual(["2"]);
    expect(again.center.get("one")).toMatchObject({ id: "2" });
  });
});
