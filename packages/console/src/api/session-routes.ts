/**
 * The requester's session, and the routes that are answered before a handler: they set cookies, or
 * stream.
 */
import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { type Route, viewerRoute } from "./route.ts";
import { login, path, session } from "./shapes.ts";

const answeredElsewhere = (): Promise<never> => Promise.reject(refuse(500, "DEFECT", "This route has another handler"));

export const SESSION = viewerRoute("GET /session", {
  summary: "The user, the role, and what the console can do",
  reply: session,
  handle: answeredElsewhere,
});

export const LOGIN = viewerRoute("POST /login", {
  summary: "Logs a browser in, by a ZooKeeper digest identity",
  body: login,
  reply: session,
  handle: answeredElsewhere,
});

export const LOGOUT = viewerRoute("POST /logout", {
  summary: "Logs a browser out",
  reply: session,
  handle: answeredElsewhere,
});

export const EVENTS = viewerRoute("GET /events", {
  summary: "Changes below a node, as server-sent events",
  query: z.object({ path: path.default("/") }),
  reply: z.string(),
  handle: answeredElsewhere,
});

export const OPENAPI = viewerRoute("GET /openapi.json", {
  summary: "This document",
  reply: z.object({ openapi: z.string() }).loose(),
  handle: answeredElsewhere,
});

export const SESSION_ROUTES: readonly Route[] = [SESSION, LOGIN, LOGOUT, EVENTS, OPENAPI];
