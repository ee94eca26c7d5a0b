/**
 * The conformance scenario through `@zooid/client`, on any server.
 *
 *     client-scenario.ts HOST:PORT PROXY_HOST:PORT       prints one line for each step
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { type Client, type ClientState, connect, isZkError, type Stat, type WatchEvent } from "@zooid/client";
import { filter, firstValueFrom, type Observable } from "rxjs";

const WAIT_MS = 30_000;
const [direct = "", proxied = ""] = process.argv.slice(2);
const a = await connect(proxied, { sessionTimeoutMs: 20_000 });
const b = await connect(direct, { sessionTimeoutMs: 20_000 });
const SECRET = [
  { perms: 31, scheme: "digest", id: `alice:${createHash("sha1").update("alice:secret").digest("base64")}` },
];
const OPEN = [{ perms: 31, scheme: "world", id: "anyone" }];

function statText(stat: Stat): string {
  const owner = stat.ephemeralOwner === 0n ? "none" : stat.ephemeralOwner === a.sessionId ? "mine" : "other";
  const dated = stat.mtimeMs >= stat.ctimeMs && stat.ctimeMs > 0;
  return (
    `stat(version=${stat.version} cversion=${stat.cversion} aversion=${stat.aversion} owner=${owner}` +
    ` length=${stat.dataLength} children=${stat.numChildren} touched=${stat.mzxid > stat.czxid}` +
    ` populated=${stat.pzxid > stat.czxid} dated=${dated})`
  );
}

function show(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString()}"`;
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  if ("czxid" in value) return statText(value as Stat);
  const fields = Object.entries(value).filter(([name]) => name !== "watch" && name !== "zxid");
  return `{${fields.map(([name, field]) => `${name}: ${show(name === "names" ? [...field].sort() : field)}`).join(", ")}}`;
}

async function step<T>(name: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    const value = await call();
    console.log(`${name}: ${show(value)}`);
    return value;
  } catch (error) {
    if (!isZkError(error)) throw error;
    console.log(`${name}: ${error.name} ${error.code} ${error.outcome} ${error.message}`);
    return undefined;
  }
}

/** The result of a promise, or a line if it does not settle. */
async function soon<T>(name: string, promise: Promise<T> | undefined): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve("nothing came"), WAIT_MS);
  console.log(`${name}: ${await Promise.race([promise?.then(show) ?? "not watched", late])}`);
  clearTimeout(timer);
}

function eventText({ type, path }: WatchEvent): string {
  return `${type} ${path}`;
}

/** Collects the values of a stream, to be shown when there are enough. */
function recorded<T>(stream: Observable<T>): { until(name: string, count: number): Promise<void>; stop(): void } {
  const values: T[] = [];
  let wake: () => void = () => {};
  const subscription = stream.subscribe((value) => {
    values.push(value);
    wake();
  });
  return {
    async until(name, count) {
      const enough = (async () => {
        while (values.length < count) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        return values.splice(0);
      })();
      await soon(name, enough);
    },
    stop: () => subscription.unsubscribe(),
  };
}

async function say(word: string): Promise<void> {
  const [host = "", port = ""] = proxied.split(":");
  const control = connectSocket(Number(port), host);
  control.write(word);
  control.resume();
  await once(control, "close");
}

async function until(client: Client, kind: ClientState["kind"]): Promise<void> {
  await firstValueFrom(client.state$.pipe(filter((state) => state.kind === kind)));
  console.log(`state: ${kind}`);
}

