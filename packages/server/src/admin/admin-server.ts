import { COMMAND_NAMES, runCommand } from "./admin-commands.ts";
import type { AdminView } from "./admin-view.ts";
import type { CommandAnswer, CommandRequest } from "./commands/command.ts";
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
  const route = ROUTES.get(path);
  if (route === undefined) return undefined;
  if (method !== "GET") return { ...plain(405, `${path} requires GET`), allow: "GET, HEAD" };
  return route(view, request, metrics);
}

/** Whether an orchestrator asks there whether the server lives. */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

type Probe = (view: AdminView, request: HttpRequest) => HttpAnswer;
type Route = (
  view: AdminView,
  request: HttpRequest,
  metrics: () => Promise<HttpAnswer>,
) => HttpAnswer | Promise<HttpAnswer>;

const PROBES: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ["/livez", (view) => healthAnswer("livez", liveChecks(view))],
  ["/readyz", (view) => healthAnswer("readyz", readyChecks(view))],
  ["/startupz", (view) => healthAnswer("startupz", startChecks(view))],
  [
    "/healthz",
    (view, { query }) => shortAnswer("healthz", allChecks(view, query, Date.now() / 1000), query.has("verbose")),
  ],
]);

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ...PROBES,
  ["/metrics", (_view, _request, metrics) => metrics()],
]);

/** The paths that are answered besides those of commands; everyone may ask for them, by GET. */
export const ADMIN_PATHS: readonly string[] = [...ROUTES.keys()];

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
