/**
 * The conformance scenario through node-zookeeper-client.
 *
 *     node scenario.cjs FOLDER_OF_THE_CLIENT HOST:PORT PROXY_HOST:PORT       prints one line for each step
 *
 * The second address leads to the same server through a proxy that loses connections on request. The client works on
 * one thread, so events and replies are printed in the order in which the server sent them.
 */
const { connect } = require("node:net");

const [folder, direct, proxied] = process.argv.slice(2);
const zookeeper = require(folder);
const { CreateMode, Permission, ACL, Id, State } = zookeeper;

const WAIT_MS = 30_000;
let a;
let b;

/** All reports of the client, in order, and the waiter for more. */
const seen = [];
let wake = () => undefined;
function note(line) {
  seen.push(line);
  wake();
}

async function expect(name, count) {
  const deadline = setTimeout(() => {
    console.log(`${name}: less than expected`);
    note("(end of patience)");
  }, WAIT_MS);
  while (seen.length < count) {
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
  clearTimeout(deadline);
  for (const line of seen.splice(0, count)) console.log(`${name}: ${line}`);
}

const watcher = (label) => (event) => note(`event ${event.getName()} ${event.getPath()} (${label})`);

function statText(stat) {
  const owner = stat.ephemeralOwner.equals(Buffer.alloc(8))
    ? "none"
    : stat.ephemeralOwner.equals(a.getSessionId())
      ? "mine"
      : "other";
  const later = (one, other) => Buffer.compare(one, other) > 0;
  return [
    `version=${stat.version} cversion=${stat.cversion} aversion=${stat.aversion} owner=${owner}`,
    `length=${stat.dataLength} children=${stat.numChildren}`,
    `touched=${later(stat.mzxid, stat.czxid)} populated=${later(stat.pzxid, stat.czxid)}`,
    `dated=${later(stat.ctime, Buffer.alloc(8)) && !later(stat.ctime, stat.mtime)}`,
  ].join(" ");
}

function text(part) {
  if (part === undefined || part === null) return "nothing";
  if (Buffer.isBuffer(part)) return `'${part}'`;
  if (part.czxid) return statText(part);
  if (Array.isArray(part)) {
    const texts = part.map((one) =>
      one.permission === undefined ? String(one) : `${one.id.scheme}:${one.id.id}:${one.permission}`,
    );
    return `[${texts.sort().join(" ")}]`;
  }
  return String(part);
}

/** Calls and prints: `start` gets the callback that ends the step. */
function step(name, start) {
  return new Promise((resolve) => {
    start((error, ...parts) => {
      console.log(`${name}: ${error ? error.getName() : ["ok", ...parts.map(text)].join(" ")}`);
      resolve();
    });
  });
}

/** Calls without waiting; the reply is noted among the events, in the order of arrival. */
function ask(label, start) {
  start((error, ...parts) =>
    note(`reply to ${label}: ${error ? error.getName() : ["ok", ...parts.map(text)].join(" ")}`),
  );
}

function multi(name, transaction) {
  return new Promise((resolve) => {
    transaction.commit((error, results) => {
      const parts = (results ?? []).map((result) => {
        if (result.type === -1) return `error ${result.err}`;
        return ["ok", result.path, result.stat && `version=${result.stat.version}`].filter(Boolean).join(" ");
      });
      console.log(`${name}: ${error ? error.getName() : "ok"} [${parts.join(", ")}]`);
      resolve();
    });
  });
}

async function open(address) {
  const client = zookeeper.createClient(address, { sessionTimeout: 20_000, spinDelay: 50 });
  const connected = new Promise((resolve) => client.once("connected", resolve));
  client.connect();
  await connected;
  return client;
}

function say(word) {
  const [host, port] = proxied.split(":");
  return new Promise((resolve, reject) => {
    const control = connect(Number(port), host, () => control.write(word));
    control.on("error", reject);
    control.on("data", (answer) => (String(answer) === "done" ? resolve() : reject(new Error(String(answer)))));
  });
}

async function main() {
  a = await open(proxied);
  b = await open(direct);

  // Nodes and their versions.
  await step("create", (done) => a.create("/n", Buffer.from("hello"), done));
  await step("create again", (done) => a.create("/n", Buffer.from("hello"), done));
  await step("create below a missing parent", (done) => a.create("/missing/x", done));
  await step("create with null data", (done) => a.create("/n/null", done));
  await step("get null data", (done) => a.getData("/n/null", done));
  await step("get", (done) => b.getData("/n", done));
  await step("get a missing node", (done) => a.getData("/nope", done));
  await step("exists", (done) => a.exists("/n", done));
  await step("exists of a missing node", (done) => a.exists("/nope", done));
  await step("set at version 0", (done) => a.setData("/n", Buffer.from("world"), 0, done));
  await step("set at version 7", (done) => a.setData("/n", Buffer.from("worse"), 7, done));
  await step("set a missing node", (done) => a.setData("/nope", Buffer.alloc(0), done));
  await step("delete with children", (done) => a.remove("/n", done));
  await step("delete at a wrong version", (done) => a.remove("/n/null", 9, done));
  await step("delete", (done) => a.remove("/n/null", done));
  await step("delete again", (done) => a.remove("/n/null", done));

  // Sequences and ephemerals.
  await step("create sequential", (done) => a.create("/n/q-", CreateMode.PERSISTENT_SEQUENTIAL, done));
  await step("create ephemeral sequential", (done) => a.create("/n/q-", CreateMode.EPHEMERAL_SEQUENTIAL, done));
  await step("create ephemeral", (done) => a.create("/n/e", Buffer.from("mine"), CreateMode.EPHEMERAL, done));
  await step("create below an ephemeral", (done) => a.create("/n/e/x", done));
  await step("create ephemeral by the other session", (done) => b.create("/n/b", CreateMode.EPHEMERAL, done));
  await step("stat of an ephemeral", (done) => a.exists("/n/e", done));
  await step("stat of the other's ephemeral", (done) => a.exists("/n/b", done));
  await step("children", (done) => a.getChildren("/n", done));
  await step("children of a missing node", (done) => a.getChildren("/nope", done));

  // Events and replies in the order of the wire: a session's own writes, pipelined.
  await step("watch data", (done) => a.getData("/n/e", watcher("data"), done));
  await step("watch children", (done) => a.getChildren("/n", watcher("children"), done));
  await step("watch for creation", (done) => a.exists("/n/new", watcher("creation"), done));
  ask("first set", (done) => a.setData("/n/e", Buffer.from("1"), done));
  ask("second set, of the version that the first one makes", (done) => a.setData("/n/e", Buffer.from("2"), 1, done));
  ask("third set, of a version that has passed", (done) => a.setData("/n/e", Buffer.from("3"), 1, done));
  ask("create", (done) => a.create("/n/new", done));
  ask("get", (done) => a.getData("/n/e", done));
  ask("delete", (done) => a.remove("/n/new", done));
  await expect("pipelined", 9);
  await step("watch for deletion", (done) => a.exists("/n/e", watcher("exists"), done));
  await step("watch children for deletion", (done) => a.getChildren("/n/e", watcher("children of it"), done));
  ask("delete", (done) => a.remove("/n/e", done));
  await expect("deleted", 3);

  // Transactions.
  await multi(
    "multi",
    a
      .transaction()
      .create("/n/m", Buffer.from("1"))
      .create("/n/m/n-", Buffer.from("2"), CreateMode.PERSISTENT_SEQUENTIAL)
      .setData("/n/m", Buffer.from("33"), -1)
      .check("/n/m", 1)
      .remove("/n/m/n-0000000000", -1),
  );
  await multi("multi that fails in the middle", a.transaction().create("/n/m/x").check("/n/m", 77).create("/n/m/y"));
  await step("get after a failed multi", (done) => a.getData("/n/m", done));
  await step("children after a failed multi", (done) => a.getChildren("/n/m", done));

  // ACLs.
  const alice = [new ACL(Permission.ALL, new Id("digest", "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="))];
  const unknown = [new ACL(Permission.ALL, new Id("unknown", "id"))];
  await step("create with a digest acl", (done) => a.create("/na", Buffer.from("hidden"), alice, done));
  await step("get without authority", (done) => a.getData("/na", done));
  await step("exists without authority", (done) => a.exists("/na", done));
  await step("set without authority", (done) => a.setData("/na", Buffer.alloc(0), done));
  await step("children without authority", (done) => a.getChildren("/na", done));
  await step("get acl without authority", (done) => a.getACL("/na", done));
  await step("create with an unknown scheme", (done) => a.create("/bad", unknown, done));
  await step("create with auth but no identity", (done) => a.create("/bad", ACL.CREATOR_ALL_ACL, done));
  a.addAuthInfo("digest", Buffer.from("alice:secret"));
  await step("get with authority", (done) => a.getData("/na", done));
  await step("create with auth", (done) => a.create("/na/mine", ACL.CREATOR_ALL_ACL, done));
  await step("get acl that auth became", (done) => a.getACL("/na/mine", done));
  await step("set acl", (done) => a.setACL("/na", ACL.READ_ACL_UNSAFE, 0, done));
  await step("set acl that is no longer ours", (done) => a.setACL("/na", ACL.OPEN_ACL_UNSAFE, done));
  await step("get by a stranger", (done) => b.getData("/na", done));
  await step("delete by a stranger", (done) => b.remove("/na/mine", done));

  // A lost connection. This client arms its watches again with an ordinary xid.
  await step("create what is watched", (done) => a.create("/n/w", done));
  await step("create what is watched for deletion", (done) => a.create("/n/d", done));
  await step("create what stays as it is", (done) => a.create("/n/same", done));
  await step("watch data", (done) => a.getData("/n/w", watcher("data"), done));
  await step("watch data that goes", (done) => a.getData("/n/d", watcher("data of what goes"), done));
  await step("watch for creation", (done) => a.exists("/n/later", watcher("creation"), done));
  await step("watch children", (done) => a.getChildren("/n", watcher("children"), done));
  await step("watch data that stays", (done) => a.getData("/n/same", watcher("data that stays"), done));
  const session = a.getSessionId().toString("hex");
  const disconnected = new Promise((resolve) => a.once("disconnected", resolve));
  await say("cut!");
  await disconnected;
  await step("set while the other is away", (done) => b.setData("/n/w", Buffer.from("meanwhile"), done));
  await step("delete while the other is away", (done) => b.remove("/n/d", done));
  await step("create while the other is away", (done) => b.create("/n/later", done));
  const reconnected = new Promise((resolve) => a.once("connected", resolve));
  await say("join");
  await reconnected;
  // Replayed events come in the order of the lists that were sent (data, existence, children), before any later reply.
  ask("the first read after reconnect", (done) => a.getData("/n/w", done));
  await expect("join", 5);
  console.log(`same session: ${a.getSessionId().toString("hex") === session}`);
  await step("set what stayed", (done) => b.setData("/n/same", Buffer.from("no more"), done));
  await expect("armed again", 1);
  await step("authority after reconnect", (done) => a.getData("/na/mine", done));
  console.log(`state: ${a.getState() === State.SYNC_CONNECTED ? "connected" : a.getState()}`);

  // The end of a session takes its ephemerals along.
  await step("watch the other's ephemeral", (done) => a.exists("/n/b", watcher("end"), done));
  b.close();
  await expect("end of a session", 1);
  await step("children at the end", (done) => a.getChildren("/n", done));
  a.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
