import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { OpCode } from "@zooid/model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client, ClientOptions, ListedChild } from "../index.ts";
import { ArgumentError, connect, READ_ONLY_ACL, retry } from "../index.ts";
import { answer, dataAnswer, ScriptedServer } from "../testing/scripted-server.ts";
import { OldServer } from "../testing.ts";

const NAMES = Array.from({ length: 25 }, (_, i) => `n${i}`);
const SORTED = [...NAMES].sort();

let server: ZooidServer;
let foreign: ZooidServer;
const clients: Client[] = [];

async function open(hosts: string, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(hosts, options);
  clients.push(client);
  return client;
}

beforeAll(async () => {
  server = await startServer({ port: 0 });
  foreign = await startServer({ port: 0 });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all([server.stop(), foreign.stop()]);
});

async function all(pages: AsyncIterable<{ readonly children: readonly ListedChild[] }>): Promise<ListedChild[][]> {
  const found: ListedChild[][] = [];
  for await (const { children } of pages) found.push([...children]);
  return found;
}

describe.each(["with pages", "without pages"])("children of a server %s", (kind) => {
  let zk: Client;

  beforeAll(async () => {
    const own = kind === "with pages" ? server : foreign;
    zk = await open(own.connectString);
    // A node hides the server's features, so it looks like another maker's.
    if (kind === "without pages") await zk.create("/zookeeper/zooid", "other-features");
    await zk.create("/many");
    await Promise.all(NAMES.map((name) => zk.create(`/many/${name}`, `of ${name}`)));
  });

  test("come in pages in the order of their names, each exactly once", async () => {
    const pages = await all(zk.childPages("/many", { pageSize: 10, detail: "names" }));
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(SORTED.map((name) => ({ name, stat: null, data: null })));
  });

  test("have Stats, and data on request, and come one by one", async () => {
    for await (const { name, stat, data } of zk.eachChild("/many", { pageSize: 7 }))
      expect([name, stat?.dataLength, data]).toEqual([name, `of ${name}`.length, null]);
    for await (const { name, stat, data } of zk.eachChild("/many", { detail: "data" }))
      expect([Buffer.from(data ?? "").toString(), stat?.version]).toEqual([`of ${name}`, 0]);
  });

  test("begin behind a name, which need not exist", async () => {
    const names = (await all(zk.childPages("/many", { after: "n2zzz" }))).flat().map(({ name }) => name);
    expect(names).toEqual(SORTED.filter((name) => name > "n2zzz"));
  });

  test("that are created and deleted meanwhile are listed at most once, the others once", async () => {
    await zk.create("/busy");
    await Promise.all(NAMES.map((name) => zk.create(`/busy/${name}`)));
    const seen: string[] = [];
    for await (const { children } of zk.childPages("/busy", { pageSize: 5 })) {
      seen.push(...children.map(({ name }) => name));
      const last = seen.at(-1) ?? "";
      await zk.delete(`/busy/${last}`);
      await zk.create(`/busy/${last}a`);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(SORTED));
  });

  test("that the client may not read have a name only", async () => {
    await zk.create("/secret/a", "", { parents: "persistent" });
    await zk.create("/secret/b");
    await zk.setAcl("/secret/b", [{ scheme: "digest", id: "stranger:AAAAAAAAAAAAAAAAAAAAAAAAAAA=", perms: 31 }]);
    const found = (await all(zk.childPages("/secret", { detail: "data" }))).flat();
    expect(found.map(({ name, stat }) => [name, stat === null])).toEqual([
      ["a", false],
      ["b", true],
    ]);
    await zk.setAcl("/secret", READ_ONLY_ACL);
  });

  test("of an empty node are one empty page, with the node's Stat", async () => {
    await zk.create("/empty");
    const pages = [];
    for await (const page of zk.childPages("/empty")) pages.push(page);
    expect(pages).toMatchObject([{ children: [], stat: { numChildren: 0 } }]);
  });

  test("of a missing node are an error of the first page", async () => {
    await expect(zk.childPages("/none").next()).rejects.toMatchObject({ code: "NO_NODE", op: "childPages" });
  });

  test("are listed below a namespace, and the consumer may stop early", async () => {
    const names: string[] = [];
    for await (const { name } of zk.namespace("/many").eachChild("/", { pageSize: 2 })) {
      names.push(name);
      if (names.length === 3) break;
    }
    expect(names).toEqual(SORTED.slice(0, 3));
  });
});

test("servers before 3.5 list children in pages too, and the connection is kept", async () => {
  await using old = await OldServer.start(server);
  const zk = await open(`127.0.0.1:${old.port}`);
  await zk.create("/old/a", "", { parents: "persistent" });
  expect((await all(zk.childPages("/old"))).flat()).toMatchObject([{ name: "a", stat: { version: 0 } }]);
  expect(zk.metrics.connectionCount).toBe(1);
});

test("a page of more children than were asked for is refused, before its names take memory", async () => {
  await using scripted = await ScriptedServer.start();
  const opening = connect(scripted.hosts, { random: () => 0, retry: retry.none });
  const line = await scripted.session();
  const zk = await opening;
  clients.push(zk);
  const listing = all(zk.childPages("/a", { detail: "names" })).catch((reason: unknown) => reason);
  line.send(dataAnswer(await line.request(), "child-pages"));
  const COUNT = 1_000_000;
  line.send(
    answer(await line.request(), {}, (writer) => {
      writer.int(COUNT);
      for (let i = 0; i < COUNT; i++) writer.text("n");
    }),
  );
  const error = await listing;
  expect(error).toMatchObject({ code: "MARSHALLING_ERROR", op: "childPages" });
  expect(error).toMatchObject({ cause: { message: expect.stringContaining("at most 1000") } });
});

test("a server that refuses the operation after all is listed as a whole", async () => {
  await using scripted = await ScriptedServer.start();
  const opening = connect(scripted.hosts, { random: () => 0 });
  const line = await scripted.session();
  const zk = await opening;
  clients.push(zk);
  const listing = all(zk.childPages("/a", { detail: "names" }));
  line.send(dataAnswer(await line.request(), "child-pages"));
  const page = await line.request();
  expect(page.op).toBe(OpCode.GET_CHILDREN_PAGE);
  line.send(answer(page, { code: -6 }));
  const whole = await line.request();
  expect(whole.op).toBe(OpCode.GET_CHILDREN2);
  line.send(
    answer(whole, {}, (writer) => {
      writer.int(2);
      writer.text("b");
      writer.text("a");
      for (let i = 0; i < 17; i++) writer.int(0);
    }),
  );
  expect((await listing).flat().map(({ name }) => name)).toEqual(["a", "b"]);
});

test("invalid options are refused at once", async () => {
  const zk = await open(server.connectString);
  expect(() => zk.childPages("/", { pageSize: 5_000 })).toThrow(ArgumentError);
  expect(() => zk.childPages("/", { details: "data" } as object)).toThrow("detail");
  await expect(zk.childPages("many").next()).rejects.toMatchObject({ code: "INVALID_PATH" });
});
