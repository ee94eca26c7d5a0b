import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { digestId } from "@zooid/client";
import { expect, test } from "vitest";
import { callApi, startStage } from "../testing/stage.ts";

const ALICE = `digest:${digestId("alice", "secret")}`;
const BOB = `digest:${digestId("bob", "hidden")}`;
const ROLES = { viewers: [BOB], editors: [ALICE] };
const asAlice = { Authorization: "digest alice:secret" };
const asBob = { Authorization: `Basic ${Buffer.from("bob:hidden").toString("base64")}` };

/** A request with headers that `fetch` does not let a caller choose. */
function rawStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
  localAddress = "127.0.0.1",
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, localAddress }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("on loopback without roles everyone is an operator", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/session");
  expect(json).toMatchObject({ user: null, role: "operator", hasRoles: false, identities: [] });
});

test("beyond loopback without roles the console only reads", async () => {
  await using stage = await startStage({ address: "0.0.0.0" });
  expect((await stage.api("GET", "/session")).json.role).toBe("viewer");
  expect(await stage.api("GET", "/node?path=/")).toMatchObject({ status: 200 });
  const refused = await stage.api("POST", "/node", { body: { path: "/a" }, headers: asAlice });
  expect(refused).toMatchObject({ status: 403, json: { code: "ROLE" } });
  expect(await stage.zk.exists("/a")).toBeNull();
});

test("with roles a user without one reads nothing", async () => {
  await using stage = await startStage({ roles: ROLES });
  expect((await stage.api("GET", "/session")).json.role).toBeNull();
  expect(await stage.api("GET", "/node?path=/")).toMatchObject({ status: 401, json: { code: "LOGIN_NEEDED" } });
  expect(await stage.api("GET", "/events")).toMatchObject({ status: 401 });
  const wrong = { Authorization: "digest alice:wrong" };
  expect(await stage.api("GET", "/node?path=/", { headers: wrong })).toMatchObject({ status: 401 });
});

test("a viewer reads and an editor writes", async () => {
  await using stage = await startStage({ roles: ROLES });
  expect(await stage.api("GET", "/node?path=/", { headers: asBob })).toMatchObject({ status: 200 });
  const refused = await stage.api("POST", "/node", { body: { path: "/b" }, headers: asBob });
  expect(refused).toMatchObject({ status: 403, json: { code: "ROLE" } });
  const made = await stage.api("POST", "/node", { body: { path: "/a" }, headers: asAlice });
  expect(made).toMatchObject({ status: 201 });
});

test("the access lists of the tree decide for each user", async () => {
  await using stage = await startStage();
  const id = digestId("alice", "secret");
  await stage.zk.create("/own", "mine", { acl: [{ perms: 31, scheme: "digest", id }] });
  expect(await stage.api("GET", "/node?path=/own")).toMatchObject({ status: 403, json: { code: "NO_AUTH" } });
  expect(await stage.api("GET", "/node?path=/own", { headers: asBob })).toMatchObject({ status: 403 });
  const read = await stage.api("GET", "/node?path=/own", { headers: asAlice });
  expect(read.json.data.text).toBe("mine");
});

test("a login gives a cookie that scripts cannot read, and a logout ends its session", async () => {
  await using stage = await startStage({ roles: ROLES });
  const login = await stage.api("POST", "/login", { body: { user: "alice", password: "secret" } });
  expect(login).toMatchObject({ status: 200, json: { user: "alice", role: "editor" } });
  const cookie = login.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^zooid-console-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  const headers = { Cookie: cookie.split(";")[0] ?? "", "X-CSRF-Token": login.json.csrfToken };
  expect(await stage.api("POST", "/node", { body: { path: "/a" }, headers })).toMatchObject({ status: 201 });
  expect(await stage.api("POST", "/logout", { headers })).toMatchObject({ status: 200, json: { user: null } });
  expect(await stage.api("GET", "/node?path=/", { headers })).toMatchObject({ status: 401 });
});

