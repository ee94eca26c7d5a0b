/**
 * Shows a span of OpenTelemetry for each call of a client, below the span of the work that makes
 * it, with the operation, the path and the error.
 *
 *     npm run example examples/src/tracing-with-opentelemetry.ts [HOST:PORT]
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { connect } from "@zooid/client";
import { instrumentClients } from "@zooid/client/opentelemetry";
import { zookeeper } from "./zookeeper.ts";

// A service has these from its own set-up, as from @opentelemetry/sdk-node.
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(contextsOfCalls());

using _ = instrumentClients();
const tracer = trace.getTracer("shop");

await using ensemble = await zookeeper();
await using zk = await connect(ensemble.connectString);

await tracer.startActiveSpan("an order", async (span) => {
  await zk.put("/examples-order", "1");
  await zk.get("/examples-missing").catch(() => {});
  span.end();
});
await zk.delete("/examples-order");

const spans = exporter.getFinishedSpans();
const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
for (const { name, attributes, parentSpanContext } of spans) {
  const above = nameOf.get(parentSpanContext?.spanId ?? "") ?? "nothing";
  console.log(
    `${name} ${attributes["zookeeper.path"] ?? ""} below ${above}, ${attributes["error.type"] ?? "no error"}`,
  );
}

/** The part of @opentelemetry/context-async-hooks that is needed, in a few lines. */
function contextsOfCalls(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
