import type { Client } from "@zooid/client";
import { filter, firstValueFrom, map, merge, take, toArray } from "rxjs";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, failure, type Stage, tree } from "../testing/stage.ts";
import { type NewService, type Registration, ServiceDiscovery } from "./service-discovery.ts";
import type { ServiceInstance } from "./service-instance.ts";

const PATH = "/services";

interface Meta {
  readonly zone: string;
}

let stage: Stage;
let a: Client;
let b: Client;
let theirs: ServiceDiscovery<Meta>;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
  theirs = stage.kept(new ServiceDiscovery<Meta>(b, PATH));
});

const silent = (): void => {};
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };

const ids = (instances: readonly ServiceInstance[]): readonly string[] => instances.map(({ id }) => id);

function discovery(zk: Client): ServiceDiscovery<Meta> {
  return stage.kept(new ServiceDiscovery<Meta>(zk, PATH));
}

function web(id: string, more: Partial<NewService<Meta>> = {}): NewService<Meta> {
  return { name: "web", id, address: "10.0.0.1", port: 80, ...more };
}

/** Waits until other clients see exactly these, as `id zone`. */
async function seen(...expected: readonly string[]): Promise<void> {
  const instances$ = theirs.instances$("web");
  const plain = (instances: readonly ServiceInstance<Meta>[]): string =>
    instances.map(({ id, payload }) => (payload === null ? id : `${id} ${payload.zone}`)).join(", ");
  await firstValueFrom(instances$.pipe(filter((instances) => plain(instances) === expected.join(", "))));
}

