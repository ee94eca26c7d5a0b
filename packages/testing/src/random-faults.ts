import { ArgumentError, found, type Rule, rules, type Shape, shape } from "@zooid/model";
import type { Prng } from "@zooid/simulator";
import type { ClientLink } from "./client-link.ts";
import type { ServerStatus } from "./events.ts";
import { checkFit, type DurationRange, type FaultDuration } from "./options.ts";

/** Every kind of fault that {@link RandomFaults} knows. */
export const FAULT_KINDS = [
  "crash",
  "pause",
  "isolate",
  "slow-disk",
  "disconnect",
  "refuse",
  "freeze",
  "expire",
] as const;

/**
 * A kind of fault; the first four break a server, the others the way between a client and the
 * servers, or its session.
 */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Which faults happen, how often, and how long they last. */
export interface RandomFaultOptions {
  /** Default: all of {@link FAULT_KINDS}. */
  readonly kinds?: readonly FaultKind[];
  /** Virtual time from one fault to the next, on average. Default 2000. */
  readonly everyMs?: number;
  /** Most that a fault lasts. Default 10000. */
  readonly forMsMax?: number;
}

const timeRule: Rule = {
  expected: "a number of milliseconds, at least 1",
  accepts: (value) => typeof value === "number" && value >= 1,
};
const RANDOM: Shape<RandomFaultOptions> = shape<RandomFaultOptions>({
  kinds: rules.list,
  everyMs: timeRule,
  forMsMax: timeRule,
});

/** The faults of an ensemble that random faults are made of; see `TestEnsemble`. */
export interface FaultyEnsemble {
  readonly servers: readonly number[];
  status(server: number): ServerStatus;
  crash(server: number, duration: FaultDuration): void;
  pause(server: number, duration: FaultDuration): void;
  isolate(server: number, duration: FaultDuration): void;
  slowDisk(server: number, sync: DurationRange): void;
  expireSession(client: string): Promise<void>;
  heal(): void;
  settle(): Promise<void>;
}

interface FaultWorld {
  readonly random: Prng;
  readonly options: RandomFaultOptions;
  after(delayMs: number, run: () => void): void;
}

/** Faults that begin at random moments and end by themselves, all by the ensemble's seed. */
export class RandomFaults {
  readonly #ensemble: FaultyEnsemble;
  readonly #links: readonly ClientLink[];
  readonly #world: FaultWorld;
  readonly #kinds: readonly FaultKind[];
  readonly #everyMs: number;
  readonly #forMsMax: number;
  #isStopped = false;
  #count = 0;

  /** @internal */
  constructor(ensemble: FaultyEnsemble, links: readonly ClientLink[], world: FaultWorld) {
    checkFit("randomFaults", world.options, RANDOM);
    const { kinds = FAULT_KINDS, everyMs = 2000, forMsMax = 10_000 } = world.options;
    const unknown = kinds.filter((kind) => !FAULT_KINDS.includes(kind));
    if (unknown.length > 0 || kinds.length === 0) {
      const given = unknown.map((kind) => found(kind)).join(", ") || "none";
      throw new ArgumentError("randomFaults", [`kinds are some of ${FAULT_KINDS.join(", ")}, found ${given}`]);
    }
    this.#ensemble = ensemble;
    this.#links = links;
    this.#world = world;
    this.#kinds = kinds;
    this.#everyMs = everyMs;
    this.#forMsMax = forMsMax;
    this.#next();
  }

  /** How many faults have begun. */
  get count(): number {
    return this.#count;
  }

  /** Ends every fault, and waits until the ensemble has settled. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#ensemble.heal();
    await this.#ensemble.settle();
  }

  #next(): void {
    this.#world.after(this.#world.random.below(2 * this.#everyMs), () => {
      if (this.#isStopped) return;
      this.#begin();
      this.#next();
    });
  }

  #begin(): void {
    const { random, after } = this.#world;
    const ensemble = this.#ensemble;
    const kind = random.pick(this.#kinds);
    const server = random.pick(ensemble.servers);
    const forMs = 1 + random.below(this.#forMsMax);
    const link = this.#links.length === 0 ? undefined : random.pick(this.#links);
    const isDown = ensemble.status(server) === "down";
    this.#count++;
    switch (kind) {
      case "crash":
        if (!isDown) ensemble.crash(server, { forMs });
        return;
      case "pause":
        if (!isDown) ensemble.pause(server, { forMs });
        return;
      case "isolate":
        return ensemble.isolate(server, { forMs });
      case "slow-disk":
        return ensemble.slowDisk(server, { minMs: 0, maxMs: 500 });
      case "disconnect":
        return link?.cut();
      case "refuse":
        link?.refuse();
        link?.cut();
        return after(forMs, () => link?.accept());
      case "freeze":
        link?.freeze(random.pick(["requests", "answers", "both"] as const));
        return after(forMs, () => link?.thaw());
      case "expire":
        if (link?.session === undefined) return;
        // Without a quorum there is no expiry either.
        ensemble.expireSession(link.name).catch(() => {});
    }
  }
}
