/**
 * Spans and metrics of OpenTelemetry for the calls of all clients in this process, by its semantic
 * conventions for database clients. An entry of its own, for programs that have
 * `@opentelemetry/api`.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  type Attributes,
  type MeterProvider,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { checkFit, formatSessionId, hasMethods, rules, type SessionId, type Shape, shape } from "@zooid/model";
import { CallbackFaults } from "./callers-callbacks.ts";
import { isZkError } from "./errors.ts";
import type { RequestMessage, ResponseMessage } from "./session/diagnostics.ts";

export interface InstrumentOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider;
  /** Whether spans have the caller's path, as `zookeeper.path`. Default true. */
  readonly paths?: boolean;
}

const INSTRUMENT: Shape<InstrumentOptions> = shape<InstrumentOptions>({
  tracerProvider: {
    expected: "a TracerProvider of OpenTelemetry",
    accepts: (value) => hasMethods(value, ["getTracer"]),
  },
  meterProvider: { expected: "a MeterProvider of OpenTelemetry", accepts: (value) => hasMethods(value, ["getMeter"]) },
  paths: rules.flag,
});

const SCOPE = "@zooid/client";
/** The boundaries that the semantic conventions advise. */
const DURATION_BOUNDARIES_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/**
 * From now on each call has a span below the active one, with retries and waiting included, and is
 * counted in the histogram `db.client.operation.duration`. Once in a process.
 *
 * @returns a handle that ends it
 */
export function instrumentClients(options: InstrumentOptions = {}): Disposable {
  checkFit("instrumentClients", options, INSTRUMENT);
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options;
  const tracer = tracerProvider.getTracer(SCOPE);
  const durations = meterProvider.getMeter(SCOPE).createHistogram("db.client.operation.duration", {
    unit: "s",
    description: "Duration of calls of the ZooKeeper client, from the call to its end",
    advice: { explicitBucketBoundaries: DURATION_BOUNDARIES_S },
  });
  const spans = new WeakMap<object, Span>();
  const faults = new CallbackFaults();
  const begin = (message: unknown): void => {
    const request = message as RequestMessage;
    const attributes = { ...attributesOf(request), ...detailsOf(request, options) };
    spans.set(request, tracer.startSpan(request.op, { kind: SpanKind.CLIENT, attributes }));
  };
  const end = (message: unknown): void => {
    const { request, durationMs, error } = message as ResponseMessage;
    const failure = error === undefined ? {} : failureOf(error);
    const span = spans.get(request);
    try {
      durations.record(durationMs / 1000, { ...attributesOf(request), ...failure });
    } finally {
      span?.setAttributes(failure);
      if (error !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
      span?.end();
    }
  };
  // What a subscriber of a diagnostics channel throws ends the process.
  const guarded = (name: string, take: (message: unknown) => void) => (message: unknown) => {
    try {
      take(message);
    } catch (fault) {
      faults.report(`OpenTelemetry at the ${name} of a call`, fault);
    }
  };
  const [onRequest, onResponse] = [guarded("start", begin), guarded("end", end)];
  subscribe("zk:client:request", onRequest);
  subscribe("zk:client:response", onResponse);
  const stop = (): void => {
    unsubscribe("zk:client:request", onRequest);
    unsubscribe("zk:client:response", onResponse);
  };
  return { [Symbol.dispose]: stop };
}

/** Attributes that spans and metrics share: few different values. */
function attributesOf({ op, server }: RequestMessage): Attributes {
  return { "db.system.name": "zookeeper", "db.operation.name": op, ...addressOf(server) };
}

function detailsOf({ path, sessionId }: RequestMessage, { paths = true }: InstrumentOptions): Attributes {
  const session = { "zookeeper.session.id": formatSessionId(sessionId as SessionId) };
  return paths ? { ...session, "zookeeper.path": path } : session;
}

/** @param server as `address:port` */
function addressOf(server: string | undefined): Attributes {
  const colon = server?.lastIndexOf(":") ?? -1;
  if (server === undefined || colon === -1) return {};
  const address = server.slice(0, colon).replace(/^\[|\]$/g, "");
  return { "server.address": address, "server.port": Number(server.slice(colon + 1)) };
}

/** A refusal by the server has its code as the status of the response, too. */
function failureOf(error: unknown): Attributes {
  if (isZkError(error)) {
    const type = { "error.type": error.code };
    return error.outcome === "rejected" ? { ...type, "db.response.status_code": error.code } : type;
  }
  return { "error.type": error instanceof Error ? error.name : "_OTHER" };
}
