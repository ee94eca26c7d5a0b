/**
 * `ServiceDiscovery` of `@zooid/recipes` and Curator's x-discovery on one server and the same path:
 * each registers instances that the other finds.
 *
 *     discovery-scenario.ts CLASSPATH HOST:PORT       prints one line for each step
 */
import { connect } from "@zooid/client";
import { buildUri, instanceCodec, type NewService, ServiceDiscovery, type ServiceInstance } from "@zooid/recipes";
import { filter, firstValueFrom, timeout } from "rxjs";
import { CuratorPeer } from "../servers/peer-process.ts";

const [classpath = "", address = ""] = process.argv.slice(2);
const PATH = "/services";
/** Short, for the process that is killed. */
const SESSION_TIMEOUT_MS = 6_000;
const DEADLINE_MS = 20_000;

const curator = new CuratorPeer(classpath, "DiscoveryPeer", address, String(SESSION_TIMEOUT_MS), PATH);
say("curator", "connect", await curator.answer());
const zk = await connect(address, { sessionTimeoutMs: 30_000 });
const discovery = new ServiceDiscovery(zk, PATH);
const cache = discovery.cache("web");
await cache.ready();

function say(who: string, what: string, answer: unknown): void {
  console.log(`${who.padEnd(7)} ${what}: ${answer}`);
}

/** Waits until our cache has exactly these. */
async function cached(...ids: readonly string[]): Promise<string> {
  const holds = (instances: readonly ServiceInstance[]): boolean => instances.map(({ id }) => id).join() === ids.join();
  await firstValueFrom(cache.instances$.pipe(filter(holds), timeout({ first: DEADLINE_MS })));
  return `[${ids.join()}]`;
}

/** The time of a registration, which differs between runs. */
function timeless(line: string): string {
  return line.replace(/"registrationTimeUTC":\d+/, '"registrationTimeUTC":TIME');
}

async function stored(id: string): Promise<string> {
  return Buffer.from((await zk.get(`${PATH}/web/${id}`)).data ?? []).toString();
}

// Curator registers.
for (const [id, kind, type, payloadClass] of [
  ["none", "none", "DYNAMIC", undefined],
  ["map", "map", "DYNAMIC", "java.util.HashMap"],
  ["text", "text", "STATIC", undefined],
  ["number", "number", "PERMANENT", undefined],
  ["long", "long", "DYNAMIC", "java.lang.Long"],
] as const) {
  const line = await curator.ask("register", id, kind, type);
  say("curator", `registers ${id}`, timeless(line));
  const found = await discovery.instance("web", id);
  if (found === null) throw new Error(`${id} is not found`);
  const uri = found.uriSpec === null ? "no URI" : buildUri(found.uriSpec, found);
  say("zooid", "finds", `${found.id} ${found.serviceType} ${uri} ${JSON.stringify(found.payload)}`);
  const again = Buffer.from(instanceCodec({ payloadClass }).encode(found)).toString();
  say("zooid", "would write the same bytes", again === line && line === (await stored(id)));
}
say("zooid", "has", await cached("long", "map", "none", "number", "text"));
say("curator", "unregisters", await curator.ask("unregister", "text"));
say("zooid", "has", await cached("long", "map", "none", "number"));

// We register.
const services: readonly (readonly [string | undefined, Omit<NewService<unknown>, "name">])[] = [
  [undefined, { id: "ours-none", uriSpec: "{scheme}://{address}:{port}/{[}x{]}" }],
  [undefined, { id: "ours-map", payload: { zone: "b" } }],
  [
    "java.util.HashMap",
    { id: "ours-class", payload: { zone: "c" }, sslPort: 443, uriSpec: "{scheme}://{address}:{ssl-port}" },
  ],
  [undefined, { id: "ours-list", payload: ["d", 5], serviceType: "static" }],
  [undefined, { id: "ours-text", payload: 'plain "text" é \u0001\u001f', serviceType: "permanent" }],
];
const ours = services.map(([payloadClass]) => new ServiceDiscovery(zk, PATH, { payloadClass }));
for (const [i, [, service]] of services.entries()) {
  const registration = await ours[i]?.register({ name: "web", address: "10.0.0.2", port: 80, ...service });
  const id = registration?.instance.id ?? "";
  say("zooid", `registers ${id}`, timeless(await stored(id)));
  say("curator", "finds", await curator.ask("instance", id));
  // Java writes a class name for a payload that it has read as a map.
  const isSame = (await curator.ask("rewrite", id)) === (await stored(id));
  say("curator", "would write the same bytes", isSame);
}
const all = ["long", "map", "none", "number", ...services.map(([, { id = "" }]) => id)].sort();
say("curator", "has", await curator.ask("cached", all));
await ours[0]?.close();
const rest = all.filter((id) => id !== "ours-none");
say("curator", "has when zooid has unregistered one", await curator.ask("cached", rest));
say("both", "know the names", `${await discovery.names()} ${await curator.ask("names")}`);

// A dead process's instances disappear for the other when its session has expired.
await curator.kill();
const lasting = rest.filter((id) => id !== "map" && id !== "none" && id !== "long");
say("zooid", "has when curator has died", await cached(...lasting));
await zk.close();
