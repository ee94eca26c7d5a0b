import { describe, expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { ROUTES } from "./routes.ts";

test("a node is created, read, changed at its version, and deleted", async () => {
  await using stage = await startStage();
  const made = await stage.api("POST", "/node", { body: { path: "/a", data: { text: "one" } } });
  expect(made).toMatchObject({ status: 201, json: { path: "/a", stat: { version: 0, dataLength: 3 } } });
  const read = await stage.api("GET", "/node?path=/a");
  expect(read.json).toMatchObject({ path: "/a", data: { base64: "b25l", text: "one" }, isMasked: false });
  expect(read.headers.get("etag")).toBe('"0"');
  const written = await stage.api("PUT", "/node?path=/a", {
    body: { data: { base64: "/w==" } },
    headers: { "If-Match": '"0"' },
  });
  expect(written).toMatchObject({ status: 200, json: { stat: { version: 1 } } });
  const bytes = await stage.api("GET", "/node?path=/a");
  expect(bytes.json.data).toEqual({ base64: "/w==" });
  const gone = await stage.api("DELETE", "/node?path=/a", { headers: { "If-Match": '"1"' } });
  expect(gone).toMatchObject({ status: 200, json: { deletedCount: 1 } });
  expect(await stage.zk.exists("/a")).toBeNull();
});

describe("a node is created with each field of the body, and without it as by default:", () => {
  const LIST = [{ scheme: "world", id: "anyone", permissions: ["read", "admin"] }];
  const OPEN = [{ scheme: "world", id: "anyone", permissions: expect.any(Array) }];

  test.each<
    readonly [body: Readonly<Record<string, unknown>>, node: readonly [path: string, data: string, acl: unknown]]
  >([
    [{}, ["/n", "", OPEN]],
    [{ data: { text: "x" } }, ["/n", "x", OPEN]],
    [{ data: { base64: "eA==" } }, ["/n", "x", OPEN]],
    [{ acl: LIST }, ["/n", "", LIST]],
    [{ mode: "container", acl: LIST }, ["/n", "", LIST]],
    [{ mode: "persistent-sequential" }, ["/n0000000000", "", OPEN]],
    [{ path: "/x/y", parents: true, data: { text: "x" }, acl: LIST }, ["/x/y", "x", LIST]],
  ])("%j", async (body, [path, data, acl]) => {
    await using stage = await startStage();
    const { status, json } = await stage.api("POST", "/node", { body: { path: "/n", ...body } });
    expect([status, json.path]).toEqual([201, path]);
    expect(await stage.zk.getText(path)).toBe(data);
    expect((await stage.api("GET", `/acl?path=${path}`)).json.acl).toEqual(acl);
  });
});

test("a missing parent is answered with the field that creates it", async () => {
  await using stage = await startStage();
  const { status, json } = await stage.api("POST", "/node", { body: { path: "/x/y" } });
  const detail = 'the parent of /x/y is missing: create it before, or POST /node with "parents": true';
  expect([status, json]).toMatchObject([404, { code: "NO_NODE", detail }]);
  expect((await stage.api("POST", "/node", { body: { path: "/x/y", parents: true } })).status).toBe(201);
});

test("64-bit numbers are strings", async () => {
  await using stage = await startStage();
  await stage.zk.create("/e", "", { mode: "ephemeral" });
  const { json } = await stage.api("GET", "/node?path=/e");
  expect(json.stat.czxid).toMatch(/^0x[0-9a-f]+$/);
  expect(json.stat.ctime).toMatch(/^\d{13}$/);
  expect(BigInt(json.stat.ephemeralOwner)).toBe(BigInt.asUintN(64, stage.zk.sessionId));
});

test("a change of another version is refused, and one without a version as well", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a", "one");
  await stage.zk.set("/a", "two");
  const body = { data: { text: "three" } };
  const stale = await stage.api("PUT", "/node?path=/a", { body, headers: { "If-Match": '"0"' } });
  expect(stale).toMatchObject({
    status: 412,
    json: { code: "BAD_VERSION", errno: -103, path: "/a", outcome: "rejected" },
  });
  expect(stale.headers.get("content-type")).toBe("application/problem+json");
  expect(await stage.api("PUT", "/node?path=/a", { body })).toMatchObject({ status: 428 });
  expect(await stage.zk.getText("/a")).toBe("two");
  expect(await stage.api("PUT", "/node?path=/a", { body, headers: { "If-Match": "*" } })).toMatchObject({
    status: 200,
  });
});

const UNREADABLE = [{ scheme: "world", id: "anyone", permissions: [] }];

