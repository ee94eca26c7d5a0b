import { readFileSync } from "node:fs";
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { LATENCY_BOUNDS_MS } from "@zooid/model";
import type { Metric as PromMetric, Registry } from "prom-client";
import type { AdminView } from "./admin-view.ts";
import type { HttpAnswer } from "./http-port.ts";
import type { LabelledBuckets, Metric, Summary } from "./metric.ts";
import { helpOf } from "./metric-help.ts";
import { isCounted, metricsOf } from "./metrics.ts";

type PromClient = typeof import("prom-client");

/** Sampling interval of the event loop's delay, from the first scrape on. */
const LOOP_SAMPLE_MS = 20;
const ADVANCED = [0.5, 0.9, 0.95, 0.99];
const BASIC = [0.5];

/**
 * The metrics for Prometheus: the values of `mntr` under the names of Apache's exporter, which has
 * no prefix, and Node's own. They are read at the scrape; between scrapes no work is done.
 */
export class PrometheusText {
  readonly #view: AdminView;
  readonly #exportJvmInfo: boolean;
  readonly #client: Promise<PromClient> = import("prom-client");
  #library: Library | undefined;

  constructor(view: AdminView, exportJvmInfo: boolean) {
    this.#view = view;
    this.#exportJvmInfo = exportJvmInfo;
  }

  /** The library takes milliseconds to load: that is done before clients are served. */
  async loaded(): Promise<void> {
    await this.#client;
  }

