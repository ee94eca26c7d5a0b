import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { ConsoleServer } from "./console-server.ts";
import { callApi, startStage } from "./testing/stage.ts";

test("each ensemble has its page, its API and its login, on one port", async () => {
  await using other = await startServer({ port: 0 });
  await using zk = await connect(other.connectString);
  await zk.create("/of-the-other");
  await using stage = await startStage({ name: "prod", more: [{ name: "test", hosts: other.connectString }] });
  await stage.zk.create("/of-the-first");
  const prefix = "/ensembles/test";
  const both = [
    { name: "prod", prefix: "" },
    { name: "test", prefix },
  ];
  expect((await stage.api("GET", "/session")).json).toMatchObject({ ensemble: "prod", ensembles: both });
  const session = await callApi(`${stage.url}${prefix}/api/v1/session`, "GET");
  expect(session.json).toMatchObject({ ensemble: "test", ensembles: both });
  expect((await stage.api("GET", "/node?path=/of-the-first")).status).toBe(200);
  expect((await stage.api("GET", "/node?path=/of-the-other")).status).toBe(404);
  expect((await callApi(`${stage.url}${prefix}/api/v1/node?path=/of-the-other`, "GET")).status).toBe(200);
  const document = await callApi(`${stage.url}${prefix}/api/v1/openapi.json`, "GET");
  expect(document.json.servers).toEqual([{ url: `${prefix}/api/v1` }]);
  const page = await fetch(`${stage.url}${prefix}/console`, { redirect: "manual" });
  expect([page.status, page.headers.get("location")]).toEqual([302, `${prefix}/console/`]);
  expect((await fetch(`${stage.url}/ensembles/none/console/`)).status).toBe(404);
});

test("the page is for reading: GET and HEAD are answered, and no other method", async () => {
  await using stage = await startStage();
  const page = `${stage.url}/console/`;
  const read = await fetch(page);
  const head = await fetch(page, { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
    read.status,
    read.headers.get("content-type"),
    "",
  ]);
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const refused = await fetch(page, { method });
    expect([method, refused.status, refused.headers.get("allow")]).toEqual([method, 405, "GET, HEAD"]);
  }
});

test("a login is sent to one ensemble only", async () => {
  await using other = await startServer({ port: 0 });
  await using stage = await startStage({ name: "prod", more: [{ name: "test", hosts: other.connectString }] });
  const body = { user: "alice", password: "secret" };
  const login = await callApi(`${stage.url}/ensembles/test/api/v1/login`, "POST", { body });
  const cookie = login.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^zooid-console-\d+-test=[\w-]+; Path=\/ensembles\/test\/; HttpOnly; SameSite=Strict$/);
  const headers = { Cookie: cookie.split(";")[0] ?? "" };
  const api = (prefix: string) => callApi(`${stage.url}${prefix}/api/v1/session`, "GET", { headers });
  expect((await api("/ensembles/test")).json.user).toBe("alice");
  expect((await api("")).json.user).toBeNull();
});

test.each([[{ name: "a/b", hosts: "zk:1" }], [{ name: "", hosts: "zk:1" }], [{ name: "prod", hosts: "zk:1" }]])(
  "the name of %o is refused",
  (more) => {
    expect(
      () => new ConsoleServer({ port: 0, address: "127.0.0.1", hosts: "zk:1", name: "prod", more: [more] }),
    ).toThrow(RangeError);
  },
);
