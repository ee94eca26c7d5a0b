/** The OpenAPI document, from the table of routes. */
import { z } from "zod";
import type { Route } from "./route.ts";
import { problem } from "./shapes.ts";

const PROBLEM = { "application/problem+json": { schema: schemaOf(problem, "output") } };

export interface DocumentOptions {
  readonly version: string;
  /** Before `/api/v1`. */
  readonly prefix: string;
}

/** The part that depends on the routes alone: it takes milliseconds to make. */
export function openApiPaths(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    methods[route.method.toLowerCase()] = operation(route);
    paths[route.path] = methods;
  }
  return paths;
}

export function documentOf(paths: object, { version, prefix }: DocumentOptions): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Zooid console",
      version,
      description:
        "Nodes, access lists and servers of a ZooKeeper ensemble. 64-bit numbers are strings. Errors are application/problem+json with ZooKeeper's code. " +
        "Changes from a browser need X-CSRF-Token; other programs send Authorization: digest user:password.",
    },
    servers: [{ url: `${prefix}/api/v1` }],
    components: {
      securitySchemes: {
        cookie: { type: "apiKey", in: "cookie", name: "zooid-console-PORT" },
        digest: { type: "http", scheme: "digest", description: "digest user:password" },
        basic: { type: "http", scheme: "basic" },
      },
    },
    security: [{}, { cookie: [] }, { digest: [] }, { basic: [] }],
    paths,
  };
}

function operation({ method, path, summary, role, query, body, reply, status = 200, takesVersion }: Route): object {
  const isChange = method !== "GET";
  const headers = [
    ...(takesVersion === true ? [header("If-Match", "The version that is replaced, in quotes; * for any", true)] : []),
    ...(isChange ? [header("Idempotency-Key", "Repeated requests with one key are carried out once")] : []),
    ...(isChange ? [header("X-CSRF-Token", "csrfToken of /session; browsers send it with each change")] : []),
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/\/(\w)/g, (_all, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `For the role ${role}.`,
    parameters: [...queryParameters(query), ...headers],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } } }),
    responses: {
      [status]: { description: "Done", content: { "application/json": { schema: schemaOf(reply, "output") } } },
      default: { description: "Refused or failed", content: PROBLEM },
    },
  };
}

function queryParameters(query: z.ZodObject): object[] {
  return Object.entries(query.shape).map(([name, schema]) => ({
    name,
    in: "query",
    required: !(schema as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(schema as z.ZodType, "input"),
  }));
}

function header(name: string, description: string, required = false): object {
  return { name, in: "header", required, description, schema: { type: "string" } };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema: _, ...found } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return found;
}
