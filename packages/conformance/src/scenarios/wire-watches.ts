/** The part of the wire scenario that is about watches: armed, added, removed and armed again. */
import {
  ALL,
  create,
  digest,
  type HandshakeFields,
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
} from "../wire.ts";

const MODES = { persistent: 0, recursive: 1 } as const;

/** Two sessions of the scenario, and a way to open more. */
export interface WireSessions {
  /** HOST:PORT of the server. */
  readonly address: string;
  readonly a: Wire;
  readonly b: Wire;
  open(word: string, fields?: HandshakeFields): Promise<Wire>;
}

export async function watches({ a, b }: WireSessions): Promise<void> {
  await a.ask("create to watch", OP.create, create("/v"));
  await a.ask("watch data", OP.getData, read("/v", true));
  await a.ask("watch existence", OP.exists, read("/v", true));
  await a.ask("watch children", OP.getChildren2, read("/v", true));
  await a.ask("watch what is missing", OP.exists, read("/v/c", true));
  await a.ask("no watch where a read fails", OP.getData, read("/v/d", true));
  await a.ask("create below", OP.create, create("/v/c"));
  await a.ask("set", OP.setData, setData("/v", "1"));
  await a.ask("set again", OP.setData, setData("/v", "2"));
  await a.ask("create what a failed read asked for", OP.create, create("/v/d"));
  await a.ask("watch data again", OP.getData, read("/v/c", true));
  await a.ask("watch children again", OP.getChildren, read("/v/c", true));
  await a.ask("watch children of the parent", OP.getChildren, read("/v", true));
  await a.ask("set acl fires nothing", OP.setAcl, setAcl("/v/c", OPEN_ACL));
  await a.ask("delete, one event for two watches", OP.delete, versioned("/v/c", -1));
  await a.ask("watch for a transaction", OP.getChildren, read("/v", true));
  await a.ask("watch for creation by a transaction", OP.exists, read("/v/t", true));
  await a.ask("watch data for a transaction", OP.getData, read("/v", true));
  await a.ask(
    "a failed transaction fires nothing",
    OP.multi,
    multi([OP.setData, setData("/v", "3")], [OP.check, versioned("/v", 99)]),
  );
  await a.ask(
    "a transaction fires in order",
    OP.multi,
    multi([OP.setData, setData("/v", "3")], [OP.create, create("/v/t")], [OP.delete, versioned("/v/t", -1)]),
  );
  await a.ask("watch what will be hidden", OP.exists, read("/v/h", true));
  await b.ask(
    "create what the watcher may not read",
    OP.create,
    create("/v/h", { acl: [[ALL, "digest", digest("bob:x")]] }),
  );
  await a.ask("so nothing came", OP.ping, Buffer.alloc(0), -2);
  await b.ask("an ephemeral of b", OP.create, create("/v/b", { flags: 1 }));
  await b.ask("another of b", OP.create, create("/w/b", { flags: 1 }));
  await a.ask("watch it", OP.exists, read("/v/b", true));
  // Pipelined: everything in one write, replies and events in one order.
  await a.ask("watch for the pipeline", OP.getData, read("/v", true));
  a.send("1st of a pipeline: set", OP.setData, setData("/v", "p", 3));
  a.send("2nd: ping", OP.ping, Buffer.alloc(0), -2);
  a.send("3rd: set of the version just made", OP.setData, setData("/v", "q", 4));
  a.send("4th: set that fails", OP.setData, setData("/v", "r", 4));
  a.send("5th: get, watched", OP.getData, read("/v", true));
  a.send("6th: sync", OP.sync, onPath("/"));
  a.send("7th: create", OP.create, create("/v/p"));
  a.send("8th: create below it", OP.create, create("/v/p/q"));
  a.send("9th: set", OP.setData, setData("/v", "s", 5));
  await a.settle();
}

