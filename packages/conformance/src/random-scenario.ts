/**
 * A random conversation of several sessions, the same for the same seed, printed packet by packet.
 *
 *     random-scenario.ts HOST:PORT SEED [STEPS]
 *
 * One session speaks at a time, a few requests at once. Before anyone else does, every other session pings: an event
 * stands before the reply of a later ping, so each session's events are complete and their order is the server's.
 */
import { Random } from "./random.ts";
import {
  type Acl,
  ALL,
  auth,
  create,
  digest,
  multi,
  normal,
  OP,
  OPEN_ACL,
  onNoPath,
  onPath,
  read,
  setAcl,
  setData,
  setWatches,
  versioned,
  Wire,
  watchOn,
} from "./wire.ts";

const [address = "", seed = "1", stepCount = "250"] = process.argv.slice(2);
const random = new Random(Number(seed));
const NAMES = ["a", "b", "c"];
const SCHEMES: readonly (readonly [scheme: string, credentials: string])[] = [
  ["digest", "alice:secret"],
  ["digest", "bob:other"],
  ["digest", "alice:wrong"],
];
const ACLS: readonly (readonly Acl[])[] = [
  OPEN_ACL,
  OPEN_ACL,
  OPEN_ACL,
  [[1, "world", "anyone"]],
  [[15, "world", "anyone"]],
  [
    [ALL, "digest", digest("alice:secret")],
    [1, "world", "anyone"],
  ],
  [[ALL, "digest", digest("bob:other")]],
  [[ALL, "auth", ""]],
  [[ALL, "ip", "127.0.0.1"]],
  [[3, "ip", "10.0.0.0/8"]],
  [[ALL, "nobody", "x"]],
  [],
];
const ODD_PATHS = ["/", "", "x", "/a/", "//", "/a//b", "/zookeeper", "/zookeeper/config", "/nope/nope"];
let valueCount = 0;

const sessions = new Map<string, Wire>();
for (const name of NAMES) sessions.set(name, await open(name));
for (let step = 0; step < Number(stepCount); step++) await play(step);
for (const [name, wire] of sessions) {
  sessions.delete(name);
  await wire.askSorted(`${name} ends`, OP.close);
  await listen();
}

async function open(name: string): Promise<Wire> {
  const wire = new Wire(address);
  await wire.handshake(`handshake of ${name}`, { timeoutMs: 40_000 });
  normal.name(wire.id, name);
  return wire;
}

async function play(step: number): Promise<void> {
  const name = random.pick(NAMES);
  const wire = sessions.get(name);
  if (wire === undefined) return;
  if (random.chance(0.01)) {
    await leave(name, wire);
    return;
  }
  if (random.chance(0.01)) await comeBack(name, wire);
  else if (random.chance(0.03)) {
    // Alone: Apache answers it out of turn.
    const [scheme, credentials] = random.pick(SCHEMES);
    await wire.ask(`${step}${name} auth ${credentials}`, OP.auth, auth(scheme, credentials), -4);
  } else {
    const count = random.chance(0.7) ? 1 : random.between(2, 6);
    for (let index = 0; index < count; index++) {
      const [label, opcode, body, xid] = request();
      wire.send(`${step}${name} ${label}`, opcode, body, xid);
      // Apache judges what follows closely by the old ACL or by the new one, as it happens; ours by the new one.
      if (opcode === OP.setAcl) break;
    }
    await wire.settle();
  }
  for (const [other, listener] of sessions)
    if (other !== name) await listener.ask(`${other} listens`, OP.ping, undefined, -2);
}

async function leave(name: string, wire: Wire): Promise<void> {
  sessions.delete(name);
  await wire.askSorted(`${name} leaves`, OP.close);
  await wire.event(`${name} then`);
  await listen();
  sessions.set(name, await open(name));
}

/** What the end of a session did to the others: the order in which its ephemerals go is nobody's promise. */
async function listen(): Promise<void> {
  for (const [name, wire] of sessions) await wire.askSorted(`${name} listens`, OP.ping, undefined, -2);
}

/** The connection is lost, the session goes on; some watches are armed again. */
async function comeBack(name: string, wire: Wire): Promise<void> {
  const { id, password } = wire;
  wire.end();
  const again = new Wire(address);
  await again.handshake(`${name} comes back`, { id, password, timeoutMs: 40_000 });
  sessions.set(name, again);
  const lists = [[path(), path()], [path()], [path(), path()]];
  const seen = normal.newest - BigInt(random.between(0, 30));
  const isSecondForm = random.chance(0.5);
  if (isSecondForm) lists.push([path()], [path(), path()]);
  const opcode = isSecondForm ? OP.setWatches2 : OP.setWatches;
  if (random.chance(0.7))
    await again.ask(`${name} arms ${lists.map(String).join(" ")}`, opcode, setWatches(seen, lists), -8);
}

