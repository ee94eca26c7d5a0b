import { Subject } from "rxjs";
import { expect, test } from "vitest";
import type { EnsembleConfig } from "./ensemble-config.ts";
import { TrackedHosts } from "./tracked-hosts.ts";

const host = (name: string) => ({ host: name, port: 2181 });
const server = { host: "", quorumPort: 1, electionPort: 2, role: "participant" } as const;

function config(...names: readonly (string | undefined)[]): EnsembleConfig {
  const addresses = names.map((name) => (name === undefined ? undefined : host(name)));
  const servers = addresses.map((clientAddress, id) => ({ ...server, id, clientAddress }));
  return { servers, version: 0n, text: "", stat: {} as EnsembleConfig["stat"] };
}

test("what the configuration says comes before what was known, each once, and outlives the stream", () => {
  const config$ = new Subject<EnsembleConfig>();
  const hosts = new TrackedHosts({ hosts: () => [host("a"), host("b")] });
  const seen = (): string =>
    hosts
      .hosts()
      .map((one) => one.host)
      .join();
  hosts.follow(config$);
  expect(seen()).toBe("a,b");
  config$.next(config("b", undefined, "c"));
  expect(seen()).toBe("b,c,a");
  config$.next(config("d"));
  config$.error(new Error("NO_AUTH"));
  expect(seen()).toBe("d,a,b");
});
