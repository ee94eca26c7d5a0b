import { Subject } from "rxjs";
import { expect, test } from "vitest";
import { formatAddress, type HostAddress } from "./connect-string.ts";
import { type EnsembleConfig, parseEnsembleConfig } from "./ensemble-config.ts";
import { TrackedHosts } from "./tracked-hosts.ts";

const host = (name: string, port = 2181): HostAddress => ({ host: name, port });

/** The configuration of servers with their ports, as `a;2181` or `a;;2281`. */
function config(...servers: readonly string[]): EnsembleConfig {
  const lines = servers.map((server, id) => `server.${id}=${server.replace(";", ":2888:3888;")}`);
  return parseEnsembleConfig({ data: Buffer.from(lines.join("\n")), stat: {} as EnsembleConfig["stat"] });
}

/** A client of servers `a` and `b` that gets configurations, and the servers that it moves to. */
function follow({ current, isSecure = false }: { readonly current?: HostAddress; readonly isSecure?: boolean } = {}) {
  const config$ = new Subject<EnsembleConfig>();
  const hosts = new TrackedHosts({ hosts: () => [host("a"), host("b")] });
  const moves: string[] = [];
  hosts.follow(config$, {
    isSecure,
    random: () => 0,
    current: () => current,
    moveTo: (to) => moves.push(to.map(formatAddress).join()),
  });
  return { config$, moves, seen: () => hosts.hosts().map(formatAddress).join() };
}

test("configured servers come before the initial ones, each once, and stay after the stream ends", () => {
  const { config$, seen } = follow();
  expect(seen()).toBe("a:2181,b:2181");
  config$.next(config("b;2181", "x;", "c;2181"));
  expect(seen()).toBe("b:2181,c:2181,a:2181");
  config$.next(config("d;2181"));
  config$.error(new Error("NO_AUTH"));
  expect(seen()).toBe("d:2181,a:2181,b:2181");
});

test("with TLS only ports with TLS are learned", () => {
  const { config$, seen } = follow({ isSecure: true });
  config$.next(config("c;2181", "d;2181;2281", "e;;10.0.0.5:2282"));
  expect(seen()).toBe("d:2281,10.0.0.5:2282,a:2181,b:2181");
});

test("a client whose server has left the ensemble moves, and some clients move to joining servers", () => {
  const { config$, moves } = follow({ current: host("a") });
  config$.next(config("a;2181", "b;2181"));
  config$.next(config("b;2181", "a;2181"));
  expect(moves).toEqual([]);
  config$.next(config("a;2181", "b;2181", "c;2181"));
  config$.next(config("b;2181", "c;2181"));
  expect(moves).toEqual(["c:2181", "b:2181,c:2181"]);
});

test("no client moves for the first configuration, an empty one, or one without client addresses", () => {
  const { config$, moves } = follow({ current: host("a") });
  config$.next(config("c;2181"));
  config$.next(config("a;2181"));
  config$.next(config("x;"));
  config$.next(config("b;2181"));
  expect(moves).toEqual([]);
});

test("a client stays at a server whose address is in no configuration", () => {
  const { config$, moves } = follow({ current: host("balancer") });
  config$.next(config("c;2181", "d;2181"));
  config$.next(config("c;2181", "e;2181", "f;2181"));
  expect(moves).toEqual([]);
});
