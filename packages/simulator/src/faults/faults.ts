import type { ServerId } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import { FAULTS, type Fault } from "../seeds/plan.ts";

/** What faults can do to an ensemble. */
export interface Breakable {
  readonly sids: readonly ServerId[];
  readonly voters: readonly ServerId[];
  readonly nowMs: number;
  server(sid: ServerId): SimServer | undefined;
  /** Those that run; paused ones among them. */
  running(): readonly SimServer[];
  /** Happens unless the time of faults is over by then. */
  later(delayMs: number, run: () => void): void;
  crash(sid: ServerId, downMs: number): void;
  crashAtNextFlip(sid: ServerId): void;
  /** The server crashes when it next has applied a part of a transaction, or a part of the end of a session. */
  crashAtNextSlice(sid: ServerId): void;
  /** Empties the disk of a server, if enough others never lost theirs. */
  wipe(sid: ServerId, downMs: number): void;
  pause(sid: ServerId, forMs: number): void;
  block(from: ServerId, to: ServerId, forMs: number): void;
  reset(a: ServerId, b: ServerId): void;
  halfOpen(a: ServerId, b: ServerId): void;
  clog(from: ServerId, to: ServerId, byMs: number, forMs: number): void;
  slowDisk(sid: ServerId, syncMs: number, forMs: number): void;
  failDisk(sid: ServerId, how: "sync" | "full", downMs: number): void;
  keepState(sid: ServerId): void;
  stepClock(sid: ServerId, byMs: number): void;
  handOver(sid: ServerId, thenCrash: boolean): void;
  cutClients(share: number, chance: Prng): void;
}

/** Lets the faults of a plan happen, each by its own stream of chance. */
export function startFaults(
  world: Breakable,
  faults: ReadonlyMap<Fault, number>,
  root: Prng,
  during: { readonly fromMs: number; readonly untilMs: number },
): void {
  for (const fault of FAULTS) {
    const meanMs = faults.get(fault);
    if (meanMs === undefined) continue;
    const chance = root.fork(fault);
    const pause = (): number => -meanMs * Math.log(1 - chance.next() / 2 ** 32);
    const happen = (): void => {
      if (world.nowMs >= during.untilMs) return;
      DEEDS[fault](world, chance);
      world.later(pause(), happen);
    };
    world.later(during.fromMs + pause(), happen);
  }
}

