import type { AdminFacts, HealthCheck, Metrics, Sample, Setting } from "@zooid/doctor";
import { adminFields } from "@zooid/model";
import { adminPage } from "../admin-port.ts";
import { parseProperties } from "../settings/java-properties.ts";

/** The answers of an admin port, and the server that it belongs to. */
export interface FoundAdmin {
  readonly base: URL;
  /** The server's own id; undefined for a server that does not say it. */
  readonly sid: number | undefined;
  readonly clientPort: number | undefined;
  readonly facts: AdminFacts;
}

/**
 * Asks an admin port, one page after another: a server in trouble gets one request at a time.
 *
 * @throws CliError with the reason why there is no answer
 */
export async function askAdminPort(base: URL, signal: AbortSignal): Promise<FoundAdmin> {
  const page = (path: string): ReturnType<typeof adminPage> => adminPage(base, path, signal);
  const fieldsOf = async (command: string): Promise<Readonly<Record<string, unknown>>> =>
    adminFields((await page(`commands/${command}`)).text) ?? {};
  const configuration = await fieldsOf("configuration");
  const start = (await fieldsOf("initial_configuration"))["initial_configuration"];
  const monitor = await fieldsOf("monitor");
  const health = await page("healthz?verbose");
  const metrics = await page("metrics");
  const sid = numberOf(configuration["server_id"]);
  const clientPort = numberOf(configuration["client_port"]);
  const subject = sid === undefined ? `the file of the server at ${base.host}` : `the file of server ${sid}`;
  return {
    base,
    sid,
    clientPort,
    facts: {
      url: base.href.replace(/\/$/, ""),
      checks: checksOf(health.text),
      metrics: new Map([...monitored(monitor), ...(metrics.status === 200 ? parseMetrics(metrics.text) : [])]),
      settings: { subject, settings: typeof start === "string" ? settingsOf(start) : [] },
    },
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** The order of lines is that of the settings, and of two with one key the last one counts. */
function settingsOf(text: string): readonly Setting[] {
  return [...parseProperties(text)].map(([key, value]) => ({ key, value }));
}

/** Lines as Kubernetes' own servers have them: `[+]name ok`, `[-]name failed: reason`. */
export function checksOf(text: string): readonly HealthCheck[] {
  return text.split("\n").flatMap((line) => {
    const [, sign, name, fault] = /^\[([+-])\]([^ ]+) (?:ok|failed)(?:: (.*))?$/.exec(line) ?? [];
    if (name === undefined) return [];
    return [{ name, fault: sign === "+" ? undefined : (fault ?? "it says no more") }];
  });
}

function monitored(fields: Readonly<Record<string, unknown>>): readonly [string, readonly Sample[]][] {
  return Object.entries(fields).flatMap(([name, value]): readonly [string, readonly Sample[]][] =>
    typeof value === "number" ? [[name, [{ labels: {}, value }]]] : [],
  );
}

/** Prometheus' text format; lines of another form are skipped. */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", number = ""] = /^([A-Za-z_:][\w:]*)(?:\{([^}]*)\})? ([^ ]+)/.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || Number.isNaN(value)) continue;
    const samples = metrics.get(name);
    const sample = { labels: labelsOf(labels), value };
    if (samples === undefined) metrics.set(name, [sample]);
    else samples.push(sample);
  }
  return metrics;
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  if (text === "") return {};
  return Object.fromEntries(
    text.split('",').map((label) => {
      const [name = "", value = ""] = label.split('="', 2);
      return [name, value.replace(/"$/, "")];
    }),
  );
}
