import { OPEN_ACL } from "@zooid/client";
import { Relay } from "@zooid/client/testing";
import { expect, test } from "vitest";
import { ConsoleServer } from "../console-server.ts";
import { startStage } from "../testing/stage.ts";

interface EventData {
  readonly changes?: readonly { readonly path?: string }[];
  readonly droppedCount?: number;
  readonly state?: string;
}

/** The events of a stream, as they come. */
async function* eventsOf(
  url: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly event: string; readonly data: EventData }> {
  const answer = await fetch(url, { signal });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

test("changes below a node come as events, and others do not", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app");
  const stop = new AbortController();
  const seen: object[] = [];
  for await (const { event, data } of eventsOf(`${stage.url}/api/v1/events?path=/app`, stop.signal)) {
    if (event === "ready") {
      await stage.zk.create("/other");
      await stage.zk.create("/app/n");
      await stage.zk.set("/app/n", "x");
      await stage.zk.delete("/app/n");
    }
    if (event === "changes") seen.push(...(data.changes ?? []));
    if (seen.length >= 3) break;
  }
  stop.abort();
  const expected = ["created", "data-changed", "deleted"].map((type) => ({ type, path: "/app/n" }));
  expect(seen).toMatchObject(expected);
});

test("of more changes than a batch holds the rest is not watched; a resync comes once all are watched again", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app");
  const stop = new AbortController();
  let listed = 0;
  const order: string[] = [];
  for await (const { event, data } of eventsOf(`${stage.url}/api/v1/events?path=/app`, stop.signal)) {
    if (event === "ready") await Promise.all(Array.from({ length: 2_000 }, (_, i) => stage.zk.set("/app", `${i}`)));
    if (event === "resync") {
      order.push("resync");
      await stage.zk.create("/app/later");
    }
    if (event !== "changes") continue;
    listed += data.changes?.length ?? 0;
    if ((data.droppedCount ?? 0) > 0) order.push("dropped");
    if (data.changes?.some(({ path }) => path === "/app/later") === true) break;
  }
  stop.abort();
  expect(order.at(0)).toBe("dropped");
  expect(order.at(-1)).toBe("resync");
  expect(listed).toBeLessThan(2_000);
});

test("of a node that the user may not read any more no change comes, and each one once it may be read again", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  for (const path of ["/app", "/app/closed", "/app/open"]) await zk.create(path);
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const { event, data } of eventsOf(`${stage.url}/api/v1/events?path=/app`, stop.signal)) {
    if (event === "ready") {
      await zk.setAcl("/app/closed", [{ perms: 30, scheme: "world", id: "anyone" }]);
      await zk.set("/app/closed", "not seen");
      await zk.set("/app/open", "seen");
      await zk.setAcl("/app/closed", OPEN_ACL);
      await zk.set("/app/closed", "seen");
    }
    if (event === "changes") seen.push(...(data.changes ?? []).map(({ path }) => path));
    if (seen.at(-1) === "/app/closed") break;
  }
  stop.abort();
  expect(seen).toEqual(["/app/open", "/app/closed"]);
});

test("a stream continues over a lost connection: the browser is sent the states, and a resync", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app");
  await using relay = await Relay.start(stage.server);
  await using found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts: `127.0.0.1:${relay.port}` });
  await found.listen();
  const stop = new AbortController();
  const order: unknown[] = [];
  for await (const { event, data } of eventsOf(`http://127.0.0.1:${found.port}/api/v1/events?path=/app`, stop.signal)) {
    if (event === "ready") relay.cut();
    if (event === "resync") await stage.zk.create("/app/later");
    // The session may be made before the stream or within it.
    if (event === "ready" || order.length > 0) order.push(event === "state" ? data.state : event);
    if (event === "changes") break;
  }
  stop.abort();
  expect(order).toEqual(["ready", "suspended", "connected", "resync", "changes"]);
});

test("streams of one address have a limit, and each one that ends makes room for one", async () => {
  await using stage = await startStage();
  const url = `${stage.url}/api/v1/events`;
  const stops = Array.from({ length: 8 }, () => new AbortController());
  const streams = await Promise.all(stops.map(({ signal }) => fetch(url, { signal })));
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const refused = await fetch(url);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  stops[0]?.abort();
  const stop = new AbortController();
  // The console hears of the end a little later.
  await expect.poll(async () => (await fetch(url, { signal: stop.signal })).status).toBe(200);
  expect((await fetch(url)).status).toBe(429);
  for (const each of [stop, ...stops]) each.abort();
});