export async function addedWatches({ address, b, open }: WireSessions): Promise<void> {
  const { persistent, recursive } = MODES;
  const c = await open("who adds watches");
  const d = await open("who watches recursively");
  const heard = async (label: string): Promise<void> => {
    await c.ask(`${label}: the first hears`, OP.ping, undefined, -2);
    await d.ask(`${label}: the second hears`, OP.ping, undefined, -2);
  };
  await c.ask("add a watch of what is missing", OP.addWatch, watchOn("/p", persistent));
  await d.ask("add a recursive watch of what is missing", OP.addWatch, watchOn("/p", recursive));
  for (const mode of [2, 3, -1]) await c.ask(`add a watch of mode ${mode}`, OP.addWatch, watchOn("/p", mode));
  await c.ask("add a watch without a path", OP.addWatch, onNoPath(persistent));
  await c.ask("add a recursive watch without a path", OP.addWatch, onNoPath(recursive));
  await c.ask("which is found without a path", OP.checkWatches, onNoPath(3));
  await c.ask("removed", OP.removeWatches, onNoPath(3));
  await c.ask("and gone", OP.checkWatches, onNoPath(3));
  await c.ask("add a watch without a path, of mode 2", OP.addWatch, onNoPath(2));
  await c.ask("add a watch without a mode", OP.addWatch, onPath("/p"));
  await c.ask("add a watch with a tail", OP.addWatch, Buffer.concat([watchOn("/p", persistent), Buffer.alloc(3)]));
  for (const path of ["", "x", "//", "/p/", "/p//q", "/p/\u0000"]) {
    await c.ask(`add a watch of ${JSON.stringify(path)}`, OP.addWatch, watchOn(path, recursive));
  }
  await b.ask("what bob alone may read", OP.exists, read("/v/h"));
  await c.ask("add a watch of what may not be read", OP.addWatch, watchOn("/v/h", persistent));
  await c.ask("add a watch inside a multi", OP.multi, multi([OP.addWatch, watchOn("/p", persistent)]));
  const steps: readonly (readonly [label: string, opcode: number, body: Buffer])[] = [
    ["create", OP.create, create("/p")],
    ["set", OP.setData, setData("/p", "1")],
    ["create below", OP.create, create("/p/c")],
    ["set below", OP.setData, setData("/p/c", "1")],
    ["create further below", OP.create, create("/p/c/d")],
    ["set acl", OP.setAcl, setAcl("/p/c", OPEN_ACL)],
    ["create what none may read", OP.create, create("/p/h", { acl: [[ALL, "digest", digest("carol:x")]] })],
    ["delete what none may read", OP.delete, versioned("/p/h", -1)],
    ["create beside", OP.create, create("/pp")],
    ["delete further below", OP.delete, versioned("/p/c/d", -1)],
    ["delete below", OP.delete, versioned("/p/c", -1)],
    [
      "a transaction",
      OP.multi,
      multi(
        [OP.setData, setData("/p", "2")],
        [OP.create, create("/p/m")],
        [OP.setData, setData("/p/m", "2")],
        [OP.delete, versioned("/p/m", -1)],
      ),
    ],
    ["delete", OP.delete, versioned("/p", -1)],
    ["create once more", OP.create, create("/p")],
  ];
  for (const [label, opcode, body] of steps) {
    await b.ask(`to be watched: ${label}`, opcode, body);
    await heard(label);
  }
  await c.ask("watch data as well", OP.getData, read("/p", true));
  await c.ask("watch children as well", OP.getChildren, read("/p", true));
  await c.ask("watch recursively as well", OP.addWatch, watchOn("/p", recursive));
  await d.ask("watch the root recursively as well", OP.addWatch, watchOn("/", recursive));
  for (const [label, opcode, body] of steps.slice(1, 6).concat(steps.slice(9, 13))) {
    await b.ask(`watched by every mode: ${label}`, opcode, body);
    await heard(label);
  }
  await c.ask("its own change", OP.create, create("/p", { data: "mine" }));
  await d.ask("an event before its own answer", OP.delete, versioned("/p", -1));
  await c.ask("and for the other", OP.ping, undefined, -2);
  // Without the connection no watch is left.
  const { id, password } = c;
  c.end();
  const again = new Wire(address);
  await again.handshake("the session again", { id, password });
  await again.ask("nothing is watched any more", OP.checkWatches, watchOn("/p", 3));
  const lists = [[], [], [], ["/p"], ["/p/r"]];
  await again.ask("arm persistent watches again", OP.setWatches2, setWatches(normal.newest, lists), -8);
  await b.ask("create where they are", OP.create, create("/p"));
  await b.ask("create where a recursive one is", OP.create, create("/p/r"));
  await b.ask("create below it", OP.create, create("/p/r/s"));
  await again.ask("what was armed again", OP.ping, undefined, -2);
  for (const wire of [again, d]) await wire.ask("close", OP.close);
}

