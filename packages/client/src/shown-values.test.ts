/** The client's results can be logged, written as JSON, decoded and iterated. */
import { inspect } from "node:util";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { Subject } from "rxjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Client,
  type ClientState,
  connect,
  iterate,
  json,
  type TransactionError,
  text,
  type ZkError,
} from "./index.ts";

let server: ZooidServer;
let zk: Client;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
  await zk.create("/a", '{"stock":3}');
  await zk.create("/e", "", { mode: "ephemeral" });
});

afterAll(async () => {
  await zk.close();
  await server.stop();
});

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const SESSION = /^0x[0-9a-f]+$/;

describe("JSON", () => {
  test("of a Stat has the owner in hexadecimal", async () => {
    const { stat } = await zk.get("/e");
    expect(asJson(stat)).toEqual({ ...stat, ephemeralOwner: expect.stringMatching(SESSION) });
    expect((asJson(await zk.exists("/a")) as { ephemeralOwner: string }).ephemeralOwner).toBe("0x0");
  });

  test("of a state has the session in hexadecimal", () => {
    const states: ClientState[] = [];
    zk.state$.subscribe((state) => states.push(state)).unsubscribe();
    expect(states.map(asJson)).toEqual([
      { kind: "connected", server: zk.server, sessionId: expect.stringMatching(SESSION) },
    ]);
    expect(Object.keys(zk.state)).not.toContain("toJSON");
  });

  test("of an error has its message", async () => {
    const error = await zk.get("/none").catch((reason: unknown) => reason as ZkError);
    expect(asJson(error)).toEqual({
      name: "ZkNodeError",
      code: "NO_NODE",
      errno: -101,
      op: "get",
      path: "/none",
      outcome: "rejected",
      message: (error as ZkError).message,
    });
    const failed = await zk
      .transaction()
      .delete("/none")
      .commit()
      .catch((reason: unknown) => reason as TransactionError);
    expect(asJson(failed)).toMatchObject({ failedIndex: 0, ops: [{ op: "delete", code: "NO_NODE" }] });
  });

  test("and console.log of a client show its state", () => {
    expect(asJson(zk)).toMatchObject({
      state: "connected",
      server: zk.server,
      root: "/",
      metrics: { waitingCount: 0 },
    });
    expect(inspect(zk)).toMatch(/^Client \{.*state: 'connected'/s);
  });
});

describe("data", () => {
  test("as text and as JSON", async () => {
    expect(await zk.getText("/a")).toBe('{"stock":3}');
    expect(await zk.getJson<{ stock: number }>("/a")).toEqual({ stock: 3 });
    await zk.create("/null", null);
    expect(await zk.getText("/null")).toBe("");
  });

  test("by a codec, beside bytes and Stat", async () => {
    const { value, stat, data } = await zk.get("/a", { codec: json<{ stock: number }>(), sync: true });
    expect([value.stock, stat.version, data?.length]).toEqual([3, 0, 11]);
    expect((await zk.get("/a", { codec: text })).value).toBe('{"stock":3}');
  });

  test("that the codec refuses are an error with the path", async () => {
    await expect(zk.getJson("/e")).rejects.toThrow(/^\/e: the data written by 0x/);
    await expect(zk.getText("/none")).rejects.toMatchObject({ code: "NO_NODE" });
  });
});

describe("a stream as an async iterable", () => {
  test("yields values as they come, and unsubscribes when the loop is left", async () => {
    await zk.create("/watched", "0");
    const seen: string[] = [];
    for await (const node of iterate(zk.watchData$("/watched", { codec: text }))) {
      if (node.exists) seen.push(node.value);
      if (seen.length === 3) break;
      await zk.set("/watched", String(seen.length));
    }
    expect([seen, zk.watchCount]).toEqual([["0", "1", "2"], 0]);
  });

  test("throws the stream's error in the loop, under the name of the method that was called", async () => {
    const next = iterate(zk.namespace("/none").watchData$("no-path")).next();
    await expect(next).rejects.toMatchObject({ code: "INVALID_PATH" });
    await zk.create("/closed", "", {
      acl: [{ scheme: "digest", id: "stranger:AAAAAAAAAAAAAAAAAAAAAAAAAAA=", perms: 31 }],
    });
    const refused = iterate(zk.watchData$("/closed")).next();
    await expect(refused).rejects.toMatchObject({ code: "NO_AUTH", op: "watchData$", path: "/closed" });
  });

  test("ends with the stream, and with the signal", async () => {
    const source = new Subject<number>();
    const values = iterate(source);
    const first = values.next();
    source.next(1);
    source.complete();
    expect([await first, await values.next()]).toEqual([
      { value: 1, done: false },
      { value: undefined, done: true },
    ]);
    const stop = new AbortController();
    const waiting = iterate(new Subject(), { signal: stop.signal }).next();
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test.each([
    ["error", [1, "QUEUE_FULL"]],
    ["latest", [1, 4]],
  ] as const)("whose buffer is full: %s", async (whenFull, expected) => {
    const source = new Subject<number>();
    const values = iterate(source, { bufferMax: 1, whenFull });
    const first = values.next();
    source.next(1);
    const seen: unknown[] = [(await first).value];
    for (const value of [2, 3, 4]) source.next(value);
    source.complete();
    try {
      for await (const value of values) seen.push(value);
    } catch (error) {
      // Values that came before the error are still delivered.
      seen.splice(1, Infinity, (error as ZkError).code);
    }
    expect(seen).toEqual(expected);
    expect(source.observed).toBe(false);
  });
});
