/** Views of a client: other defaults, limits and interceptors. */

import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { OPEN_ACL, OpCode, READ_ONLY_ACL, type SessionId } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { retry } from "./calls/retry.ts";
import type { Client } from "./client.ts";
import { connect } from "./connect.ts";
import { isZkError } from "./errors.ts";
import type { ClientOptions } from "./options.ts";
import {
  answer,
  dataAnswer,
  honestAnswer,
  REFUSED,
  type ScriptedLine,
  ScriptedServer,
} from "./testing/scripted-server.ts";
import { expireSession } from "./testing.ts";

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "OK",
    (error) => (isZkError(error) ? error.code : String(error)),
  );
}

describe("with a server", () => {
  let server: ZooidServer;
  let zk: Client;

  beforeEach(async () => {
    server = await startServer({ port: 0 });
  });
  afterEach(async () => {
    await zk.close();
    await server.stop();
  });

  async function open(options: ClientOptions = {}): Promise<Client> {
    zk = await connect(server.connectString, { random: () => 0, ...options });
    return zk;
  }

  const dataOf = async (path: string): Promise<string> => Buffer.from((await zk.get(path)).data ?? []).toString();

  test("nodes get the access list of the view, or what gives one for their path", async () => {
    const client = await open({ acl: (path) => (path.startsWith("/open") ? OPEN_ACL : READ_ONLY_ACL) });
    const view = client.namespace("/open").with({ acl: READ_ONLY_ACL });
    await client.create("/closed");
    await client.create("/open/child", "", { parents: "persistent" });
    await view.create("/view");
    await client.transaction().create("/open/part").create("/part").commit();
    const lists = ["/closed", "/open/child", "/open/view", "/open/part", "/part"].map((path) => client.getAcl(path));
    const [closed, child, viewed, part, other] = (await Promise.all(lists)).map(({ acl }) => acl);
    expect([child, part]).toEqual([OPEN_ACL, OPEN_ACL]);
    expect([closed, viewed, other]).toEqual([READ_ONLY_ACL, READ_ONLY_ACL, READ_ONLY_ACL]);
  });

  test("nodes without data hold the default; missing parents are empty, and what is said counts", async () => {
    const client = await open({ defaultData: "default" });
    await client.create("/parent/child", undefined, { parents: "container" });
    await client.create("/said", "");
    await client.with({ defaultData: "view" }).transaction().create("/part").commit();
    expect(await Promise.all(["/parent", "/parent/child", "/said", "/part"].map(dataOf))).toEqual([
      ...["", "default", "", "view"],
    ]);
  });

  test("a view keeps settings that it does not override, and so does a view of a view", async () => {
    const client = await open({ onSuspended: "keep" });
    const view = client.with({ defaultData: "x" }).namespace("/a").with({ acl: OPEN_ACL });
    expect([view.root, view.onSuspended, view.defaultData]).toEqual(["/a", "keep", "x"]);
    expect([client.root, client.defaultData, client.with({ onSuspended: "lose" }).onSuspended]).toEqual([
      ...["/", undefined, "lose"],
    ]);
  });

  test("a session's scope ends with the session, and calls that continue in it fail", async () => {
    const client = await open();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: mayContinue, resolve: go } = Promise.withResolvers<void>();
    const scope = client.sessionScope(async (scoped) => {
      await scoped.create("/in-time");
      begin();
      await mayContinue;
      return codeOf(scoped.create("/too-late"));
    });
    scope.catch(() => {});
    await begun;
    const { sessionId } = client;
    await expireSession(client, server.connectString);
    await expect.poll(() => client.state.kind === "connected" && client.sessionId !== sessionId).toBe(true);
    go();
    expect(await codeOf(scope)).toBe("SESSION_EXPIRED");
    expect([await client.exists("/too-late"), (await client.exists("/in-time")) !== null]).toEqual([null, true]);
  });

  test("a session's scope brings what its work does", async () => {
    const client = await open();
    expect(await client.sessionScope((scoped) => scoped.create("/a"))).toMatchObject({ path: "/a" });
    await expect(client.sessionScope(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});

describe("with a server that answers late or never", () => {
  let server: ScriptedServer;
  let zk: Client;
  let line: ScriptedLine;

  beforeEach(async () => {
    server = await ScriptedServer.start();
    [zk, line] = await Promise.all([connect(server.hosts, { random: () => 0 }), server.session()]);
  });
  afterEach(async () => {
    await zk.close();
    await server[Symbol.asyncDispose]();
  });

  test("a view's limits are those of each of its calls, and a call's own come first", async () => {
    const view = zk.with({ timeoutMs: 20 });
    const patient = codeOf(view.get("/patient", { timeoutMs: 60_000 }));
    await line.request();
    const calls: Promise<unknown>[] = [view.get("/a"), view.exists("/a"), view.set("/a", ""), view.whoAmI()];
    calls.push(view.reads().get("/a").run(), view.transaction().delete("/a").commit());
    calls.push(
      view.get("/a", { watch: true }),
      view.get("/a", { sync: true }),
      view.getConfig(),
      view.reconfig({ leaving: [9] }),
    );
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => "OPERATION_TIMEOUT"));
    line.send(dataAnswer({ xid: 1 }, ""));
    expect(await patient).toBe("OK");
    line.reset();
  });

  test("a view's signal gives all of its calls up, beside their own, and guaranteed deletes continue", async () => {
    const [scope, own] = [new AbortController(), new AbortController()];
    const view = zk.with({ signal: scope.signal });
    const calls = [view.get("/a"), view.get("/b", { signal: own.signal })];
    const both = view.get("/f", { signal: new AbortController().signal });
    const other = view.get("/c", { signal: own.signal });
    const outcomes = Promise.all([...calls, other, both].map(codeOf));
    own.abort(new Error("own"));
    scope.abort(new Error("scope"));
    expect(await outcomes).toEqual(["Error: scope", "Error: own", "Error: own", "Error: scope"]);
    const deleted = codeOf(view.delete("/d", { guaranteed: true }));
    line.serve(honestAnswer);
    expect([await deleted, await codeOf(view.get("/e")), await codeOf(zk.get("/e"))]).toEqual([
      ...["OK", "Error: scope", "OK"],
    ]);
  });

  test("a protected create that its view's signal gives up is found and undone", async () => {
    const scope = new AbortController();
    const created = codeOf(zk.with({ signal: scope.signal }).create("/a", "", { protect: true }));
    await line.request();
    line.reset();
    scope.abort(new Error("scope"));
    expect(await created).toBe("Error: scope");
    expect(zk.pendingDeleteCount).toBe(1);
    (await server.session()).serve(honestAnswer);
    await expect.poll(() => zk.pendingDeleteCount).toBe(0);
  });

  test("a view's policy is asked for its calls", async () => {
    line.serve((request) => (request.op === OpCode.GET_DATA ? answer(request, { code: -127 }) : honestAnswer(request)));
    const counts: number[] = [];
    const policy = ({ count }: { readonly count: number }): number | false => {
      counts.push(count);
      return count < 3 ? 0 : false;
    };
    expect(await codeOf(zk.with({ retry: policy }).get("/a"))).toBe("THROTTLED_OP");
    expect(await codeOf(zk.with({ retry: policy }).get("/a", { retry: retry.none }))).toBe("THROTTLED_OP");
    expect(counts).toEqual([1, 2, 3]);
  });

  test("the signal with which a client was connected says nothing of its calls", async () => {
    const connecting = new AbortController();
    const other = connect(server.hosts, { signal: connecting.signal });
    const its = await server.session({ sessionId: 0x78n as SessionId });
    const client = await other;
    connecting.abort();
    for (const served of [line, its]) served.serve(honestAnswer);
    expect(await codeOf(client.get("/a"))).toBe("OK");
    await client.close();
  });

  test("without a session there is no scope", async () => {
    line.reset();
    await server.session(REFUSED);
    const waiting = codeOf(zk.sessionScope(() => "never"));
    await zk.close();
    expect(await waiting).toBe("CLIENT_CLOSED");
  });
});