type Request = readonly [label: string, opcode: number, body: Buffer, xid?: number];

function request(): Request {
  const choice = random.next();
  if (choice < 0.5) return write();
  if (choice < 0.6) {
    const parts = Array.from({ length: random.between(0, 5) }, () => part());
    return [
      `multi ${parts.map(([label]) => label).join("; ")}`,
      OP.multi,
      multi(...parts.map(([, opcode, body]) => [opcode, body] as const)),
    ];
  }
  return choice < 0.78 ? look() : choice < 0.92 ? watch() : askAround();
}

function write(): Request {
  const where = path();
  const choice = random.next();
  if (choice < 0.45) {
    const flags = random.pick([0, 0, 0, 1, 2, 3]);
    const acl = random.pick(ACLS);
    const data = random.chance(0.2) ? null : value();
    const opcode = random.chance(0.5) ? OP.create : OP.create2;
    return [`create ${where} ${flags} ${JSON.stringify(acl)}`, opcode, create(where, { data, flags, acl })];
  }
  const version = random.pick([-1, -1, -1, 0, 1, 2]);
  if (choice < 0.65) return [`set ${where} ${version}`, OP.setData, setData(where, value(), version)];
  if (choice < 0.9) return [`delete ${where} ${version}`, OP.delete, versioned(where, version)];
  const acl = random.pick(ACLS);
  return [`set acl ${where} ${version} ${JSON.stringify(acl)}`, OP.setAcl, setAcl(where, acl, version)];
}

/** A part of a transaction: a write that may stand there, or a check. */
function part(): Request {
  if (random.chance(0.2)) {
    const [where, version] = [path(), random.pick([-1, 0, 1])];
    return [`check ${where} ${version}`, OP.check, versioned(where, version)];
  }
  const [label, opcode, body] = write();
  return opcode === OP.setAcl ? part() : [label, opcode, body];
}

function look(): Request {
  const where = path();
  const isWatched = random.chance(0.5);
  const opcode = random.pick([
    OP.exists,
    OP.getData,
    OP.getChildren,
    OP.getChildren2,
    OP.getAcl,
    OP.sync,
    OP.multiRead,
  ]);
  const label = `read ${opcode} ${where}${isWatched ? " watched" : ""}`;
  if (opcode === OP.getAcl || opcode === OP.sync) return [label, opcode, onPath(where)];
  if (opcode !== OP.multiRead) return [label, opcode, read(where, isWatched)];
  return [label, opcode, multi([OP.getData, read(where)], [OP.getChildren, read(path())])];
}

/** Watches that stay, and what becomes of watches of every mode. */
function watch(): Request {
  const where = random.chance(0.02) ? undefined : path();
  const on = (mode: number): Buffer => (where === undefined ? onNoPath(mode) : watchOn(where, mode));
  if (random.chance(0.5)) {
    const mode = random.pick([0, 0, 0, 0, 1, 1, 1, 1, 2]);
    return [`add watch ${mode} ${where}`, OP.addWatch, on(mode)];
  }
  const type = random.pick([1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0, 6]);
  if (random.chance(0.5)) return [`check watches ${type} ${where}`, OP.checkWatches, on(type)];
  return [`remove watches ${type} ${where}`, OP.removeWatches, on(type)];
}

function askAround(): Request {
  const where = path();
  const opcode = random.pick([OP.getEphemerals, OP.getAllChildrenNumber, OP.whoAmI]);
  if (opcode === OP.whoAmI) return ["who am I", opcode, Buffer.alloc(0)];
  if (opcode === OP.getAllChildrenNumber) return [`nodes below ${where}`, opcode, onPath(where)];
  const prefix = random.pick(["/", where, where.slice(0, -1), " "]);
  return [`ephemerals of ${JSON.stringify(prefix)}`, opcode, onPath(prefix)];
}

/** Mostly a few names below each other, so that requests meet. */
function path(): string {
  if (random.chance(0.05)) return random.pick(ODD_PATHS);
  const depth = random.pick([1, 2, 2, 3]);
  return Array.from({ length: depth }, () => `/${random.pick(["a", "b", "s-0000000001"])}`).join("");
}

function value(): string {
  return `v${valueCount++}${"-".repeat(random.chance(0.1) ? random.between(0, 3000) : 0)}`;
}
