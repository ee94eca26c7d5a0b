import type { ServerId } from "@zooid/model";
import type { ScenarioWorld } from "../world.ts";
import { atOnce, type Command, choose, each, idOf, sidsOf } from "./command.ts";

/** Commands about servers and their disks. */
export const SERVER_COMMANDS: readonly Command[] = [
  [/^elect$/, ({ world }) => elect(world)],
  [/^restart subset (\d+) of (s.+)$/, ({ world }, number, names) => subset(number, names, (sid) => world.start(sid))],
  [/^(?:start|restart) (s.+)$/, ({ world }, names) => each(names, (sid) => world.start(sid))],
  [
    /^crash s(\d+) after (\d+) messages from s(\d+)$/,
    ({ world }, sid, count, from) => {
      const to = idOf(sid);
      world.network.after(Number(count), idOf(from), to, () => world.later(() => world.crash(to)));
      return "at once";
    },
  ],
  [
    /^crash subset (\d+) of (s.+) keeping (\d+) unsynced$/,
    ({ world }, number, names, keep) => subset(number, names, (sid) => world.crash(sid, Number(keep))),
  ],
  [/^crash s(\d+) keeping (\d+) unsynced$/, ({ world }, sid, keep) => world.crash(idOf(sid), Number(keep))],
  [/^crash (s[^k]+)$/, ({ world }, names) => each(names, (sid) => world.crash(sid))],
  [/^wipe s(\d+)$/, ({ world }, sid) => world.wipe(idOf(sid))],
  [/^damage s(\d+)$/, ({ world }, sid) => world.damage(idOf(sid))],
  [/^pause s(\d+)$/, ({ world }, sid) => world.up(idOf(sid)).pause()],
  [/^resume s(\d+)$/, ({ world }, sid) => world.up(idOf(sid)).resume()],
  [/^skew s(\d+) by (-?\d+) ms$/, ({ world }, sid, ms) => world.up(idOf(sid)).skewWallClock(Number(ms))],
  [/^transfer leadership of s(\d+)$/, ({ world }, sid) => transferLeadership(world, idOf(sid))],
  [
    /^hold sync (s.+)$/,
    ({ world }, names) => atOnce(() => each(names, (sid) => world.observations.holdSync(sid, true))),
  ],
  [/^release sync (s.+)$/, ({ world }, names) => each(names, (sid) => world.observations.holdSync(sid, false))],
  [/^sync s(\d+)(?: (\d+))?$/, ({ world }, sid, count) => world.up(idOf(sid)).disk.letThrough(Number(count || 1))],
  [/^slow disk s(\d+) to (\d+) ms$/, ({ world }, sid, ms) => choose(() => world.slowDisk(idOf(sid), Number(ms)))],
  [/^purge (s.+)$/, ({ world }, names) => each(names, (sid) => world.up(sid).checkpoint())],
  [/^fail disk s(\d+)$/, ({ world }, sid) => world.failDisk(idOf(sid))],
  [/^fill disk (s.+)$/, ({ world }, names) => each(names, (sid) => world.setRoom(sid, "full"))],
  [/^little room on disk (s.+)$/, ({ world }, names) => each(names, (sid) => world.setRoom(sid, "low"))],
  [/^make room on disk (s.+)$/, ({ world }, names) => each(names, (sid) => world.setRoom(sid, "enough"))],
];

/** Those servers of a list whose bits are set: 5 is the first and the third. */
function subset(number: string | undefined, names: string | undefined, act: (sid: ServerId) => void): void {
  for (const [i, sid] of sidsOf(names).entries()) if (((Number(number) >> i) & 1) === 1) act(sid);
}

/** Starts every server that has never run, and waits until a leader is elected. */
function elect(world: ScenarioWorld): "at once" {
  for (const { sid, server, lives } of world.members) if (server === undefined && lives === 0) world.start(sid);
  world.settle();
  return "at once";
}

function transferLeadership(world: ScenarioWorld, sid: ServerId): void {
  const server = world.up(sid);
  server.input(() => {
    server.replica.zab.transferLeadership();
  });
}
