/**
 * The conformance scenario byte by byte: what no client shows, because it repairs or refuses it
 * before anyone sees.
 *
 *     wire-scenario.ts HOST:PORT       prints one line for each packet that arrives
 */
import { framed } from "@zooid/wire/testing/raw-connection";
import { JuteWriter } from "../jute.ts";
import {
  type Acl,
  ALL,
  aclBytes,
  auth,
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
  versioned,
  Wire,
} from "../wire.ts";
import { addedWatches, removals, replay, watches } from "./wire-watches.ts";

const address = process.argv[2] ?? "";

async function open(word: string, fields?: HandshakeFields): Promise<Wire> {
  const wire = new Wire(address);
  await wire.handshake(`handshake of ${word}`, fields);
  normal.name(wire.id, word);
  return wire;
}

await handshakes();
const a = await open("a");
const b = await open("b");
await a.ask("the first ping", OP.ping, Buffer.alloc(0), -2);
await createsAndErrors();
await otherWrites();
await reads();
await transactions();
await acls();
const sessions = { address, a, b, open };
await watches(sessions);
await addedWatches(sessions);
await removals(sessions);
await replay(sessions);
await ephemerals();
await counts();
await identities();
await refusals();
await endings();

async function handshakes(): Promise<void> {
  const short = new Wire(address);
  await short.handshake("handshake without the read-only byte", { withReadOnly: false });
  const { id, password } = short;
  const low = new Wire(address);
  await low.handshake("a timeout below the minimum", { timeoutMs: 1 });
  const high = new Wire(address);
  await high.handshake("a timeout above the maximum", { timeoutMs: 10_000_000 });
  const again = new Wire(address);
  await again.handshake("the session again, with another timeout", { id, password, timeoutMs: 9_000 });
  await short.event("the connection that had the session");
  const wrong = new Wire(address);
  await wrong.handshake("a wrong password", { id: low.id, password: Buffer.alloc(16, 1) });
  await wrong.event("after a wrong password");
  const unknown = new Wire(address);
  await unknown.handshake("an unknown session", { id: 0x7fff_ffff_ffffn, password });
  await unknown.event("after an unknown session");
  const ahead = new Wire(address);
  await ahead.handshake("a client that has seen more than there is", { lastZxid: 0x7fff_ffff_ffff_fffen });
  // Apache drops the connection of a session when a stranger asks for it with a wrong password;
  // ours does not.
  low.end();
  const lowAgain = new Wire(address);
  await lowAgain.handshake("the right password", { id: low.id, password: low.password, timeoutMs: 1 });
  for (const wire of [lowAgain, high, again]) await wire.ask("close", OP.close);
}

async function createsAndErrors(): Promise<void> {
  await a.ask("create", OP.create, create("/w", { data: "hello" }));
  await a.ask("create again", OP.create, create("/w"));
  await a.ask("create2", OP.create2, create("/w/two", { data: null }));
  await a.ask("create2 ephemeral", OP.create2, create("/w/e", { data: "x", flags: 1 }));
  await a.ask("create2 sequential", OP.create2, create("/w/s-", { flags: 2 }));
  await a.ask("create2 ephemeral sequential", OP.create2, create("/w/s-", { flags: 3 }));
  await a.ask("create sequential after a slash", OP.create, create("/w/", { flags: 2 }));
  const paths = [
    "",
    "x",
    "a/b",
    "/",
    "/w/",
    "/missing/x/",
    "//",
    "/w//x",
    "/w/./x",
    "/w/..",
    "/w/\u0000",
    "/w/\u0001",
    "/w/\uE000",
    "/w/\uD800",
    "/w/ü",
  ];
  for (const path of paths) await a.ask(`create ${JSON.stringify(path)}`, OP.create, create(path));
  await a.ask(
    "create of a null path",
    OP.create,
    new JuteWriter().int(-1).string("").raw(aclBytes(OPEN_ACL)).int(0).bytes(),
  );
  await a.ask("create with flags 7", OP.create, create("/w/flags", { flags: 7 }));
  await a.ask("create with flags -1", OP.create, create("/w/flags", { flags: -1 }));
  await a.ask("create below an ephemeral", OP.create, create("/w/e/x"));
  await a.ask("create sequential below an ephemeral", OP.create, create("/w/e/x", { flags: 3 }));
  await a.ask("create of an existing node below an ephemeral's parent", OP.create, create("/w/e", { flags: 1 }));
  await a.ask("create without an acl", OP.create, create("/w/none", { acl: [] }));
  await a.ask(
    "create with a null acl",
    OP.create,
    new JuteWriter().string("/w/none").string("").int(-1).int(0).bytes(),
  );
  await a.ask("bad acl below a missing parent", OP.create, create("/missing/x", { acl: [] }));
  await a.ask("create with repeated acl entries", OP.create, create("/w/twice", { acl: [...OPEN_ACL, ...OPEN_ACL] }));
  await a.ask("what became of them", OP.getAcl, onPath("/w/twice"));
}

