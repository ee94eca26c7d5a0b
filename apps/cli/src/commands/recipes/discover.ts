import { buildUri, ServiceDiscovery, type ServiceInstance } from "@zooid/recipes";
import { type Command, clientFor, type Invocation, operand } from "../../command.ts";
import { follow } from "../../follow.ts";
import type { Json, JsonObject } from "../../output.ts";
import { checkedPath } from "../../texts/znode-path.ts";

type Instance = ServiceInstance<Json>;

export const discover: Command = {
  name: "discover",
  synopsis: "[--watch] path [name]",
  flags: [{ name: "watch", isOwn: true }],
  summary: "Lists the services below a path, or a service's instances; --watch prints changes as they happen.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const path = checkedPath(operand(invocation, 0));
    const name = operands[1];
    const client = await clientFor(invocation, path);
    await using discovery = new ServiceDiscovery<Json>(client, path);
    if (flags.has("watch")) {
      const printer = new ChangePrinter(invocation, name === undefined ? path : `${name} below ${path}`);
      if (name === undefined)
        await follow<readonly string[] | null>(client.watchChildren$(path), signal, (names) =>
          printer.print((names ?? []).map(entryOfName)),
        );
      else
        await follow<readonly Instance[]>(discovery.instances$(name), signal, (found) =>
          printer.print(found.map(entryOfInstance)),
        );
      return { path, ...(name === undefined ? {} : { name }), events: printer.count };
    }
    if (name === undefined) {
      const names = await discovery.names();
      output.lines(names);
      return { path, names };
    }
    const instances = (await discovery.instances(name)).map(entryOfInstance);
    output.lines(instances.map(({ text }) => text));
    return { path, name, instances: instances.map(({ json }) => json) };
  },
};

/** A service or an instance. */
interface Entry {
  readonly key: string;
  readonly text: string;
  readonly json: JsonObject;
}

/** Prints the differences between two states. */
class ChangePrinter {
  count = 0;
  readonly #invocation: Invocation;
  readonly #what: string;
  #known: ReadonlyMap<string, Entry> | undefined;

  constructor(invocation: Invocation, what: string) {
    this.#invocation = invocation;
    this.#what = what;
  }

  print(entries: readonly Entry[]): void {
    const before = this.#known ?? new Map<string, Entry>();
    const now = new Map(entries.map((entry) => [entry.key, entry]));
    for (const [key, entry] of before) if (!now.has(key)) this.#print("-", "removed", entry);
    for (const [key, entry] of now) {
      const old = before.get(key);
      if (old === undefined) this.#print("+", "added", entry);
      else if (JSON.stringify(old.json) !== JSON.stringify(entry.json)) this.#print("~", "changed", entry);
    }
    // On stderr: scripts that start this before a change can wait for the line.
    if (this.#known === undefined) this.#invocation.output.progress(`watching ${this.#what}`);
    this.#known = now;
  }

  #print(mark: string, event: string, { text, json }: Entry): void {
    const { output } = this.#invocation;
    const time = new Date().toISOString();
    this.count++;
    output.line(`${time} ${mark} ${text}`);
    output.json({ event, ...json, time });
  }
}

function entryOfName(name: string): Entry {
  return { key: name, text: name, json: { name } };
}

function entryOfInstance(instance: Instance): Entry {
  const { name, id, address, port, sslPort, payload, serviceType, enabled, registeredAtMs, uriSpec } = instance;
  const uri = uriSpec === null ? null : buildUri(uriSpec, instance);
  const words = [
    id,
    `${address ?? "-"}:${port ?? "-"}`,
    ...(sslPort === null ? [] : [`ssl:${sslPort}`]),
    serviceType,
    ...(enabled ? [] : ["disabled"]),
    ...(uri === null ? [] : [uri]),
    ...(payload === null ? [] : [JSON.stringify(payload)]),
  ];
  return {
    key: id,
    text: words.join(" "),
    json: { name, id, address, port, sslPort, payload, serviceType, enabled, registeredAtMs, uri },
  };
}