describe("an instance", () => {
  test("is found by other clients while it is registered", async () => {
    const mine = discovery(a);
    const registration = await mine.register(web("1", { payload: { zone: "x" } }));
    expect(await theirs.names()).toEqual(["web"]);
    expect(await theirs.instances("web")).toEqual([registration.instance]);
    expect(await theirs.instance("web", "1")).toEqual(registration.instance);
    expect((await a.exists("/services/web/1"))?.ephemeralOwner).toBe(a.sessionId);
    await registration.close();
    await registration.close();
    expect([await theirs.instances("web"), await theirs.instance("web", "1")]).toEqual([[], null]);
    expect(await theirs.instances("nothing of that name")).toEqual([]);
  });

  test("has an id and this machine's address by default", async () => {
    const { instance } = await discovery(a).register({ name: "web" });
    expect(instance.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(instance.address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  });

  test("cannot be registered twice by one discovery", async () => {
    const mine = discovery(a);
    const first = await mine.register(web("1"));
    expect(isRecipeError(await failure(mine.register(web("1"))), "NAME_TAKEN")).toBe(true);
    await first.close();
    await mine.register(web("1"));
  });

  test("of an id that another process registers is replaced: the newest registration counts, until it closes", async () => {
    const warnings: string[] = [];
    const logger = { ...SILENT, warn: (message: string) => warnings.push(message) };
    const older = await discovery(await stage.client({ logger })).register(web("1", { port: 80 }));
    const newer = await theirs.register(web("1", { port: 81 }));
    await firstValueFrom(older.replaced$);
    expect(warnings).toEqual([
      "web 1 is registered by another process, or again by this one: this registration has ended",
    ]);
    const stat = await a.exists("/services/web/1");
    expect(() => older.update({ port: 82 })).toThrow(expect.objectContaining({ code: "NAME_TAKEN" }));
    expect(older.instance.port).toBe(80);
    expect(isRecipeError(await failure(older.ready()), "NAME_TAKEN")).toBe(true);
    await older.close();
    for (let i = 0; i < 4; i++) await a.sync();
    expect(await a.exists("/services/web/1")).toEqual(stat);
    expect(await theirs.instance("web", "1")).toMatchObject({ port: 81 });
    await newer.close();
    expect(await theirs.instances("web")).toEqual([]);
  });

  test("of an id that another discovery of the same client registers is replaced too, and its late close leaves it", async () => {
    const older = await discovery(a).register(web("1", { payload: { zone: "older" } }));
    const newer = await discovery(a).register(web("1", { payload: { zone: "newer" } }));
    await firstValueFrom(older.replaced$);
    await seen("1 newer");
    await older.close();
    await a.sync();
    await seen("1 newer");
    await newer.close();
    await seen();
  });

  test("of a replaced registration comes back only by another one, which its late close leaves", async () => {
    const mine = discovery(await stage.client({ logger: SILENT }));
    const others = discovery(await stage.client({ logger: SILENT }));
    const older = await mine.register(web("1", { port: 80 }));
    const other = await others.register(web("1", { port: 81 }));
    await firstValueFrom(older.replaced$);
    await mine.register(web("1", { port: 82 }));
    await firstValueFrom(other.replaced$);
    await older.close();
    expect(await theirs.instance("web", "1")).toMatchObject({ port: 82 });
    expect(isRecipeError(await failure(mine.register(web("1"))), "NAME_TAKEN")).toBe(true);
  });

  test("without a session has its newest registration, too", async () => {
    const older = await discovery(await stage.client({ logger: SILENT })).register(
      web("1", { serviceType: "static", port: 80 }),
    );
    await theirs.register(web("1", { serviceType: "static", port: 81 }));
    await firstValueFrom(older.replaced$);
    for (let i = 0; i < 4; i++) await a.sync();
    expect(await theirs.instance("web", "1")).toMatchObject({ port: 81 });
  });

  test("without a session keeps its id over quick updates, and the last one counts", async () => {
    const registration = await discovery(a).register(web("1", { serviceType: "static" }));
    for (let port = 81; port < 91; port++) {
      registration.update({ port });
      await b.sync();
    }
    await registration.ready();
    expect(await theirs.instance("web", "1")).toMatchObject({ port: 90 });
  });

  test("without a session is not taken back by an update of its older registration", async () => {
    const { zk, relay } = await stage.relayed({ logger: SILENT });
    const older = await discovery(zk).register(web("1", { serviceType: "static", port: 80 }));
    relay.freeze("requests");
    older.update({ port: 80 });
    const newer = await theirs.register(web("1", { serviceType: "static", port: 81 }));
    older.update({ port: 87 });
    relay.thaw();
    await firstValueFrom(older.replaced$);
    newer.update({ port: 82 });
    await newer.ready();
    expect(await theirs.instance("web", "1")).toMatchObject({ port: 82 });
  });

  test("of an id that several processes register at one moment is that of one; the others are replaced", async () => {
    const clients = await Promise.all([1, 2, 3, 4, 5].map(() => stage.client({ logger: SILENT })));
    const all = await Promise.all(clients.map((zk, i) => discovery(zk).register(web("1", { port: i }))));
    const replaced = merge(...all.map((one, i) => one.replaced$.pipe(map(() => i)))).pipe(
      take(all.length - 1),
      toArray(),
    );
    const older = new Set(await firstValueFrom(replaced));
    const newest = all.find((_, i) => !older.has(i));
    expect(older.size).toBe(4);
    await newest?.ready();
    expect(await theirs.instance("web", "1")).toEqual(newest?.instance);
  });

  test("that is closed takes no update", async () => {
    const registration = await discovery(a).register(web("1"));
    await registration.close();
    expect(() => registration.update({ port: 82 })).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
  });

  test("is replaced by one of another type, with and without a session", async () => {
    const register = async (serviceType: "static" | "dynamic"): Promise<Registration<Meta>> =>
      discovery(await stage.client({ logger: SILENT })).register(web("1", { serviceType }));
    const first = await register("static");
    const second = await register("dynamic");
    await firstValueFrom(first.replaced$);
    expect((await a.exists("/services/web/1"))?.ephemeralOwner).not.toBe(0n);
    const third = await register("static");
    await firstValueFrom(second.replaced$);
    for (const older of [first, second]) await older.close();
    expect((await a.exists("/services/web/1"))?.ephemeralOwner).toBe(0n);
    await third.close();
    expect(await a.exists("/services/web/1")).toBeNull();
  });

  test("rolls over fifty times between two processes with few writes", async () => {
    const before = (await a.create("/services", "", { mode: "container" })).stat.czxid;
    const clients = await Promise.all([stage.client({ logger: SILENT }), stage.client({ logger: SILENT })]);
    let last: Registration<Meta> | undefined;
    for (let i = 0; i < 50; i++) {
      const mine = discovery(clients[i % 2] ?? a);
      const next = await mine.register(web("1", { port: i }));
      if (last !== undefined) await firstValueFrom(last.replaced$);
      expect(await theirs.instance("web", "1")).toMatchObject({ port: i });
      if (i % 3 > 0) await last?.close();
      last = next;
    }
    await a.sync();
    expect(Number(a.lastZxid - before)).toBeLessThan(50 * 4);
  });

  test("is unregistered with its discovery, a permanent one too", async () => {
    const mine = new ServiceDiscovery(a, PATH);
    await mine.register(web("1"));
    await mine.register(web("2", { serviceType: "static" }));
    expect((await b.exists("/services/web/2"))?.ephemeralOwner).toBe(0n);
    await mine.close();
    expect(await theirs.instances("web")).toEqual([]);
  });

  test("a permanent one stays when its session ends", async () => {
    const zk = await stage.client();
    await new ServiceDiscovery(zk, PATH).register(web("1", { serviceType: "permanent" }));
    await new ServiceDiscovery(zk, PATH).register(web("2"));
    await zk.close();
    await seen("1");
  });

  test("may get a number behind its id, and keeps it over sessions", async () => {
    const { zk, relay } = await stage.relayed();
    const registration = await discovery(zk).register(web("1", { serviceType: "dynamic-sequential" }));
    expect(await tree(b, PATH)).toEqual(["web", "web/_c_UUID-10000000000"]);
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    await seen();
    relay.accept();
    await seen("1");
    expect((await b.exists(registration.path))?.ephemeralOwner).toBe(zk.sessionId);
  });

  test("is registered again for the next session, with its last update", async () => {
    const { zk, relay } = await stage.relayed();
    const registration = await discovery(zk).register(web("1", { payload: { zone: "x" } }));
    registration.update({ payload: { zone: "y" } });
    await registration.ready();
    await seen("1 y");
    const before = zk.sessionId;
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    registration.update({ payload: { zone: "z" }, port: 81 });
    await stage.expire(zk);
    await seen();
    relay.accept();
    await seen("1 z");
    expect(zk.sessionId).not.toBe(before);
    expect(await theirs.instance("web", "1")).toEqual(registration.instance);
    expect(registration.instance).toMatchObject({ port: 81, address: "10.0.0.1" });
  });

  test("that is closed while it is registered again does not come back", async () => {
    const { zk, relay } = await stage.relayed();
    const registration = await discovery(zk).register(web("1"));
    relay.freeze("answers");
    await b.delete("/services/web/1");
    const closed = registration.close();
    relay.thaw();
    await closed;
    for (let i = 0; i < 4; i++) await zk.sync();
    expect(await theirs.instances("web")).toEqual([]);
  });

  test("is registered as soon as there is a connection", async () => {
    const { zk, relay } = await stage.relayed();
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    const registering = discovery(zk).register(web("1"));
    relay.accept();
    await registering;
    await seen("1");
  });

  test("whose registration is cancelled is not registered later", async () => {
    const { zk, relay } = await stage.relayed();
    const mine = discovery(zk);
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    const giveUp = new AbortController();
    const registering = failure(mine.register(web("1"), { signal: giveUp.signal }));
    giveUp.abort(new Error("enough"));
    relay.accept();
    expect(await registering).toMatchObject({ message: "enough" });
    await enters(zk, "connected");
    for (let i = 0; i < 4; i++) await zk.sync();
    expect(await theirs.instances("web")).toEqual([]);
    await mine.register(web("1"));
  });

  test("replaces an earlier registration, with whose session it would end", async () => {
    const earlier = await stage.client();
    await new ServiceDiscovery(earlier, PATH).register(web("1"));
    const registration: Registration<Meta> = await discovery(a).register(web("1", { payload: { zone: "x" } }));
    expect((await b.exists(registration.path))?.ephemeralOwner).toBe(a.sessionId);
  });
});

describe("a cache of a service", () => {
  test("tracks added, changed and removed instances, and skips invalid ones", async () => {
    const mine = discovery(a);
    using cache = theirs.cache("web");
    await cache.ready();
    const lists: string[] = [];
    cache.instances$.subscribe((instances) => lists.push(ids(instances).join()));
    const first = await mine.register(web("1"));
    await mine.register(web("2"));
    await a.create("/services/web/none", "of ours");
    const { data } = await a.get("/services/web/2");
    await a.create("/services/web/none/below", data);
    await first.close();
    await seen("2");
    await b.sync();
    expect(ids(cache.instances())).toEqual(["2"]);
    expect([lists[0], lists.at(-1)]).toEqual(["", "2"]);
    expect(lists).toContain("1,2");
  });

  test("keeps its instances while there is no connection, with the time since", async () => {
    const { zk, relay } = await stage.relayed();
    const mine = discovery(a);
    const first = await mine.register(web("1"));
    using cache = discovery(zk).cache("web");
    await cache.ready();
    expect(cache.staleMs).toBe(0);
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    await first.close();
    await mine.register(web("2"));
    expect(ids(cache.instances())).toEqual(["1"]);
    expect(cache.staleMs).toBeGreaterThan(0);
    relay.accept();
    await firstValueFrom(cache.instances$.pipe(filter((instances) => ids(instances).join() === "2")));
    expect(cache.staleMs).toBe(0);
  });

  test("leaves no watch behind, nor does its stream, nor a discovery", async () => {
    const zk = await stage.client();
    const mine = new ServiceDiscovery(zk, PATH);
    const cache = mine.cache("web");
    await cache.ready();
    cache.close();
    cache.close();
    await firstValueFrom(mine.instances$("web"));
    expect(zk.watchCount).toBe(0);
    let isComplete = false;
    mine.cache("web").instances$.subscribe({
      complete: () => {
        isComplete = true;
      },
    });
    await mine.close();
    await mine.close();
    expect([isComplete, zk.watchCount]).toEqual([true, 0]);
  });
});

describe("a provider", () => {
  test("chooses among the instances, and returns none if there are none", async () => {
    const provider = theirs.provider("web");
    await provider.ready();
    expect(provider.pick()).toBeUndefined();
    const mine = discovery(a);
    const registrations = await Promise.all(["1", "2"].map((id) => mine.register(web(id))));
    await mine.register(web("3"));
    await seen("1", "2", "3");
    await b.sync();
    expect([1, 2, 3, 4].map(() => provider.pick()?.id)).toEqual(["1", "2", "3", "1"]);
    await registrations[1]?.close();
    await seen("1", "3");
    await b.sync();
    expect([1, 2, 3].map(() => provider.pick()?.id)).toEqual(["3", "1", "3"]);
    provider.close();
    expect(() => provider.pick()).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
  });

  test("skips disabled and filtered instances", async () => {
    const mine = stage.kept(new ServiceDiscovery<Meta>(a, PATH, { writeEnabled: true }));
    await mine.register(web("1", { enabled: false }));
    await mine.register(web("2", { payload: { zone: "x" } }));
    await mine.register(web("3", { payload: { zone: "y" } }));
    using provider = theirs.provider("web", { filter: ({ payload }) => payload?.zone !== "x" });
    await provider.ready();
    expect(ids(provider.instances())).toEqual(["3"]);
  });

  test("avoids one with errors, until it has registered again", async () => {
    const mine = discovery(a);
    const first = await mine.register(web("1"));
    await mine.register(web("2"));
    using provider = theirs.provider("web", { down: { errors: 1 } });
    await provider.ready();
    const failed = await theirs.instance("web", "1");
    if (failed !== null) provider.noteError(failed);
    expect([provider.pick()?.id, provider.pick()?.id]).toEqual(["2", "2"]);
    first.update({ port: 81 });
    await first.ready();
    await seen("1", "2");
    await b.sync();
    await b.sync();
    expect(ids(provider.instances())).toEqual(["1", "2"]);
  });

  test("uses the last known instances without a connection, for a limited time", async () => {
    const { zk, relay } = await stage.relayed();
    await discovery(a).register(web("1"));
    const mine = discovery(zk);
    using patient = mine.provider("web");
    using strict = mine.provider("web", { staleMsMax: 0 });
    await Promise.all([patient.ready(), strict.ready()]);
    expect([patient.pick()?.id, strict.pick()?.id]).toEqual(["1", "1"]);
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    expect([patient.pick()?.id, strict.pick()?.id]).toEqual(["1", undefined]);
  });
});
