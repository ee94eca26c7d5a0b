/**
 * Metrics of clients for Prometheus, as metrics of prom-client. An entry of its own, for programs
 * that have prom-client.
 */
import { ArgumentError, checkClient, checkFit, hasMethods, rules, type Shape, shape } from "@zooid/model";
import { Counter, Gauge, type Registry, register } from "prom-client";
import type { Client } from "./client.ts";
import { isConnected } from "./session/client-state.ts";

export interface CollectOptions {
  /** Value of the label `client`: tells the clients of a process apart. Default `default`. */
  readonly name?: string;
  /** Default: prom-client's own. */
  readonly registry?: Registry;
}

const COLLECT: Shape<CollectOptions> = shape<CollectOptions>({
  name: rules.filledText,
  registry: { expected: "a Registry of prom-client", accepts: (value) => hasMethods(value, ["registerMetric"]) },
});

/** By Prometheus' rule, the name of a counter ends in `_total`, and no other does. */
type Measure = readonly [name: string, help: string, value: (client: Client) => number];

const MEASURES: readonly Measure[] = [
  ["connected", "1 while the client is connected to a server, else 0", ({ state }) => (isConnected(state) ? 1 : 0)],
  ["in_flight_requests", "Requests that are sent and not answered", ({ metrics }) => metrics.inFlightCount],
  ["waiting_calls", "Calls that wait for a connection or for room", ({ metrics }) => metrics.waitingCount],
  ["waiting_bytes", "Approximate size of the calls that wait", ({ metrics }) => metrics.waitingBytes],
  ["watches", "Watches of the client", ({ metrics }) => metrics.watchCount],
  ["pending_deletes", "Guaranteed deletes that are not done yet", ({ metrics }) => metrics.pendingDeleteCount],
  ["sent_bytes_total", "Bytes sent to servers", ({ metrics }) => metrics.sentBytes],
  ["received_bytes_total", "Bytes received from servers", ({ metrics }) => metrics.receivedBytes],
  ["connections_total", "Accepted connections", ({ metrics }) => metrics.connectionCount],
  ["session_losses_total", "Lost sessions", ({ metrics }) => metrics.sessionLossCount],
];

/** One call of {@link collectMetrics}: the same client may be added again after it was removed. */
interface Collected {
  readonly client: Client;
}

/** The clients of each registry, by their names. */
const collected = new WeakMap<Registry, Map<string, Collected>>();

/**
 * Adds a client's metrics to a registry, as `zookeeper_client_…` with the label `client`, until the
 * client is closed.
 *
 * @returns a handle that removes them
 * @throws ArgumentError where another client has the name
 */
export function collectMetrics(client: Client, options: CollectOptions = {}): Disposable {
  checkClient("collectMetrics", client);
  checkFit("collectMetrics", options, COLLECT);
  const { name = "default", registry = register } = options;
  const clients = clientsOf(registry);
  if (clients.has(name))
    throw new ArgumentError("collectMetrics", [
      `there are metrics of a client ${JSON.stringify(name)} already: give another name`,
    ]);
  const entry: Collected = { client };
  clients.set(name, entry);
  const remove = (): void => {
    if (clients.get(name) === entry) clients.delete(name);
    states.unsubscribe();
  };
  // A client that is closed already completes at once.
  const states = client.state$.subscribe({ complete: () => queueMicrotask(remove) });
  return { [Symbol.dispose]: remove };
}

function clientsOf(registry: Registry): Map<string, Collected> {
  const known = collected.get(registry);
  // A registry that was cleared has lost the measures, and keeps its clients.
  if (known !== undefined && MEASURES.every(([name]) => registry.getSingleMetric(metricName(name)) !== undefined))
    return known;
  const clients = known ?? new Map<string, Collected>();
  for (const measure of MEASURES) {
    registry.removeSingleMetric(metricName(measure[0]));
    addMeasure(measure, clients, registry);
  }
  collected.set(registry, clients);
  return clients;
}

function metricName(name: string): string {
  return `zookeeper_client_${name}`;
}

function addMeasure([name, help, value]: Measure, clients: ReadonlyMap<string, Collected>, registry: Registry): void {
  const of = { name: metricName(name), help, labelNames: ["client"], registers: [registry] };
  // The client has the totals: a counter is set to them when it is read.
  const collect = (set: (labels: { readonly client: string }, value: number) => void): void => {
    for (const [name, { client }] of clients) set({ client: name }, value(client));
  };
  if (name.endsWith("_total")) {
    new Counter({
      ...of,
      collect() {
        this.reset();
        collect((labels, total) => this.inc(labels, total));
      },
    });
  } else {
    new Gauge({
      ...of,
      collect() {
        this.reset();
        collect((labels, current) => this.set(labels, current));
      },
    });
  }
}