async function otherWrites(): Promise<void> {
  await a.ask("set", OP.setData, setData("/w", "world", 0));
  await a.ask("set at a passed version", OP.setData, setData("/w", "no", 0));
  await a.ask("set of a missing node", OP.setData, setData("/nope", "", -1));
  await a.ask("set of a malformed path", OP.setData, setData("/w/", "", -1));
  await a.ask("set of the root", OP.setData, setData("/", "root", 0));
  await a.ask("delete at a wrong version, not empty", OP.delete, versioned("/w", 9));
  await a.ask("delete, not empty", OP.delete, versioned("/w", -1));
  await a.ask("delete", OP.delete, versioned("/w/two", 0));
  await a.ask("delete again", OP.delete, versioned("/w/two", 0));
  await a.ask("delete below a missing parent", OP.delete, versioned("/missing/x", -1));
  for (const path of ["/", "", "x", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"]) {
    await a.ask(`delete ${JSON.stringify(path)}`, OP.delete, versioned(path, -1));
  }
  await a.ask("the parent after all that", OP.exists, read("/w"));
}

async function reads(): Promise<void> {
  await a.ask("exists", OP.exists, read("/w/e"));
  await a.ask("exists of a missing node", OP.exists, read("/nope"));
  await a.ask("exists of a path with NUL", OP.exists, read("/w\u0000"));
  await a.ask("get", OP.getData, read("/w"));
  await a.ask("get of the other's ephemeral", OP.getData, read("/w/e"));
  await a.ask("get of a malformed path", OP.getData, read("//"));
  await a.ask("get of an empty path", OP.getData, read(""));
  await a.ask("get of the root", OP.getData, read("/"));
  await a.ask("children", OP.getChildren, read("/w"));
  await a.ask("children and stat", OP.getChildren2, read("/w"));
  await a.ask("children of the reserved node", OP.getChildren2, read("/zookeeper"));
  await a.ask("acl", OP.getAcl, onPath("/w"));
  await a.ask("acl of a missing node", OP.getAcl, onPath("/nope"));
  await a.ask("sync of a missing node", OP.sync, onPath("/nope"));
  await a.ask(
    "read several",
    OP.multiRead,
    multi(
      [OP.getData, read("/w")],
      [OP.getChildren, read("/nope")],
      [OP.getChildren, read("/w/e")],
      [OP.getData, read("/nope")],
    ),
  );
  await a.ask(
    "read several, one of them a write",
    OP.multiRead,
    multi([OP.getData, read("/w")], [OP.delete, versioned("/w", -1)]),
  );
  await a.ask("read nothing", OP.multiRead, multi());
  await a.ask("a request with xid 0", OP.exists, read("/w"), 0);
  await a.ask("a body that ends early", OP.getData, Buffer.of(0, 0));
  await a.ask("a body with a tail", OP.getData, Buffer.concat([read("/w"), Buffer.alloc(5)]));
  await a.ask("a write that ends early", OP.setData, onPath("/w"));
  await a.ask("a string longer than its body", OP.getData, new JuteWriter().int(1_000).raw(Buffer.from("/w")).bytes());
  await a.ask("a string of a negative length", OP.getData, new JuteWriter().int(-2).bool(false).bytes());
  await a.ask("a string of a huge length", OP.exists, new JuteWriter().int(0x7fff_ffff).bool(false).bytes());
  await a.ask("an acl of a huge count", OP.create, new JuteWriter().string("/x").string("").int(0x7fff_ffff).bytes());
  await a.ask("an acl of a negative count", OP.create, new JuteWriter().string("/x").string("").int(-7).int(0).bytes());
  await a.ask("watches of a huge count", OP.setWatches, new JuteWriter().long(0n).int(0x7fff_ffff).bytes());
  await a.ask("watches that are null", OP.setWatches, new JuteWriter().long(0n).int(-1).int(-1).int(-1).bytes());
  await a.ask(
    "a multi of an endless string",
    OP.multi,
    new JuteWriter().int(OP.delete).bool(false).int(-1).int(0x7fff_fff0).bytes(),
  );
  await a.ask(
    "malformed UTF-8",
    OP.create,
    new JuteWriter().buffer(Buffer.from("2f77ff", "hex")).string("").raw(aclBytes(OPEN_ACL)).int(0).bytes(),
  );
  await a.ask("which is found as", OP.getChildren, read("/"));
  const header = create("/big").length + 8;
  await a.ask("a request of the greatest length", OP.create, create("/big", { data: "x".repeat(0xf_ffff - header) }));
  await a.ask("and the connection goes on", OP.ping, Buffer.alloc(0), -2);
}

async function transactions(): Promise<void> {
  await a.ask(
    "multi",
    OP.multi,
    multi(
      [OP.create, create("/m", { data: "1" })],
      [OP.create2, create("/m/c", { data: "2" })],
      [OP.create, create("/m/s-", { flags: 2 })],
      [OP.create2, create("/m/s-", { flags: 3 })],
      [OP.setData, setData("/m", "22", 0)],
      [OP.setData, setData("/m", "333", 1)],
      [OP.check, versioned("/m", 2)],
      [OP.delete, versioned("/m/c", 0)],
    ),
  );
  await a.ask("what it left", OP.getData, read("/m"));
  await a.ask("its children", OP.getChildren2, read("/m"));
  const failing: readonly (readonly [string, readonly [number, Buffer]])[] = [
    ["check of a version", [OP.check, versioned("/m", 77)]],
    ["check of a missing node", [OP.check, versioned("/nope", 0)]],
    ["delete of a node with children", [OP.delete, versioned("/m", -1)]],
    ["create of what an earlier part made", [OP.create, create("/m/x")]],
    ["set of a malformed path", [OP.setData, setData("x", "")]],
    ["create without an acl", [OP.create, create("/m/y", { acl: [] })]],
  ];
  for (const [label, part] of failing) {
    await a.ask(
      `multi that fails: ${label}`,
      OP.multi,
      multi([OP.create, create("/m/x")], part, [OP.create, create("/m/z")]),
    );
  }
  await a.ask("children, as before", OP.getChildren2, read("/m"));
  await a.ask("a sequence, as before", OP.create, create("/m/s-", { flags: 2 }));
  await a.ask("an empty multi", OP.multi, multi());
  await a.ask("a multi with a read", OP.multi, multi([OP.create, create("/m/r")], [OP.getData, read("/m")]));
  await a.ask("a multi of reads", OP.multi, multi([OP.getData, read("/m")]));
  await a.ask(
    "a multi with an unknown part",
    OP.multi,
    multi([OP.create, create("/m/r")], [OP.setAcl, setAcl("/m", OPEN_ACL)]),
  );
  await a.ask("a multi that ends early", OP.multi, multi([OP.create, create("/m/r")]).subarray(0, 20));
  await a.ask("nothing of those", OP.exists, read("/m/r"));
  await a.ask("the node is as before", OP.exists, read("/m"));
}

async function acls(): Promise<void> {
  const alice: Acl = [ALL, "digest", digest("alice:secret")];
  await a.ask("create for alice", OP.create, create("/acl", { acl: [alice], data: "hidden" }));
  await a.ask(
    "create for all, below",
    OP.setAcl,
    setAcl(
      "/m",
      [
        [1, "world", "anyone"],
        [2, "digest", digest("bob:x")],
      ],
      0,
    ),
  );
  for (const [label, opcode, body] of [
    ["get", OP.getData, read("/acl")],
    ["exists with a watch", OP.exists, read("/acl", true)],
    ["children", OP.getChildren, read("/acl")],
    ["acl", OP.getAcl, onPath("/acl")],
    ["set", OP.setData, setData("/acl", "")],
    ["create below", OP.create, create("/acl/x")],
    ["delete below, missing", OP.delete, versioned("/acl/x", -1)],
    ["set acl", OP.setAcl, setAcl("/acl", OPEN_ACL)],
    ["check", OP.multi, multi([OP.check, versioned("/acl", 0)])],
    ["read several", OP.multiRead, multi([OP.getData, read("/acl")])],
    ["acl of what may be read", OP.getAcl, onPath("/m")],
    ["set what may only be read", OP.setData, setData("/m", "")],
    ["delete below what may only be read", OP.delete, versioned("/m/s-0000000001", -1)],
  ] as const) {
    await b.ask(`without authority: ${label}`, opcode, body);
  }
  const invalid: readonly Acl[] = [
    [ALL, "world", "other"],
    [ALL, "auth", ""],
    [ALL, "digest", "alice"],
    [ALL, "digest", "a:b:c"],
    [ALL, "ip", "1.2.3"],
    [ALL, "ip", "1.2.3.4/33"],
    [ALL, "super", ""],
    [ALL, "unknown", "x"],
  ];
  for (const entry of invalid)
    await b.ask(`acl ${entry.slice(1).join(":")}`, OP.create, create("/bad", { acl: [entry] }));
  await b.ask("acl by address", OP.create, create("/ip", { acl: [[ALL, "ip", "127.0.0.0/8"]] }));
  await b.ask("get by address", OP.getData, read("/ip"));
  await b.ask("acl of another address", OP.create, create("/ip2", { acl: [[ALL, "ip", "10.1.2.3"]] }));
  await b.ask("get by another address", OP.getData, read("/ip2"));
  await b.ask("no permission for anyone", OP.create, create("/closed", { acl: [[0, "world", "anyone"]] }));
  await b.ask("get with no permission", OP.getData, read("/closed"));
  await b.ask("delete needs the parent's permission only", OP.delete, versioned("/closed", -1));
  await b.ask("a wrong password", OP.auth, auth("digest", "alice:wrong"), -4);
  await b.ask("get with a wrong password", OP.getData, read("/acl"));
  await b.ask("auth with an ordinary xid", OP.auth, auth("digest", "alice:secret"));
  await b.ask("get with authority", OP.getData, read("/acl"));
  await b.ask("acl with authority", OP.getAcl, onPath("/acl"));
  await b.ask("auth becomes every identity", OP.create, create("/acl/both", { acl: [[3, "auth", "ignored"]] }));
  await b.ask("which are", OP.getAcl, onPath("/acl/both"));
  await b.ask("set acl at a wrong version", OP.setAcl, setAcl("/acl", [alice, [1, "world", "anyone"]], 4));
  await b.ask("set acl", OP.setAcl, setAcl("/acl", [alice, [1, "world", "anyone"]], 0));
  await a.ask("a stranger reads", OP.getData, read("/acl"));
  await a.ask("a stranger sees no digest", OP.getAcl, onPath("/acl"));
}

async function ephemerals(): Promise<void> {
  const c = await open("who has ephemerals");
  await c.ask("no ephemerals", OP.getEphemerals, onPath("/"));
  for (const path of ["/eph", "/eph-a", "/eph-b"]) await c.ask(`create ${path}`, OP.create, create(path, { flags: 1 }));
  await c.ask("create a parent", OP.create, create("/ephs"));
  await c.ask("create a sequential one", OP.create, create("/ephs/q-", { flags: 3 }));
  await c.ask("create what it may not read", OP.create, create("/ephs/h", { flags: 1, acl: [[0, "world", "anyone"]] }));
  const prefixes = [
    "/",
    "",
    " ",
    " / ",
    "/ ",
    "\u0001",
    "\u00a0",
    "/e",
    "/eph",
    "/eph-",
    "/ephs",
    "/ephs/",
    "eph",
    " /eph",
  ];
  for (const prefix of prefixes) {
    await c.ask(`ephemerals of ${JSON.stringify(prefix)}`, OP.getEphemerals, onPath(prefix));
  }
  await c.ask("ephemerals of a null prefix", OP.getEphemerals, onNoPath());
  await c.ask("ephemerals of nothing", OP.getEphemerals);
  await c.ask("ephemerals with a tail", OP.getEphemerals, Buffer.concat([onPath("/eph-a"), Buffer.alloc(3)]));
  await a.ask("of others nothing", OP.getEphemerals, onPath("/eph"));
  await c.ask("delete one", OP.delete, versioned("/eph-a", -1));
  c.send("create one, and at once", OP.create, create("/eph-c", { flags: 1 }));
  c.send("ask", OP.getEphemerals, onPath("/eph-"));
  await c.settle();
  await c.ask("close", OP.close);
}

async function counts(): Promise<void> {
  await a.ask("create to count", OP.create, create("/n"));
  await a.ask("nothing below", OP.getAllChildrenNumber, onPath("/n"));
  for (const path of ["/n/a", "/n/a/b", "/n/a/b/c", "/n/d", "/nn"])
    await a.ask(`create ${path}`, OP.create, create(path));
  for (const path of ["/n", "/n/a", "/n/a/b/c", "/nope", "x", "/n/", "//", "/zookeeper", "/n/\u0000"]) {
    await a.ask(`nodes below ${JSON.stringify(path)}`, OP.getAllChildrenNumber, onPath(path));
  }
  await a.ask("nodes below the root", OP.getAllChildrenNumber, onPath("/"));
  await a.ask("nodes below the empty path", OP.getAllChildrenNumber, onPath(""));
  await a.ask("nodes below no path", OP.getAllChildrenNumber, onNoPath());
  await a.ask("nodes below nothing", OP.getAllChildrenNumber);
  await a.ask("without permission", OP.getAllChildrenNumber, onPath("/v/h"));
  await a.ask("delete one", OP.delete, versioned("/n/a/b/c", -1));
  a.send("create, and at once", OP.create, create("/n/d/e"));
  a.send("count", OP.getAllChildrenNumber, onPath("/n"));
  await a.settle();
}

async function identities(): Promise<void> {
  const c = await open("who asks who it is");
  await c.ask("who is a stranger", OP.whoAmI);
  const credentials = ["dave:secret", "dave:other", "erin", ":secret", "", "frank:a:b", "dave:secret"];
  for (const text of credentials) {
    await c.ask(`auth ${JSON.stringify(text)}`, OP.auth, auth("digest", text), -4);
    await c.ask("who is it now", OP.whoAmI);
  }
  await c.ask("auth by address", OP.auth, auth("ip", ""), -4);
  await c.ask("who is asked with a body", OP.whoAmI, Buffer.alloc(7));
  await c.ask("close", OP.close);
}

async function refusals(): Promise<void> {
  const victims: readonly (readonly [string, (wire: Wire) => void])[] = [
    ["an unknown opcode", (wire) => wire.send("an unknown opcode", 50)],
    ["opcode 0", (wire) => wire.send("opcode 0", 0)],
    ["a check on its own", (wire) => wire.send("a check on its own", OP.check, versioned("/m", 0))],
    ["an unknown scheme", (wire) => wire.send("an unknown scheme", OP.auth, auth("unknown", "x"), -4)],
    ["a header that ends early", (wire) => wire.write(framed(Buffer.of(0, 0, 0)))],
    ["a negative length", (wire) => wire.write(Buffer.from("ffffffff", "hex"))],
    ["a huge length", (wire) => wire.write(Buffer.from("7fffffff", "hex"))],
    ["a request above the greatest length", (wire) => wire.write(framed(Buffer.alloc(0x10_0000)))],
    ["a length of zero", (wire) => wire.write(Buffer.from("00000000", "hex"))],
  ];
  for (const [label, provoke] of victims) {
    // Long enough that none of them expires before the end.
    const wire = await open("victim", { timeoutMs: 40_000 });
    provoke(wire);
    await wire.settle();
    await wire.event(`${label}, then`);
  }
  const text = new Wire(address);
  text.write(Buffer.from("GET / HTTP/1.0\r\n\r\n"));
  await text.event("a request of another protocol");
  const early = new Wire(address);
  early.write(framed(Buffer.alloc(20)));
  await early.event("a handshake that ends early");
}

async function endings(): Promise<void> {
  const lost = await open("one who vanishes", { timeoutMs: 1 });
  await lost.ask("its ephemeral", OP.create, create("/v/lost", { flags: 1 }));
  await a.ask("watch it", OP.exists, read("/v/lost", true));
  lost.end();
  await a.event("it expires");
  const expired = new Wire(address);
  await expired.handshake("an expired session", { id: lost.id, password: lost.password });
  await b.ask("b closes", OP.close);
  await b.event("then");
  await a.event("its watched ephemeral");
  await a.ask("no ephemeral is left", OP.exists, read("/w/b"));
  const closed = new Wire(address);
  await closed.handshake("a closed session", { id: b.id, password: b.password });
  await closed.event("after a closed session");
  await a.ask("a goes on", OP.ping, Buffer.alloc(0), -2);
  a.send("pipelined before the close", OP.create, create("/w/last"));
  a.send("close", OP.close);
  await a.settle();
  await a.event("then");
}
