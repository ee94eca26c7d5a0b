import type { ServerId } from "@zooid/model";
import type { ScenarioWorld } from "../world.ts";
import { atOnce, type Command, idOf, sidsOf } from "./command.ts";

/** Commands about the links between servers. */
export const NETWORK_COMMANDS: readonly Command[] = [
  [/^block s(\d+) ([>=]) s(\d+)$/, ({ world }, a, way, b) => block(world, idOf(a), idOf(b), way === "=")],
  [/^cut ([^|]+) \| ([^|]+)$/, ({ world }, side, other) => cut(world, side ?? "", other ?? "")],
  [/^heal$/, ({ world }) => heal(world)],
  [
    /^drop link s(\d+) s(\d+) after (\d+) messages s(\d+) > s(\d+)$/,
    ({ world }, a, b, count, from, to) => {
      world.network.after(Number(count), idOf(from), idOf(to), () => world.network.reset(idOf(a), idOf(b)));
      return "at once";
    },
  ],
  [/^drop link s(\d+) s(\d+)$/, ({ world }, a, b) => world.network.reset(idOf(a), idOf(b))],
  [/^clog s(\d+) > s(\d+) by (\d+) ms$/, ({ world }, a, b, ms) => world.network.clog(idOf(a), idOf(b), Number(ms))],
  [/^half-open s(\d+) s(\d+)$/, ({ world }, a, b) => world.network.halfOpen(idOf(a), idOf(b))],
  [/^old votes for s(\d+) at s(\d+)$/, ({ world }, leader, sid) => world.hearOldVotes(idOf(sid), idOf(leader))],
  [/^hold s(\d+) > s(\d+)$/, ({ world }, from, to) => atOnce(() => world.network.hold(idOf(from), idOf(to)))],
  [/^release s(\d+) > s(\d+)$/, ({ world }, from, to) => world.network.release(idOf(from), idOf(to))],
  [
    /^deliver s(\d+) > s(\d+) (\d+) messages?$/,
    ({ world }, from, to, count) => {
      let left = Number(count);
      if (left > 0) world.network.deliver(idOf(from), idOf(to), () => --left === 0);
    },
  ],
  [
    /^deliver s(\d+) > s(\d+) until (\S+)$/,
    ({ world }, from, to, kind) => world.network.deliver(idOf(from), idOf(to), (message) => message.kind === kind),
  ],
];

function block(world: ScenarioWorld, a: ServerId, b: ServerId, isBoth: boolean): void {
  world.network.block(a, b);
  if (isBoth) world.network.block(b, a);
}

function cut(world: ScenarioWorld, side: string, other: string): void {
  for (const a of sidsOf(side)) for (const b of sidsOf(other)) block(world, a, b, true);
}

function heal({ members, network }: ScenarioWorld): void {
  network.releaseAll();
  for (const a of members) for (const b of members) if (a !== b) network.unblock(a.sid, b.sid);
}
