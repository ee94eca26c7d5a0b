import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "./client.ts";
import type { Relay } from "./fault-injection/relay.ts";
import { type InstrumentOptions, instrumentClients } from "./opentelemetry.ts";
import { setStage } from "./testing/stage.ts";

let relay: Relay;
let zk: Client;

beforeEach(async () => {
  ({ relay, zk } = await setStage(onTestFinished));
});

const storage = new AsyncLocalStorage<Context>();
const contexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
  bind: (_, target) => target,
  enable: () => contexts,
  disable: () => contexts,
};

/** The SDK with exporters in memory, and the instrumentation, until the test is over. */
function instrumented(options: InstrumentOptions = {}) {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(contexts);
  const instrumentation = instrumentClients({ tracerProvider, meterProvider, ...options });
  onTestFinished(async () => {
    instrumentation[Symbol.dispose]();
    context.disable();
    await meterProvider.shutdown();
  });
  return { spans, tracer: tracerProvider.getTracer("test"), meterProvider, exporter, instrumentation };
}

test("a call has a span of a client below the active one, with the attributes of the conventions", async () => {
  const { spans, tracer } = instrumented();
  await tracer.startActiveSpan("an order", async (order) => {
    await zk.create("/order", "1");
    order.end();
  });
  const [call, order] = spans.getFinishedSpans();
  expect(call).toMatchObject({ name: "create", kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } });
  expect(call?.parentSpanContext?.spanId).toBe(order?.spanContext().spanId);
  expect(call?.attributes).toEqual({
    "db.system.name": "zookeeper",
    "db.operation.name": "create",
    "server.address": "127.0.0.1",
    "server.port": relay.port,
    "zookeeper.path": "/order",
    "zookeeper.session.id": expect.stringMatching(/^0x[0-9a-f]+$/),
  });
});

test("a refusal has its code, and so has what became of a call without an answer", async () => {
  const { spans } = instrumented({ paths: false });
  await zk.get("/none").catch(() => {});
  const abort = AbortSignal.abort(new TypeError("enough"));
  await zk.get("/none", { signal: abort }).catch(() => {});
  zk.disconnect();
  await zk.get("/none").catch(() => {});
  const shown = spans.getFinishedSpans().map(({ attributes, status }) => ({
    type: attributes["error.type"],
    answer: attributes["db.response.status_code"],
    path: attributes["zookeeper.path"],
    code: status.code,
  }));
  const failed = { code: SpanStatusCode.ERROR, path: undefined };
  expect(shown).toEqual([
    { ...failed, type: "NO_NODE", answer: "NO_NODE" },
    { ...failed, type: "TypeError", answer: undefined },
    { ...failed, type: "CLIENT_CLOSED", answer: undefined },
  ]);
});

test("calls are counted by their duration, operation and error", async () => {
  const { meterProvider, exporter } = instrumented();
  await zk.create("/order", "1");
  await zk.get("/order");
  await zk.get("/order");
  await zk.get("/none").catch(() => {});
  await meterProvider.forceFlush();
  const [metric] = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [];
  expect(metric?.descriptor).toMatchObject({ name: "db.client.operation.duration", unit: "s" });
  const points = metric?.dataPoints.map(({ attributes, value }) => [
    attributes["db.operation.name"],
    attributes["error.type"],
    (value as { readonly count: number }).count,
  ]);
  expect(points).toEqual([
    ["create", undefined, 1],
    ["get", undefined, 2],
    ["get", "NO_NODE", 1],
  ]);
});

test("a call that is made before the end has its span, and none after it", async () => {
  const { spans, instrumentation } = instrumented();
  const early = zk.create("/early", "1");
  await early;
  instrumentation[Symbol.dispose]();
  await zk.get("/early");
  expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(["create"]);
});
