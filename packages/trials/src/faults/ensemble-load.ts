/** Clients that load an ensemble until they are paused, and the check of every server then. */
import { setTimeout as delay } from "node:timers/promises";
import { JuteReader } from "@zooid/conformance/internal/jute";
import { Random } from "@zooid/conformance/internal/random";
import { OP, onPath, read, versioned } from "@zooid/conformance/internal/wire";
import { EnsembleClient, Recorder } from "./ensemble-client.ts";
import { type Found, faultsIn, type Tree, type Write } from "./ensemble-history.ts";
import { type EnsembleServer, until } from "./ensemble-servers.ts";
import { type AnsweredNode, NO_NODE, nodeOf, RawSession } from "./raw-session.ts";

const KEY_COUNT = 4;
const KEYS: readonly string[] = Array.from({ length: KEY_COUNT }, (_, index) => `/keys/k${index}`);
const EPHEMERAL = "/keys/held";
const DEADLINE_MS = 30_000;
/** Answered writes that count as service. */
const SERVED_COUNT = 20;
const AUDIT_TIMEOUT_MS = 30_000;
const REQUESTS_AT_ONCE = 64;
/** A reader that does not wait for answers asks this often, with at most this number open. */
const READ_EVERY_MS = 10;
const READS_OPEN_MAX = 500;

export interface LoadOptions {
  readonly servers: readonly EnsembleServer[];
  readonly seed: number;
  readonly sessionTimeoutMs: number;
}

/** The act that one client repeats. */
interface Lane {
  readonly client: EnsembleClient;
  readonly inFlight: number;
  readonly step: (client: EnsembleClient) => Promise<boolean>;
}

export class EnsembleLoad {
  readonly recorder: Recorder = new Recorder();
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #lanes: readonly Lane[];
  /**
   * They keep asking a server that does not answer, so that it finds their reads when it wakes.
   */
  readonly #askers: readonly EnsembleClient[];
  readonly #holder: EnsembleClient;
  #base: Tree = new Map();
  #parent = "";
  #roundCount = 0;
  #isResting = true;
  #work: Promise<unknown> = Promise.resolve();
  /** The nodes that each folder of sequential nodes held when its round ended. */
  readonly #settled = new Map<string, string>();

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    let count = 0;
    const lane = (name: string, inFlight: number, step: Lane["step"]): Lane => ({
      client: this.#newClient(`${name}${count++}`),
      inFlight,
      step,
    });
    const set: Lane["step"] = (client) =>
      this.#random.chance(0.1) ? client.read(this.#key(), { sync: false }) : client.set(this.#key());
    const append: Lane["step"] = (client) => client.append(this.#parent);
    const read: Lane["step"] = (client) => client.read(this.#key(), { sync: this.#random.chance(0.8) });
    this.#lanes = [
      ...[lane("pipe", 8, set), lane("set", 1, set), lane("set", 1, set), lane("pipe", 8, set)],
      ...[lane("make", 1, append), lane("make", 4, append)],
      // As many as there are servers, so that each is read from.
      ...options.servers.map(() => lane("read", 1, read)),
    ];
    this.#askers = options.servers.map(() => this.#newClient(`ask${count++}`));
    this.#holder = this.#newClient("holder");
  }

  /** Makes what the load needs. */
  async prepare(): Promise<void> {
    await this.#holder.make("/keys", "");
    await this.#holder.make("/made", "");
    for (const key of KEYS) await this.#holder.make(key, "");
    await this.#holder.make(EPHEMERAL, "", { isEphemeral: true });
    this.#base = await this.#readKeys();
  }

