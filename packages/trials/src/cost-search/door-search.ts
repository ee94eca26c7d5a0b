/**
 * Looks for what holds the event loop longest at the doors beside clients' requests: HTTP routes,
 * four-letter words, changes of the members, restored snapshots, messages of servers after they
 * proved who they are, many connections of one address, and the answers that clients read.
 *
 *     npm run tool -- door-search [--seconds 60] [--seed N] [--door NAME] [--limit-factor 1]
 *
 * Each door has its part of the time. It begins with what earlier searches found (its seeds),
 * continues with random shapes and with changes of those that cost most, and measures the most
 * expensive ones again; the least counts. Ends with status 1 where anything holds the loop longer
 * than the door's limit times the factor, and where a server ends or is silent.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "@zooid/conformance/internal/random";
import { decimal, eachOf, newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { answerDoor } from "./doors/answer-door.ts";
import { crowdDoor } from "./doors/crowd-door.ts";
import { changedOf, type Door, type DoorShape, randomOf, textOf } from "./doors/door.ts";
import { httpDoor } from "./doors/http-door.ts";
import { MeasuredProcess } from "./doors/measured-process.ts";
import { peerDoor } from "./doors/peer-door.ts";
import { reconfigDoor } from "./doors/reconfig-door.ts";
import { restoreDoor } from "./doors/restore-door.ts";
import { wordDoor } from "./doors/word-door.ts";

/** The time of work on a request behind its answer. */
const AFTERWARDS_MS = 3;
const CONFIRMED = 5;
const CONFIRMING_REPEATS = 8;
const KEPT = 20;
const SHOWN = 5;

interface Found {
  readonly shape: DoorShape;
  readonly bytes: number;
  readonly heldMs: number;
}

/** @returns the door, and its server where one is measured */
const DOORS: Readonly<Record<string, (server: () => Promise<MeasuredProcess>) => Promise<Door>>> = {
  http: async (server) => httpDoor(await server()),
  words: async (server) => wordDoor(await server()),
  crowd: async (server) => crowdDoor(await server()),
  restore: async (server) => restoreDoor(await server()),
  reconfig: async (server) => reconfigDoor(await server()),
  peers: async () => peerDoor(),
  answers: () => answerDoor(),
};
const SERVER_OPTIONS: Readonly<Record<string, object>> = { reconfig: { reconfigEnabled: true } };

const options = toolOptions({
  seconds: decimal(60),
  seed: newSeed(),
  door: eachOf(Object.keys(DOORS)),
  limitFactor: decimal(1),
});
const random = new Random(options.seed);
const { door: names } = options;
let faultCount = 0;
console.log(`seed ${options.seed}`);
for (const name of names) faultCount += await search(name, (options.seconds * 1000) / names.length);
console.log(`${names.length} doors, ${faultCount} faults`);
process.exit(faultCount > 0 ? 1 : 0);

/** @returns how much of what was found holds the loop too long */
async function search(name: string, ms: number): Promise<number> {
  const open = DOORS[name];
  if (open === undefined) return 0;
  let server: MeasuredProcess | undefined;
  const door = await open(async () => (server = await MeasuredProcess.start(SERVER_OPTIONS[name])));
  try {
    return await searchAt(door, server, ms);
  } finally {
    await door[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  }
}

async function searchAt(door: Door, server: MeasuredProcess | undefined, ms: number): Promise<number> {
  const limitMs = door.limitMs * options.limitFactor;
  const kept: Found[] = [];
  const endMs = performance.now() + ms;
  let count = 0;
  const measure = async (shape: DoorShape): Promise<Found> => {
    await server?.report();
    const sent = await door.send(shape);
    await delay(AFTERWARDS_MS);
    const heldMs = sent.heldMs ?? (await server?.report())?.heldMs ?? 0;
    count++;
    return { shape, bytes: sent.bytes, heldMs };
  };
  const tryOut = async (shape: DoorShape): Promise<void> => {
    kept.push(await measure(shape));
    kept.sort((a, b) => b.heldMs - a.heldMs);
    kept.length = Math.min(kept.length, KEPT);
  };
  for (const shape of door.seeds) await tryOut(shape);
  while (performance.now() < endMs) {
    const known = kept.length > 0 && random.chance(0.6) ? random.pick(kept).shape : undefined;
    await tryOut(known === undefined ? randomOf(door.fields, random) : changedOf(door.fields, known, random));
  }
  const confirmed: Found[] = [];
  for (const found of kept.slice(0, CONFIRMED)) {
    let least = found;
    // What is far below the limit need not be measured again.
    for (let i = 0; i < CONFIRMING_REPEATS && least.heldMs > limitMs / 2; i++) {
      const again = await measure(found.shape);
      if (again.heldMs < least.heldMs) least = again;
    }
    confirmed.push(least);
  }
  confirmed.sort((a, b) => b.heldMs - a.heldMs);
  console.log(`\n${door.name}: ${count} tries, limit ${limitMs} ms`);
  for (const { shape, bytes, heldMs } of confirmed.slice(0, SHOWN)) {
    console.log(`  ${heldMs.toFixed(1)} ms, ${bytes} bytes: ${textOf(shape)}`);
  }
  const faults = confirmed.filter(({ heldMs }) => heldMs > limitMs);
  for (const { shape } of faults) console.log(`  FAULT: beyond the limit: ${JSON.stringify(shape)}`);
  return faults.length;
}
