import type { ServerId } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import { duration, type FaultActions, type FaultWorld } from "./fault-world.ts";

/**
 * Directions between servers that deliver nothing for a while. Several faults may block one
 * direction at a time.
 */
export class BlockedDirections {
  readonly #world: FaultWorld;
  readonly #counts = new Map<string, number>();

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** @returns opens the direction earlier, unless another fault blocks it */
  block(from: ServerId, to: ServerId, forMs: number): () => void {
    const key = `${from}>${to}`;
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    if (count === 0) {
      this.#world.report(from, `is not heard by server ${to}`);
      this.#world.cluster.network.block(from, to);
    }
    let isOpen = false;
    const open = (): void => {
      if (isOpen) return;
      isOpen = true;
      const left = (this.#counts.get(key) ?? 1) - 1;
      this.#counts.set(key, left);
      if (left === 0) this.#unblock(from, to);
    };
    this.#world.later(forMs, open);
    return open;
  }

  /** Blocks every direction that satisfies a condition. */
  blockWhere(forMs: number, isBlocked: (from: ServerId, to: ServerId) => boolean): void {
    const { sids } = this.#world;
    for (const a of sids) {
      for (const b of sids) if (a !== b && isBlocked(a, b)) this.block(a, b, forMs);
    }
  }

  #unblock(from: ServerId, to: ServerId): void {
    const { network } = this.#world.cluster;
    this.#world.run.trace.say(`s${from}`, `is heard by server ${to} again`);
    network.unblock(from, to);
    // A connection for elections is made when both directions are open.
    network.unblock(to, from);
  }
}

type LinkFault = "reset" | "partition" | "one-way" | "bridge" | "ring" | "swizzle" | "half-open" | "clog";

export function linkFaults(blocked: BlockedDirections): FaultActions<LinkFault> {
  return {
    reset: (world, random) =>
      withPair(world, random, (a, b) => {
        world.report(a, `loses its links to server ${b}`);
        world.cluster.network.reset(a, b);
      }),
    partition: ({ sids }, random) => {
      const side = sidesOf(sids, random);
      blocked.blockWhere(duration(random), (a, b) => side.get(a) !== side.get(b));
    },
    "one-way": (world, random) => {
      const forMs = duration(random);
      const sid = random.pick(world.sids);
      const isDeaf = random.chance(0.5);
      if (random.chance(0.5)) blocked.blockWhere(forMs, (a, b) => (isDeaf ? b : a) === sid);
      else withPair(world, random, (a, b) => blocked.block(a, b, forMs));
    },
    bridge: ({ sids }, random) => {
      const bridge = random.pick(sids);
      const side = sidesOf(sids, random);
      const isCut = (a: ServerId, b: ServerId): boolean => side.get(a) !== side.get(b);
      blocked.blockWhere(duration(random), (a, b) => a !== bridge && b !== bridge && isCut(a, b));
    },
    ring: ({ sids }, random) => {
      const place = new Map(sids.map((sid, i) => [sid, i]));
      blocked.blockWhere(duration(random), (a, b) => {
        const apart = Math.abs((place.get(a) ?? 0) - (place.get(b) ?? 0));
        return apart !== 1 && apart !== sids.length - 1;
      });
    },
    swizzle: (world, random) => swizzle(world, blocked, random),
    "half-open": (world, random) =>
      withPair(world, random, (a, b) => {
        world.report(a, `closes its links to server ${b}, which is not told`);
        world.cluster.network.halfOpen(a, b);
      }),
    clog: (world, random) =>
      withPair(world, random, (a, b) => clog(world, a, b, 50 + random.below(700), duration(random))),
  };
}

/** Blocks the links one after another and opens them in another order. */
function swizzle(world: FaultWorld, blocked: BlockedDirections, random: Prng): void {
  for (const a of world.sids) {
    for (const b of world.sids) {
      if (a >= b) continue;
      const fromMs = random.below(800);
      const untilMs = 900 + random.below(800);
      world.later(fromMs, () => {
        blocked.block(a, b, untilMs - fromMs);
        blocked.block(b, a, untilMs - fromMs);
      });
    }
  }
}

/** Adds latency to one direction. */
export function clog(world: FaultWorld, from: ServerId, to: ServerId, byMs: number, forMs: number): void {
  const { network } = world.cluster;
  world.report(from, `needs ${byMs} ms more to reach server ${to}`);
  network.clog(from, to, byMs);
  world.run.after(forMs, () => network.unclog(from, to));
}

function sidesOf(sids: readonly ServerId[], random: Prng): ReadonlyMap<ServerId, boolean> {
  return new Map(sids.map((sid) => [sid, random.chance(0.5)]));
}

function withPair({ sids }: FaultWorld, random: Prng, act: (a: ServerId, b: ServerId) => void): void {
  if (sids.length < 2) return;
  const a = random.pick(sids);
  const b = random.pick(sids.filter((sid) => sid !== a));
  act(a, b);
}