test("a change that a browser makes without its token is refused", async () => {
  await using stage = await startStage({ roles: ROLES });
  const login = await stage.api("POST", "/login", { body: { user: "alice", password: "secret" } });
  const cookie = { Cookie: (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
  const anonymous = (await stage.api("GET", "/session")).json.csrfToken;
  const tokens = [{}, { "X-CSRF-Token": "x" }, { "X-CSRF-Token": anonymous }];
  for (const token of tokens) {
    const refused = await stage.api("POST", "/node", { body: { path: "/a" }, headers: { ...cookie, ...token } });
    expect(refused).toMatchObject({ status: 403, json: { code: "CSRF" } });
  }
  expect(await stage.zk.exists("/a")).toBeNull();
});

test("requests of other sites, of other host names, and for plain forms are refused", async () => {
  await using stage = await startStage();
  const url = `${stage.url}/api/v1/node?path=/`;
  expect(await rawStatus(url, {})).toBe(200);
  expect(await rawStatus(url, { Origin: "https://evil.example" })).toBe(403);
  expect(await rawStatus(url, { "Sec-Fetch-Site": "cross-site" })).toBe(403);
  expect(await rawStatus(url, { Host: "evil.example" })).toBe(421);
  expect(await rawStatus(url, { Host: "localhost:1" })).toBe(200);
  expect(await rawStatus(`${stage.url}/console/`, { Host: "evil.example" })).toBe(421);
  const form = await fetch(`${stage.url}/api/v1/node`, { method: "POST", body: "path=/a" });
  expect(form.status).toBe(415);
});

test("beyond loopback only configured host names are answered", async () => {
  await using stage = await startStage({ address: "0.0.0.0", hostNames: ["console.example"] });
  const url = `${stage.url}/api/v1/session`;
  expect(await rawStatus(url, { Host: "console.example:8080" })).toBe(200);
  expect(await rawStatus(url, { Host: "evil.example" })).toBe(421);
});

test("passwords are guessed slowly", async () => {
  await using stage = await startStage({ roles: ROLES });
  const guess = { body: { user: "alice", password: "guess" } };
  for (let i = 0; i < 5; i++) expect(await stage.api("POST", "/login", guess)).toMatchObject({ status: 401 });
  const limited = await stage.api("POST", "/login", { body: { user: "alice", password: "secret" } });
  expect(limited).toMatchObject({ status: 429, json: { code: "TOO_MANY_LOGINS" } });
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("wrong passwords at one address do not lock a user out at another", async () => {
  await using stage = await startStage({ roles: ROLES });
  const guess = { body: { user: "alice", password: "guess" } };
  for (let i = 0; i < 6; i++) await stage.api("POST", "/login", guess);
  expect(await stage.api("GET", "/session", { headers: asAlice })).toMatchObject({ status: 429 });
  expect(await rawStatus(`${stage.url}/api/v1/session`, asAlice, "GET", "127.0.0.7")).toBe(200);
});

test("a body beyond the limits of its route is refused before it is parsed", async () => {
  await using stage = await startStage();
  const long = await stage.api("POST", "/login", { body: { user: "alice", password: "x".repeat(1024) } });
  expect(long).toMatchObject({ status: 413, json: { code: "BODY_TOO_LARGE" } });
  const nested = { path: "/a", data: JSON.parse(`${"[".repeat(20)}${"]".repeat(20)}`) as unknown };
  const refused = await stage.api("POST", "/node", { body: nested });
  expect(refused).toMatchObject({ status: 400, json: { code: "BODY_TOO_COMPLEX" } });
});

test("bodies that never come take no place of other requests", async () => {
  await using stage = await startStage();
  const { port } = new URL(stage.url);
  const sockets = Array.from({ length: 80 }, () => connect(Number(port), "127.0.0.1"));
  const head =
    "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
  await Promise.all(
    sockets.map(async (socket) => {
      await once(socket, "connect");
      socket.on("error", () => {});
      socket.write(head);
    }),
  );
  expect(await stage.api("GET", "/node?path=/")).toMatchObject({ status: 200 });
  for (const socket of sockets) socket.destroy();
});

test("a console without its ensemble says so", async () => {
  await using stage = await startStage({ client: { waitingTimeoutMs: 50 } });
  await stage.server.stop();
  const { status, json } = await callApi(`${stage.url}/api/v1/node?path=/`, "GET");
  expect(status).toBe(503);
  expect(json.code).toBe("CONNECTION_LOSS");
});
