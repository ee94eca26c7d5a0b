import type { ServerId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { crash } from "./crashes.ts";
import { partAtOnce, writeBy } from "./deposed-leaders.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";
import type { BlockedDirections } from "./links.ts";
import { hearOldVotes } from "./old-votes.ts";

/** The deposed leader, and how long its successor leads. */
interface Planned {
  readonly deposed: SimServer;
  readonly epoch: number;
  readonly leadsForMs: number;
  readonly open: readonly (() => void)[];
}

const REPEAT_MS = 30;

/**
 * Elections that choose a server whose history is older than that of its electors. To the broadcast
 * an election is a hint: its own checks must keep such a server from leading.
 *
 * 1. The leader S3 is cut off and proposes entries that no other server has.
 * 2. S1 and S2 elect S1, which begins an epoch and may commit something in it.
 * 3. S1 crashes, the links of S3 are whole again, and S2 hears notifications by which S3 leads.
 * 4. S2 follows S3, which lacks what S2 has.
 */
export class WrongElections {
  readonly #world: FaultWorld;
  readonly #blocked: BlockedDirections;
  #planned: Planned | undefined;

  constructor(world: FaultWorld, blocked: BlockedDirections) {
    this.#world = world;
    this.#blocked = blocked;
  }

  /** The leader is deposed, and elected again when its successor has led for a while. */
  plan(leadsForMs: number): void {
    const world = this.#world;
    const { leader, sids, run } = world;
    if (leader === undefined || this.#planned !== undefined || world.cluster.voters.length < 3) return;
    const open: (() => void)[] = [];
    for (const sid of sids) {
      if (sid === leader.sid) continue;
      open.push(this.#blocked.block(leader.sid, sid, 3000), this.#blocked.block(sid, leader.sid, 3000));
    }
    partAtOnce(world, leader.sid);
    const [client] = run.errands.free();
    if (client !== undefined) {
      run.errands.send(client, { server: () => leader.sid, request: () => writeBy(client.name), forMs: 800 });
    }
    const planned = { deposed: leader, epoch: leader.replica.zab.epoch, leadsForMs, open };
    this.#planned = planned;
    world.later(3000, () => {
      if (this.#planned === planned) this.#planned = undefined;
    });
  }

  stepped(server: SimServer): void {
    const planned = this.#planned;
    if (planned === undefined || server === planned.deposed) return;
    const { zab } = server.replica;
    if (zab.state !== "leading" || zab.phase !== "broadcast" || zab.epoch <= planned.epoch) return;
    this.#planned = undefined;
    this.#world.later(planned.leadsForMs, () => this.#electAgain(planned, server.sid));
  }

  #electAgain({ deposed, open }: Planned, successor: ServerId): void {
    const world = this.#world;
    crash(world, successor, 2000);
    crash(world, deposed.sid, 1);
    for (const each of open) each();
    world.report(deposed.sid, "is elected by old notifications");
    world.run.coverage.reached("server elected with an older history");
    repeatOldVotes(world, deposed.sid, { forMs: 700, by: world.cluster.voters.filter((sid) => sid !== deposed.sid) });
  }
}

/** Servers that look for a leader hear, from all others, that a server leads. */
export function repeatOldVotes(
  world: FaultWorld,
  leader: ServerId,
  { forMs, by }: { readonly forMs: number; readonly by: readonly ServerId[] },
): void {
  const { cluster, run } = world;
  const untilMs = run.nowMs + forMs;
  const repeat = (): void => {
    for (const sid of by) {
      const server = cluster.server(sid);
      if (server?.replica.membership.role === "looking") hearOldVotes(cluster, server, leader);
    }
    if (run.nowMs < untilMs) world.later(REPEAT_MS, repeat);
  };
  repeat();
}

export function wrongElections(elections: WrongElections): FaultActions<"wrong-election"> {
  return {
    "wrong-election": (_world, random) => elections.plan(random.chance(0.5) ? 0 : random.below(300)),
  };
}
