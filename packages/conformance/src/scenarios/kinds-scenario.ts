/**
 * Containers, TTL nodes, quotas and the configuration node byte by byte, on a server that has all
 * of it turned on and looks for what to remove all the time:
 *
 *     kinds-scenario.ts HOST:PORT       prints one line for each packet that arrives
 */
import { JuteWriter } from "../jute.ts";
import {
  aclBytes,
  create,
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

const address = process.argv[2] ?? "";
const CONTAINER = 4;
const TTL = 5;
const TTL_SEQUENTIAL = 6;
/** Longer than any run. */
const LONG_MS = 3_600_000n;
const QUOTA = "/zookeeper/quota";

const a = await open("a");
const b = await open("b");
await theConfiguration();
await containers();
await timeToLive();
await insideMultis();
await reaping();
await usage();
await limits();
await ways();
for (const wire of [a, b]) await wire.ask("close", OP.close);

async function open(word: string): Promise<Wire> {
  const wire = new Wire(address);
  await wire.handshake(`handshake of ${word}`);
  normal.name(wire.id, word);
  return wire;
}

async function theConfiguration(): Promise<void> {
  await a.ask("configuration", OP.getData, read("/zookeeper/config"));
  await a.ask("its acl", OP.getAcl, onPath("/zookeeper/config"));
  await a.ask("a write of it", OP.setData, setData("/zookeeper/config", "x"));
  await a.ask("its end", OP.delete, versioned("/zookeeper/config", -1));
  await a.ask("a child of it", OP.create, create("/zookeeper/config/x"));
  await a.ask("another acl of it", OP.setAcl, setAcl("/zookeeper/config", OPEN_ACL));
  const change = new JuteWriter().string("server.2=127.0.0.1:1:2").int(-1).int(-1).long(-1n).bytes();
  await a.ask("a change of it", OP.reconfig, change);
  await a.ask("half a change of it", OP.reconfig, onPath("server.2=127.0.0.1:1:2"));
  for (const path of ["/", "/zookeeper", QUOTA]) await a.ask(`${path} of a new server`, OP.exists, read(path));
}

async function containers(): Promise<void> {
  await a.ask("container", OP.createContainer, create("/c", { data: "x", flags: CONTAINER }));
  await a.ask("container again", OP.createContainer, create("/c", { flags: CONTAINER }));
  for (const flags of [0, 1, 2, 3]) {
    await a.ask(`container with flags ${flags}`, OP.createContainer, create(`/c-${flags}`, { flags }));
  }
  for (const flags of [TTL, TTL_SEQUENTIAL, 7, -1]) {
    await a.ask(`container with flags ${flags}`, OP.createContainer, create(`/c-${flags}`, { flags }));
  }
  await a.ask("create with the flags of a container", OP.create, create("/plain", { flags: CONTAINER }));
  await a.ask("create2 with the flags of a container", OP.create2, create("/plain-2", { flags: CONTAINER }));
  await a.ask("what it became", OP.exists, read("/plain"));
  await a.ask("delete of a null path", OP.delete, onNoPath(-1));
  await a.ask("set of a null path", OP.setData, onNoPath(-1, -1));
  await a.ask("acl of a null path", OP.setAcl, Buffer.concat([onNoPath(), aclBytes(OPEN_ACL), onNoPath()]));
  await a.ask("ephemeral in a container", OP.create, create("/c/e", { flags: 1 }));
  await a.ask("sequential in a container", OP.create, create("/c/s-", { flags: 2 }));
  await a.ask("container in a container", OP.createContainer, create("/c/c", { flags: CONTAINER }));
  await a.ask("the container", OP.getData, read("/c"));
  await a.ask("container without an acl", OP.createContainer, create("/none", { acl: [], flags: CONTAINER }));
  await a.ask("container below nothing", OP.createContainer, create("/nope/c", { flags: CONTAINER }));
  await a.ask("container with a malformed path", OP.createContainer, create("/c/", { flags: CONTAINER }));
  await a.ask("the ephemerals", OP.getEphemerals, onPath("/"));
}

function ttl(path: string, ms: bigint, flags: number = TTL): Buffer {
  return create(path, { flags, ttl: ms });
}

async function timeToLive(): Promise<void> {
  await a.ask("ttl", OP.createTtl, ttl("/t", LONG_MS));
  await a.ask("ttl again", OP.createTtl, ttl("/t", LONG_MS));
  await a.ask("ttl sequential", OP.createTtl, ttl("/t-", LONG_MS, TTL_SEQUENTIAL));
  await a.ask("the longest ttl", OP.createTtl, ttl("/t-longest", 2n ** 40n - 1n));
  for (const ms of [2n ** 40n, 0n, -1n, -(2n ** 63n), 2n ** 63n - 1n]) {
    await a.ask(`a ttl of ${ms}`, OP.createTtl, ttl("/t-bad", ms));
  }
  for (const flags of [0, 1, 2, 3, CONTAINER, 7, -1]) {
    await a.ask(`ttl with flags ${flags}`, OP.createTtl, ttl("/t-flags", LONG_MS, flags));
  }
  await a.ask("a bad ttl below nothing", OP.createTtl, ttl("/nope/t", 0n));
  await a.ask("a ttl below nothing", OP.createTtl, ttl("/nope/t", 1n));
  for (const flags of [TTL, TTL_SEQUENTIAL]) {
    await a.ask(`create with flags ${flags}`, OP.create, create("/t-plain", { flags }));
    await a.ask(`create2 with flags ${flags}`, OP.create2, create("/t-plain", { flags }));
  }
  await a.ask("child of a ttl node", OP.create2, create("/t/x", { flags: 1 }));
  await a.ask("the ttl node", OP.getData, read("/t"));
  await a.ask("set of a ttl node", OP.setData, setData("/t", "x", 0));
  await a.ask("delete of a ttl node", OP.delete, versioned("/t-longest", -1));
  await a.ask("a ttl without its number", OP.createTtl, create("/t-short", { flags: TTL }));
}

async function insideMultis(): Promise<void> {
  const kinds: [string, number, Buffer][] = [
    ["a container", OP.createContainer, create("/m/c", { flags: CONTAINER })],
    ["a create with the flags of a container", OP.create, create("/m/c-1", { flags: CONTAINER })],
    ["a create2 with the flags of a container", OP.create2, create("/m/c-15", { flags: CONTAINER })],
    ["a container with other flags", OP.createContainer, create("/m/c-0", { flags: 0 })],
    ["a container with the flags of a ttl node", OP.createContainer, create("/m/c-5", { flags: TTL })],
    ["a ttl node", OP.createTtl, ttl("/m/t", LONG_MS)],
    ["a sequential ttl node", OP.createTtl, ttl("/m/t-", LONG_MS, TTL_SEQUENTIAL)],
    ["a ttl node with a bad ttl", OP.createTtl, ttl("/m/t-bad", 0n)],
    ["a ttl node with the flags of a container", OP.createTtl, ttl("/m/t-c", LONG_MS, CONTAINER)],
    ["a ttl node with no flags", OP.createTtl, ttl("/m/t-0", LONG_MS, 0)],
    ["a create with the flags of a ttl node", OP.create, create("/m/t-1", { flags: TTL })],
    ["the end of a container", OP.deleteContainer, onPath("/m/c")],
    ["a create of a null path", OP.create, new JuteWriter().int(-1).string("").raw(aclBytes(OPEN_ACL)).int(0).bytes()],
    ["a delete of a null path", OP.delete, onNoPath(-1)],
    ["a set of a null path", OP.setData, onNoPath(-1, -1)],
    ["a check of a null path", OP.check, onNoPath(-1)],
    ["a container without a list", OP.createContainer, create("/m/none", { acl: [], flags: CONTAINER })],
    ["a ttl node of a null list", OP.createTtl, Buffer.concat([nullAcl("/m/null", TTL), long(LONG_MS)])],
  ];
  await a.ask("where they go", OP.create, create("/m"));
  for (const [name, opcode, body] of kinds) {
    await a.ask(`${name} in a multi`, OP.multi, multi([OP.check, versioned("/m", -1)], [opcode, body]));
  }
  await a.askSorted("what became of them", OP.getChildren2, read("/m"));
  for (const path of ["/m/c-1", "/m/t-c", "/m/t-0"]) await a.ask(`${path} in the end`, OP.exists, read(path));
}

function nullAcl(path: string, flags = 0): Buffer {
  return new JuteWriter().string(path).string("").int(-1).int(flags).bytes();
}

function long(value: bigint): Buffer {
  return new JuteWriter().long(value).bytes();
}

/** Nodes that the server removes without a request: events report it, at any time. */
async function reaping(): Promise<void> {
  await a.ask("a container for a while", OP.createContainer, create("/r", { flags: CONTAINER }));
  await a.ask("its child", OP.create, create("/r/x"));
  await b.ask("a watch of it", OP.getData, read("/r", true));
  await b.ask("a watch of its children", OP.getChildren, read("/r", true));
  await b.ask("a watch of what is beside it", OP.getChildren, read("/m", true));
  await a.ask("the end of its child", OP.delete, versioned("/r/x", -1));
  await b.event("event");
  await b.event("event");
  await a.ask("the container", OP.exists, read("/r"));
  await a.ask("a node for a moment", OP.createTtl, ttl("/m/moment", 500n));
  await b.event("event");
  await b.ask("a watch of it, in case it is still there", OP.getChildren, read("/r", true));
  await b.ask("a watch of all of them", OP.getChildren, read("/m", true));
  await b.event("event");
  await a.ask("the node", OP.exists, read("/m/moment"));
  await a.ask("a container that was never used", OP.exists, read("/m/c-1"));
}

function usageOf(path: string): Buffer {
  return read(`${QUOTA}${path}/zookeeper_stats`);
}

async function usage(): Promise<void> {
  await a.ask("a node with a quota", OP.create, create("/q", { data: "12" }));
  await a.ask("its child", OP.create, create("/q/x", { data: "345" }));
  await a.ask("the quota's place", OP.create, create(`${QUOTA}/q`));
  await a.ask("its limits", OP.create, create(`${QUOTA}/q/zookeeper_limits`, { data: "count=-1,bytes=-1" }));
  await b.ask("a write before usage is counted", OP.setData, setData("/q", "123"));
  await a.ask("its usage", OP.create2, create(`${QUOTA}/q/zookeeper_stats`, { data: "count=0,bytes=0" }));
  await b.ask("usage", OP.getData, usageOf("/q"));
  await b.ask("one more", OP.create, create("/q/x/y", { data: null }));
  await b.ask("another set", OP.setData, setData("/q/x", "3456789"));
  await b.ask("usage with one more and more bytes", OP.getData, usageOf("/q"));
  await b.ask("one less", OP.delete, versioned("/q/x/y", -1));
  await b.ask("its neighbour", OP.create, create("/qq", { data: "no" }));
  await b.ask("usage with one less", OP.getData, usageOf("/q"));
  await b.ask("usage as it is in the list", OP.exists, usageOf("/q"));
  await a.ask("the deeper quota's place", OP.create, create(`${QUOTA}/q/x`));
  await a.ask("the deeper limits", OP.create, create(`${QUOTA}/q/x/zookeeper_limits`, { data: "" }));
  await a.ask("the deeper usage", OP.create, create(`${QUOTA}/q/x/zookeeper_stats`, { data: "" }));
  await b.ask("a node below both", OP.create, create("/q/x/z", { data: "1" }));
  await b.ask("the upper usage", OP.getData, usageOf("/q"));
  await b.ask("the lower usage", OP.getData, usageOf("/q/x"));
  await a.ask("usage written by hand", OP.setData, setData(`${QUOTA}/q/zookeeper_stats`, "bytes=1000;count=50;mine=7"));
  await b.ask("usage as it was written", OP.getData, usageOf("/q"));
  await b.ask("a write after that", OP.setData, setData("/q", ""));
  await b.ask("usage from there", OP.getData, usageOf("/q"));
  await a.ask("the limits' end", OP.delete, versioned(`${QUOTA}/q/zookeeper_limits`, -1));
  await b.ask("a write that is not counted", OP.setData, setData("/q", "uncounted"));
  await b.ask("usage that stands", OP.getData, usageOf("/q"));
  await a.ask("the limits again", OP.create, create(`${QUOTA}/q/zookeeper_limits`, { data: "" }));
  await b.ask("a write that counts", OP.create, create("/q/counted", { data: "1" }));
  await b.ask("usage that goes on", OP.getData, usageOf("/q"));
}

async function limits(): Promise<void> {
  const limit = (text: string): Buffer => setData(`${QUOTA}/h/zookeeper_limits`, text);
  await a.ask("a node with limits", OP.create, create("/h"));
  await a.ask("the limits' place", OP.create, create(`${QUOTA}/h`));
  await a.ask("limits", OP.create, create(`${QUOTA}/h/zookeeper_limits`));
  await a.ask("usage below the limits", OP.create, create(`${QUOTA}/h/zookeeper_stats`));
  const texts = [
    "count=1,bytes=1",
    "count=-1,bytes=-1=;byteHardLimit=3;countHardLimit=-1",
    "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2",
    "countHardLimit=2;byteHardLimit=2",
    "count=0,bytes=0=;byteHardLimit=100;countHardLimit=100",
    "nonsense",
    "count=1,bytes",
    "count==1",
  ];
  for (const [i, text] of texts.entries()) {
    await a.ask(`limits "${text}"`, OP.setData, limit(text));
    await b.ask("a node", OP.create, create(`/h/${i}`));
    await b.ask("a node with data", OP.create, create(`/h/${i}-data`, { data: "12" }));
    await b.ask("data", OP.setData, setData("/h", "1234"));
    await b.ask("data of the same length", OP.setData, setData("/h", "abcd"));
    await b.ask("less data", OP.setData, setData("/h", "1"));
    await b.ask("data at a wrong version", OP.setData, setData("/h", "123456", 99));
    await b.ask("no data", OP.setData, setData("/h", ""));
    await b.ask(
      "three nodes at once",
      OP.multi,
      multi(
        [OP.create, create(`/h/${i}-a`)],
        [OP.createContainer, create(`/h/${i}-b`, { flags: CONTAINER })],
        [OP.setData, setData("/h", "12345")],
      ),
    );
    await b.ask("usage so far", OP.getData, usageOf("/h"));
    for (const name of [`${i}`, `${i}-data`, `${i}-a`, `${i}-b`]) {
      await b.ask("one less", OP.delete, versioned(`/h/${name}`, -1));
    }
  }
  await a.ask("the end of usage", OP.delete, versioned(`${QUOTA}/h/zookeeper_stats`, -1));
  await a.ask("limits of which no usage is known", OP.setData, limit("countHardLimit=0;byteHardLimit=0"));
  await b.ask("a node beyond them", OP.create, create("/h/beyond", { data: "1" }));
}

/** Names that mean something elsewhere. */
async function ways(): Promise<void> {
  await a.ask("limits in another place", OP.create, create("/zookeeper_limits", { data: "nonsense" }));
  await a.ask("usage in another place", OP.create, create("/zookeeper_stats", { data: "nonsense" }));
  await a.ask("what it shows", OP.getData, read("/zookeeper_stats"));
  await a.ask("usage of everything", OP.create, create(`${QUOTA}/zookeeper_stats`, { data: "x" }));
  await a.ask("the end of it", OP.delete, versioned(`${QUOTA}/zookeeper_stats`, -1));
  await a.ask("usage of nothing", OP.create, create(`${QUOTA}/nothing`));
  await a.ask("usage of nothing", OP.create, create(`${QUOTA}/nothing/zookeeper_stats`, { data: "x" }));
  await a.ask("what it shows", OP.getData, usageOf("/nothing"));
  await a.ask("limits with a child", OP.create, create(`${QUOTA}/q/zookeeper_limits/x`));
  await a.ask("the acl of a limit", OP.getAcl, onPath(`${QUOTA}/q/zookeeper_limits`));
  await a.ask("a reserved node by another name", OP.delete, versioned("/zookeeper/", -1));
  await a.ask("how many there are", OP.getAllChildrenNumber, onPath("/zookeeper"));
  await a.ask("a body of a list", OP.setAcl, Buffer.concat([onPath("/q"), aclBytes(OPEN_ACL)]));
}