  async answer(): Promise<HttpAnswer> {
    this.#library ??= libraryOf(await this.#client);
    const library = this.#library;
    const { client, runtime } = library;
    // Metrics of a role end with the role, so the list is rebuilt.
    const registry = new client.Registry();
    for (const metric of metricsOf(this.#view)) registry.registerMetric(shown(library, metric));
    registry.registerMetric(buildInfo(client, this.#view));
    if (this.#exportJvmInfo) for (const metric of jvmNames(client)) registry.registerMetric(metric);
    const collected = this.#exportJvmInfo ? await collections(runtime) : "";
    const text = `${await registry.metrics()}\n${await runtime.metrics()}${collected}`;
    // The library's spelling differs from the format's.
    const body = text.replace(/ Nan$/gm, " NaN");
    return { status: 200, type: registry.contentType, body };
  }
}

interface Library {
  readonly client: PromClient;
  /** Node's own metrics. */
  readonly runtime: Registry;
  readonly CountedSummary: ReturnType<typeof countedSummary>;
  readonly CountedHistogram: ReturnType<typeof countedHistogram>;
}

function libraryOf(client: PromClient): Library {
  const runtime = new client.Registry();
  client.collectDefaultMetrics({ register: runtime, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  return { client, runtime, CountedSummary: countedSummary(client), CountedHistogram: countedHistogram(client) };
}

function shown({ client, CountedSummary, CountedHistogram }: Library, metric: Metric): PromMetric {
  const { name } = metric;
  const options = { name, help: helpOf(name, isCounted(name)) ?? name, registers: [] };
  switch (metric.kind) {
    case "gauge": {
      const gauge = new client.Gauge(options);
      gauge.set(metric.value);
      return gauge;
    }
    case "counter": {
      const counter = new client.Counter(options);
      counter.inc(metric.value);
      return counter;
    }
    case "gauge set": {
      const gauge = new client.Gauge({ ...options, labelNames: ["key"] });
      for (const [key, value] of metric.values) gauge.set({ key }, value);
      return gauge;
    }
    case "counter set": {
      const counter = new client.Counter({ ...options, labelNames: ["key"] });
      for (const [key, value] of metric.values) counter.inc({ key }, value);
      return counter;
    }
    case "summary":
      return new CountedSummary(name, metric.summary, BASIC);
    case "advanced summary":
      return new CountedSummary(name, metric.summary, ADVANCED);
    case "histogram":
      return new CountedHistogram(name, metric.values);
  }
}

/**
 * A summary of values counted elsewhere: the library's own summary would have to observe each
 * value.
 */
function countedSummary(client: PromClient) {
  return class extends client.Summary {
    readonly #name: string;
    readonly #of: Summary;
    readonly #shares: readonly number[];

    constructor(name: string, of: Summary, shares: readonly number[]) {
      super({ name, help: helpOf(name, isCounted(name)) ?? name, registers: [] });
      this.#name = name;
      this.#of = of;
      this.#shares = shares;
    }

    override async get(): ReturnType<InstanceType<PromClient["Summary"]>["get"]> {
      const { count, sum } = this.#of;
      const values = [
        ...this.#shares.map((quantile) => ({ labels: { quantile }, value: this.#quantile(quantile) })),
        { metricName: `${this.#name}_sum`, labels: {}, value: sum },
        { metricName: `${this.#name}_count`, labels: {}, value: count },
      ];
      return { ...(await super.get()), values };
    }

    #quantile(share: number): number {
      return this.#of.count === 0 ? Number.NaN : (this.#of.quantile?.(share) ?? Number.NaN);
    }
  };
}

/** A histogram of durations counted elsewhere. */
function countedHistogram(client: PromClient) {
  return class extends client.Histogram {
    readonly #name: string;
    readonly #values: readonly LabelledBuckets[];

    constructor(name: string, values: readonly LabelledBuckets[]) {
      super({ name, help: helpOf(name, isCounted(name)) ?? name, registers: [] });
      this.#name = name;
      this.#values = values;
    }

    /** The library takes the values of a histogram from here, which its types leave out. */
    async getForPromString() {
      return {
        name: this.#name,
        help: helpOf(this.#name, false) ?? this.#name,
        type: "histogram",
        aggregator: "sum" as const,
        values: this.#values.flatMap((one) => samplesOf(this.#name, one)),
      };
    }
  };
}

function samplesOf(name: string, { labels, buckets }: LabelledBuckets): readonly object[] {
  const counts = buckets.cumulative();
  const bounds = [...LATENCY_BOUNDS_MS.map((ms) => ms / 1000), "+Inf"];
  return [
    ...bounds.map((le, i) => ({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: counts[i] ?? 0 })),
    { metricName: `${name}_sum`, labels, value: buckets.sumMs / 1000 },
    { metricName: `${name}_count`, labels, value: counts.at(-1) ?? 0 },
  ];
}

function buildInfo({ Gauge }: PromClient, { version }: AdminView): PromMetric {
  const help = "Version of the server and of Node.js; the value is always 1";
  const gauge = new Gauge({ name: "zooid_build_info", help, labelNames: ["version", "node"], registers: [] });
  gauge.set({ version, node: process.versions.node }, 1);
  return gauge;
}

/** Metrics of a Java machine that dashboards of Apache's server use, from Node's counterparts. */
function jvmNames({ Gauge }: PromClient): readonly PromMetric[] {
  const { used_heap_size, heap_size_limit, total_heap_size } = getHeapStatistics();
  const { external } = process.memoryUsage();
  const memory = (name: string, help: string, values: Readonly<Record<string, number>>): PromMetric => {
    const gauge = new Gauge({ name, help, labelNames: ["area"], registers: [] });
    for (const [area, value] of Object.entries(values)) gauge.set({ area }, value);
    return gauge;
  };
  const pools = new Gauge({
    name: "jvm_memory_pool_bytes_used",
    help: "Spaces of Node's heap: bytes in use",
    labelNames: ["pool"],
    registers: [],
  });
  for (const { space_name, space_used_size } of getHeapSpaceStatistics())
    pools.set({ pool: space_name }, space_used_size);
  const threads = new Gauge({ name: "jvm_threads_current", help: "Threads of the Node process", registers: [] });
  threads.set(threadCount());
  const deadlocked = new Gauge({
    name: "jvm_threads_deadlocked",
    help: "Always 0: threads of Node have no locks that could wait for each other",
    registers: [],
  });
  deadlocked.set(0);
  return [
    memory("jvm_memory_bytes_used", "Heap of Node, and memory outside of it, that is in use", {
      heap: used_heap_size,
      nonheap: external,
    }),
    memory("jvm_memory_bytes_committed", "Heap of Node that is taken from the system", { heap: total_heap_size }),
    memory("jvm_memory_bytes_max", "Heap that Node may use", { heap: heap_size_limit }),
    pools,
    threads,
    deadlocked,
  ];
}

/**
 * Pauses of the collector under Java's name: how many there were, and how long they took together,
 * in seconds.
 */
async function collections(runtime: Registry): Promise<string> {
  const name = "jvm_gc_collection_seconds";
  const measured = await runtime.getSingleMetric("nodejs_gc_duration_seconds")?.get();
  const lines = (measured?.values ?? []).flatMap((value) => {
    const suffix = "metricName" in value ? /_(?:sum|count)$/.exec(String(value.metricName))?.[0] : undefined;
    return suffix === undefined ? [] : [`${name}${suffix}{gc="${value.labels["kind"]}"} ${value.value}`];
  });
  // Before the first collection there is a series too, so that rates begin at 0.
  const shown = lines.length > 0 ? lines : [`${name}_sum{gc="minor"} 0`, `${name}_count{gc="minor"} 0`];
  return [`# HELP ${name} Pauses of Node's garbage collector`, `# TYPE ${name} summary`, ...shown, ""].join("\n");
}

/** -1 where the system does not report it. */
function threadCount(): number {
  try {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? -1);
  } catch {
    return -1;
  }
}
