/**
 * The requester's session, and the routes that are answered before a handler: they set cookies, or
 * stream.
 */
import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { type Route, route } from "./route.ts";
import { login, path, session } from "./shapes.ts";

const nothing = z.object({});

const answeredElsewhere = (): Promise<never> => Promise.reject(refuse(500, "DEFECT", "This route has another handler"));

export const SESSION = route({
  ...{ method: "GET", path: "/session", role: "viewer", summary: "The user, the role, and what the console can do" },
  query: nothing,
  reply: session,
  handle: answeredElsewhere,
});

export const LOGIN = route({
  ...{ method: "POST", path: "/login", role: "viewer", summary: "Logs a browser in, by a ZooKeeper digest identity" },
  query: nothing,
  body: login,
  reply: session,
  handle: answeredElsewhere,
});

export const LOGOUT = route({
  ...{ method: "POST", path: "/logout", role: "viewer", summary: "Logs a browser out" },
  query: nothing,
  reply: session,
  handle: answeredElsewhere,
});

export const EVENTS = route({
  ...{ method: "GET", path: "/events", role: "viewer", summary: "Changes below a node, as server-sent events" },
  query: z.object({ path: path.default("/") }),
  reply: z.string(),
  handle: answeredElsewhere,
});

export const OPENAPI = route({
  ...{ method: "GET", path: "/openapi.json", role: "viewer", summary: "This document" },
  query: nothing,
  reply: z.object({ openapi: z.string() }).loose(),
  handle: answeredElsewhere,
});

export const SESSION_ROUTES: readonly Route[] = [SESSION, LOGIN, LOGOUT, EVENTS, OPENAPI];
