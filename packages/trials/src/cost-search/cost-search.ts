import { setTimeout as delay } from "node:timers/promises";
import { Random } from "@zooid/conformance/internal/random";
import { decimal, newSeed, texts, toolOptions } from "@zooid/conformance/internal/tool-options";
import { CreateMode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth, create, multiBody, RawClient, read, versioned } from "@zooid/wire/testing/raw-client";
import { ANYONE, chunks, createWith, range } from "../attacks/attack.ts";
import { Attacker } from "../attacks/attacker.ts";
import { CASES } from "./cases.ts";
import { type Cost, leastOf } from "./cost.ts";
import { MeasuredProcess } from "./doors/measured-process.ts";
import { EPHEMERAL_PARENT_COUNT, ephemeralPath, FrameMaker, type World } from "./frames.ts";
import { changedShape, EPHEMERALS_MAX, randomShape, type Shape, shapeText } from "./shape.ts";
import { TopList } from "./top-list.ts";

const options = toolOptions({
  seconds: decimal(60),
  seed: newSeed(),
  nodes: 1_000_000,
  children: 100_000,
  ephemerals: 50_000,
  limitMs: decimal(10),
  shape: texts,
});

const FRAME_BYTES_MAX = 1_040_000;
/** How often what looks expensive is measured. */
const REPEATS = 5;
const CONFIRMING_REPEATS = 20;
const KEPT = 40;
const SHOWN = 10;
/** A transaction of fewer bytes is not worth naming, however short its request is. */
const TXN_BYTES_MIN = 1000;
/** The documented limit of one transaction: a frame and 4 MiB. The end of a session is several. */
const TXN_BYTES_MAX = 1_048_575 + 4 * 1024 * 1024;
/** The identities that the client which asks authenticates with. */
const IDENTITY_COUNT = 58;
const IDENTITY_BYTES = 500;
/** Requests, each part of a multi counted, between two times that what they created is removed. */
const REQUESTS_PER_SWEEP = 50_000;
/** The sweeps of a request beside its parts: it may have created long paths and watches. */
const REQUEST_SWEEP_COUNT = 250;
const OWNER_PING_MS = 8000;
/** Work that a request starts may continue in turns behind its answer. */
const AFTERWARDS_MS = 3;
const DEEP_COUNT = 1000;
/** With the one for everybody, as many entries as a list may have. */
const LISTED_COUNT = 999;
const NODES_PER_MULTI = 2000;
const DEEP_NODES_PER_MULTI = 100;
/** In paths of a thousand names no more of them are one transaction. */
const EPHEMERALS_PER_MULTI = 100;

const random = new Random(options.seed);
const server = await MeasuredProcess.start();
process.on("exit", () => server.kill());
const { port } = server;

const startMs = performance.now();
const { world, owner } = await setUp();
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
console.log(`seed ${options.seed}; the server holds ${options.nodes} nodes after ${seconds} s`);
const maker = new FrameMaker(world, FRAME_BYTES_MAX);
let xid = 1_000_000;
let attacker = await openAttacker();
let requestCount = 0;
let unswept = 0;
let ownerPingMs = 0;
const byTime = new TopList(KEPT, ({ heldMs }) => heldMs);
const byTxn = new TopList(KEPT, ({ txnBytes, frameBytes }) => (txnBytes < TXN_BYTES_MIN ? 0 : txnBytes / frameBytes));

if (options.shape.length > 0) {
  for (const text of options.shape) await measureAlone(JSON.parse(text) as Shape);
  process.exit();
}

const endMs = performance.now() + options.seconds * 1000;
for (const shape of CASES) await tryOut(shape);
while (performance.now() < endMs) {
  const { costs } = random.chance(0.7) ? byTime : byTxn;
  await tryOut(
    costs.length > 0 && random.chance(0.6) ? changedShape(random.pick(costs).shape, random) : randomShape(random),
  );
}
console.log(`${requestCount} requests; the ${SHOWN} that held the loop longest:\n`);
const slowest = await confirmed(byTime);
print(slowest);
console.log("\nThe longest transactions for each byte that was sent:\n");
print(byTxn);
const isSlow = (slowest.costs[0]?.heldMs ?? 0) > options.limitMs;
const tooLong = byTxn.costs.filter(({ shape, txnBytes }) => shape.op !== "closeSession" && txnBytes > TXN_BYTES_MAX);
for (const { shape, txnBytes } of tooLong) console.log(`${txnBytes} bytes are beyond the limit: ${shapeText(shape)}`);
process.exit(isSlow || tooLong.length > 0 ? 1 : 0);

