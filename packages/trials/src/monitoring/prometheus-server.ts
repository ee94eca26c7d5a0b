import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LoggedProcess, logTailOf } from "@zooid/conformance/internal/servers/logged-process";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { until } from "../faults/ensemble-servers.ts";

export interface PrometheusOptions {
  /** Gets its configuration, data and log. */
  readonly folder: string;
  readonly job: string;
  /** `HOST:PORT` of each server's metrics. */
  readonly targets: readonly string[];
  readonly ruleFile: string;
}

/** A value by the labels of its series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A rule that Prometheus has read. */
export interface Rule {
  readonly name: string;
  readonly query: string;
}

const START_MS = 30_000;

/** A running Prometheus, Debian's package, that scrapes every second. */
export class PrometheusServer implements AsyncDisposable {
  readonly #process: LoggedProcess;
  readonly #url: string;
  readonly #folder: string;

  private constructor(process: LoggedProcess, url: string, folder: string) {
    this.#process = process;
    this.#url = url;
    this.#folder = folder;
  }

  static async start({ folder, job, targets, ruleFile }: PrometheusOptions): Promise<PrometheusServer> {
    if (!existsSync(ruleFile)) throw new Error(`${ruleFile} is not there`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "prometheus.yml");
    // JSON is YAML, too.
    const configuration = {
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: [ruleFile],
      scrape_configs: [{ job_name: job, static_configs: [{ targets }] }],
    };
    writeFileSync(file, JSON.stringify(configuration));
    const [port = 0] = await freePorts(1);
    const address = `127.0.0.1:${port}`;
    const command = ["prometheus", `--config.file=${file}`, `--storage.tsdb.path=${join(folder, "data")}`];
    const process = new LoggedProcess([...command, `--web.listen-address=${address}`, "--log.level=warn"], { folder });
    const server = new PrometheusServer(process, `http://${address}`, folder);
    await until(
      "Prometheus, which .ci/install-tools prometheus installs",
      START_MS,
      () => server.#isReady(),
      () => logTailOf(folder),
    );
    return server;
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = await this.#ask<{ groups: readonly { rules: readonly Rule[] }[] }>("rules", {});
    return groups.flatMap(({ rules }) => rules.map(({ name, query }) => ({ name, query })));
  }

  /** The values of an expression now. */
  async query(query: string): Promise<readonly Sample[]> {
    interface Vector {
      readonly result: readonly { readonly metric: Sample["labels"]; readonly value: readonly [number, string] }[];
    }
    const { result } = await this.#ask<Vector>("query", { query });
    return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  }

  /** How often an expression had a value that is a number, in each second since a time. */
  async countSince(query: string, sinceSeconds: number): Promise<number> {
    interface Matrix {
      readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[];
    }
    const range = { start: `${sinceSeconds}`, end: `${Date.now() / 1000}`, step: "1" };
    const { result } = await this.#ask<Matrix>("query_range", { query, ...range });
    return result.flatMap(({ values }) => values).filter(([, value]) => !Number.isNaN(Number(value))).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end("SIGTERM", START_MS);
  }

  async #isReady(): Promise<boolean> {
    if (!this.#process.isRunning)
      throw new Error(`Prometheus ended: ${this.#process.state}\n${logTailOf(this.#folder)}`);
    try {
      return (await fetch(`${this.#url}/-/ready`)).ok;
    } catch {
      return false;
    }
  }

  /** @throws Error with Prometheus' own words where it refuses, such as for an expression */
  async #ask<T>(path: string, parameters: Readonly<Record<string, string>>): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, error, data } = (await answer.json()) as { status: string; error?: string; data: T };
    if (status !== "success") throw new Error(`${path} ${JSON.stringify(parameters)}: ${error}`);
    return data;
  }
}
