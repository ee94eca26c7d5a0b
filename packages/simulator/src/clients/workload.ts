import { AddWatchMode, WatchSelector } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { Reaped, Write, WriteRequest } from "../model/writes.ts";
import type { Read, SimRequest } from "./requests.ts";

/** Few paths, so that clients meet on them; some below others, so that order matters. */
const PATHS = ["/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/deep", "/queue"];

export interface WorkloadOptions {
  readonly hasNodeKinds?: boolean;
  readonly hasLongTxns?: boolean;
}

/** Chooses what a simulated client asks next. */
export class Workload {
  readonly #chance: Prng;
  readonly #name: string;
  readonly #kinds: Prng | undefined;
  readonly #long: Prng | undefined;
  #serial = 0;

  /**
   * @param name goes into every value, so that no two clients write the same
   * @param options.hasNodeKinds whether containers and TTL nodes are among what it creates
   * @param options.hasLongTxns whether it asks for transactions of several ops that nothing refuses, too, and reads what they change
   */
  constructor(chance: Prng, name = "value", options: WorkloadOptions = {}) {
    this.#chance = chance;
    this.#name = name;
    this.#kinds = options.hasNodeKinds === true ? chance.fork("kinds") : undefined;
    this.#long = options.hasLongTxns === true ? chance.fork("long transactions") : undefined;
  }

  next(): SimRequest {
    const long = this.#long?.below(100) ?? 100;
    if (this.#long !== undefined && long < 12) return { kind: "write", request: this.#longTxn(this.#long) };
    if (long < 16) return { kind: "read", read: { kind: "sync", path: "/" } };
    if (long < 28) return { kind: "read", read: { kind: "data", path: "/", watch: long % 4 === 0 } };
    const dice = this.#chance.below(100);
    if (dice < 45) return { kind: "write", request: { kind: "one", write: this.#write() } };
    if (dice < 57) {
      const writes = Array.from({ length: 1 + this.#chance.below(4) }, () => this.#write());
      return {
        kind: "write",
        request: { kind: "multi", writes: this.#chance.chance(0.3) ? [this.#check(), ...writes] : writes },
      };
    }
    if (dice < 60) return { kind: "read", read: { kind: "sync", path: "/a" } };
    if (dice < 65) return { kind: "read", read: { kind: "ping" } };
    if (dice < 73) return { kind: "read", read: this.#watch() };
    if (dice < 75) return { kind: "read", read: { kind: "ephemerals", prefix: this.#chance.pick(["/", "/a", "/a/"]) } };
    if (dice < 77) return { kind: "read", read: { kind: "descendants", path: this.#chance.pick(["/", ...PATHS]) } };
    const kind = this.#chance.pick(["data", "exists", "children"] as const);
    return { kind: "read", read: { kind, path: this.#path(), watch: this.#chance.chance(0.4) } };
  }

  #longTxn(random: Prng): WriteRequest {
    const writes = Array.from({ length: 2 + random.below(4) }, (): Write => {
      if (random.chance(0.5)) return { kind: "set", path: "/", data: this.#value(), version: -1 };
      return { kind: "create", path: "/e-", data: "", ephemeral: true, sequential: true };
    });
    return { kind: "multi", writes };
  }

  #watch(): Read {
    const path = this.#chance.pick(["/", ...PATHS]);
    if (this.#chance.chance(0.6)) {
      return { kind: "addWatch", path, mode: this.#chance.pick(Object.values(AddWatchMode)) };
    }
    const kind = this.#chance.pick(["checkWatches", "removeWatches"] as const);
    return { kind, path, selector: this.#chance.pick(Object.values(WatchSelector)) };
  }

  #write(): Write {
    const dice = this.#chance.below(10);
    if (dice < 4) {
      const sequential = this.#chance.chance(0.3);
      const path = sequential ? "/queue/n-" : this.#path();
      const data = this.#value();
      const ephemeral = this.#chance.chance(0.3);
      const reaped = ephemeral ? undefined : this.#reaped(sequential);
      return { kind: "create", path, data, ephemeral, sequential, ...(reaped === undefined ? {} : { reaped }) };
    }
    if (dice < 7) return { kind: "set", path: this.#path(), data: this.#value(), version: this.#version() };
    return { kind: "delete", path: this.#path(), version: this.#version() };
  }

  /** A stream of its own decides: without these kinds a client asks as before. */
  #reaped(sequential: boolean): Reaped | undefined {
    const dice = this.#kinds?.below(10) ?? 9;
    if (dice < 3 && !sequential) return { kind: "container" };
    return dice < 6 ? { kind: "ttl", ttlMs: 1 + dice * 400 } : undefined;
  }

  #check(): Write {
    return { kind: "check", path: this.#path(), version: this.#version() };
  }

  #path(): string {
    return this.#chance.pick(PATHS);
  }

  #version(): number {
    return this.#chance.chance(0.6) ? -1 : this.#chance.below(4);
  }

  #value(): string {
    return `${this.#name}-${++this.#serial}`;
  }
}
