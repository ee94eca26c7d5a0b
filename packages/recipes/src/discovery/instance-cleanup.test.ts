import type { Client } from "@zooid/client";
import { OPEN_ACL, Permission } from "@zooid/model";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { type LastingInstance, ServiceDiscovery } from "./service-discovery.ts";

const PATH = "/services";

let stage: Stage;
let a: Client;
let b: Client;
let mine: ServiceDiscovery;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
  mine = stage.kept(new ServiceDiscovery(a, PATH));
});

function web(id: string, serviceType: LastingInstance["serviceType"] = "static"): LastingInstance {
  const details = { address: "10.0.0.1", port: 80, sslPort: null, payload: null, uriSpec: null, enabled: true };
  // The instance's own time is ignored, however wrong.
  return { name: "web", id, serviceType, registeredAtMs: Number(id) % 2 === 0 ? 0 : 2 ** 50, ...details };
}

/** Waits until other clients see exactly these. */
async function seen(...expected: readonly string[]): Promise<void> {
  const theirs = stage.kept(new ServiceDiscovery(b, PATH));
  const found$ = theirs.instances$("web");
  await firstValueFrom(found$.pipe(filter((found) => found.map(({ id }) => id).join() === expected.join())));
}

test("removes static instances that are no longer written, and no others", async () => {
  await mine.put(web("1"));
  await mine.put(web("2"));
  await mine.put(web("3", "permanent"));
  await mine.register({ name: "web", id: "4" });
  await a.create("/services/web/5", "no instance");
  mine.cleanUp({ staleMs: 20 });
  await seen("3", "4");
  expect(await a.exists("/services/web/5")).not.toBeNull();
  await mine.put(web("6"));
  await seen("3", "4");
});

test("leaves those that are written within the time", async () => {
  await mine.put(web("1"));
  await mine.put(web("2"));
  const before = await b.exists("/services/web/2");
  const beating = new AbortController();
  const beats = (async () => {
    while (!beating.signal.aborted) await mine.put(web("2"));
  })();
  mine.cleanUp({ staleMs: 1000 });
  await seen("2");
  beating.abort();
  await beats;
  expect((await b.exists("/services/web/2"))?.czxid).toBe(before?.czxid);
});

test("restarts the time after a lost connection, since no client could write meanwhile", async () => {
  const { zk, relay } = await stage.relayed();
  const staleMs = 300;
  await mine.put(web("1"));
  stage.kept(new ServiceDiscovery(zk, PATH)).cleanUp({ staleMs });
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  const clock = stage.kept(new ServiceDiscovery(b, "/clock"));
  await clock.put(web("1"));
  clock.cleanUp({ staleMs });
  await firstValueFrom(clock.instances$("web").pipe(filter((found) => found.length === 0)));
  relay.accept();
  await zk.connected();
  // More round trips than a check takes.
  for (let i = 0; i < 5; i++) expect(await zk.exists("/services/web/1")).not.toBeNull();
  await seen();
});

test("reports the error of a check, and checks again", async () => {
  await mine.put(web("1"));
  await a.setAcl("/services/web", [{ scheme: "world", id: "anyone", perms: Permission.ADMIN }]);
  const failed = Promise.withResolvers<unknown>();
  mine.cleanUp({
    staleMs: 20,
    onError(error) {
      failed.resolve(error);
      throw error;
    },
  });
  expect(await failed.promise).toMatchObject({ code: "NO_AUTH" });
  await a.setAcl("/services/web", OPEN_ACL);
  await seen();
});

test("ends with its discovery; twice is harmless", async () => {
  const other = new ServiceDiscovery(b, PATH);
  expect(() => other.cleanUp({ staleMs: 0 })).toThrow(RangeError);
  const cleanup = other.cleanUp({ staleMs: 2 ** 31 - 1 });
  await other.close();
  await cleanup.close();
  expect(() => other.cleanUp({ staleMs: 5 })).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
});
