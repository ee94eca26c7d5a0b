import type { Client } from "@zooid/client";
import { z } from "zod";
import type { Role } from "../access/role.ts";
import type { User } from "../access/user.ts";
import type { EnsembleFacts } from "../facts/ensemble-facts.ts";
import type { HotSpots } from "../facts/hot-spots.ts";
import type { MetricHistory } from "../facts/metric-history.ts";
import type { JsonLimits } from "../http/json-shape.ts";
import type { AdminPorts } from "../members/admin-ports.ts";
import type { RecipeScans } from "../recipes/recipe-scans.ts";

/** The parts that the handlers of all requests share. */
export interface SharedParts {
  readonly facts: EnsembleFacts;
  readonly history: MetricHistory;
  readonly scans: RecipeScans;
  readonly hotSpots: HotSpots;
  /** Aborted when the console stops: for work that several requesters share. */
  readonly stopping: AbortSignal;
  readonly admin: AdminPorts;
}

/** The input of a handler. */
export interface Call<Q, B> extends SharedParts {
  readonly query: Q;
  readonly body: B;
  readonly user: User;
  readonly role: Role;
  /** The version of `If-Match`; undefined without that header. */
  readonly ifMatch: number | undefined;
  /** Aborted when the requester has gone. */
  readonly signal: AbortSignal;
  /** The ZooKeeper session of the user. */
  readonly client: Client;
}

/** The answer of a handler. */
export interface Reply<R> {
  readonly status?: number;
  readonly body: R;
  /** The version of the node, for `If-Match`. */
  readonly version?: number;
}

/** One operation of the API: its place, who may call it, and what goes in and out. */
export interface Route<
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  R extends z.ZodType = z.ZodType,
> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/api/v1`. */
  readonly path: string;
  readonly summary: string;
  readonly role: Role;
  readonly query: Q;
  readonly body?: B;
  /** How it may be built. Default {@link BODY_LIMITS}. */
  readonly bodyLimits?: JsonLimits;
  readonly reply: R;
  /** The status of a success. Default 200. */
  readonly status?: number;
  /** Whether `If-Match` is read. */
  readonly takesVersion?: boolean;
  handle(call: Call<z.infer<Q>, B extends z.ZodType ? z.infer<B> : undefined>): Promise<Reply<z.infer<R>>>;
}

type Place = `${Route["method"]} /${string}`;

/** The parts of a route beside its place and role. */
type Definition<Q extends z.ZodObject, B extends z.ZodType | undefined, R extends z.ZodType> = Omit<
  Route<Q, B, R>,
  "method" | "path" | "role" | "query"
> & {
  /** Default: no parameters. */
  readonly query?: Q;
};

/** The routes of one role: see {@link viewerRoute}. */
function routeFor(role: Role) {
  return <Q extends z.ZodObject, B extends z.ZodType | undefined, R extends z.ZodType>(
    place: Place,
    definition: Definition<Q, B, R>,
  ): Route => {
    const [method, path] = place.split(" ");
    const query = (definition.query ?? z.object({})).strict();
    return { ...definition, method, path, role, query } as unknown as Route;
  };
}

/**
 * A route for each user, at a place such as `GET /node`. Its types are checked here and forgotten:
 * the table calls each route with what its schemas accept. A parameter that the query's schema does
 * not have is refused: it may be a misspelt one.
 */
export const viewerRoute = routeFor("viewer");
/** A {@link viewerRoute}, but for editors and operators only. */
export const editorRoute = routeFor("editor");
/** A {@link viewerRoute}, but for operators only. */
export const operatorRoute = routeFor("operator");
