/** Interceptors of a client's calls. */
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import type { InterceptedCall, Interceptor } from "./interceptor.ts";

let server: ZooidServer;
let zk: Client;
let seen: InterceptedCall[];

const noting: Interceptor = (call, next) => {
  seen.push(call);
  return next();
};

beforeEach(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString, { random: () => 0 });
  seen = [];
});
afterEach(async () => {
  await zk.close();
  await server.stop();
});

const named = (calls: readonly InterceptedCall[]): readonly string[] =>
  calls.map(({ op, path, fullPath, isRead, data }) =>
    [
      op,
      path,
      fullPath,
      isRead ? "reads" : "writes",
      data === undefined ? "-" : Buffer.from(data ?? "").toString(),
    ].join(" "),
  );

test("an interceptor sees every operation, with the data that it writes", async () => {
  const view = zk.namespace("/app").with({ intercept: noting });
  await view.makeRoot();
  seen = [];
  await view.create("/a", "one");
  await view.create("/c", "", { mode: "container" });
  await view.create("/t", "", { ttlMs: 60_000, mode: "persistent-with-ttl" }).catch(() => {});
  await view.set("/a", "two");
  await view.put("/a", "three");
  await view.get("/a");
  await view.getOrNull("/b", { sync: true });
  const { watch } = await view.get("/a", { watch: true });
  watch[Symbol.dispose]();
  await view.exists("/a");
  await view.children("/");
  await view.getAcl("/a");
  await view.sync("/a");
  await view.getEphemerals("/");
  await view.getAllChildrenNumber("/");
  await view.whoAmI();
  await view.delete("/a");
  await view.delete("/c", { guaranteed: true });
  await view.getConfig().catch(() => {});
  await view.reconfig({ members: ["server.1=a:1:2;3"] }).catch(() => {});
  expect(named(seen)).toEqual([
    "create /a /app/a writes one",
    "create /c /app/c writes ",
    "create /t /app/t writes ",
    "set /a /app/a writes two",
    "set /a /app/a writes three",
    "get /a /app/a reads -",
    "getOrNull /b /app/b reads -",
    "get /a /app/a reads -",
    "exists /a /app/a reads -",
    "children / /app reads -",
    "getAcl /a /app/a reads -",
    "sync /a /app/a reads -",
    "getEphemerals / /app reads -",
    "getAllChildrenNumber / /app reads -",
    "whoAmI / /app reads -",
    "delete /a /app/a writes -",
    "delete /c /app/c writes -",
    "get /zookeeper/config /zookeeper/config reads -",
    "reconfig  /zookeeper/config writes -",
  ]);
});

test("the steps of transactions and of several reads come with them", async () => {
  const view = zk.with({ intercept: noting, defaultData: "default" });
  await view.create("/a", "x");
  seen = [];
  await view
    .transaction()
    .check("/a", 0)
    .create("/a/b-", undefined, { mode: "persistent-sequential" })
    .set("/a", "y")
    .commit();
  await view.reads().get("/a").children("/a").run();
  const steps = seen.map(({ op, path, fullPath, steps }) => [op, path, fullPath, steps.map((step) => ({ ...step }))]);
  const text = (data: string) => Buffer.from(data);
  expect(steps).toEqual([
    [
      ...["transaction", "/a", "/"],
      [
        { op: "check", path: "/a", fullPath: "/a", data: undefined },
        { op: "create", path: "/a/b-", fullPath: "/a/b-", data: text("default") },
        { op: "set", path: "/a", fullPath: "/a", data: text("y") },
      ],
    ],
    [
      ...["reads", "/a", "/"],
      [
        { op: "get", path: "/a", fullPath: "/a", data: undefined },
        { op: "children", path: "/a", fullPath: "/a", data: undefined },
      ],
    ],
  ]);
});

test("an interceptor sees each request of a compound operation", async () => {
  const view = zk.with({ intercept: noting });
  await view.create("/p/q/r", "x", { parents: "persistent" });
  await view.create("/p/once", "x", { idempotent: true });
  const { path } = await view.create("/p/protected-", "x", { mode: "ephemeral-sequential", protect: true });
  expect(path).toMatch(/^\/p\/_c_.*-protected-0/);
  expect(
    named(seen)
      .filter((text) => text.startsWith("create"))
      .map((text) => text.split(" ")[1]),
  ).toEqual([...["/p/q/r", "/p/q", "/p", "/p/q", "/p/q/r", "/p/once"], expect.stringMatching(/^\/p\/_c_/)]);
});

test("a refusal rejects the call, thrown at once or later, and no request is sent", async () => {
  const broken = new Error("not by that name");
  const thrower: Interceptor = (call, next) => {
    if (call.fullPath.endsWith("/bad")) throw broken;
    return next();
  };
  const later: Interceptor = async (call, next) => thrower(call, next);
  for (const intercept of [thrower, later]) {
    const view = zk.with({ intercept });
    await expect(view.create("/bad")).rejects.toBe(broken);
    await expect(view.get("/bad", { watch: true })).rejects.toBe(broken);
    await expect(view.delete("/bad", { guaranteed: true })).rejects.toBe(broken);
  }
  expect(await zk.exists("/bad")).toBeNull();
  expect([zk.watchCount, zk.pendingDeleteCount]).toEqual([0, 0]);
});

test("an interceptor may replace the result, or repeat the call", async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const view = zk.with({
    intercept: async (call, next) => {
      try {
        return await next();
      } catch (error) {
        if (call.op !== "get") throw error;
        await written;
        return next();
      }
    },
  });
  const got = view.get("/late");
  await zk.create("/late", "here");
  write();
  expect(Buffer.from((await got).data ?? []).toString()).toBe("here");
});

test("a view's interceptor is called around that of its client", async () => {
  const order: string[] = [];
  const saying =
    (name: string): Interceptor =>
    async (_, next) => {
      order.push(`${name} begins`);
      const result = await next();
      order.push(`${name} ends`);
      return result;
    };
  await using client = await connect(server.connectString, { intercept: saying("client") });
  await client
    .with({ intercept: saying("view") })
    .namespace("/x")
    .with({ timeoutMs: 1000 })
    .exists("/");
  expect(order).toEqual(["view begins", "client begins", "client ends", "view ends"]);
});

test("calls keep their order where no interceptor waits", async () => {
  const view = zk.with({ intercept: noting });
  await zk.create("/n", "");
  const calls = [zk.set("/n", "0"), view.set("/n", "1"), zk.set("/n", "2"), view.set("/n", "3")];
  expect((await Promise.all(calls)).map(({ version }) => version)).toEqual([1, 2, 3, 4]);
});

test("interceptors do not see the client's own clean-up", async () => {
  const aborting = new AbortController();
  const view = zk.with({
    intercept: (call, next) => {
      seen.push(call);
      const asked = next();
      aborting.abort();
      return asked;
    },
  });
  const options = { protect: true, mode: "persistent-sequential", signal: aborting.signal } as const;
  await expect(view.create("/given-up-", "", options)).rejects.toBe(aborting.signal.reason);
  while (zk.pendingDeleteCount > 0) await zk.sync();
  expect((await zk.children("/")).names).toEqual(["zookeeper"]);
  expect(seen.map(({ op }) => op)).toEqual(["create"]);
});