  /** Begins a round, with the clients spread over the servers again. Resolves when they write. */
  async start(): Promise<void> {
    const { servers } = this.#options;
    const clients = this.#clients();
    const turn = this.#random.between(0, servers.length - 1);
    const moves = clients.map(async (client, index) => {
      const server = servers[(index + turn) % servers.length];
      if (server !== undefined) await client.moveTo(server);
    });
    await Promise.all(moves);
    this.#parent = `/made/r${++this.#roundCount}/`;
    await this.#holder.make(this.#parent.slice(0, -1), "");
    this.recorder.reads = [];
    // What had no answer may yet happen.
    this.recorder.writes = this.recorder.writes.filter(({ kind, outcome }) => kind === "set" && outcome === "unknown");
    this.recorder.faults = [];
    this.#isResting = false;
    this.#work = Promise.all([
      ...this.#lanes.flatMap((lane) => Array.from({ length: lane.inFlight }, () => this.#run(lane))),
      ...this.#askers.map((client) => this.#keepAsking(client)),
    ]);
    await until("load", DEADLINE_MS, () => this.recorder.doneCount > 0);
  }

  /** Ends the round's load and waits for its last answers. */
  async rest(): Promise<void> {
    this.#isResting = true;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`clients still wait for answers after ${DEADLINE_MS} ms`)),
      DEADLINE_MS,
    );
    await Promise.race([this.#work, late.promise]).finally(() => clearTimeout(timer));
  }

  /** Waits until writes are answered that were sent after a moment. */
  async untilDone(moment: bigint): Promise<void> {
    await until("writes to be answered", DEADLINE_MS, () => this.doneSince(moment).length >= SERVED_COUNT);
  }

  /** Reads every server and says what is wrong with the round. */
  async check(): Promise<readonly string[]> {
    const trees = new Map<number, Tree>();
    const faults = [...this.recorder.faults];
    for (const server of this.#options.servers) {
      const auditor = await Auditor.open(server);
      const made = this.#parent.slice(0, -1);
      trees.set(server.sid, new Map([...(await auditor.nodes(KEYS)), ...(await auditor.children(made))]));
      const owner = await auditor.owner(EPHEMERAL);
      if (owner !== this.#holder.sessionId) {
        faults.push(
          `server ${server.sid} says that ${owner?.toString(16)} holds ${EPHEMERAL}, not the session that made it`,
        );
      }
      await auditor.close();
    }
    const { writes, reads } = this.recorder;
    faults.push(...faultsIn({ base: this.#base, writes, reads }, trees));
    const [tree = new Map<string, Found>()] = trees.values();
    this.#base = new Map([...tree].filter(([path]) => KEYS.includes(path)));
    this.#settled.set(this.#parent, fingerprint([...tree].filter(([path]) => path.startsWith(this.#parent))));
    return faults;
  }

  /**
   * After a check: deletes the sequential nodes of the round, so that many rounds fit on a small
   * disk.
   */
  async clear(): Promise<void> {
    const [server] = this.#options.servers;
    if (server === undefined) return;
    const auditor = await Auditor.open(server);
    await auditor.removeChildren(this.#parent.slice(0, -1));
    await auditor.close();
    this.#settled.delete(this.#parent);
  }

  /** Reads everything from every server, and compares it with what each round left behind. */
  async checkAll(): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const server of this.#options.servers) {
      const auditor = await Auditor.open(server);
      for (const [parent, expected] of this.#settled) {
        const found = fingerprint([...(await auditor.children(parent.slice(0, -1)))]);
        if (found !== expected)
          faults.push(`server ${server.sid} holds something else below ${parent} than when its round ended`);
      }
      await auditor.close();
    }
    return faults;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients().map((client) => client.close()));
  }

  /** Answered sets and creates, of those that were sent after a moment. */
  doneSince(moment: bigint): readonly Write[] {
    return this.recorder.writes.filter(({ outcome, sentAt }) => outcome === "done" && sentAt > moment);
  }

  async #run({ client, step }: Lane): Promise<void> {
    while (!this.#isResting) await step(client);
  }

  async #keepAsking(client: EnsembleClient): Promise<void> {
    const open = new Set<Promise<unknown>>();
    while (!this.#isResting) {
      if (open.size < READS_OPEN_MAX) {
        const read = client.read(this.#key(), { sync: true }).finally(() => open.delete(read));
        open.add(read);
      }
      await delay(READ_EVERY_MS);
    }
    await Promise.all(open);
  }

  #clients(): readonly EnsembleClient[] {
    return [...this.#lanes.map(({ client }) => client), ...this.#askers, this.#holder];
  }

  #key(): string {
    return this.#random.pick(KEYS);
  }

  #newClient(name: string): EnsembleClient {
    const { servers, sessionTimeoutMs } = this.#options;
    return new EnsembleClient({ name, servers, recorder: this.recorder, sessionTimeoutMs, random: this.#random });
  }

  async #readKeys(): Promise<Tree> {
    const [server] = this.#options.servers;
    if (server === undefined) throw new Error("there are no servers");
    return await nodesOf(server, KEYS);
  }
}

