/**
 * Shows how HBase uses ZooKeeper: one active master and a standby, region servers that join and
 * leave, a node with the locations of regions, nodes with the schemas of tables. Reading needs no
 * master.
 *
 *     npm run example examples/src/hbase-pattern.ts [HOST:PORT]
 */
import { type Client, connect, json, text } from "@zooid/client";
import { type Lease, MasterCluster, MasterElection } from "@zooid/recipes";
import { filter, firstValueFrom } from "rxjs";
import { zookeeper } from "./zookeeper.ts";

const ROOT = "/examples/hbase";
const TABLE = `${ROOT}/table/orders`;
/** Locations of regions, as JSON. */
const LOCATIONS = `${ROOT}/meta-region-server`;
const REGIONS = ["orders,a-i", "orders,j-r", "orders,s-z"];
const locations = json<Record<string, string>>();

await using ensemble = await zookeeper();
const session = (): Promise<Client> => connect(ensemble.connectString, { sessionTimeoutMs: 2_000 });

/**
 * The work of an active master: whenever region servers join or leave, it writes new locations of
 * the regions.
 */
function serve(name: string, zk: Client, election: MasterElection): void {
  election.term$.subscribe((term) => {
    if (term === undefined) return;
    console.log(`${name} is active`);
    const workers = election.cluster.workers$.subscribe((servers) => {
      assign(zk, term, servers).catch((error: unknown) => console.log(`${name} could not assign: ${error}`));
    });
    term.signal.addEventListener("abort", () => workers.unsubscribe(), { once: true });
  });
}

async function assign(zk: Client, term: Lease, servers: readonly string[]): Promise<void> {
  if (servers.length === 0) return;
  for (const path of [TABLE, LOCATIONS]) {
    if ((await zk.exists(path)) === null) await zk.create(path, "{}", { parents: "persistent" });
  }
  const places = Object.fromEntries(REGIONS.map((region, i) => [region, servers[i % servers.length] ?? ""]));
  // Refused if another master has taken over: two masters never write at a time.
  await term.guard().set(TABLE, '{"families":["items"]}').set(LOCATIONS, locations.encode(places)).commit();
}

/** Waits until the regions have the expected locations. */
async function placed(isIt: (servers: readonly string[]) => boolean): Promise<void> {
  const located$ = reader.watchData$(LOCATIONS, { codec: locations });
  const node = await firstValueFrom(
    located$.pipe(
      filter((node) => node.exists && node.value["orders,a-i"] !== undefined && isIt(Object.values(node.value))),
    ),
  );
  if (node.exists) console.log("regions:", node.value);
}

await using reader = await session();
const cluster = new MasterCluster(reader, ROOT);
await using first = await session();
await using second = await session();
await using one = new MasterElection(first, ROOT, "master-1");
await one.activity();
await using two = new MasterElection(second, ROOT, "master-2");
serve("master-1", first, one);
serve("master-2", second, two);
await firstValueFrom(cluster.backups$.pipe(filter((names) => names.includes("master-2"))));
console.log("master-2 stands by");

await using servers = await session();
const atWork = new MasterCluster(servers, ROOT);
const regionServers = ["rs-1", "rs-2", "rs-3"].map((name) => atWork.work(name));
await placed((places) => new Set(places).size === 3);

await regionServers[1]?.close();
console.log("rs-2 is gone");
await placed((places) => !places.includes("rs-2"));

await first.close();
console.log("master-1 is gone");
await firstValueFrom(cluster.active$.pipe(filter((name) => text.decode(name) === "master-2")));
await regionServers[2]?.close();
console.log("rs-3 is gone");
await placed((places) => places.every((place) => place === "rs-1"));

// A client finds its region with one read, and asks no master.
const { data } = await reader.get(LOCATIONS);
console.log("orders,j-r is at", locations.decode(data)["orders,j-r"]);
await Promise.all(regionServers.map((server) => server.close()));
await cluster.shutDown();
