import { OpCode } from "@zooid/model";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { DASHBOARDS, MISSING, metricNamesOf, type Selector, selectorsOf } from "../testing/dashboard-expressions.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";

/** Made by Prometheus itself. */
const OF_PROMETHEUS = new Set(["up"]);

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: string;
}

test("selectors of expressions are names with their labels", () => {
  const expression = 'rate(a_sum[5m]) / jvm_x{area="heap"} > bool 0.8 or sum(b) by (pod)';
  expect(selectorsOf(expression).map(({ name, labels }) => [name, [...labels]])).toEqual([
    ["a_sum", []],
    ["jvm_x", [["area", "heap"]]],
    ["b", []],
  ]);
});

test.each([
  ['sum by (op) (rate(a_sum{job="x_y"}[5m])) / on(job) b > bool 0.8', ["a_sum", "b"]],
  ["absent(a) and on() (count(b > 1) > 0) or vector(0)", ["a", "b"]],
  ['a - time() < 14 * 86400 unless ALERTS{alertname=~"Z.*"}', ["a", "ALERTS"]],
])("metrics of %s", (expression, names) => {
  expect(metricNamesOf(expression)).toEqual(names);
});

test("every expression of the most used dashboards and alerts has data while clients work", async () => {
  const servers = [{ sid: 1, host: "127.0.0.1", quorumPort: 0, electionPort: 0 }];
  await using zk = await startTestServer({
    metrics: { port: 0, address: "127.0.0.1" },
    ensemble: { sid: 1, servers },
  });
  await new Promise<void>((resolve) => {
    zk.role$.subscribe((role) => {
      if (role === "leading") resolve();
    });
  });
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 10; i++) {
    await client.ask(OpCode.CREATE, create(`/${i}`, "x"));
    await client.ask(OpCode.EXISTS, read(`/${i}`));
  }
  const samples = {
    metrics: samplesOf((await ask(zk.metricsPort, "/metrics")).body, /^([a-zA-Z_]\w*)(\{[^}]*\})? (\S+)$/),
    mntr: samplesOf(await zk.report("mntr"), /^(\w+)()\t(.*)$/),
  };
  const empty = DASHBOARDS.flatMap(({ name, source, expressions }) =>
    expressions
      .filter((expression) => !selectorsOf(expression).every((each) => hasData(samples[source], each)))
      .map((expression) => `${name}: ${expression}`),
  );
  expect(empty).toEqual([]);
});

function samplesOf(text: string, line: RegExp): readonly Sample[] {
  return text.split("\n").flatMap((each) => {
    const [, name, labels = "", value] = line.exec(each) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, labels, value }];
  });
}

/** Quantiles of what did not happen are NaN, as with Apache's exporter: the series is there. */
function hasData(samples: readonly Sample[], { name, labels }: Selector): boolean {
  if (OF_PROMETHEUS.has(name) || MISSING.has(name)) return true;
  return samples.some(
    (sample) =>
      sample.name === name && [...labels].every(([label, value]) => sample.labels.includes(`${label}="${value}"`)),
  );
}
