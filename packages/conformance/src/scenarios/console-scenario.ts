/**
 * The console in front of a server: its API's answers, which are the same whatever ZooKeeper it
 * stands in front of.
 *
 *     console-scenario.ts HOST:PORT       prints what each request is answered
 */
import { connect } from "@zooid/client";
import { Mutex } from "@zooid/recipes";
import { ConsoleServer } from "@zooid/web-console";

const hosts = process.argv[2] ?? "";
const site = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts });
await site.listen();
const api = `http://127.0.0.1:${site.port}/api/v1`;

await ask("POST", "/node", { path: "/app", data: { text: "one" } });
await ask("GET", "/node?path=/app");
await ask("GET", "/node?path=/none");
await ask("POST", "/node", { path: "/app" });
await ask("POST", "/node", { path: "/none/child" });
await ask("PUT", "/node?path=/app", { data: { base64: "/w==" } }, { "If-Match": '"0"' });
await ask("PUT", "/node?path=/app", { data: { text: "stale" } }, { "If-Match": '"0"' });
await ask("GET", "/node?path=/app");
for (const name of ["beta", "alpha", "gamma"]) await ask("POST", "/node", { path: `/app/${name}` });
await ask("GET", "/children?path=/app&limit=2");
await ask("GET", "/children?path=/app&limit=2&after=beta");
await ask("GET", "/children?path=/app&filter=MM");
await ask("POST", "/node", { path: "/app/n-", mode: "persistent-sequential" });
await ask("POST", "/node", { path: "/app/container", mode: "container" });
await ask("POST", "/multi", {
  ops: [
    { op: "check", path: "/app", version: 1 },
    { op: "set", path: "/app/alpha", data: { text: "x" } },
    { op: "create", path: "/app/delta" },
    { op: "delete", path: "/app/beta" },
  ],
});
await ask("POST", "/multi", {
  ops: [
    { op: "delete", path: "/app/gamma" },
    { op: "check", path: "/app", version: 7 },
  ],
});
await ask("GET", "/acl?path=/app/alpha");
const acl = [{ scheme: "world", id: "anyone", permissions: ["read"] }];
await ask("PUT", "/acl?path=/app/alpha", { acl }, { "If-Match": '"0"' });
await ask("PUT", "/node?path=/app/alpha", { data: { text: "y" } }, { "If-Match": "*" });
await ask(
  "PUT",
  "/acl?path=/app/delta",
  { acl: [{ scheme: "auth", id: "", permissions: ["read"] }] },
  { "If-Match": "*" },
);
const alice = { Authorization: "digest alice:secret" };
await ask(
  "PUT",
  "/acl?path=/app/delta",
  { acl: [{ scheme: "auth", id: "", permissions: ["read"] }] },
  { "If-Match": "*", ...alice },
);
await ask("GET", "/node?path=/app/delta");
await ask("GET", "/node?path=/app/delta", undefined, alice);

await ask("GET", "/rights?path=/app/alpha", undefined, alice);
await ask("GET", "/rights?path=/app/delta");
await ask("GET", "/quota?path=/app/alpha");
await ask("GET", "/export?path=/app&limit=3", undefined, alice);
await ask("GET", "/export?path=/app&after=/app/delta", undefined, alice);
for (const isDryRun of [true, false, false]) {
  const nodes = [
    { path: "", data: { text: "copy" } },
    { path: "/a", data: { base64: "/w==" }, acl },
    { path: "/a/b", data: null },
  ];
  await ask("POST", "/import", { path: "/app/copy", isDryRun, existing: "replace", withAcl: true, nodes });
}

const zk = await connect(hosts);
await zk.create("/app/ephemeral", "", { mode: "ephemeral" });
const lease = await new Mutex(zk, "/locks/one", { data: "holder" }).acquire();
const { members } = await read("/ensemble");
console.log(
  "ensemble:",
  members.map(({ role, isReachable, reason }: Member) => ({ role, isReachable, reason })),
);
const { sessions, notes } = await read("/sessions");
const owned = sessions
  .flatMap(({ ephemerals }: { ephemerals: string[] }) => ephemerals)
  .filter((path: string) => path === "/app/ephemeral");
console.log("sessions:", owned, notes);
const { recipes } = await read("/recipes?path=/locks");
for (const { path, kind, holderCount, contenders } of recipes)
  console.log("recipe:", path, kind, holderCount, contenders[0].text);
await changes();
await lease.release();
await zk.close();
await ask("DELETE", "/node?path=/app", undefined, { "If-Match": "*" });
await ask("DELETE", "/node?path=/app&recursive=true", undefined, { "If-Match": "*" });
await site[Symbol.asyncDispose]();

interface Member {
  readonly role: string;
  readonly isReachable: boolean;
  readonly reason: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: fields are printed as they are
async function read(path: string): Promise<any> {
  return (await fetch(`${api}${path}`)).json();
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await fetch(`${api}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
  });
  console.log(`${method} ${path}: ${answer.status} ${normalised(await answer.text())}`);
}

/** Without zxids, times and sessions, which differ between runs. */
function normalised(text: string): string {
  return text.replace(/"(czxid|mzxid|pzxid|ctime|mtime|detail)":"(?:[^"\\]|\\.)*"/g, '"$1":"#"');
}

/** The stream reports a change, once it is ready. */
async function changes(): Promise<void> {
  const stop = new AbortController();
  const answer = await fetch(`${api}/events?path=/app`, { signal: stop.signal });
  let text = "";
  for await (const chunk of answer.body ?? []) {
    const before = text;
    text += Buffer.from(chunk).toString();
    if (!before.includes("event: ready") && text.includes("event: ready")) await zk.set("/app/gamma", "changed");
    const found = /event: changes\ndata: (.*)\n/.exec(text)?.[1];
    if (found === undefined) continue;
    const [first] = (JSON.parse(found) as { changes: { type: string; path: string }[] }).changes;
    console.log("event:", first?.type, first?.path);
    break;
  }
  stop.abort();
}
