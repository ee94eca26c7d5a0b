import type { DiskRoom } from "@zooid/model";
import { expect, test } from "vitest";
import { DiskGuard } from "./disk-guard.ts";

const TOTAL = 1000;
const OPTIONS = { lowBytes: 100, reserveBytes: 50 };
const FREE = { roomy: 500, low: 80, reserve: 10, unknown: undefined } as const;
type Level = keyof typeof FREE;

/**
 * The facts that the guard is shown: the levels of two disks, and whether the log waits for room.
 */
interface Shown {
  readonly levels: readonly [Level, Level];
  readonly isLogWaiting: boolean;
}

const LEVELS = Object.keys(FREE) as readonly Level[];
const ALL: readonly Shown[] = LEVELS.flatMap((a) =>
  LEVELS.flatMap((b) => [true, false].map((isLogWaiting) => ({ levels: [a, b] as const, isLogWaiting }))),
);

function stage() {
  let free: readonly (number | undefined)[] = [FREE.roomy, FREE.roomy];
  const calls: string[] = [];
  const lines: string[] = [];
  const events: string[] = [];
  const guard = new DiskGuard({
    directories: ["0", "1"],
    options: OPTIONS,
    spaceOf: async (directory) => {
      const freeBytes = free[Number(directory)];
      if (freeBytes === undefined) throw new Error("it is not reported");
      return { freeBytes, totalBytes: TOTAL };
    },
    roomChanged: (room) => void calls.push(`room ${room}`),
    lowChanged: (isLow) => void calls.push(`low ${isLow}`),
    keepReserve: async () => void calls.push("reserve"),
    info: (text, { event }) => {
      lines.push(text);
      events.push(`info ${event}`);
    },
    warn: (text, { event }) => {
      lines.push(text);
      events.push(`warn ${event}`);
    },
  });
  return {
    guard,
    lines,
    events,
    /** Each look begins with a start, and a timer looks no more often in a test of milliseconds. */
    async show({ levels, isLogWaiting }: Shown, wasLogWaiting: boolean): Promise<readonly string[]> {
      free = levels.map((level) => FREE[level]);
      if (isLogWaiting !== wasLogWaiting) guard.logChanged(isLogWaiting ? "no room" : undefined);
      await guard.start();
      return calls.splice(0);
    },
  };
}

function expectedOf(
  levels: readonly Level[],
  isLogWaiting: boolean,
): { readonly room: DiskRoom; readonly isLow: boolean } {
  const room = isLogWaiting ? "full" : levels.includes("reserve") ? "low" : "enough";
  return { room, isLow: levels.some((level) => level !== "roomy") };
}

test("from each state to each other one: the room, the calls that report it, and the reserve", async () => {
  for (const first of ALL) {
    for (const second of ALL) {
      const { guard, show } = stage();
      let known: readonly Level[] = ["roomy", "roomy"];
      let before = expectedOf(known, false);
      let wasLogWaiting = false;
      for (const shown of [first, second]) {
        // A disk that is not reported keeps the level that it had.
        known = shown.levels.map((level, i) => (level === "unknown" ? (known[i] ?? "roomy") : level));
        const calls = await show(shown, wasLogWaiting);
        const after = expectedOf(known, shown.isLogWaiting);
        const isRoomy = !after.isLow && !shown.isLogWaiting;
        const text = JSON.stringify([first, second]);
        expect([guard.room, guard.isLow, text]).toEqual([after.room, after.isLow, text]);
        const isChanged = { room: after.room !== before.room, low: after.isLow !== before.isLow };
        expect([calls.includes("reserve"), text]).toEqual([isRoomy, text]);
        // The log and the disks may change the room one after the other, but the last call is the
        // one that holds.
        const rooms = calls.filter((each) => each.startsWith("room "));
        if (isChanged.room) expect([rooms.at(-1), text]).toEqual([`room ${after.room}`, text]);
        else expect([rooms.at(-1) ?? `room ${after.room}`, text]).toEqual([`room ${after.room}`, text]);
        expect(calls.filter((each) => each.startsWith("low "))).toEqual(isChanged.low ? [`low ${after.isLow}`] : []);
        before = after;
        wasLogWaiting = shown.isLogWaiting;
      }
      guard.stop();
    }
  }
});

test("a disk that changes its level has one line that names it, with its free bytes; one that stays has none", async () => {
  const { guard, lines, show } = stage();
  for (const level of ["roomy", "low", "low", "reserve", "low", "roomy"] as const) {
    await show({ levels: [level, "roomy"], isLogWaiting: false }, false);
  }
  guard.stop();
  expect(lines.map((line) => /lowBytes|reserveBytes|room again/.exec(line)?.[0])).toEqual([
    "lowBytes",
    "reserveBytes",
    "lowBytes",
    "room again",
  ]);
  for (const line of lines) expect(line).toContain("the disk of 0 has");
});

test("room that ends is a warning, room that returns is not, on the disks and in the log", async () => {
  const { guard, lines, events, show } = stage();
  for (const level of ["low", "reserve", "roomy"] as const) {
    await show({ levels: [level, "roomy"], isLogWaiting: false }, false);
  }
  await show({ levels: ["roomy", "roomy"], isLogWaiting: true }, false);
  await show({ levels: ["roomy", "roomy"], isLogWaiting: false }, true);
  guard.stop();
  expect(events).toEqual([
    "warn disk-low",
    "warn disk-full",
    "info disk-has-room",
    "warn log-waits-for-room",
    "info log-has-room",
  ]);
  expect(lines.at(-2)).toContain("(no room)");
});

test("other limits hold from the next look on", async () => {
  const { guard, events, show } = stage();
  const low = { levels: ["low", "roomy"], isLogWaiting: false } as const;
  await show(low, false);
  expect([guard.isLow, guard.room]).toEqual([true, "enough"]);
  guard.change({ lowBytes: 40, reserveBytes: 20 });
  expect(guard.isLow).toBe(true);
  await show(low, false);
  expect(guard.isLow).toBe(false);
  guard.change({ lowBytes: 300, reserveBytes: 200 });
  await show(low, false);
  expect([guard.isLow, guard.room]).toEqual([true, "low"]);
  guard.stop();
  expect(events.map((event) => event.replace("info ", "").replace("warn ", ""))).toHaveLength(3);
});
