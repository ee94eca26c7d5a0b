import { AddWatchMode, WatchSelector } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { Reaped, Write, WriteRequest } from "../model/writes.ts";
import type { Read, SimRequest } from "./requests.ts";

/** Few paths, so that clients share them; some below others, so that order matters. */
const PATHS = ["/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/deep", "/queue"];

export interface WorkloadOptions {
  readonly hasNodeKinds?: boolean;
  readonly hasLongTxns?: boolean;
  readonly hasAcls?: boolean;
  readonly isContended?: boolean;
  readonly syncShare?: number;
}

/** Chooses the next request of a simulated client. */
export class Workload {
  readonly #random: Prng;
  readonly #name: string;
  readonly #kinds: Prng | undefined;
  readonly #long: Prng | undefined;
  readonly #manners: Prng;
  readonly #options: WorkloadOptions;
  #serial = 0;

  /**
   * @param name part of every value, so that no two clients write the same
   * @param options.hasNodeKinds whether containers and TTL nodes are among what it creates
   * @param options.hasLongTxns whether it also requests transactions of several ops that are never
   * refused, and reads what they change
   * @param options.hasAcls whether it restricts who changes a node
   * @param options.isContended whether it creates and deletes ephemerals at few paths
   * @param options.syncShare percentage of requests that are further syncs
   */
  constructor(random: Prng, name = "value", options: WorkloadOptions = {}) {
    this.#random = random;
    this.#name = name;
    this.#options = options;
    this.#manners = random.fork("manners");
    this.#kinds = options.hasNodeKinds === true ? random.fork("kinds") : undefined;
    this.#long = options.hasLongTxns === true ? random.fork("long transactions") : undefined;
  }

  next(): SimRequest {
    const { hasAcls, isContended, syncShare = 0 } = this.#options;
    const manners = this.#manners;
    if (manners.below(100) < syncShare) return { kind: "read", read: { kind: "sync", path: "/" } };
    if (isContended === true && manners.chance(0.5)) {
      if (manners.chance(0.7)) return one(this.#contended(manners));
      return { kind: "write", request: { kind: "multi", writes: this.#contendedMulti(manners) } };
    }
    if (hasAcls === true && manners.chance(0.2)) return one(this.#restricting(manners));
    const long = this.#long?.below(100) ?? 100;
    if (this.#long !== undefined && long < 12) return { kind: "write", request: this.#longTxn(this.#long) };
    if (long < 16) return { kind: "read", read: { kind: "sync", path: "/" } };
    if (long < 28) return { kind: "read", read: { kind: "data", path: "/", watch: long % 4 === 0 } };
    const dice = this.#random.below(100);
    if (dice < 45) return { kind: "write", request: { kind: "one", write: this.#write() } };
    if (dice < 57) {
      const writes = Array.from({ length: 1 + this.#random.below(4) }, () => this.#write());
      return {
        kind: "write",
        request: { kind: "multi", writes: this.#random.chance(0.3) ? [this.#check(), ...writes] : writes },
      };
    }
    if (dice < 60) return { kind: "read", read: { kind: "sync", path: "/a" } };
    if (dice < 65) return { kind: "read", read: { kind: "ping" } };
    if (dice < 73) return { kind: "read", read: this.#watch() };
    if (dice < 75) return { kind: "read", read: { kind: "ephemerals", prefix: this.#random.pick(["/", "/a", "/a/"]) } };
    if (dice < 77) return { kind: "read", read: { kind: "descendants", path: this.#random.pick(["/", ...PATHS]) } };
    const kind = this.#random.pick(["data", "exists", "children"] as const);
    return { kind: "read", read: { kind, path: this.#path(), watch: this.#random.chance(0.4) } };
  }

  #contended(random: Prng): Write {
    const path = random.pick(["/b", "/contended"]);
    if (random.chance(0.4)) return { kind: "delete", path, version: -1 };
    return { kind: "create", path, data: this.#value(), ephemeral: true, sequential: false };
  }

  /**
   * Some of a multi's first ops are carried out or only checked; most have a last one that is
   * refused.
   */
  #contendedMulti(random: Prng): readonly Write[] {
    const checks = random.chance(0.3);
    const sets = Array.from({ length: 2 + random.below(4) }, (): Write => {
      if (checks) return { kind: "check", path: "/", version: -1 };
      return { kind: "set", path: random.pick(["/", "/b", "/contended"]), data: this.#value(), version: -1 };
    });
    return random.chance(0.7) ? [...sets, { kind: "check", path: "/", version: 999_999 }] : sets;
  }

  #restricting(random: Prng): Write {
    const path = random.pick(PATHS);
    const isOwn = random.chance(0.5);
    if (random.chance(0.5)) return { kind: "setAcl", path, isOwn, version: random.chance(0.7) ? -1 : random.below(3) };
    return { kind: "create", path, data: this.#value(), ephemeral: random.chance(0.2), sequential: false, isOwn };
  }

  #longTxn(random: Prng): WriteRequest {
    const writes = Array.from({ length: 2 + random.below(4) }, (): Write => {
      if (random.chance(0.5)) return { kind: "set", path: "/", data: this.#value(), version: -1 };
      return { kind: "create", path: "/e-", data: "", ephemeral: true, sequential: true };
    });
    return { kind: "multi", writes };
  }

  #watch(): Read {
    const path = this.#random.pick(["/", ...PATHS]);
    if (this.#random.chance(0.6)) {
      return { kind: "addWatch", path, mode: this.#random.pick(Object.values(AddWatchMode)) };
    }
    const kind = this.#random.pick(["checkWatches", "removeWatches"] as const);
    return { kind, path, selector: this.#random.pick(Object.values(WatchSelector)) };
  }

  #write(): Write {
    const dice = this.#random.below(10);
    if (dice < 4) {
      const sequential = this.#random.chance(0.3);
      const path = sequential ? "/queue/n-" : this.#path();
      const data = this.#value();
      const ephemeral = this.#random.chance(0.3);
      const reaped = ephemeral ? undefined : this.#reaped(sequential);
      return { kind: "create", path, data, ephemeral, sequential, ...(reaped === undefined ? {} : { reaped }) };
    }
    if (dice < 7) return { kind: "set", path: this.#path(), data: this.#value(), version: this.#version() };
    return { kind: "delete", path: this.#path(), version: this.#version() };
  }

  /** From a stream of its own: without these kinds, a client makes the same requests otherwise. */
  #reaped(sequential: boolean): Reaped | undefined {
    const dice = this.#kinds?.below(10) ?? 9;
    if (dice < 3 && !sequential) return { kind: "container" };
    return dice < 6 ? { kind: "ttl", ttlMs: 1 + dice * 400 } : undefined;
  }

  #check(): Write {
    return { kind: "check", path: this.#path(), version: this.#version() };
  }

  #path(): string {
    return this.#random.pick(PATHS);
  }

  #version(): number {
    return this.#random.chance(0.6) ? -1 : this.#random.below(4);
  }

  #value(): string {
    return `${this.#name}-${++this.#serial}`;
  }
}

function one(write: Write): SimRequest {
  return { kind: "write", request: { kind: "one", write } };
}