// Nodes and their versions.
await step("create", () => a.create("/s", "hello"));
await step("create again", () => a.create("/s", "hello"));
await step("create below a missing parent", () => a.create("/missing/x"));
await step("get", () => a.get("/s"));
await step("get from the other session", () => b.get("/s"));
await step("get a missing node", () => a.get("/nope"));
await step("get a missing node, or null", () => a.getOrNull("/nope"));
await step("exists", () => a.exists("/s"));
await step("exists of a missing node", () => a.exists("/nope"));
await step("set at version 0", () => a.set("/s", "world", { version: 0 }));
await step("set at version 0 again", () => a.set("/s", "worse", { version: 0 }));
await step("set null", () => a.set("/s", null));
await step("get null", () => a.get("/s", { sync: true }));
await step("set a missing node", () => a.set("/nope", ""));
await step("create a child", () => a.create("/s/child", "12345678"));
await step("delete with children", () => a.delete("/s"));
await step("delete at a wrong version", () => a.delete("/s/child", { version: 7 }));
await step("delete", () => a.delete("/s/child", { version: 0 }));
await step("delete again", () => a.delete("/s/child"));
await step("delete again, if there is one", () => a.delete("/s/child", { missingOk: true }));
await step("delete the root", () => a.delete("/"));
await step("a path that is none", () => a.get("s"));
await step("sync", () => a.sync("/s"));

// Sequences, ephemerals, listings.
for (let i = 0; i < 3; i++)
  await step("create sequential", () => a.create("/s/q-", "", { mode: "persistent-sequential" }));
await step("create without a name", () => a.create("/s/", "", { mode: "ephemeral-sequential" }));
await step("create ephemeral", () => a.create("/s/e", "mine", { mode: "ephemeral" }));
await step("create below an ephemeral", () => a.create("/s/e/x"));
await step("create ephemeral by the other session", () => b.create("/s/b", "", { mode: "ephemeral" }));
await step("stat of the other's ephemeral", () => a.exists("/s/b"));
await step("children", () => a.children("/s"));
await step("children of a missing node", () => a.children("/nope"));
await step("ephemerals", async () => (await a.getEphemerals()).sort());
await step("ephemerals below a path", () => a.getEphemerals("/s/e"));
await step("nodes below a path", () => a.getAllChildrenNumber("/s"));

// Watches of one shot.
const data = await step("watch data", () => a.get("/s/e", { watch: true }));
await step("set watched data", () => b.set("/s/e", "changed"));
await soon("watch data", data?.watch.fired.then(eventText));
const creation = await step("watch for creation", () => a.exists("/s/new", { watch: true }));
await step("create what is awaited", () => b.create("/s/new"));
await soon("watch for creation", creation?.watch.fired.then(eventText));
const deletion = await step("watch for deletion", () => a.exists("/s/new", { watch: true }));
const children = await step("watch children", () => a.children("/s/new", { watch: true }));
await step("delete what is watched", () => b.delete("/s/new"));
await soon("watch for deletion", deletion?.watch.fired.then(eventText));
await soon("watch children", children?.watch.fired.then(eventText));
const unwanted = await step("watch and take back", () => a.get("/s", { watch: true }));
unwanted?.watch.remove();
await soon(
  "watch taken back",
  unwanted?.watch.fired.catch((error) => error.code),
);

// Streams.
const node = recorded(a.watchData$("/w"));
const kids = recorded(a.watchChildren$("/w"));
const stat = recorded(a.watchExists$("/w"));
const events = recorded(a.events$("/w", { mode: "persistent-recursive" }));
const place = recorded(a.namespace("/w").events$("/", { mode: "persistent" }));
await node.until("no data yet", 1);
await kids.until("no children yet", 1);
await stat.until("no stat yet", 1);
await step("create what is observed", () => b.create("/w", "1"));
await node.until("data", 1);
await kids.until("children", 1);
await stat.until("stat", 1);
await step("create a child", () => b.create("/w/x", "2"));
await kids.until("children", 1);
await step("set the child", () => b.set("/w/x", "3"));
await step("delete the child", () => b.delete("/w/x"));
await kids.until("children", 1);
await step("set what is observed", () => b.set("/w", "4"));
await node.until("data", 1);

