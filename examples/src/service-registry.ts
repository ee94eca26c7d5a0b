/**
 * Shows a registry of services: three servers register, a client spreads its calls over them,
 * notices at once when one of them leaves, and avoids one that fails.
 *
 *     npm run example examples/src/service-registry.ts [HOST:PORT]
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "@zooid/client";
import { type Registration, ServiceDiscovery, type ServiceInstance, strategies } from "@zooid/recipes";
import { filter, firstValueFrom } from "rxjs";
import { zookeeper } from "./zookeeper.ts";

interface Meta {
  readonly zone: string;
}
interface Greeter {
  readonly server: Server;
  readonly registration: Registration<Meta>;
}

await using ensemble = await zookeeper();
await using zk = await connect(ensemble.connectString);
await using discovery = new ServiceDiscovery<Meta>(zk, "/examples/services");

/** A service: it listens, then registers its address. */
async function startGreeter(id: string, zone: string): Promise<Greeter> {
  const server = createServer((_, response) => response.end(`hello from ${id}`)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service = { name: "greeter", id, address: "127.0.0.1", port, payload: { zone } };
  return { server, registration: await discovery.register(service) };
}

const greeters = await Promise.all([startGreeter("a", "x"), startGreeter("b", "x"), startGreeter("c", "y")]);

using provider = discovery.provider("greeter", { strategy: strategies.roundRobin(), down: { errors: 1 } });
await provider.ready();
const ids = (instances: readonly ServiceInstance[]): string => instances.map(({ id }) => id).join(", ");
discovery.instances$("greeter").subscribe((instances) => console.log("registered:", ids(instances)));

/** One call: an instance that does not answer is avoided for a while, and another one called. */
async function greet(): Promise<string> {
  for (;;) {
    const instance = provider.pick();
    if (instance === undefined) throw new Error("there is no instance");
    try {
      return await (await fetch(`http://${instance.address}:${instance.port}`)).text();
    } catch {
      console.log(`${instance.id} does not answer`);
      provider.noteError(instance);
    }
  }
}

for (let i = 0; i < 3; i++) console.log(await greet());

// One unregisters, and its clients notice at once.
const two = firstValueFrom(discovery.instances$("greeter").pipe(filter(({ length }) => length === 2)));
await greeters[0]?.registration.close();
await two;
for (let i = 0; i < 2; i++) console.log(await greet());

// Another one stops answering and stays registered.
greeters[1]?.server.closeAllConnections();
greeters[1]?.server.close();
for (let i = 0; i < 3; i++) console.log(await greet());
for (const { server } of greeters) server.close();
