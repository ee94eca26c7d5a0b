/**
 * A consumer of changes, and the servers of an ensemble that keeps its history, are killed again
 * and again while writers work. The consumer's changes are compared with the answers that the
 * writers got.
 *
 *     npm run tool -- changes-consumer [--kills 20] [--writers 4] [--servers 3] [--seed N] [--keep]
 *
 * The consumer reads `changes$` of a subtree in a process of its own, writes each change to a file,
 * and continues in its next life from there: behind the last place up to which everything had come,
 * or before the last change. At each moment it is killed, or the leader, or a follower, or some of
 * them, or all servers. In the end each change that was answered must be there once, with the zxid
 * of its answer, in the order of zxids and of each writer; one without an answer once or never. The
 * history of each server must have the same changes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { Ensemble, type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { TrialRun } from "../processes/trial-run.ts";
import { ChangesWriter, prepareChanges } from "./changes-writer.ts";
import { ConsumerFile, seenChange } from "./consumer-file.ts";
import { type SeenChange, WrittenChanges } from "./written-changes.ts";

const options = toolOptions({ kills: 20, writers: 4, servers: 3, seed: newSeed(), keep: false });
const ROOT = "/changes";
const DEADLINE_MS = 60_000;
const SESSION_MS = 40_000;
const SETTINGS = ["zooid.history.retainMs=86400000", "zooid.history.fileMs=300"];
const VICTIMS = ["consumer", "leader", "follower", "consumer and leader", "consumer and follower", "servers"] as const;

const trial = new TrialRun("changes-consumer", options);
const { random, folder, faults } = trial;
const { servers: serverCount } = options;
const ensemble = await Ensemble.create({ folder, serverCount, tickMs: 2000, syncLimit: 5, settings: SETTINGS });
const hosts = ensemble.servers.map(({ address }) => address).join(",");
const file = new ConsumerFile(join(folder, "consumed"));
const written = new WrittenChanges();
let consumer: ChildProcess | undefined;

await trial.play(`${serverCount} servers, in `, async () => {
  await using ends = new AsyncDisposableStack();
  ends.use(ensemble);
  ends.defer(killConsumer);
  faults.push(...(await play()));
});
trial.end(`${options.kills} kills, ${written.answeredCount} answered changes`);

async function play(): Promise<readonly string[]> {
  await ensemble.start(DEADLINE_MS);
  const clients = await Promise.all(
    Array.from({ length: options.writers }, () => connect(hosts, { sessionTimeoutMs: SESSION_MS })),
  );
  const [client] = clients;
  if (client === undefined) throw new Error("there are no writers");
  await prepareChanges(client, ROOT);
  startConsumer();
  let isOver = false;
  const writing = clients.map((client, number) =>
    new ChangesWriter({ client, random, written, root: ROOT, number }).run(() => isOver),
  );
  for (let kill = 1; kill <= options.kills && file.read().faults.length === 0; kill++) await killSome(kill);
  isOver = true;
  await Promise.all(writing);
  await ensemble.untilLevel(DEADLINE_MS);
  const end = (await client.create(`${ROOT}/end`)).stat.czxid;
  const consumed = await until("the consumer to have all", DEADLINE_MS, () => {
    const read = file.read();
    return (read.reached >= end || read.faults.length > 0) && read;
  });
  const found = [...consumed.faults, ...written.check(ofWriters(consumed.changes), "the consumer")];
  for (const server of ensemble.servers) found.push(...(await checkHistory(server, end)));
  await Promise.all(clients.map((each) => each.close()));
  return found;
}

async function killSome(kill: number): Promise<void> {
  await delay(random.between(20, 1500));
  const victims = random.pick(VICTIMS);
  const killed = victims === "servers" ? ensemble.servers : await serverOf(victims);
  await Promise.all([
    ...killed.map(async (server) => {
      await delay(random.between(0, 50));
      await server.kill();
    }),
    victims.startsWith("consumer") ? killConsumer() : undefined,
  ]);
  if (victims.startsWith("consumer") && random.chance(0.5)) await delay(random.between(0, 1000));
  if (victims.startsWith("consumer")) startConsumer();
  await delay(random.between(0, 1000));
  for (const server of killed) server.launch();
  await ensemble.untilLevel(DEADLINE_MS);
  const { changes, reached } = file.read();
  console.log(
    `kill ${kill}: ${victims}; ${written.answeredCount} answered changes, ${changes.length} consumed, up to 0x${reached.toString(16)}`,
  );
}

async function serverOf(victims: string): Promise<readonly EnsembleServer[]> {
  if (victims === "consumer") return [];
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  return [victims.endsWith("leader") ? leader : random.pick(ensemble.servers.filter((each) => each !== leader))];
}

function startConsumer(): void {
  const program = join(import.meta.dirname, "changes-consumer-process.ts");
  const way = random.pick(["reached", "change"]);
  const args = [hosts, ROOT, join(folder, "consumed"), String(random.pick([1, 20, 200])), way];
  consumer = spawn(process.execPath, ["--conditions=@zooid/source", program, ...args], { stdio: "inherit" });
}

async function killConsumer(): Promise<void> {
  if (consumer === undefined || consumer.exitCode !== null || consumer.signalCode !== null) return;
  consumer.kill("SIGKILL");
  await once(consumer, "exit");
}

/** The history of one server, once it has everything. */
async function checkHistory(server: EnsembleServer, end: number): Promise<readonly string[]> {
  const name = `the history of server ${server.sid}`;
  await using client = await connect(server.address, { sessionTimeoutMs: SESSION_MS });
  const readAll = async (): Promise<readonly SeenChange[] | false> => {
    const seen: SeenChange[] = [];
    for await (const item of client.history(ROOT, { recursive: true, pageSize: 1000 })) {
      if (item.kind === "gap") throw new Error(`${name} has a gap after ${item.after} and up to ${item.end}`);
      seen.push(seenChange(item));
    }
    return (seen.at(-1)?.zxid ?? 0) >= end && seen;
  };
  return written.check(ofWriters(await until(name, DEADLINE_MS, readAll)), name);
}

/** Without the nodes that were made for them, and the last one. */
function ofWriters(changes: readonly SeenChange[]): readonly SeenChange[] {
  return changes.filter(({ value, op }) => value !== "" || op === "delete");
}
