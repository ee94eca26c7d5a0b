import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";

interface EventData {
  readonly changes?: readonly object[];
  readonly droppedCount?: number;
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
    if (data.changes?.some((change) => "path" in change && change.path === "/app/later") === true) break;
  }
  stop.abort();
  expect(order.at(0)).toBe("dropped");
  expect(order.at(-1)).toBe("resync");
  expect(listed).toBeLessThan(2_000);
});

test("streams of one address have a limit", async () => {
  await using stage = await startStage();
  const stop = new AbortController();
  const url = `${stage.url}/api/v1/events`;
  const streams = await Promise.all(Array.from({ length: 8 }, () => fetch(url, { signal: stop.signal })));
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const refused = await fetch(url);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  stop.abort();
});
