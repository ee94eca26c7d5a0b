import type { IncomingMessage, ServerResponse } from "node:http";
import { limitSignal } from "@zooid/client";
import {
  ArgumentError,
  assertNever,
  checkArgument,
  checkFit,
  checkPath,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
} from "@zooid/model";
import { isRecipeError } from "../recipe-error.ts";
import { reportError } from "../report-error.ts";
import { instanceJson, parseInstance } from "./discovery-json.ts";
import { chosenBy, type ProviderStrategy, strategies, strategyRule } from "./provider-strategy.ts";
import type { ServiceDiscovery } from "./service-discovery.ts";

/** Options of the HTTP interface of a discovery. */
export interface DiscoveryHandlerOptions<T = unknown> {
  /** Prefix of `/v1/service`, such as `/discovery`. Default: empty. */
  readonly basePath?: string;
  /**
   * Maximum size of a request's body in bytes; ZooKeeper accepts less than a MiB. Default: 64 KiB.
   */
  readonly bodyBytesMax?: number;
  /** Time limit of ZooKeeper's answer in milliseconds; then 503. Default: 10 s. */
  readonly timeoutMs?: number;
  /** Strategy of `/v1/anyservice`, for all services. Default: round robin. */
  readonly strategy?: ProviderStrategy<T>;
  /** Whether to serve a request; called first. Default: all. */
  readonly authorise?: (request: IncomingMessage) => boolean | Promise<boolean>;
  /** Called with errors that are not the request's fault. Default: none. */
  readonly onError?: (error: unknown) => void;
}

const DISCOVERY: Rule = {
  expected: "a ServiceDiscovery",
  accepts: (value) => rules.record.accepts(value) && typeof Reflect.get(value as object, "instances") === "function",
};
const SHAPE: Shape<DiscoveryHandlerOptions> = shape<DiscoveryHandlerOptions>({
  basePath: { expected: "an absolute path, or empty", accepts: (value) => value === "" || rules.path.accepts(value) },
  bodyBytesMax: wholeNumberRule(1),
  timeoutMs: rules.duration,
  strategy: strategyRule,
  authorise: rules.callable,
  onError: rules.callable,
});

/**
 * A discovery over HTTP: the resources of Curator's discovery server, with the same paths, JSON and
 * status codes, for `createServer` of node:http and frameworks that accept its handlers.
 *
 * ```
 * GET    <basePath>/v1/service              200 [{"name":…}, …], by name
 * GET    <basePath>/v1/service/<name>       200 [instance, …]
 * GET    <basePath>/v1/service/<name>/<id>  200 instance, or 404
 * PUT    <basePath>/v1/service/<name>/<id>  201; STATIC or PERMANENT instances only
 * DELETE <basePath>/v1/service/<name>/<id>  200, also where there was none
 * GET    <basePath>/v1/anyservice/<name>    200 instance, or 404; `?key=` for strategies that choose by one
 * ```
 *
 * Refusals are answered with `{"error":…}`. The handler is stateless, so several may run side by
 * side; {@link ServiceDiscovery.cleanUp} removes STATIC instances that are not put again. It reads
 * bodies itself: no body parser may come before it.
 *
 * @throws ArgumentError for invalid options
 */