export async function removals({ b, open }: WireSessions): Promise<void> {
  const { persistent, recursive } = MODES;
  const types = [1, 2, 3, 4, 5];
  const c = await open("who removes watches");
  const check = async (label: string): Promise<void> => {
    for (const type of types) await c.ask(`${label}: check of type ${type}`, OP.checkWatches, watchOn("/x", type));
  };
  await check("nothing armed");
  for (const type of types) await c.ask(`nothing to remove of type ${type}`, OP.removeWatches, watchOn("/x", type));
  const arms: readonly (readonly [label: string, opcode: number, body: Buffer])[] = [
    ["data", OP.exists, read("/x", true)],
    ["children", OP.getChildren, read("/x", true)],
    ["persistent", OP.addWatch, watchOn("/x", persistent)],
    ["recursive", OP.addWatch, watchOn("/x", recursive)],
  ];
  await c.ask("create to watch", OP.create, create("/x"));
  for (const [label, opcode, body] of arms) {
    for (const type of types) {
      await c.ask(`arm ${label}`, opcode, body);
      if (type === 1) await check(label);
      await c.ask(`${label}: remove type ${type}`, OP.removeWatches, watchOn("/x", type));
      await c.ask(`${label}: what is left`, OP.checkWatches, watchOn("/x", 3));
      await c.ask(`${label}: remove all`, OP.removeWatches, watchOn("/x", 3));
    }
  }
  for (const type of types) {
    for (const [label, opcode, body] of arms) await c.ask(`arm ${label} beside others`, opcode, body);
    await c.ask(`of all, remove type ${type}`, OP.removeWatches, watchOn("/x", type));
    await check(`all but type ${type}`);
    await c.ask("set", OP.setData, setData("/x", "1"));
    await c.ask("create below", OP.create, create("/x/y"));
    await c.ask("delete below", OP.delete, versioned("/x/y", -1));
    await check("after its events");
    await c.ask("remove the rest", OP.removeWatches, watchOn("/x", 3));
  }
  await c.ask("what another connection armed", OP.addWatch, watchOn("/x", persistent));
  await b.ask("is not there for this one", OP.checkWatches, watchOn("/x", 3));
  await b.ask("nor to be removed", OP.removeWatches, watchOn("/x", 3));
  await c.ask("and is still there", OP.checkWatches, watchOn("/x", 4));
  for (const [name, opcode] of [
    ["check", OP.checkWatches],
    ["remove", OP.removeWatches],
  ] as const) {
    for (const type of [0, 6, -1]) await c.ask(`${name} of type ${type}`, opcode, watchOn("/x", type));
    await c.ask(`${name} without a path`, opcode, onNoPath(3));
    await c.ask(`${name} without a path, of type 9`, opcode, onNoPath(9));
    await c.ask(`${name} that ends early`, opcode, onPath("/x"));
    await c.ask(`${name} of a malformed path`, opcode, watchOn("x//", 3));
    await c.ask(`${name} with a tail`, opcode, Buffer.concat([watchOn("/x", 3), Buffer.alloc(3)]));
  }
  await c.ask("close", OP.close);
}

export async function replay({ a, b, open }: WireSessions): Promise<void> {
  await a.ask("create a", OP.create, create("/r"));
  await a.ask("create gone", OP.create, create("/r/gone"));
  await a.ask("create changed", OP.create, create("/r/changed"));
  await a.ask("create same", OP.create, create("/r/same"));
  await a.ask("create parent", OP.create, create("/r/parent"));
  const seen = normal.newest;
  await b.ask("change", OP.setData, setData("/r/changed", "x"));
  await b.ask("delete", OP.delete, versioned("/r/gone", -1));
  await b.ask("populate", OP.create, create("/r/parent/child"));
  const c = await open("c");
  const lists = [
    ["/r/same", "/r/changed", "/r/gone"],
    ["/r/same", "/r/later"],
    ["/r/parent", "/r/same", "/r/gone"],
  ];
  await c.ask("arm again", OP.setWatches, setWatches(seen, lists), -8);
  await b.ask("change what was armed again", OP.setData, setData("/r/same", "y"));
  await c.event("armed data");
  await b.ask("create what was armed again", OP.create, create("/r/later"));
  await c.event("armed existence");
  await b.ask("populate what was armed again", OP.create, create("/r/same/child"));
  await c.event("armed children");
  await c.ask(
    "arm again with an ordinary xid",
    OP.setWatches2,
    setWatches(normal.newest, [["/r/same"], [], [], [], []]),
  );
  await b.ask("change once more", OP.setData, setData("/r/same", "z"));
  await c.event("armed by the second form");
  await c.ask("close", OP.close);
  await c.event("after close");
}