/** The nodes of these paths that a server holds. */
export async function nodesOf(server: EnsembleServer, paths: readonly string[]): Promise<Tree> {
  const auditor = await Auditor.open(server);
  const found = await auditor.nodes(paths);
  await auditor.close();
  return found;
}

function fingerprint(nodes: readonly (readonly [path: string, found: Found])[]): string {
  return nodes
    .map(([path, { value, czxid, mzxid, version }]) => `${path} ${value} ${czxid} ${mzxid} ${version}`)
    .sort()
    .join("\n");
}

/** Reads one server, level with its leader. */
export class Auditor {
  readonly #session: RawSession;

  private constructor(session: RawSession) {
    this.#session = session;
  }

  static async open({ host, port }: { readonly host: string; readonly port: number }): Promise<Auditor> {
    const session = await RawSession.open({ host, port, timeoutMs: AUDIT_TIMEOUT_MS });
    const { error } = await session.ask(OP.sync, onPath("/"));
    if (error !== 0) throw new Error(`a sync was refused with ${error}`);
    return new Auditor(session);
  }

  async children(parent: string): Promise<Tree> {
    return await this.nodes(await this.#paths(parent));
  }

  async removeChildren(parent: string): Promise<void> {
    const paths = await this.#paths(parent);
    for (let at = 0; at < paths.length; at += REQUESTS_AT_ONCE) {
      await Promise.all(paths.slice(at, at + REQUESTS_AT_ONCE).map((path) => this.#remove(path)));
    }
  }

  /** Those that exist. */
  async nodes(paths: readonly string[]): Promise<Tree> {
    const found = new Map<string, Found>();
    for (let at = 0; at < paths.length; at += REQUESTS_AT_ONCE) {
      const some = paths.slice(at, at + REQUESTS_AT_ONCE);
      const nodes = await Promise.all(some.map((path) => this.#node(path)));
      for (const [index, path] of some.entries()) {
        const node = nodes[index];
        if (node !== undefined) found.set(path, node);
      }
    }
    return found;
  }

  async owner(path: string): Promise<bigint | undefined> {
    return (await this.#node(path))?.owner;
  }

  async close(): Promise<void> {
    await this.#session.end();
  }

  async #paths(parent: string): Promise<readonly string[]> {
    const listing = await this.#session.ask(OP.getChildren2, read(parent));
    if (listing.error !== 0) throw new Error(`listing ${parent} failed with ${listing.error}`);
    const reader = new JuteReader(listing.body);
    return Array.from({ length: reader.int() }, () => `${parent}/${reader.string()}`);
  }

  async #remove(path: string): Promise<void> {
    const { error } = await this.#session.ask(OP.delete, versioned(path, -1));
    if (error !== 0) throw new Error(`deleting ${path} failed with ${error}`);
  }

  async #node(path: string): Promise<AnsweredNode | undefined> {
    const { error, body } = await this.#session.ask(OP.getData, read(path));
    if (error === NO_NODE) return undefined;
    if (error !== 0) throw new Error(`reading ${path} failed with ${error}`);
    return nodeOf(body);
  }
}