const DEEDS: Readonly<Record<Fault, (world: Breakable, chance: Prng) => void>> = {
  crash: (world, chance) => {
    const sid = chance.pick(world.sids);
    world.crash(sid, downTime(chance));
  },
  "crash-loop": (world, chance) => {
    const sid = chance.pick(world.sids);
    const times = 2 + chance.below(4);
    const loop = (left: number): void => {
      if (left === 0) return;
      world.crash(sid, chance.below(60));
      world.later(100 + chance.below(400), () => loop(left - 1));
    };
    loop(times);
  },
  "crash-all": (world, chance) => {
    for (const sid of world.sids) world.crash(sid, chance.below(1500));
  },
  "crash-at-flip": (world, chance) => world.crashAtNextFlip(chance.pick(world.sids)),
  "crash-at-slice": (world, chance) => world.crashAtNextSlice(chance.pick(world.sids)),
  pause: (world, chance) => {
    const leader = world.running().find((server) => server.isLeading);
    const sid = leader !== undefined && chance.chance(0.4) ? leader.sid : chance.pick(world.sids);
    world.pause(sid, chance.chance(0.4) ? 1000 + chance.below(4000) : chance.below(700));
  },
  reset: (world, chance) => withPair(world, chance, (a, b) => world.reset(a, b)),
  partition: (world, chance) => {
    const side = new Map(world.sids.map((sid) => [sid, chance.chance(0.5)]));
    cut(world, duration(chance), (a, b) => side.get(a) !== side.get(b));
  },
  "one-way": (world, chance) => {
    const forMs = duration(chance);
    const sid = chance.pick(world.sids);
    const isDeaf = chance.chance(0.5);
    if (chance.chance(0.5)) cut(world, forMs, (a, b) => (isDeaf ? b : a) === sid);
    else withPair(world, chance, (a, b) => world.block(a, b, forMs));
  },
  bridge: (world, chance) => {
    const bridge = chance.pick(world.sids);
    const side = new Map(world.sids.map((sid) => [sid, chance.chance(0.5)]));
    cut(world, duration(chance), (a, b) => a !== bridge && b !== bridge && side.get(a) !== side.get(b));
  },
  ring: (world, chance) => {
    const { sids } = world;
    const place = new Map(sids.map((sid, i) => [sid, i]));
    cut(world, duration(chance), (a, b) => {
      const apart = Math.abs((place.get(a) ?? 0) - (place.get(b) ?? 0));
      return apart !== 1 && apart !== sids.length - 1;
    });
  },
  swizzle: (world, chance) => {
    for (const a of world.sids) {
      for (const b of world.sids) {
        if (a >= b) continue;
        const fromMs = chance.below(800);
        const untilMs = 900 + chance.below(800);
        world.later(fromMs, () => {
          world.block(a, b, untilMs - fromMs);
          world.block(b, a, untilMs - fromMs);
        });
      }
    }
  },
  "half-open": (world, chance) => withPair(world, chance, (a, b) => world.halfOpen(a, b)),
  clog: (world, chance) => {
    withPair(world, chance, (a, b) => world.clog(a, b, 50 + chance.below(700), duration(chance)));
  },
  "slow-disk": (world, chance) => {
    world.slowDisk(chance.pick(world.sids), 100 + chance.below(2500), duration(chance));
  },
  "sync-failure": (world, chance) => world.failDisk(chance.pick(world.sids), "sync", downTime(chance)),
  "full-disk": (world, chance) => world.failDisk(chance.pick(world.sids), "full", downTime(chance)),
  wipe: (world, chance) => world.wipe(chance.pick(world.sids), downTime(chance)),
  fold: (world, chance) => world.keepState(chance.pick(world.sids)),
  "clock-step": (world, chance) => world.stepClock(chance.pick(world.sids), chance.below(200_000) - 100_000),
  "hand-over": (world, chance) => {
    const leader = world.running().find((server) => server.isLeading);
    if (leader !== undefined) world.handOver(leader.sid, chance.chance(0.6));
  },
  // It is not heard any more and hears the others late: they have another leader while it still believes that it leads.
  "stale-leader": (world, chance) => {
    const leader = world.running().find((server) => server.isLeading);
    const forMs = 1500 + chance.below(2000);
    for (const sid of world.sids) {
      if (leader === undefined || sid === leader.sid) continue;
      world.block(leader.sid, sid, forMs);
      world.clog(sid, leader.sid, 400 + chance.below(500), forMs);
    }
  },
  "cut-clients": (world, chance) => world.cutClients(0.3 + (chance.next() / 2 ** 32) * 0.7, chance),
};

function downTime(chance: Prng): number {
  return chance.chance(0.5) ? chance.below(300) : chance.below(3000);
}

function duration(chance: Prng): number {
  return chance.chance(0.4) ? chance.below(400) : chance.below(4000);
}

function withPair(world: Breakable, chance: Prng, deed: (a: ServerId, b: ServerId) => void): void {
  if (world.sids.length < 2) return;
  const a = chance.pick(world.sids);
  const b = chance.pick(world.sids.filter((sid) => sid !== a));
  deed(a, b);
}

function cut(world: Breakable, forMs: number, isCut: (from: ServerId, to: ServerId) => boolean): void {
  for (const a of world.sids) {
    for (const b of world.sids) if (a !== b && isCut(a, b)) world.block(a, b, forMs);
  }
}