export function discoveryHandler<T>(
  discovery: ServiceDiscovery<T>,
  options: DiscoveryHandlerOptions<T> = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  checkArgument("discoveryHandler", "the discovery", discovery, DISCOVERY);
  checkFit("discoveryHandler", options, SHAPE);
  const { basePath = "", bodyBytesMax = 64 * 1024, timeoutMs = 10_000, strategy = strategies.roundRobin() } = options;
  const { authorise = () => true, onError } = options;
  const prefix = basePath === "/" ? "" : basePath;

  return (request, response) => {
    void serve(request, response);
  };

  /** Never rejects: there is no handler for it. */
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A connection that breaks ends the reading of the body, and needs no answer.
    response.on("error", () => {});
    let answer: HttpAnswer;
    try {
      answer = await answerTo(request);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      reportError(onError, error);
      answer = isPassing(error)
        ? refusal(503, "ZooKeeper does not answer at present; the same may be asked again", { "Retry-After": "1" })
        : refusal(500, "this could not be answered");
    }
    send(response, answer);
    // The rest of the body is discarded, so that the connection can be reused.
    request.resume();
  }

  async function answerTo(request: IncomingMessage): Promise<HttpAnswer> {
    if (!(await authorise(request))) return refusal(403, "this is not allowed");
    const resource = resourceOf(request.url ?? "", prefix);
    if (resource.kind === "refused") return resource.answer;
    const { method = "" } = request;
    const allowed = resource.kind === "instance" ? ["GET", "HEAD", "PUT", "DELETE"] : ["GET", "HEAD"];
    if (!allowed.includes(method)) {
      const allow = allowed.join(", ");
      return refusal(405, `the method: one of ${allow} was expected, found ${method}`, { Allow: allow });
    }
    if (resource.kind === "instance" && method === "PUT") return register(request, resource);
    const signal = limitSignal(timeoutMs);
    switch (resource.kind) {
      case "names":
        return json((await discovery.names({ signal })).map((name) => ({ name })));
      case "service":
        return json((await discovery.instances(resource.name, { signal })).map(instanceJson));
      case "any": {
        const instances = (await discovery.instances(resource.name, { signal })).filter(({ enabled }) => enabled);
        const chosen = chosenBy(strategy, instances, resource.key);
        return chosen === undefined
          ? refusal(404, `${resource.name} has no available instance`)
          : json(instanceJson(chosen));
      }
      case "instance": {
        const { name, id } = resource;
        if (method === "DELETE") {
          await discovery.remove(name, id, { signal });
          return { status: 200 };
        }
        const instance = await discovery.instance(name, id, { signal });
        return instance === null ? refusal(404, `${name} has no instance ${id}`) : json(instanceJson(instance));
      }
      default:
        return assertNever(resource);
    }
  }

  async function register(
    request: IncomingMessage,
    at: { readonly name: string; readonly id: string },
  ): Promise<HttpAnswer> {
    const type = request.headers["content-type"];
    if (!/^application\/json\s*(;|$)/i.test(type ?? ""))
      return refusal(415, `the content type: application/json was expected, found ${type ?? "none"}`);
    const body = await bodyOf(request, bodyBytesMax);
    if (body === undefined) return refusal(413, `the body: at most ${bodyBytesMax} bytes were expected`);
    const parsed = parseInstance<T>(body, at, Date.now());
    if (parsed.kind === "faults") return refusal(400, parsed.faults.join("; "));
    try {
      await discovery.put(parsed.instance, { signal: limitSignal(timeoutMs) });
    } catch (error) {
      // What the format of this discovery cannot say.
      if (error instanceof ArgumentError) return refusal(400, error.message);
      throw error;
    }
    return { status: 201 };
  }
}

interface HttpAnswer {
  readonly status: number;
  /** JSON as text. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Resource =
  | { readonly kind: "names" }
  | { readonly kind: "service"; readonly name: string }
  | { readonly kind: "instance"; readonly name: string; readonly id: string }
  | { readonly kind: "any"; readonly name: string; readonly key: string };

/** Segments are split before they are decoded, so that no name escapes its place. */
function resourceOf(url: string, prefix: string): Resource | { readonly kind: "refused"; readonly answer: HttpAnswer } {
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const unknown = { kind: "refused", answer: refusal(404, "there is no such resource") } as const;
  if (!path.startsWith(`${prefix}/v1/`)) return unknown;
  const [kind, ...encoded] = path.slice(`${prefix}/v1/`.length).replace(/\/$/, "").split("/");
  const names: string[] = [];
  for (const segment of encoded) {
    const name = nameOf(segment);
    if (name === undefined)
      return { kind: "refused", answer: refusal(400, `the path: a name was expected, found ${segment || "nothing"}`) };
    names.push(name);
  }
  const [name, id] = names;
  if (kind === "service" && name === undefined) return { kind: "names" };
  if (name === undefined || names.length > 2) return unknown;
  if (kind === "service") return id === undefined ? { kind: "service", name } : { kind: "instance", name, id };
  if (kind !== "anyservice" || id !== undefined) return unknown;
  return { kind: "any", name, key: new URLSearchParams(query).get("key") ?? "" };
}

/** The name of a znode; undefined if it is invalid. */
function nameOf(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    if (name === "" || name.includes("/")) return undefined;
    checkPath(`/${name}`);
    return name;
  } catch {
    return undefined;
  }
}

/** Undefined if it is too long; the declared length is not waited for. */
function bodyOf(request: IncomingMessage, bytesMax: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    request.on("data", (chunk: Uint8Array) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= bytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(undefined);
      }
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
    request.on("close", () => reject(new Error("the connection broke within a body")));
    if (request.readableEnded) resolve(new Uint8Array());
  });
}

/**
 * Conditions that may pass: no connection, no session, a timeout, or a discovery that is closed, as
 * its process ends.
 */
function isPassing(error: unknown): boolean {
  if (isRecipeError(error, "RECIPE_CLOSED")) return true;
  return error instanceof Error && ["ZkConnectionError", "ZkSessionError", "TimeoutError"].includes(error.name);
}

function json(value: unknown): HttpAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, body: JSON.stringify({ error }), headers };
}

function send(response: ServerResponse, { status, body, headers = {} }: HttpAnswer): void {
  response.writeHead(status, {
    ...headers,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(body === undefined ? {} : { "Content-Type": "application/json; charset=utf-8" }),
    "Content-Length": Buffer.byteLength(body ?? ""),
  });
  response.end(body);
}