// A lost connection: the session continues, and changes made meanwhile are noticed.
const session = a.sessionId;
const missed = await step("watch before the cut", () => a.get("/s/q-0000000001", { watch: true }));
await say("cut!");
await until(a, "suspended");
await step("set while the other is away", () => b.set("/s/q-0000000001", "meanwhile"));
await step("set what is observed, meanwhile", () => b.set("/w", "5"));
await step("create a child, meanwhile", () => b.create("/w/y"));
const waiting = a.get("/s/q-0000000001");
await say("join");
await until(a, "connected");
console.log(`same session: ${a.sessionId === session}`);
await step("read that waited", () => waiting);
await soon("watch before the cut", missed?.watch.fired.then(eventText));
await node.until("data after the cut", 1);
await kids.until("children after the cut", 1);
await step("ephemeral after the cut", () => a.exists("/s/e"));
await step("delete what is observed", () => b.transaction().delete("/w/y").delete("/w").commit());
await node.until("data of what is gone", 1);
await kids.until("children of what is gone", 1);
await events.until("events, recursively", 8);
await place.until("events, persistently", 7);
for (const stream of [node, kids, stat, events, place]) stream.stop();
await step("sync", () => a.sync());
console.log(`watches left: ${a.watchCount}`);

// Transactions.
await step("multi", () =>
  a
    .transaction()
    .create("/m", "1")
    .create("/m/child", "2")
    .set("/m", "33", { version: 0 })
    .check("/m", 1)
    .delete("/m/child")
    .commit(),
);
await step("get after multi", () => a.get("/m"));
await step("multi that fails in the middle", () =>
  a.transaction().create("/m/x").set("/m", "never").check("/m", 77).delete("/m").commit(),
);
await step("children after a failed multi", () => a.children("/m"));
await step("multi with sequences", () =>
  a
    .transaction()
    .create("/m/n-", "", { mode: "persistent-sequential" })
    .create("/m/n-", "", { mode: "ephemeral-sequential" })
    .commit(),
);
await step("empty multi", () => a.transaction().commit());

// Access lists.
await step("get the open acl", () => a.getAcl("/m"));
await step("create with a digest acl", () => a.create("/acl", "hidden", { acl: SECRET }));
await step("get without authority", () => a.get("/acl"));
await step("set without authority", () => a.set("/acl", ""));
await step("get acl without authority", () => a.getAcl("/acl"));
await step("set acl without authority", () => a.setAcl("/acl", OPEN));
await step("multi without authority", () => a.transaction().create("/m/z").set("/acl", "").commit());
await step("create with an empty acl", () => a.create("/bad", "", { acl: [] }));
await step("create with an unknown scheme", () =>
  a.create("/bad", "", { acl: [{ perms: 31, scheme: "unknown", id: "id" }] }),
);
await step("create with auth but no identity", () =>
  a.create("/bad", "", { acl: [{ perms: 31, scheme: "auth", id: "" }] }),
);
await step("add auth", () => a.addAuth("digest", "alice:secret"));
await step("get with authority", () => a.get("/acl"));
await step("get acl with authority", () => a.getAcl("/acl"));
await step("set acl at a wrong version", () => a.setAcl("/acl", OPEN, { version: 9 }));
await step("set acl", () => a.setAcl("/acl", SECRET, { version: 0 }));
await step("who am i", async () => (await a.whoAmI()).map(({ scheme, user }) => `${scheme} ${user}`).sort());

// Under a chroot.
await step("create the chroot", () => b.create("/app"));
const app = await connect(`${direct}/app`);
await step("create under the chroot", () => app.create("/x-", "", { mode: "ephemeral-sequential" }));
await step("the root of the chroot", () => app.children("/"));
await step("a missing node under the chroot", () => app.get("/nope"));
await step("ephemerals under the chroot", () => app.getEphemerals());
await app.close();
await step("after its session", () => b.children("/app"));

// A session that another one takes over and ends.
const orphan = await step("watch the ephemeral", () => b.exists("/s/e", { watch: true }));
const heir = await connect(direct, { session: { id: a.sessionId, password: a.sessionPassword }, onExpiry: "close" });
console.log(`taken over: ${heir.sessionId === session}`);
await heir.close();
await soon("ephemeral of the ended session", orphan?.watch.fired.then(eventText));
await firstValueFrom(a.state$.pipe(filter((state) => state.kind === "connected" && state.sessionId !== session)));
await step("with a new session", () => a.get("/m"));
await step("authority in the new session", () => a.get("/acl"));
await a.close();
await step("after the close", () => a.get("/m"));
await step("at the end", () => b.children("/s"));
await b.close();
