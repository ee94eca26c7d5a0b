import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { type ClientOptions, parseConnectString, pathTransport } from "@zooid/client";
import { LoginThrottle } from "./access/login-throttle.ts";
import { type RoleOptions, RoleTable } from "./access/role.ts";
import { UserClients } from "./access/user-clients.ts";
import { WebSessions } from "./access/web-sessions.ts";
import { LiveChanges } from "./api/live-changes.ts";
import type { EnsembleLink } from "./ensemble-link.ts";
import { EnsembleFacts, type FourLetterWords, wordsByConnection } from "./facts/ensemble-facts.ts";
import { HotSpots } from "./facts/hot-spots.ts";
import { MetricHistory } from "./facts/metric-history.ts";
import type { ApiHandler, ApiParts, ApiTarget } from "./http/api-handler.ts";
import { type PageFile, readPageFiles } from "./http/page-files.ts";
import { problemJson, refuse } from "./http/problem.ts";
import { requestProblem } from "./http/request-checks.ts";
import { AdminPorts, type OwnServer } from "./members/admin-ports.ts";
import { RecipeScans } from "./recipes/recipe-scans.ts";

export interface ConsoleOptions {
  /** The connect string of the ensemble. */
  readonly hosts: string;
  /** Whether only this machine reaches the console's port. */
  readonly isLoopback: boolean;
  /** Host names of the console, beyond loopback; empty: any. Default none. */
  readonly hostNames?: readonly string[];
  /** The name that the page shows. Default: the connect string. */
  readonly name?: string;
  /**
   * Beginning of this ensemble's paths where one port serves several, as `/ensembles/NAME`.
   * Default: none.
   */
  readonly prefix?: string;
  /** All ensembles on this port, for the page's switch. Default: this one. */
  readonly ensembles?: readonly EnsembleLink[];
  readonly version?: string;
  /** Options of every ZooKeeper session: TLS, timeouts. The certificate is that of all users. */
  readonly client?: ClientOptions;
  readonly roles?: RoleOptions;
  /**
   * The URLs of servers' admin ports by the servers' numbers, 0 for a server without an ensemble,
   * for what clients' ports do not offer. Default none.
   */
  readonly adminUrls?: Readonly<Record<string, string>>;
  /**
   * How servers are asked four-letter words. Default: by a connection, with the TLS of `client`.
   */
  readonly words?: FourLetterWords;
  /**
   * The socket in the file system where the server in this process serves reads, in place of
   * `hosts`: a server that follows an Apache ensemble. Every user is a viewer then.
   */
  readonly readPath?: string;
  /** The server in this process, if it is one of the ensemble. Default: none. */
  readonly ownServer?: OwnServer;
  /** Reports a failure that is not the requester's. Default: silent. */
  readonly warn?: (text: string) => void;
}

/** The facts of a request that the server in front knows. */
export interface ConsoleRequest {
  /** The subject of the client's certificate, if there was one. */
  readonly certificateSubject?: string | undefined;
}

const API = "/api/v1";
const PAGE = "/console/";
const FIXED_SECONDS = 31_536_000;
/** Vite writes it beside the built code; the sources stand beside that. */
const PAGE_DIRECTORY: string = fileURLToPath(new URL("../dist/page", import.meta.url));
const WAITING_TIMEOUT_MS = 5_000;

/** No inline script or style, no other host, no frame. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'";

/**
 * The console: a page under `/console/`, and its API under `/api/v1`. It answers requests of any
 * `node:http` server. Requests of other sites and for other host names are refused here.
 */
export class Console implements AsyncDisposable {
  readonly #options: ConsoleOptions;
  readonly #apiPath: string;
  readonly #pagePath: string;
  readonly #clients: UserClients;
  readonly #facts: EnsembleFacts;
  readonly #history = new MetricHistory();
  readonly #hotSpots = new HotSpots();
  readonly #apiParts: ApiParts;
  /** Imported on the first API request at the latest, see {@link load}. */
  #api: Promise<ApiHandler> | undefined;
  readonly #files: ReadonlyMap<string, PageFile>;
  readonly #sampler: NodeJS.Timeout;
  readonly #stop = new AbortController();

  /**
   * Loads the modules of the API, which takes some 100 ms of processor time. Otherwise the first
   * request does: a process that serves others loads them before.
   */
  static async load(): Promise<void> {
    await import("./http/api-handler.ts");
  }

