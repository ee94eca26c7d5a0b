import { hostPort } from "@zooid/model";
import type { ReadCertificates } from "../clients/client-ports.ts";
import type { LogFields } from "../operators/log-fields.ts";
import { notAfterSeconds, ownCertificate } from "../tls/own-certificate.ts";
import { answerAdmin, isProbe } from "./admin-server.ts";
import type { AdminView } from "./admin-view.ts";
import { type AdminConfig, type AdminOptions, type MetricsConfig, parseAdminTls } from "./http-options.ts";
import { type AdminApplication, HttpPort, plain } from "./http-port.ts";
import { PrometheusText } from "./prometheus.ts";

export interface OperatorPortsOptions {
  readonly view: AdminView;
  readonly admin: AdminConfig | undefined;
  readonly metrics: MetricsConfig | undefined;
  /** Answers further paths of the admin port. */
  readonly application: AdminApplication | undefined;
  warn(text: string, fields: LogFields): void;
}

/**
 * The HTTP ports for operators. Clients are served whether or not these ports can be bound: if one
 * is taken, one log line names the setting.
 */
export class OperatorPorts implements AsyncDisposable {
  readonly #options: OperatorPortsOptions;
  #admin: HttpPort | undefined;
  /** The end of validity of the certificate that clients of the admin port see. */
  #certificateNotAfter: number | undefined;
  readonly reloads: { done: number; failed: number } = { done: 0, failed: 0 };
  #metrics: HttpPort | undefined;

  constructor(options: OperatorPortsOptions) {
    this.#options = options;
  }

  async listen(): Promise<void> {
    const { view, admin, metrics, application } = this.#options;
    if (admin === undefined && metrics === undefined) return;
    const prometheus = new PrometheusText(view, metrics?.exportJvmInfo ?? true);
    await prometheus.loaded();
    const failed = (error: unknown): void => {
      this.#options.warn(`a request to an operator port failed: ${describe(error)}`, {
        event: "operator-request-failed",
      });
    };
    if (admin !== undefined) {
      const port = new HttpPort({
        port: admin.port,
        address: admin.address,
        idleTimeoutMs: admin.idleTimeoutMs,
        tls: admin.tls,
        failed,
        servesBoth: admin.servesBoth,
        application,
        isProbe,
        answer: (request) => answerAdmin(view, request, () => prometheus.answer()),
      });
      const hint = "set another port by admin.serverPort, or disable it by admin.enableServer=false";
      if (await this.#bind(port, `the admin port ${hostPort(admin.address, admin.port)}`, hint)) this.#admin = port;
      if (admin.tls !== undefined) this.#certificateNotAfter = notAfterSeconds(ownCertificate(admin.tls.context));
    }
    if (metrics !== undefined) {
      const port = new HttpPort({
        port: metrics.port,
        address: metrics.address,
        idleTimeoutMs: METRICS_IDLE_MS,
        failed,
        answer: ({ path, method }) => {
          if (path !== "/metrics") return undefined;
          return method === "GET"
            ? prometheus.answer()
            : { ...plain(405, "/metrics requires GET"), allow: "GET, HEAD" };
        },
      });
      const hint = "set another port by metricsProvider.httpPort";
      if (await this.#bind(port, `the metrics port ${hostPort(metrics.address, metrics.port)}`, hint))
        this.#metrics = port;
    }
  }

  /** The bound admin port; undefined if there is none. */
  get adminPort(): number | undefined {
    return this.#admin?.port;
  }

  /** The bound metrics port; undefined if there is none. */
  get metricsPort(): number | undefined {
    return this.#metrics?.port;
  }

  /** Whether the admin port is open and has TLS. */
  get hasTls(): boolean {
    return this.#admin !== undefined && this.#options.admin?.tls !== undefined;
  }

  /** In seconds since 1970; undefined where it is not known. */
  get certificateNotAfter(): number | undefined {
    return this.#certificateNotAfter;
  }

  /**
   * Reads the certificates of the admin port again without putting them into force: a list of
   * problems where they are invalid.
   *
   * @param options name where they are now; default: where they were at the start
   */
  readCertificates(options?: AdminOptions): ReadCertificates | readonly string[] {
    const { tls } = this.#options.admin ?? {};
    if (!this.hasTls || tls === undefined) return { apply: () => {} };
    const problems: string[] = [];
    const now = parseAdminTls(options ?? {}, problems, []);
    const context = problems.length > 0 ? problems : (now?.context ?? tls.reload());
    if ("length" in context) {
      this.reloads.failed++;
      return context;
    }
    return {
      apply: () => {
        this.#admin?.setSecureContext(context);
        this.#certificateNotAfter = notAfterSeconds(ownCertificate(context));
        this.reloads.done++;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#admin?.[Symbol.asyncDispose](), this.#metrics?.[Symbol.asyncDispose]()]);
  }

  async #bind(port: HttpPort, name: string, hint: string): Promise<boolean> {
    try {
      await port.listen();
    } catch (error) {
      this.#options.warn(`${name} cannot be opened (${describe(error)}); clients are served without it; ${hint}`, {
        event: "operator-port-closed",
      });
      return false;
    }
    return true;
  }
}

const METRICS_IDLE_MS = 60_000;

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
