import { COMMAND_NAMES, type CommandAnswer, type CommandRequest, runCommand } from "./admin-commands.ts";
import type { AdminView } from "./admin-view.ts";
import { allChecks, healthAnswer, liveChecks, readyChecks, shortAnswer, startChecks } from "./health.ts";
import { type HttpAnswer, type HttpRequest, type HttpStream, plain } from "./http-port.ts";
import { javaJson } from "./java-json.ts";

const BYTES_TYPE = "application/octet-stream";
const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html; charset=utf-8";

/**
 * Answers of the admin port: Apache's commands, health probes, metrics. Undefined for an unknown
 * path.
 */
export function answerAdmin(
  view: AdminView,
  request: HttpRequest,
  metrics: () => Promise<HttpAnswer>,
): HttpAnswer | undefined | Promise<HttpAnswer> {
  const { path, method } = request;
  const { commandUrl } = view;
  if (path === commandUrl || path === `${commandUrl}/`) return commandList(commandUrl);
  if (path.startsWith(`${commandUrl}/`)) return command(view, request, path.slice(commandUrl.length + 1));
  const probe = PROBES.get(path);
  if (probe === undefined && path !== "/metrics") return undefined;
  if (method !== "GET") return { ...plain(405, `${path} requires GET`), allow: "GET, HEAD" };
  return probe === undefined ? metrics() : probe(view, path.slice(1), request.query);
}

/** Whether an orchestrator asks there whether the server lives. */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

type Probe = (view: AdminView, name: string, query: URLSearchParams) => HttpAnswer;

const PROBES: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ["/livez", (view, name) => healthAnswer(name, liveChecks(view))],
  ["/readyz", (view, name) => healthAnswer(name, readyChecks(view))],
  ["/startupz", (view, name) => healthAnswer(name, startChecks(view))],
  [
    "/healthz",
    (view, name, query) => shortAnswer(name, allChecks(view, query, Date.now() / 1000), query.has("verbose")),
  ],
]);

function commandList(commandUrl: string): HttpAnswer {
  const body = COMMAND_NAMES.map((name) => `<a href="${commandUrl}/${name}">${name}</a>\n<br/>\n`).join("");
  return { status: 200, type: HTML_TYPE, body };
}

/**
 * A path that is no valid command name is not found; nothing is decoded, so no encoding hides a
 * name.
 */
const NAME = /^[\w-]+(\/[\w-]*)?$/;

function command(view: AdminView, request: HttpRequest, name: string): Promise<HttpAnswer> | undefined {
  return NAME.test(name) ? answerCommand(view, { ...request, name }) : undefined;
}

async function answerCommand(view: AdminView, request: CommandRequest): Promise<HttpAnswer> {
  const { status, body, headers = {}, allow } = await runCommand(view, request);
  const head = { status, headers, ...(allow === undefined ? {} : { allow }) };
  if (!isStream(body)) return { ...head, type: JSON_TYPE, body: javaJson(body) };
  return { ...head, type: body.sizeBytes === undefined ? JSON_TYPE : BYTES_TYPE, body };
}

function isStream(body: CommandAnswer["body"]): body is HttpStream {
  return typeof body === "object" && body !== null && Symbol.asyncDispose in body;
}
