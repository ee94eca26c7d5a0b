/**
 * Shows a configuration that two services follow: a change reaches both at once, an unreadable
 * value changes nothing, and a conditional change does not overwrite another one.
 *
 *     npm run example examples/src/config-center.ts [HOST:PORT]
 */
import { connect, json } from "@zooid/client";
import { ConfigCenter } from "@zooid/recipes";
import { filter, firstValueFrom } from "rxjs";
import { zookeeper } from "./zookeeper.ts";

interface Limits {
  readonly requestsPerSecond: number;
}

await using ensemble = await zookeeper();
await using zk = await connect(ensemble.connectString);
const open = (): ConfigCenter<Limits> =>
  new ConfigCenter(zk, "/examples/config", { app: "shop", env: "production", codec: json<Limits>() });

await using operator = open();
await using checkout = open();
await using search = open();
await Promise.all([checkout.ready(), search.ready()]);
checkout.watch$("limits").subscribe((limits) => console.log("checkout goes by", limits));
search.watch$("limits").subscribe((limits) => console.log("search goes by", limits));
search.rejected$.subscribe(({ key, error }) => console.log("search keeps the old", key, "since", String(error)));

/** Waits until both services use a limit. */
async function inForce(requestsPerSecond: number): Promise<void> {
  const isIt = (limits: Limits | undefined): boolean => limits?.requestsPerSecond === requestsPerSecond;
  await Promise.all([checkout, search].map((service) => firstValueFrom(service.watch$("limits").pipe(filter(isIt)))));
}

await operator.set("limits", { requestsPerSecond: 100 });
await inForce(100);

const rejected = firstValueFrom(search.rejected$);
await zk.set("/examples/config/shop/production/limits", "{ not JSON");
await rejected;
console.log("still in force:", search.get("limits"));

await operator.set("limits", { requestsPerSecond: 200 });
await inForce(200);
const seen = await operator.read("limits");
await operator.set("limits", { requestsPerSecond: 300 }, seen);
console.log("a change of what has changed since:", await operator.set("limits", { requestsPerSecond: 400 }, seen));
await inForce(300);
console.log("read without asking anybody:", checkout.get("limits"));
