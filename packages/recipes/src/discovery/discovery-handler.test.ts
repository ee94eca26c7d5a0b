import { once } from "node:events";
import { createServer, type IncomingMessage, request as openRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { type DiscoveryHandlerOptions, discoveryHandler } from "./discovery-handler.ts";
import { strategies } from "./provider-strategy.ts";
import { ServiceDiscovery } from "./service-discovery.ts";

const PATH = "/services";
const WEB_1 = { name: "web", id: "1", address: "10.0.0.1", port: 80, serviceType: "STATIC", registrationTimeUTC: 7 };
const JSON_TYPE = { "content-type": "application/json" };

let stage: Stage;
let a: Client;
let theirs: ServiceDiscovery;

eachStaged((staged) => {
  ({ stage, a } = staged);
  theirs = stage.kept(new ServiceDiscovery(staged.b, PATH));
});

interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>;

/** Serves a discovery of the first client, or of another, on a free port. */
async function offered(
  options: DiscoveryHandlerOptions = {},
  zk = a,
): Promise<{ ask: Ask; port: number; discovery: ServiceDiscovery }> {
  const discovery = stage.kept(new ServiceDiscovery(zk, PATH));
  const server = createServer(discoveryHandler(discovery, options)).listen(0, "127.0.0.1");
  await once(server, "listening");
  stage.kept({
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
  const { port } = server.address() as AddressInfo;
  const ask: Ask = async (method, path, body, headers = JSON_TYPE) => {
    const asIs = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { headers, body: (asIs ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text), headers: response.headers };
  };
  return { ask, port, discovery };
}

describe("an instance that is put", () => {
  test("is visible over ZooKeeper and over HTTP", async () => {
    const { ask } = await offered();
    const put = { ...WEB_1, payload: { zone: "x" } };
    expect(await ask("PUT", "/v1/service/web/1", put)).toMatchObject({ status: 201, body: null });
    expect(await theirs.instance("web", "1")).toEqual({
      name: "web",
      id: "1",
      address: "10.0.0.1",
      port: 80,
      sslPort: null,
      payload: { zone: "x" },
      registeredAtMs: 7,
      serviceType: "static",
      uriSpec: null,
      enabled: true,
    });
    expect((await a.exists("/services/web/1"))?.ephemeralOwner).toBe(0n);
    expect(await ask("GET", "/v1/service/web/1")).toMatchObject({ status: 200, body: put });
    expect((await ask("GET", "/v1/service/web/")).body).toEqual([put]);
    expect((await ask("GET", "/v1/service")).body).toEqual([{ name: "web" }]);
    expect((await ask("GET", "/v1/anyservice/web")).body).toEqual(put);
  });

  test("stays when the handler's session ends, and is replaced when it is put again", async () => {
    const zk = await stage.client();
    const { ask } = await offered({}, zk);
    await ask("PUT", "/v1/service/web/1", WEB_1);
    await zk.close();
    const other = await offered();
    await other.ask("PUT", "/v1/service/web/1", { ...WEB_1, serviceType: "PERMANENT", port: 81 });
    expect(await theirs.instances("web")).toMatchObject([{ id: "1", port: 81, serviceType: "permanent" }]);
  });

  test("replaces one of a session, and does not end with it", async () => {
    const zk = await stage.client();
    await zk.create("/services/web/1", "x", { mode: "ephemeral", parents: "container" });
    const { ask } = await offered();
    expect((await ask("PUT", "/v1/service/web/1", WEB_1)).status).toBe(201);
    await zk.close();
    expect(await theirs.instance("web", "1")).toMatchObject({ id: "1" });
  });

  test("is deleted through any handler; twice is harmless", async () => {
    const [one, other] = [await offered(), await offered()];
    await one.ask("PUT", "/v1/service/web/1", WEB_1);
    expect([
      (await other.ask("DELETE", "/v1/service/web/1")).status,
      (await one.ask("DELETE", "/v1/service/web/1")).status,
      (await one.ask("GET", "/v1/service/web/1")).status,
    ]).toEqual([200, 200, 404]);
  });

  test("gets the current time by default", async () => {
    const { ask } = await offered();
    const { registrationTimeUTC: _, ...timeless } = WEB_1;
    const before = Date.now();
    await ask("PUT", "/v1/service/web/1", timeless);
    const instance = await theirs.instance("web", "1");
    expect(instance?.registeredAtMs).toBeGreaterThanOrEqual(before);
    expect(instance?.registeredAtMs).toBeLessThanOrEqual(Date.now());
  });

  test("may have a name of any letters", async () => {
    const { ask } = await offered();
    const path = `/v1/service/${encodeURIComponent("größe 1%")}/${encodeURIComponent("a?b")}`;
    expect((await ask("PUT", path, { ...WEB_1, name: "größe 1%", id: "a?b" })).status).toBe(201);
    expect(await theirs.instance("größe 1%", "a?b")).toMatchObject({ port: 80 });
    expect((await ask("GET", path)).body).toMatchObject({ id: "a?b" });
  });
});

describe("any instance", () => {
  test("is chosen round robin, or by the strategy and its key", async () => {
    const [inTurn, byKey] = [await offered(), await offered({ strategy: strategies.consistentHash() })];
    for (const id of ["1", "2"]) await inTurn.ask("PUT", `/v1/service/web/${id}`, { ...WEB_1, id });
    const idOf = async ({ ask }: { readonly ask: Ask }, query = ""): Promise<unknown> =>
      Object(await ask("GET", `/v1/anyservice/web${query}`)).body.id;
    expect([await idOf(inTurn), await idOf(inTurn), await idOf(inTurn)]).toEqual(["1", "2", "1"]);
    const chosen = await Promise.all(Array.from({ length: 16 }, (_, i) => idOf(byKey, `?key=${i}`)));
    const again = await Promise.all(Array.from({ length: 16 }, (_, i) => idOf(byKey, `?key=${i}`)));
    expect(new Set(chosen)).toEqual(new Set(["1", "2"]));
    expect(again).toEqual(chosen);
  });

  test("is never disabled, nor of a service without instances", async () => {
    const { ask } = await offered();
    const enabling = stage.kept(new ServiceDiscovery(a, PATH, { writeEnabled: true }));
    await enabling.register({ name: "web", id: "1", enabled: false });
    expect((await ask("GET", "/v1/service/web/1")).body).toMatchObject({ enabled: false, serviceType: "DYNAMIC" });
    expect((await ask("GET", "/v1/anyservice/web")).status).toBe(404);
    expect((await ask("GET", "/v1/anyservice/none")).status).toBe(404);
    expect(await ask("GET", "/v1/service/none")).toMatchObject({ status: 200, body: [] });
  });
});

describe("an invalid request gets the reason", () => {
  test.each([
    ["another id than its path's", { id: "2" }, 'id: "1", as in the path, was expected, found "2"'],
    ["another name than its path's", { name: "db" }, 'name: "web", as in the path, was expected, found "db"'],
    [
      "a type that needs a session",
      { serviceType: "DYNAMIC" },
      '"STATIC" or "PERMANENT" was expected, found "DYNAMIC"',
    ],
    ["no type", { serviceType: undefined }, 'serviceType: "STATIC" or "PERMANENT" was expected, found nothing'],
    ["no address", { address: null }, "address: text was expected, found nothing"],
    ["a port that is none", { port: 65_536 }, "port: a whole number from 0 to 65535 was expected, found 65536"],
    ["a time that is none", { registrationTimeUTC: -1 }, "registrationTimeUTC: milliseconds since 1970 was expected"],
    ["a class for Java's readers", { payload: { "@class": "x" } }, "payload: JSON without @class was expected"],
    ["a URI that is none", { uriSpec: { parts: [{}] } }, "uriSpec: "],
    ["two faults", { address: 1, sslPort: "x" }, "found 1; sslPort: "],
  ])("%s", async (_, change, reason) => {
    const { ask } = await offered();
    const { status, body } = await ask("PUT", "/v1/service/web/1", { ...WEB_1, ...change });
    expect([status, Object(body).error]).toEqual([400, expect.stringContaining(reason)]);
    expect(await theirs.names()).toEqual([]);
  });

  test.each([
    ["PUT", "/v1/service/web/1", "{", 400],
    ["PUT", "/v1/service/web/1", "[]", 400],
    ["PUT", "/v1/service/web/1", new Uint8Array([0x22, 0xff, 0x22]), 400],
    ["GET", "/v1/service/a%2Fb", undefined, 400],
    ["GET", "/v1/service/%", undefined, 400],
    ["GET", "/v1/service//1", undefined, 400],
    ["GET", "/v1/service/a%00b", undefined, 400],
    ["GET", "/v1/service/web/1/2", undefined, 404],
    ["GET", "/v1/anyservice", undefined, 404],
    ["GET", "/v1/anyservice/web/1", undefined, 404],
    ["GET", "/v1/else", undefined, 404],
    ["GET", "/", undefined, 404],
  ])("%s %s %s", async (method, path, body, expected) => {
    const { ask } = await offered();
    const answered = await ask(method, path, body);
    expect([answered.status, Object(answered.body)]).toEqual([expected, { error: expect.any(String) }]);
    expect(answered.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test.each([
    ["POST", "/v1/service", "GET, HEAD"],
    ["PUT", "/v1/service/web", "GET, HEAD"],
    ["DELETE", "/v1/anyservice/web", "GET, HEAD"],
    ["POST", "/v1/service/web/1", "GET, HEAD, PUT, DELETE"],
  ])("%s %s names the methods that are served", async (method, path, allow) => {
    const { status, headers } = await (await offered()).ask(method, path);
    expect([status, headers.get("allow")]).toEqual([405, allow]);
  });

  test.each([[{ "content-type": "text/plain" }], [{ "content-type": "application/jsonish" }]])(
    "%j",
    async (headers) => {
      const { ask } = await offered();
      expect((await ask("PUT", "/v1/service/web/1", WEB_1, headers)).status).toBe(415);
      expect(
        (await ask("PUT", "/v1/service/web/1", WEB_1, { "content-type": "Application/JSON; charset=utf-8" })).status,
      ).toBe(201);
    },
  );

  test.each(["/v1/service/%2e%2e/1", "/v1/service/..", "/v1/service/web/."])("a way out: %s", async (path) => {
    // As it is: fetch would normalize the path.
    const asked = openRequest({ port: (await offered()).port, path });
    const answering = once(asked, "response") as Promise<[IncomingMessage]>;
    asked.end();
    const [answer] = await answering;
    answer.resume();
    expect(answer.statusCode).toBe(400);
  });

  test("a body over the limit, whether it says so before or not", async () => {
    const { ask, port } = await offered({ bodyBytesMax: 300 });
    const long = JSON.stringify({ ...WEB_1, payload: "x".repeat(300) });
    expect((await ask("PUT", "/v1/service/web/1", long)).status).toBe(413);
    const unsized = openRequest({ port, method: "PUT", path: "/v1/service/web/1", headers: JSON_TYPE });
    const answering = once(unsized, "response") as Promise<[IncomingMessage]>;
    unsized.write(long);
    unsized.end(long);
    const [answer] = await answering;
    answer.resume();
    expect(answer.statusCode).toBe(413);
    expect((await ask("PUT", "/v1/service/web/1", WEB_1)).status).toBe(201);
  });
});

test("a base path stands before everything, and a head has no body", async () => {
  const { ask } = await offered({ basePath: "/discovery/x" });
  await ask("PUT", "/discovery/x/v1/service/web/1", WEB_1);
  expect((await ask("GET", "/discovery/x/v1/service")).body).toEqual([{ name: "web" }]);
  expect((await ask("GET", "/v1/service")).status).toBe(404);
  const { status, body, headers } = await ask("HEAD", "/discovery/x/v1/service");
  expect([status, body, headers.get("content-length")]).toEqual([200, null, "16"]);
  expect(() => discoveryHandler(theirs, { basePath: "x" })).toThrow(RangeError);
});

test("an unauthorised request is refused before anything else is checked", async () => {
  const authorise = ({ headers }: IncomingMessage): Promise<boolean> =>
    Promise.resolve(headers.authorization === "Bearer 1");
  const { ask } = await offered({ authorise });
  expect((await ask("PUT", "/v1/service/web/1", WEB_1)).status).toBe(403);
  expect((await ask("GET", "/nothing")).status).toBe(403);
  expect(await theirs.names()).toEqual([]);
  const headers = { ...JSON_TYPE, authorization: "Bearer 1" };
  expect((await ask("PUT", "/v1/service/web/1", WEB_1, headers)).status).toBe(201);
});

test("errors of this side are reported to the listener, whose own errors have no effect", async () => {
  const reported: unknown[] = [];
  const failure = new Error("no list of those who may");
  const { ask } = await offered({
    authorise: () => Promise.reject(failure),
    onError(error) {
      reported.push(error);
      throw new Error("cannot write that down");
    },
  });
  const { status, body } = await ask("GET", "/v1/service");
  expect([status, reported]).toEqual([500, [failure]]);
  expect(JSON.stringify(body)).not.toContain("list");
});

test("without a connection to ZooKeeper the status is 503, until the next connection", async () => {
  const { zk, relay } = await stage.relayed();
  const { ask } = await offered({ timeoutMs: 50 }, zk);
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  const refused = [await ask("GET", "/v1/service"), await ask("PUT", "/v1/service/web/1", WEB_1)];
  expect(refused.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
    [503, "1"],
    [503, "1"],
  ]);
  relay.accept();
  await zk.connected();
  const patient = await offered({}, zk);
  expect((await patient.ask("PUT", "/v1/service/web/1", WEB_1)).status).toBe(201);
});

test("an instance that its format cannot disable is refused", async () => {
  const { ask } = await offered();
  const { status, body } = await ask("PUT", "/v1/service/web/1", { ...WEB_1, enabled: false });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("the format has no writeEnabled")]);
});

test("once the discovery is closed the status is 503", async () => {
  const { ask, discovery } = await offered();
  await discovery.close();
  expect((await ask("GET", "/v1/service")).status).toBe(503);
});

test("a connection that breaks within a body is not reported as an error", async () => {
  const reported: unknown[] = [];
  const reached = Promise.withResolvers<IncomingMessage>();
  const { ask, port } = await offered({
    authorise(request) {
      reached.resolve(request);
      return true;
    },
    onError: (error) => reported.push(error),
  });
  const broken = openRequest({ port, method: "PUT", path: "/v1/service/web/1", headers: JSON_TYPE });
  broken.on("error", () => {});
  broken.write("{");
  const request = await reached.promise;
  const closed = once(request, "close").catch(() => {});
  broken.destroy();
  await closed;
  expect([await ask("GET", "/v1/service"), reported]).toMatchObject([{ status: 200, body: [] }, []]);
});