test.each([
  ["GET", "/node?path=/none", undefined, 404, "NO_NODE"],
  ["GET", "/node?path=none", undefined, 400, "BAD_ARGUMENTS"],
  ["GET", "/node", undefined, 400, "BAD_ARGUMENTS"],
  ["GET", "/nothing", undefined, 404, "NO_ROUTE"],
  ["PATCH", "/node", undefined, 405, "METHOD"],
  ["POST", "/node", { path: "/a/b/c" }, 404, "NO_NODE"],
  ["POST", "/node", { path: "/zookeeper" }, 409, "NODE_EXISTS"],
  ["POST", "/node", { path: "/a", mode: "ephemeral" }, 400, "BAD_ARGUMENTS"],
  ["POST", "/node", { path: "/a", mode: "ttl" }, 400, "BAD_ARGUMENTS"],
  ["POST", "/node", { path: "/a", extra: 1 }, 400, "BAD_ARGUMENTS"],
  ["POST", "/node", { path: "/a", acl: UNREADABLE }, 400, "BAD_ARGUMENTS"],
  ["PUT", "/acl?path=/zookeeper", { acl: UNREADABLE }, 400, "BAD_ARGUMENTS"],
  ["POST", "/multi", { ops: [{ op: "create", path: "/a", acl: UNREADABLE }] }, 400, "BAD_ARGUMENTS"],
])("%s %s with %j is answered with %i and %s", async (method, path, body, status, code) => {
  await using stage = await startStage();
  const answer = await stage.api(method, path, body === undefined ? {} : { body });
  expect(answer).toMatchObject({ status, json: { status, code } });
});

test("children come in pages, each once, and a filter finds names in any case", async () => {
  await using stage = await startStage();
  await stage.zk.create("/many");
  const names = Array.from({ length: 250 }, (_, i) => `node-${String(i).padStart(3, "0")}`);
  await Promise.all(names.map((name) => stage.zk.create(`/many/${name}`)));
  const seen: string[] = [];
  let after = "";
  for (;;) {
    const { json } = await stage.api("GET", `/children?path=/many&limit=100${after}`);
    seen.push(...json.children.map(({ name }: { name: string }) => name));
    if (json.next === null) break;
    after = `&after=${json.next}`;
  }
  expect(seen).toEqual(names);
  const { json } = await stage.api("GET", "/children?path=/many&filter=NODE-24");
  expect(json.children.map(({ name }: { name: string }) => name)).toEqual(names.slice(240));
  expect(json).toMatchObject({ next: null, stat: { numChildren: 250 } });
});

test("an access list is read and replaced at its version", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a");
  const read = await stage.api("GET", "/acl?path=/a");
  expect(read.json.acl).toEqual([
    { scheme: "world", id: "anyone", permissions: ["read", "write", "create", "delete", "admin"] },
  ]);
  const acl = [{ scheme: "world", id: "anyone", permissions: ["read"] }];
  const stale = await stage.api("PUT", "/acl?path=/a", { body: { acl }, headers: { "If-Match": '"7"' } });
  expect(stale).toMatchObject({ status: 412 });
  const written = await stage.api("PUT", "/acl?path=/a", { body: { acl }, headers: { "If-Match": '"0"' } });
  expect(written).toMatchObject({ status: 200, json: { stat: { aversion: 1 } } });
  const refused = await stage.api("PUT", "/node?path=/a", {
    body: { data: { text: "" } },
    headers: { "If-Match": "*" },
  });
  expect(refused).toMatchObject({ status: 403, json: { code: "NO_AUTH" } });
});

/** A request to each route that reads If-Match, at the node /a with a child and version 1. */
const VERSIONED: Readonly<Record<string, readonly (readonly [path: string, body?: object])[]>> = {
  "PUT /node": [["/node?path=/a", { data: { text: "three" } }]],
  "DELETE /node": [["/node?path=/a/b"], ["/node?path=/a&recursive=true"]],
  "PUT /acl": [["/acl?path=/a", { acl: [{ scheme: "world", id: "anyone", permissions: ["read"] }] }]],
};

test("every route that reads If-Match needs it, refuses another version, and then changes nothing", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a", "one");
  await stage.zk.create("/a/b");
  await stage.zk.set("/a", "two");
  const before = await Promise.all(["/a", "/a/b"].map((path) => stage.zk.exists(path)));
  const routes = ROUTES.filter(({ takesVersion }) => takesVersion === true).map(({ method, path }) => ({
    method,
    path,
  }));
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(Object.keys(VERSIONED).toSorted());
  for (const { method, path: route } of routes) {
    for (const [path, body] of VERSIONED[`${method} ${route}`] ?? []) {
      const given = body === undefined ? {} : { body };
      const stale = await stage.api(method, path, { ...given, headers: { "If-Match": '"7"' } });
      expect([path, stale]).toMatchObject([path, { status: 412, json: { code: "BAD_VERSION", outcome: "rejected" } }]);
      const missing = await stage.api(method, path, given);
      expect([path, missing]).toMatchObject([path, { status: 428, json: { code: "IF_MATCH_MISSING" } }]);
    }
  }
  expect(await Promise.all(["/a", "/a/b"].map((path) => stage.zk.exists(path)))).toEqual(before);
});

