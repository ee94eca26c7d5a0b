import type { ServerId } from "@zooid/model";
import type { SimRequest } from "../clients/requests.ts";
import type { Prng } from "../cluster/prng.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";
import { type BlockedDirections, clog } from "./links.ts";

/** Leaders that are deposed and have not noticed. */
export function deposedLeaders(blocked: BlockedDirections): FaultActions<"stale-leader" | "late-answers"> {
  return {
    "late-answers": (world, random) => partLate(world, blocked, random),
    "stale-leader": (world, random) => {
      const forMs = 1500 + random.below(2000);
      const lateByMs = 400 + random.below(500);
      // A server that stays with it, now and then.
      const companions = random.chance(0.6) ? [companionOf(world, random)] : [];
      const [companion] = companions;
      const { leader } = world;
      isolateLeader(world, blocked, forMs, { companions, lateByMs });
      if (companion === undefined || leader === undefined || companion === leader.sid) return;
      if (random.chance(0.5)) partAtOnce(world, leader.sid, companions);
      beginSessionsElsewhere(world, random, { leader: leader.sid, companion, forMs });
    },
  };
}

/** An observer where there is one: it takes nothing from the leader's quorum. */
function companionOf({ cluster, sids }: FaultWorld, random: Prng): ServerId {
  const observers = sids.filter((sid) => !cluster.voters.includes(sid));
  return random.pick(observers.length > 0 ? observers : sids);
}

export interface IsolationOptions {
  /** Servers that hear the leader as before. */
  readonly companions?: readonly ServerId[];
  /** A server that hears it again after a third of the time. */
  readonly returning?: ServerId;
  /** How much later the leader hears the others. */
  readonly lateByMs?: number;
}

/**
 * The leader is not heard any more and hears the others late: they elect another one while it still
 * believes that it leads.
 */
export function isolateLeader(
  world: FaultWorld,
  blocked: BlockedDirections,
  forMs: number,
  options: IsolationOptions = {},
): void {
  const { leader } = world;
  const { companions = [], returning, lateByMs = 700 } = options;
  for (const sid of world.sids) {
    if (leader === undefined || sid === leader.sid) continue;
    if (companions.includes(sid)) continue;
    blocked.block(leader.sid, sid, sid === returning ? forMs / 3 : forMs);
    clog(world, sid, leader.sid, lateByMs, forMs);
  }
}

/** The others part from a leader without its knowledge, and need not wait for their timeout. */
export function partAtOnce(world: FaultWorld, leader: ServerId, companions: readonly ServerId[] = []): void {
  for (const sid of world.sids) {
    if (sid === leader || companions.includes(sid)) continue;
    world.report(sid, `closes its link to server ${leader}, which is not told`);
    world.cluster.network.leave(sid, leader);
  }
}

/**
 * The leader hears the others late, and they part from it without its knowledge: while they elect
 * another leader, their last answers still reach the old one. Some clients sync there meanwhile,
 * and others write elsewhere.
 */
function partLate(world: FaultWorld, blocked: BlockedDirections, random: Prng): void {
  const { leader } = world;
  if (leader === undefined) return;
  // In half of the cases the leader waits for them.
  const lateByMs = random.chance(0.5) ? 500 + random.below(400) : 800 + random.below(900);
  sendSyncsAndWrites(world, random, leader.sid);
  world.later(100, () => {
    for (const sid of world.sids) {
      if (sid !== leader.sid) clog(world, sid, leader.sid, lateByMs, 2500);
    }
    world.later(100 + random.below(100), () => {
      partAtOnce(world, leader.sid);
      for (const sid of world.sids) if (sid !== leader.sid) blocked.block(leader.sid, sid, 2500);
    });
  });
}

const SYNC: SimRequest = { kind: "read", read: { kind: "sync", path: "/" } };

/** Half of the clients sync at the deposed leader, the others write at the other servers. */
function sendSyncsAndWrites(world: FaultWorld, random: Prng, leader: ServerId): void {
  const { errands } = world.run;
  const others = world.sids.filter((sid) => sid !== leader);
  if (others.length === 0) return;
  errands.free().forEach((client, i) => {
    if (random.chance(0.2)) return;
    const elsewhere = random.pick(others);
    const request = i % 2 === 0 ? () => SYNC : () => writeBy(client.name);
    const server = (): ServerId => (i % 2 === 0 ? leader : elsewhere);
    errands.send(client, { server, request, forMs: 1500 });
  });
}

/** A write that is never refused. */
export function writeBy(name: string): SimRequest {
  return { kind: "write", request: { kind: "one", write: { kind: "set", path: "/", data: name, version: -1 } } };
}

/**
 * Some clients begin sessions at the servers that have another leader, and come with these to the
 * one that stays with the deposed leader: that one does not know them.
 */
function beginSessionsElsewhere(
  world: FaultWorld,
  random: Prng,
  { leader, companion, forMs }: { readonly leader: ServerId; readonly companion: ServerId; readonly forMs: number },
): void {
  const { run, cluster } = world;
  const others = cluster.voters.filter((sid) => sid !== leader && sid !== companion);
  if (others.length === 0) return;
  for (const client of run.errands.free()) {
    if (!random.chance(0.6)) continue;
    let from = random.pick(others);
    const isServed = (): boolean => others.some((sid) => cluster.server(sid)?.isLeading === true);
    const server = (): ServerId | undefined => {
      if (!isServed()) return undefined;
      const { connection } = client;
      // From the moment that it has a session there, which has seen nothing yet, it may continue.
      if (connection?.server.sid === from && connection.isReady) {
        from = random.pick(others);
        return companion;
      }
      if (connection?.server.sid === companion) return companion;
      if (connection === undefined) client.forgetSession();
      return from;
    };
    run.errands.send(client, { server, request: () => ({ kind: "read", read: { kind: "ping" } }), forMs });
  }
}