  constructor(options: ConsoleOptions) {
    this.#options = options;
    const { hosts, name = hosts, roles = {}, isLoopback, client = {}, warn, prefix = "", readPath } = options;
    // An invalid list would else fail each request.
    parseConnectString(hosts);
    this.#apiPath = `${prefix}${API}`;
    this.#pagePath = `${prefix}${PAGE}`;
    const { words = wordsByConnection(client.tls) } = options;
    const defaults = { waitingTimeoutMs: WAITING_TIMEOUT_MS, connectWarningMs: Number.POSITIVE_INFINITY };
    const reading = readPath === undefined ? {} : { transport: pathTransport(readPath), readOnly: "allow" as const };
    this.#clients = new UserClients({ hosts, client: { ...defaults, ...client, ...reading } });
    this.#facts = new EnsembleFacts({ name, hosts, words });
    this.#files = readPageFiles(PAGE_DIRECTORY);
    this.#apiParts = {
      roles: new RoleTable(roles, isLoopback, readPath === undefined ? "operator" : "viewer"),
      sessions: new WebSessions(),
      throttle: new LoginThrottle(),
      clients: this.#clients,
      facts: this.#facts,
      history: this.#history,
      scans: new RecipeScans(),
      hotSpots: this.#hotSpots,
      stopping: this.#stop.signal,
      admin: new AdminPorts(options.adminUrls, options.ownServer),
      live: new LiveChanges(),
      version: options.version ?? "",
      prefix,
      ensembles: options.ensembles ?? [{ name, prefix }],
      failed: (error) => warn?.(`a request to the console failed: ${error instanceof Error ? error.stack : error}`),
    };
    this.#sampler = setInterval(() => void this.#sample(), this.#history.intervalMs).unref();
  }

  /**
   * Answers a request, unless its path is another's.
   *
   * @returns whether the path is the console's
   */
  handle(message: IncomingMessage, response: ServerResponse, { certificateSubject }: ConsoleRequest = {}): boolean {
    const { url = "" } = message;
    const end = url.indexOf("?");
    const path = end === -1 ? url : url.slice(0, end);
    const isApi = path === this.#apiPath || path.startsWith(`${this.#apiPath}/`);
    if (!isApi && path !== this.#pagePath.slice(0, -1) && !path.startsWith(this.#pagePath)) return false;
    const { isLoopback, hostNames = [] } = this.#options;
    const problem = requestProblem(message, { isLoopback, hosts: hostNames });
    if (problem !== undefined) {
      plain(response, problem.status, problemJson(problem), "application/problem+json");
      return true;
    }
    if (isApi) {
      const query = new URLSearchParams(end === -1 ? "" : url.slice(end + 1));
      const target = { path: path.slice(this.#apiPath.length), query, certificateSubject };
      void this.#askApi(message, response, target);
      return true;
    }
    this.#page(message, response, path);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sampler);
    this.#stop.abort();
    this.#facts.stop();
    this.#hotSpots.stop();
    await this.#clients[Symbol.asyncDispose]();
  }

  async #askApi(message: IncomingMessage, response: ServerResponse, target: ApiTarget): Promise<void> {
    let api: ApiHandler;
    try {
      this.#api ??= import("./http/api-handler.ts").then(({ ApiHandler }) => new ApiHandler(this.#apiParts));
      api = await this.#api;
    } catch (error) {
      this.#apiParts.failed(error);
      const detail = "its modules may have been replaced by those of another version: restart the server";
      const { problem } = refuse(500, "NOT_LOADED", "The API of the console cannot be loaded", { detail });
      plain(response, problem.status, problemJson(problem), "application/problem+json");
      return;
    }
    await api.handle(message, response, target);
  }

  async #sample(): Promise<void> {
    try {
      this.#history.add(await this.#facts.sample(), Date.now());
    } catch (error) {
      this.#options.warn?.(
        `the console has no figures for its charts: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  #page({ method, headers }: IncomingMessage, response: ServerResponse, path: string): void {
    if (method !== "GET" && method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      plain(response, 405, "the page takes GET\n");
      return;
    }
    if (!path.startsWith(this.#pagePath)) {
      response.setHeader("Location", this.#pagePath);
      plain(response, 302, `the console is at ${this.#pagePath}\n`);
      return;
    }
    const name = path.slice(this.#pagePath.length);
    const file = this.#files.get(name === "" ? "index.html" : name);
    if (file === undefined) {
      const isBuilt = this.#files.size > 0;
      const text = isBuilt ? "there is nothing here\n" : "the console's page is not built: run npm run build\n";
      plain(response, isBuilt ? 404 : 503, text);
      return;
    }
    void sendFile(response, file, { headers, isHead: method === "HEAD" });
  }
}

interface Asked {
  readonly headers: IncomingMessage["headers"];
  readonly isHead: boolean;
}

async function sendFile(response: ServerResponse, file: PageFile, { headers, isHead }: Asked): Promise<void> {
  const encoding = file.encodingFor(String(headers["accept-encoding"] ?? ""));
  const body = encoding === undefined ? file.body : await file.encoded(encoding);
  const isKnown = headers["if-none-match"] === file.etag;
  response.writeHead(isKnown ? 304 : 200, {
    "Content-Type": file.type,
    ...(isKnown ? {} : { "Content-Length": body.length }),
    ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    "Cache-Control": file.isFixed ? `public, max-age=${FIXED_SECONDS}, immutable` : "no-cache",
    "Content-Security-Policy": PAGE_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    ETag: file.etag,
    "Referrer-Policy": "no-referrer",
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  });
  response.end(isHead || isKnown ? undefined : body);
}

function plain(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  });
  response.end(response.req.method === "HEAD" ? undefined : text);
}
