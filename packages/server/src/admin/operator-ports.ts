import { hostPort } from "@zooid/model";
import { answerAdmin } from "./admin-server.ts";
import type { AdminView } from "./admin-view.ts";
import type { AdminConfig, MetricsConfig } from "./http-options.ts";
import { HttpPort, plain } from "./http-port.ts";
import { PrometheusText } from "./prometheus.ts";

export interface OperatorPortsOptions {
  readonly view: AdminView;
  readonly admin: AdminConfig | undefined;
  readonly metrics: MetricsConfig | undefined;
  warn(text: string): void;
}

/**
 * The HTTP ports for operators. Clients are served whether or not these can be bound: a port that is taken is a line in the log
 * that names the setting, and nothing more.
 */
export class OperatorPorts implements AsyncDisposable {
  readonly #options: OperatorPortsOptions;
  #admin: HttpPort | undefined;
  #metrics: HttpPort | undefined;

  constructor(options: OperatorPortsOptions) {
    this.#options = options;
  }

  async listen(): Promise<void> {
    const { view, admin, metrics } = this.#options;
    const prometheus = new PrometheusText(view, metrics?.exportJvmInfo ?? true);
    const failed = (error: unknown): void => {
      this.#options.warn(`a request of an operator could not be answered: ${describe(error)}`);
    };
    if (admin !== undefined) {
      const port = new HttpPort({
        ...{ port: admin.port, address: admin.address, idleTimeoutMs: admin.idleTimeoutMs, tls: admin.tls, failed },
        answer: (request) => answerAdmin(view, request, () => prometheus.answer()),
      });
      const hint = "admin.serverPort names another, admin.enableServer=false asks for none";
      if (await this.#bind(port, `the admin port ${hostPort(admin.address, admin.port)}`, hint)) this.#admin = port;
    }
    if (metrics !== undefined) {
      const port = new HttpPort({
        ...{ port: metrics.port, address: metrics.address, idleTimeoutMs: METRICS_IDLE_MS, failed },
        answer: ({ path, method }) => {
          if (path !== "/metrics") return undefined;
          return method === "GET"
            ? prometheus.answer()
            : { ...plain(405, "/metrics is asked by GET"), allow: "GET, HEAD" };
        },
      });
      const hint = "metricsProvider.httpPort names another";
      if (await this.#bind(port, `the metrics port ${hostPort(metrics.address, metrics.port)}`, hint))
        this.#metrics = port;
    }
  }

  /** The bound admin port; undefined where there is none. */
  get adminPort(): number | undefined {
    return this.#admin?.port;
  }

  /** The bound port for metrics alone; undefined where there is none. */
  get metricsPort(): number | undefined {
    return this.#metrics?.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#admin?.[Symbol.asyncDispose](), this.#metrics?.[Symbol.asyncDispose]()]);
  }

  async #bind(port: HttpPort, name: string, hint: string): Promise<boolean> {
    try {
      await port.listen();
    } catch (error) {
      this.#options.warn(`${name} cannot be opened (${describe(error)}); clients are served without it; ${hint}`);
      return false;
    }
    return true;
  }
}

const METRICS_IDLE_MS = 60_000;

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