function print(list: TopList): void {
  const shown = list.costs.slice(0, SHOWN);
  console.log("| request | held ms | request bytes | ms per KB | memory MB | transaction bytes | for each byte |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const { shape, heldMs, frameBytes, memoryBytes, txnBytes } of shown) {
    const cells = [
      ...[shapeText(shape), heldMs.toFixed(1), frameBytes, (heldMs / (frameBytes / 1000)).toFixed(3)],
      ...[(memoryBytes / 1e6).toFixed(1), txnBytes, (txnBytes / frameBytes).toFixed(1)],
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log("\nas cases:");
  for (const { shape } of shown) console.log(JSON.stringify(shape));
}

/** Measures a shape, and keeps it where it is among the most expensive ones. */
async function tryOut(shape: Shape): Promise<void> {
  let cost = await measure(shape);
  for (let i = 1; i < REPEATS && (byTime.admits(cost) || byTxn.admits(cost)); i++) {
    cost = leastOf(cost, await measure(shape));
  }
  byTime.add(cost);
  byTxn.add(cost);
}

/** The first of a list, by many more tries. */
async function confirmed(list: TopList): Promise<TopList> {
  const again = new TopList(KEPT, (cost) => list.amountOf(cost));
  for (const cost of list.costs.slice(0, 2 * SHOWN)) again.add((await measureOften(cost.shape)).reduce(leastOf, cost));
  return again;
}

async function measureOften(shape: Shape): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  while (costs.length < CONFIRMING_REPEATS) costs.push(await measure(shape));
  return costs;
}

async function measureAlone(shape: Shape): Promise<void> {
  const costs = await measureOften(shape);
  const times = costs.map(({ heldMs }) => heldMs).toSorted((a, b) => a - b);
  const [{ frameBytes, txnBytes } = { frameBytes: 0, txnBytes: 0 }] = costs;
  const [least, median, most] = [0, times.length >> 1, times.length - 1].map((i) => times[i]?.toFixed(1));
  console.log(`${shapeText(shape)}: ${frameBytes} bytes, transaction ${txnBytes} bytes`);
  console.log(`  holds the loop for ${least} ms at least, ${median} ms at the median, ${most} ms at most`);
}

async function measure(shape: Shape): Promise<Cost> {
  if (attacker.isClosed) attacker = await openAttacker();
  requestCount++;
  unswept += REQUEST_SWEEP_COUNT + ("parts" in shape ? shape.count : 0);
  if (unswept > REQUESTS_PER_SWEEP) await sweep();
  await keepOwner();
  // The session with the many ephemerals asks for them.
  const from = shape.op === "getEphemerals" && !owner.isClosed ? owner : attacker;
  if (shape.op === "closeSession") await createEphemerals(from, shape);
  const frame = maker.frame(++xid, shape);
  const before = await server.report();
  const answers = from.answerCount;
  await from.flood([frame]);
  await from.untilAnswers(answers + 1);
  await delay(AFTERWARDS_MS);
  const after = await server.report();
  return {
    shape,
    frameBytes: frame.length,
    heldMs: after.heldMs,
    memoryBytes: Math.max(0, after.memoryBytes - before.memoryBytes),
    txnBytes: after.txnBytes - before.txnBytes,
  };
}

async function createEphemerals(of: Attacker, { path, size }: Extract<Shape, { op: "closeSession" }>): Promise<void> {
  const part: Shape = { op: "create", path, data: 0, acl: { of: "open", size: 0 }, flags: CreateMode.EPHEMERAL };
  for (let left = Math.min(size, EPHEMERALS_MAX); left > 0 && !of.isClosed; left -= EPHEMERALS_PER_MULTI) {
    const multi: Shape = { op: "multi", count: Math.min(left, EPHEMERALS_PER_MULTI), parts: [part] };
    await of.askAll([maker.frame(++xid, multi)]);
  }
}

/** The session with the many ephemerals must not expire meanwhile. */
async function keepOwner(): Promise<void> {
  if (performance.now() - ownerPingMs < OWNER_PING_MS) return;
  ownerPingMs = performance.now();
  await owner.ask(OpCode.PING);
}

async function openAttacker(): Promise<Attacker> {
  const opened = await Attacker.open({ port, timeoutMs: 40_000 });
  const identity = (i: number): string => `${i}${"u".repeat(IDENTITY_BYTES)}:password`;
  await opened.askAll(range(IDENTITY_COUNT, (i) => opened.frame(OpCode.AUTH, auth("digest", identity(i)))));
  return opened;
}

/** Removes what requests created. */
async function sweep(): Promise<void> {
  unswept = 0;
  // Or its ephemerals would be removed while another request is measured.
  await attacker.ask(OpCode.CLOSE_SESSION);
  await attacker[Symbol.asyncDispose]();
  attacker = await openAttacker();
  await using sweeper = await RawClient.withSession(port);
  for (const parent of ["/scratch", world.deepPath]) {
    const { code, body } = await sweeper.ask(OpCode.GET_CHILDREN, read(parent));
    if (code !== 0) continue;
    const names = range(body.int(), () => body.text() ?? "");
    await attacker.askAll(names.map((name) => attacker.frame(OpCode.DELETE, versioned(`${parent}/${name}`))));
  }
}

async function setUp(): Promise<{ readonly world: World; readonly owner: Attacker }> {
  const owner = await Attacker.open({ port, timeoutMs: 40_000 });
  const done = async (op: number, body: (writer: JuteWriter) => void): Promise<void> => {
    const code = await owner.ask(op, body);
    if (code !== 0) throw new Error(`expected the set-up's operation ${op} to succeed, the server answered ${code}`);
  };
  const fill = async (
    paths: readonly string[],
    mode: number = CreateMode.PERSISTENT,
    countPerMulti = NODES_PER_MULTI,
  ): Promise<void> => {
    const parts = paths.map((path) => [OpCode.CREATE, create(path, "", mode)] as const);
    for (const group of chunks(parts, countPerMulti)) await done(OpCode.MULTI, multiBody(...group));
  };
  const manyCount = Math.max(1000, options.nodes - options.children - options.ephemerals);
  const world = {
    manyCount,
    wideCount: options.children,
    ephemeralCount: options.ephemerals,
    deepPath: "/d".repeat(DEEP_COUNT),
  };
  await fill(["/many", "/wide", "/scratch", ...range(1000, (i) => `/many/${i}`)]);
  await fill(range(EPHEMERAL_PARENT_COUNT, (i) => `/ephemerals-${i}`));
  for (let i = 0; i < 1000; i++) await fill(range(Math.ceil(manyCount / 1000), (n) => `/many/${i}/n${n}`));
  await fill(range(world.wideCount, (i) => `/wide/c${i}`));
  await fill(
    range(world.ephemeralCount, (i) => ephemeralPath(i)),
    CreateMode.EPHEMERAL,
  );
  await fill(
    range(DEEP_COUNT, (i) => "/d".repeat(i + 1)),
    CreateMode.PERSISTENT,
    DEEP_NODES_PER_MULTI,
  );
  await done(OpCode.CREATE, createWith("/big", ANYONE, "b".repeat(1_000_000)));
  const ranges = range(LISTED_COUNT, (i) => ({ permissions: 31, scheme: "ip", id: `10.${i >> 8}.${i & 255}.0/24` }));
  await done(OpCode.CREATE, createWith("/listed", [...ranges, ...ANYONE]));
  await fill(["/zookeeper/quota/many", "/zookeeper/quota/wide"]);
  await done(OpCode.CREATE, create("/zookeeper/quota/many/zookeeper_limits", "count=5000000,bytes=-1"));
  await done(OpCode.CREATE, create("/zookeeper/quota/many/zookeeper_stats"));
  return { world, owner };
}
