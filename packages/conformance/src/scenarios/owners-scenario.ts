/**
 * Two live owners of one name: `ServiceDiscovery`, `GroupMember` and `PersistentNode` of
 * `@zooid/recipes` with Curator's and with kazoo's nodes on the same paths.
 *
 *     owners-scenario.ts CLASSPATH PYTHON NEIGHBOUR.PY HOST:PORT       prints one line for each step
 */
import { setTimeout as delay } from "node:timers/promises";
import { GroupMember, PersistentNode, type PersistentNodeState, ServiceDiscovery } from "@zooid/recipes";
import { first, orCode, say, startNeighbours } from "./neighbours.ts";

/** Long enough for hundreds of writes of clients that undo each other's. */
const WATCHED_MS = 500;
const FEW_WRITES = 8;

await using neighbours = await startNeighbours(process.argv.slice(2));
const { curator, kazoo, zk } = neighbours;
const [SERVICES, GROUP, NODE] = ["/services", "/group", "/node"];

const sessions = new Map([
  [await curator.ask("session", "/"), "curator"],
  [await kazoo.ask("session", "/"), "kazoo"],
  [String(BigInt.asIntN(64, zk.sessionId)), "zooid"],
]);

/** The client whose session owns a node. */
async function ownerOf(path: string): Promise<string> {
  const stat = await zk.exists(path);
  if (stat === null) return "none";
  return sessions.get(String(BigInt.asIntN(64, stat.ephemeralOwner))) ?? "another";
}

/** Watches both owners for a while: the node stays its owner's, and few transactions are made. */
async function peace(path: string): Promise<void> {
  const { mzxid: before } = await zk.put("/mark", "");
  const isOwned = new Set<string>();
  for (let i = 0; i < 10; i++) {
    isOwned.add(await ownerOf(path));
    await delay(WATCHED_MS / 10);
  }
  const { mzxid: after } = await zk.put("/mark", "");
  say("both", `${path} belongs to`, [...isOwned].join(", then "));
  const writes = after - before - 1;
  say("both", "write", writes < FEW_WRITES ? `fewer than ${FEW_WRITES} times` : `${writes} times`);
}

const is =
  (state: PersistentNodeState) =>
  (now: PersistentNodeState): boolean =>
    now === state;

// Service discovery: the newest registration wins, whichever client made it.
const instance = `${SERVICES}/web/one`;
say("curator", "registers port 1", await curator.ask("register", SERVICES, 1));
const discovery = new ServiceDiscovery(zk, SERVICES);
const older = await discovery.register({ name: "web", id: "one", address: "10.0.0.2", port: 2 });
say("curator", "finds when zooid has registered", await curator.ask("instance", SERVICES, "one"));
await peace(instance);
say("curator", "registers port 3", await curator.ask("register", SERVICES, 3));
say("zooid", "is then", await first(older.state$, is("replaced")));
say("zooid", "finds", `port ${(await discovery.instance("web", "one"))?.port}`);
await peace(instance);
await older.close();
say("both", "the instance when zooid has closed its own belongs to", await ownerOf(instance));
const newer = await discovery.register({ name: "web", id: "one", address: "10.0.0.2", port: 4 });
say("curator", "finds when zooid has registered again", await curator.ask("instance", SERVICES, "one"));
await newer.close();
say("curator", "finds when zooid has closed it", await curator.ask("instance", SERVICES, "one"));
say("kazoo", "creates the node", await kazoo.ask("keep", instance, "{}"));
const newest = await discovery.register({ name: "web", id: "one", address: "10.0.0.2", port: 5 });
await peace(instance);
await newest.close();

// Group members: the live one stays, the other waits or fails.
const seat = `${GROUP}/one`;
say("curator", "is a member", await curator.ask("member", GROUP, "one"));
const member = new GroupMember(zk, GROUP, { id: "one", data: "zooid" });
say("zooid", "is", await first(member.state$, is("waiting")));
await peace(seat);
say("zooid", "would fail with", await orCode(new GroupMember(zk, GROUP, { id: "one", whenTaken: "fail" }).ready()));
say("curator", "is no member any more", await curator.ask("close", seat));
say("zooid", "is", await first(member.state$, is("there")));
say("curator", "comes for the same name", await curator.ask("member", GROUP, "one"));
await peace(seat);
say("zooid", "is", await first(member.state$, is("there")));
// Curator deletes the node of any session.
const before = await zk.exists(seat);
say("curator", "goes", await curator.ask("close", seat));
await first(zk.watchExists$(seat), (stat) => stat !== null && stat.czxid !== before?.czxid);
say("zooid", "is", await first(member.state$, is("there")));
await peace(seat);
say("kazoo", "joins as a party", await kazoo.ask("shallow", GROUP, "kazoo"));
say("kazoo", "has a name", await kazoo.ask("keep", `${GROUP}/two`, "kazoo"));
const second = new GroupMember(zk, GROUP, { id: "two" });
say("zooid", "is", await first(second.state$, is("waiting")));
await peace(`${GROUP}/two`);
const names = (ids: Iterable<string>): string =>
  [...ids]
    .map((id) => id.replace(/^[0-9a-f]{32}/, "UUID"))
    .sort()
    .join();
const seen = await first(member.members$, (members) => members.size === 3);
say("zooid", "sees", typeof seen === "string" ? seen : names(seen.keys()));
say("kazoo", "leaves the name", await kazoo.ask("close", `${GROUP}/two`));
say("zooid", "is", await first(second.state$, is("there")));
await Promise.all([member.close(), second.close()]);

// Persistent nodes, each policy.
for (const [who, peer] of [
  ["curator", curator],
  ["kazoo", kazoo],
] as const) {
  const path = `${NODE}-${who}`;
  say(who, "has the node", await peer.ask("keep", path, who));
  const waiting = new PersistentNode(zk, { path, data: "zooid" });
  say("zooid", "is", await first(waiting.state$, is("waiting")));
  await peace(path);
  await waiting.close();
  say("both", `${path} when zooid waits no more belongs to`, await ownerOf(path));
  await using taking = new PersistentNode(zk, { path, data: "zooid", whenTaken: "takeOver" });
  say("zooid", "takes it over", await first(taking.state$, is("there")));
  await peace(path);
}
