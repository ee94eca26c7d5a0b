/**
 * Shows a span of OpenTelemetry for each call of a client, below the span of the work that makes
 * it, with the operation, the path and the error.
 *
 *     npm run example examples/src/tracing-with-opentelemetry.ts [HOST:PORT]
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { connect, type Interceptor, isZkError } from "@zooid/client";
import { zookeeper } from "./zookeeper.ts";

// A service has these from its own set-up, as from @opentelemetry/sdk-node.
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(contextsOfCalls());

const tracer = trace.getTracer("shop");

/** Around every call of the client, retries and waiting included. */
const traced: Interceptor = (call, next) =>
  tracer.startActiveSpan(
    `zookeeper ${call.op}`,
    { kind: SpanKind.CLIENT, attributes: { "db.system.name": "zookeeper", "zookeeper.path": call.path } },
    async (span) => {
      try {
        return await next();
      } catch (error) {
        if (isZkError(error)) span.setAttribute("error.type", error.code);
        span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
        throw error;
      } finally {
        span.end();
      }
    },
  );

await using ensemble = await zookeeper();
await using zk = await connect(ensemble.connectString, { intercept: traced });

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

/** What @opentelemetry/context-async-hooks does, in a few lines. */
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