test("several writes are one transaction, and a refused one names its place", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a", "one");
  const ops = [
    { op: "create", path: "/b", data: { text: "new" } },
    { op: "set", path: "/a", data: { text: "two" }, version: 0 },
  ];
  const done = await stage.api("POST", "/multi", { body: { ops } });
  expect(done.json.results).toMatchObject([
    { op: "create", path: "/b", stat: { version: 0 } },
    { op: "set", path: "/a", stat: { version: 1 } },
  ]);
  const stale = await stage.api("POST", "/multi", {
    body: {
      ops: [
        { op: "delete", path: "/b" },
        { op: "check", path: "/a", version: 0 },
      ],
    },
  });
  expect(stale).toMatchObject({ status: 412, json: { code: "BAD_VERSION", failedIndex: 1 } });
  expect(await stage.zk.getText("/b")).toBe("new");
});

test("a subtree is deleted at once", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a/b/c", "", { parents: "persistent" });
  expect(await stage.api("DELETE", "/node?path=/a", { headers: { "If-Match": "*" } })).toMatchObject({ status: 409 });
  const path = "/node?path=/a&recursive=true";
  const gone = await stage.api("DELETE", path, { headers: { "If-Match": '"0"' } });
  expect(gone).toMatchObject({ status: 200, json: { deletedCount: 3 } });
  expect(await stage.api("DELETE", path, { headers: { "If-Match": '"0"' } })).toMatchObject({ status: 404 });
  await stage.zk.create("/a/b", "", { parents: "persistent" });
  const rest = await stage.api("DELETE", path, { headers: { "If-Match": "*" } });
  expect(rest).toMatchObject({ status: 200, json: { deletedCount: 2 } });
});

test("data with a secret's name is shown on request only", async () => {
  await using stage = await startStage();
  await stage.zk.create("/db_password", "hunter2");
  const { json } = await stage.api("GET", "/node?path=/db_password");
  expect(json).toMatchObject({ data: null, isMasked: true, stat: { dataLength: 7 } });
  const shown = await stage.api("GET", "/node?path=/db_password&reveal=true");
  expect(shown.json).toMatchObject({ data: { text: "hunter2" }, isMasked: false });
});

test("a change that is repeated with its key is carried out once", async () => {
  await using stage = await startStage();
  await stage.zk.create("/q");
  const request = { body: { path: "/q/n-", mode: "persistent-sequential" }, headers: { "Idempotency-Key": "k1" } };
  const [first, again] = [await stage.api("POST", "/node", request), await stage.api("POST", "/node", request)];
  expect(again.json).toEqual(first.json);
  expect((await stage.zk.children("/q")).names).toEqual(["n-0000000000"]);
});

test("a key is its user's: another password of the same name is another user", async () => {
  await using stage = await startStage();
  await stage.zk.create("/q");
  const send = (password: string) =>
    stage.api("POST", "/node", {
      body: { path: "/q/n-", mode: "persistent-sequential" },
      headers: { "Idempotency-Key": "k1", Authorization: `digest alice:${password}` },
    });
  const answers = [await send("one"), await send("two"), await send("one")];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect((await stage.zk.children("/q")).names).toHaveLength(2);
});

test("a key that comes with another method, path, query, version or body is refused, and nothing is changed", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a", "one");
  const set = { body: { data: { text: "two" } } };
  const send = (method: string, path: string, ifMatch: string, given: object = {}) =>
    stage.api(method, path, { ...given, headers: { "If-Match": ifMatch, "Idempotency-Key": "k" } });
  // It was not valid, so that it began nothing, and the key is free.
  expect(await send("PUT", "/node?path=/a", '"0"', { body: { data: 1 } })).toMatchObject({ status: 400 });
  expect(await send("PUT", "/node?path=/a", '"0"', set)).toMatchObject({ status: 200 });
  const others = [
    send("DELETE", "/node?path=/a", "*"),
    send("PUT", "/acl?path=/a", '"0"', { body: { acl: [{ scheme: "world", id: "anyone", permissions: ["read"] }] } }),
    send("PUT", "/node?path=/b", '"0"', set),
    send("PUT", "/node?path=/a", '"1"', set),
    send("PUT", "/node?path=/a", '"0"', { body: { data: { text: "three" } } }),
  ];
  for (const answer of await Promise.all(others))
    expect(answer).toMatchObject({ status: 422, json: { code: "IDEMPOTENCY_KEY_REUSED" } });
  expect(await send("PUT", "/node?path=/a", '"0"', set)).toMatchObject({ status: 200, json: { stat: { version: 1 } } });
  expect(await stage.zk.exists("/a")).toMatchObject({ version: 1, aversion: 0 });
});

test("a body that is too long is refused, and the connection is not waited for", async () => {
  await using stage = await startStage();
  const body = { path: "/a", data: { text: "x".repeat(3 * 1024 * 1024) } };
  expect(await stage.api("POST", "/node", { body })).toMatchObject({ status: 413, json: { code: "BODY_TOO_LARGE" } });
});

test("If-Match takes a version in its only form, and no number that stands for any version", async () => {
  await using stage = await startStage();
  for (const version of ['"01"', '"+1"', '"1.0"', '"4294967295"', '"9999999999"', '"-1"', "1", '""', '"1", "2"']) {
    const answer = await stage.api("DELETE", "/node?path=/a", { headers: { "If-Match": version } });
    expect([version, answer]).toMatchObject([version, { status: 400, json: { code: "IF_MATCH" } }]);
  }
});
