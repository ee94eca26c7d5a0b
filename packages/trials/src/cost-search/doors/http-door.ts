import { connect } from "node:net";
import { CreateMode, OpCode } from "@zooid/model";
import { create, multiBody, read } from "@zooid/wire/testing/raw-client";
import { chunks, range } from "../../attacks/attack.ts";
import { Attacker } from "../../attacks/attacker.ts";
import { type Door, type DoorShape, sizeOf, wordOf } from "./door.ts";
import type { MeasuredProcess } from "./measured-process.ts";

const WATCHES = 200_000;
const EPHEMERALS = 20_000;
const COMMANDS = ["watches", "watches_by_path", "watch_summary", "connections", "dump", "stats", "monitor", "hash"];
const ROUTES = [
  ...COMMANDS.map((name) => `/commands/${name}`),
  ...["/commands/configuration", "/commands/environment", "/commands/voting_view", "/commands/snapshot"],
  ...[
    "/livez",
    "/readyz",
    "/metrics",
    "/",
    "/api/v1/login",
    "/api/v1/session",
    "/api/v1/sessions",
    "/api/v1/hot-spots",
  ],
  ...["/api/v1/words", "/api/v1/node", "/api/v1/children", "/api/v1/members", "/api/v1/openapi.json", "/none"],
];

/**
 * HTTP requests to the admin port of a server with much state: routes, queries, headers, and bodies
 * of JSON of all forms.
 */
export async function httpDoor(server: MeasuredProcess): Promise<Door> {
  const owners = await fill(server.port);
  return {
    name: "http",
    limitMs: 25,
    fields: {
      method: { words: ["GET", "POST", "PUT", "HEAD", "DELETE"] },
      route: { words: ROUTES },
      query: { words: ["", "word=wchp", "word=dump", "path=/", "path=/watched", "escapes", "fields"] },
      queryBytes: { sizes: [0, 100, 1000, 10_000, 16_000] },
      headers: { sizes: [0, 10, 90, 1000] },
      authorization: { words: ["", "digest", "Basic", "Negotiate", "cookie"] },
      body: { words: ["", "arrays", "objects", "values", "text", "escapes", "numbers", "broken"] },
      bodyBytes: { sizes: [0, 500, 1024, 10_000, 100_000, 2_000_000] },
    },
    seeds: [
      ...ROUTES.map((route): DoorShape => ({ method: "GET", route })),
      { method: "GET", route: "/api/v1/words", query: "word=wchp" },
      { method: "POST", route: "/api/v1/login", body: "arrays", bodyBytes: 2_000_000 },
      { method: "POST", route: "/api/v1/login", body: "values", bodyBytes: 1000 },
      { method: "POST", route: "/api/v1/login", body: "arrays", bodyBytes: 1000 },
      { method: "POST", route: "/api/v1/node", body: "objects", bodyBytes: 2_000_000, authorization: "digest" },
      { method: "GET", route: "/metrics", headers: 1000 },
      { method: "GET", route: "/", query: "escapes", queryBytes: 16_000 },
    ],
    async send(shape) {
      const bytes = requestOf(shape);
      const socket = connect({ port: server.adminPort, host: "127.0.0.1" });
      socket.on("error", () => socket.destroy());
      socket.resume();
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.end(bytes);
      await closed;
      for (const owner of owners) if (!owner.isClosed) await owner.ask(OpCode.PING);
      return { bytes: bytes.length };
    },
    async [Symbol.asyncDispose]() {
      for (const owner of owners) await owner[Symbol.asyncDispose]();
    },
  };
}

async function fill(port: number): Promise<readonly Attacker[]> {
  const owners = await Promise.all(range(4, () => Attacker.open({ port, timeoutMs: 40_000 })));
  for (const [i, owner] of owners.entries()) {
    const paths = range(EPHEMERALS / owners.length, (n) => `/e-${i}-${n}`);
    for (const group of chunks(paths, 1000)) {
      const parts = group.map((path) => [OpCode.CREATE, create(path, "", CreateMode.EPHEMERAL)] as const);
      await owner.ask(OpCode.MULTI, multiBody(...parts));
    }
    const watches = range(WATCHES / owners.length, (n) => owner.frame(OpCode.EXISTS, read(`/watched/${i}/${n}`, true)));
    await owner.askAll(watches);
  }
  return owners;
}

function requestOf(shape: DoorShape): Buffer {
  const body = bodyOf(wordOf(shape, "body"), sizeOf(shape, "bodyBytes"));
  const query = queryOf(wordOf(shape, "query"), sizeOf(shape, "queryBytes"));
  const lines = [
    `${wordOf(shape, "method") || "GET"} ${wordOf(shape, "route") || "/"}${query} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...range(sizeOf(shape, "headers"), (i) => `X-H${i}: v`),
    ...authorizationOf(wordOf(shape, "authorization")),
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

function queryOf(kind: string, bytes: number): string {
  if (kind === "escapes") return `?a=${"%2f".repeat(Math.floor(bytes / 3))}`;
  if (kind === "fields") return `?${"a=b&".repeat(Math.floor(bytes / 4))}`;
  const padding = bytes === 0 ? "" : `&x=${"y".repeat(bytes)}`;
  return kind === "" && padding === "" ? "" : `?${kind}${padding}`;
}

function authorizationOf(kind: string): readonly string[] {
  switch (kind) {
    case "":
      return [];
    case "digest":
      return ["Authorization: digest super:test"];
    case "cookie":
      return [`Cookie: ${"a=b; ".repeat(2000)}`];
    default:
      return [`Authorization: ${kind} ${"QUJD".repeat(1000)}`];
  }
}

function bodyOf(kind: string, bytes: number): string {
  const times = (text: string): string => text.repeat(Math.floor(bytes / text.length));
  switch (kind) {
    case "arrays":
      return times("[");
    case "objects":
      return times('{"a":');
    case "values":
      return `[${times("1,")}1]`;
    case "text":
      return JSON.stringify({ user: times("u"), password: "p" });
    case "escapes":
      return `{"user":"${times("\\u0041")}"}`;
    case "numbers":
      return `[${times("1e999,")}1]`;
    case "broken":
      return times('"\\');
    default:
      return "";
  }
}
