import { Registry } from "prom-client";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "./client.ts";
import { collectMetrics } from "./prometheus.ts";
import { setStage } from "./testing/stage.ts";

let zk: Client;
let witness: Client;
let registry: Registry;

beforeEach(async () => {
  ({ zk, witness } = await setStage(onTestFinished));
  registry = new Registry();
});

/** The samples of one metric, as a scrape shows them. */
async function samples(name: string): Promise<readonly string[]> {
  const lines = (await registry.metrics()).split("\n");
  return lines
    .filter((line) => line.startsWith(`zookeeper_client_${name}{`))
    .map((line) => line.slice(line.indexOf("{")));
}

test("a scrape has every metric of the clients, with counters as totals", async () => {
  collectMetrics(zk, { registry, name: "orders" });
  collectMetrics(witness, { registry, name: "mail" });
  const { watch } = await zk.exists("/none", { watch: true });
  expect(await samples("watches")).toEqual(['{client="orders"} 1', '{client="mail"} 0']);
  expect(await samples("connected")).toEqual(['{client="orders"} 1', '{client="mail"} 1']);
  watch.remove();
  await zk.sync();
  const total = zk.metrics.sentBytes;
  expect((await samples("sent_bytes_total"))[0]).toBe(`{client="orders"} ${total}`);
  expect((await samples("sent_bytes_total"))[0]).toBe(`{client="orders"} ${total}`);
  const text = await registry.metrics();
  expect(text).toContain("# TYPE zookeeper_client_sent_bytes_total counter");
  expect(text).toContain("# TYPE zookeeper_client_watches gauge");
  // Every number of `zk.metrics` has a metric, and the state.
  expect(registry.getMetricsAsArray()).toHaveLength(Object.keys(zk.metrics).length + 1);
});

test("a client is shown until it is closed or its handle disposed, and names are unique", async () => {
  const handle = collectMetrics(zk, { registry });
  expect(() => collectMetrics(witness, { registry })).toThrow('a client "default"');
  handle[Symbol.dispose]();
  collectMetrics(witness, { registry });
  expect(await samples("connected")).toEqual(['{client="default"} 1']);
  await witness.close();
  await expect.poll(() => samples("connected")).toEqual([]);
  collectMetrics(zk, { registry });
  handle[Symbol.dispose]();
  expect(await samples("connected")).toEqual(['{client="default"} 1']);
});

test("a registry that was cleared gets the metrics again, with the clients that it had", async () => {
  collectMetrics(zk, { registry, name: "orders" });
  registry.clear();
  collectMetrics(witness, { registry, name: "mail" });
  expect(await samples("connected")).toEqual(['{client="orders"} 1', '{client="mail"} 1']);
});
