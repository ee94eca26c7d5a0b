import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, epochOf, ZXID_NONE } from "@zooid/model";
import { putEntry } from "@zooid/txn-log";
import { openStore } from "@zooid/txn-log/sqlite";
import { freePorts } from "@zooid/wire/testing/free-ports";
import type { LogEvent } from "../operators/log-events.ts";
import type { LogFields } from "../operators/log-fields.ts";
import type { EnsembleServerOptions } from "../peers/ensemble-config.ts";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import type { Act, ActWeights } from "./acts.ts";
import { CLIENT_ACTS, type ClientAct, HistoryClients } from "./history-clients.ts";
import { imageOf, isRepair, SMALL_FILES } from "./small-files.ts";

type EnsembleKind =
  | ClientAct
  | "stop and start one"
  | "crash and start one"
  | "move the leader"
  | "miss much"
  | "log alone";

/** A member that starts again gets what it missed. */
export const ENSEMBLE_ACTS: ActWeights<EnsembleKind> = [
  ...CLIENT_ACTS,
  ["stop and start one", 1],
  ["crash and start one", 1],
  ["move the leader", 1],
  // More than the log keeps: it gets the state, as a SNAP.
  ["miss much", 1],
  // The leader logged an entry that no other member has, and others lead since: a TRUNC makes it
  // cut the entry.
  ["log alone", 1],
];

export type EnsembleAct = Act<EnsembleKind>;

const SIDS = [1, 2, 3] as const;
/**
 * Fills after which the log must have purged its segments of before: each is 24 writes of up to
 * 6000 bytes.
 */
const FILLS_MAX = 40;
const SEGMENT = /^log-\d{8}-[0-9a-f]{16}\.db$/;
const SESSION_TIMEOUT_MS_MAX = 120_000;

interface Member {
  readonly sid: number;
  directory: string;
  server: ZooidServer | undefined;
  /** Its newest role; undefined while it looks for a leader. */
  role: string | undefined;
  /** Resolves when that has changed, or a line of a repair was written. */
  roleChanged: PromiseWithResolvers<void>;
}

export interface EnsembleCounts {
  readonly startCount: number;
  /** States that were sent whole. */
  readonly snapCount: number;
  /** Entries that only one member had logged. */
  readonly truncCount: number;
}

/**
 * Three servers in this process with real files that are small for their purpose, one of which is
 * away at a time. After each act all that run must serve the tree that the answers promised; each
 * start is without a repair.
 */
export class StoredEnsemble implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #lines: readonly EnsembleServerOptions[];
  readonly #ports: readonly number[];
  readonly #clients: HistoryClients;
  readonly #repairs: string[] = [];
  #nextPort = 0;
  #startCount = 0;
  #snapCount = 0;
  #truncCount = 0;

  private constructor(directories: readonly string[], ports: readonly number[]) {
    this.#ports = ports.slice(0, SIDS.length);
    this.#lines = SIDS.map((sid, i) => {
      const [quorumPort = 0, electionPort = 0] = ports.slice(SIDS.length + 2 * i);
      return { sid, host: "127.0.0.1", quorumPort, electionPort };
    });
    this.#members = SIDS.map((sid, i) => {
      const directory = directories[i] ?? "";
      return { sid, directory, server: undefined, role: undefined, roleChanged: Promise.withResolvers<void>() };
    });
    this.#clients = new HistoryClients(() => this.#portOf(this.#nextPort++));
  }

  static async run(acts: readonly EnsembleAct[]): Promise<EnsembleCounts> {
    await using ensemble = await StoredEnsemble.begin();
    for (const act of acts) await ensemble.perform(act);
    await ensemble.perform({ kind: "move the leader", a: 0, b: 0 });
    return ensemble.counts;
  }

  static async begin(): Promise<StoredEnsemble> {
    const directories = await Promise.all(SIDS.map(() => mkdtemp(join(tmpdir(), "zooid-history-"))));
    const ensemble = new StoredEnsemble(directories, await freePorts(3 * SIDS.length));
    await Promise.all(ensemble.#members.map((member) => ensemble.#start(member)));
    await ensemble.#serving();
    await ensemble.#clients.begin();
    return ensemble;
  }

  get counts(): EnsembleCounts {
    return { startCount: this.#startCount, snapCount: this.#snapCount, truncCount: this.#truncCount };
  }

  async perform({ kind, a, b }: EnsembleAct): Promise<void> {
    const member = this.#members[a % this.#members.length] ?? this.#leader;
    switch (kind) {
      case "stop and start one":
        return this.#without(member, () => this.#clients.perform("set", a, b));
      case "crash and start one":
        return this.#crash(member, () => this.#clients.perform("create", a, b));
      case "move the leader":
        return this.#without(this.#leader, () => this.#clients.perform("multi", a, b));
      case "miss much":
        return this.#without(member, () => this.#fillLog(a));
      case "log alone": {
        const leader = this.#leader;
        return this.#without(leader, async () => {
          await this.#logAlone(leader);
          await this.#clients.perform("create", a, b);
        });
      }
      default:
        return this.#clients.perform(kind, a, b);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
    await Promise.all(this.#members.map(({ server }) => server?.stop()));
    for (const { directory } of this.#members) await rm(directory, { recursive: true, force: true });
  }

  /**
   * Writes until the leader's log has nothing more that a member which is away had. Checkpoints let
   * it purge, and take their time.
   */
  async #fillLog(a: number): Promise<void> {
    const { directory } = this.#leader;
    const segments = async (): Promise<readonly string[]> =>
      (await readdir(directory)).filter((name) => SEGMENT.test(name));
    const before = await segments();
    for (let i = 0; i < FILLS_MAX; i++) {
      await this.#clients.perform("fill", a + i, 5999);
      const now = await segments();
      if (!before.some((name) => now.includes(name))) return;
    }
    throw new Error(`the log still has ${before.join(", ")} after ${FILLS_MAX} fills`);
  }

  /** A member stops, the others continue, and it starts again. */
  async #without(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    await this.#clients.disconnect();
    await member.server?.stop();
    await this.#restart(member, meanwhile);
  }

  /** As {@link #without}, on the files as they were before it stopped. */
  async #crash(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    await this.#clients.disconnect();
    const image = await imageOf(member.directory);
    await member.server?.stop();
    await rm(member.directory, { recursive: true });
    member.directory = image;
    await this.#restart(member, meanwhile);
  }

  async #restart(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    member.server = undefined;
    await this.#serving();
    await this.#clients.resume();
    await meanwhile();
    await this.#start(member);
    await this.#serving();
    await this.#checkAll();
  }

  async #start(member: Member): Promise<void> {
    const { sid, directory } = member;
    member.role = undefined;
    const note = (text: string, { event, role }: LogFields<LogEvent>): void => {
      if (event === "role") this.#roleOf(member, String(role));
      if (event === "whole-state-sent") this.#snapCount++;
      if (!isRepair(event)) return;
      this.#repairs.push(`server ${sid}: ${text}`);
      this.#changed(member);
    };
    member.server = await startServer({
      port: this.#ports[sid - 1] ?? 0,
      dataDir: directory,
      ttlNodes: true,
      ...SMALL_FILES,
      sessionTimeoutMsMax: SESSION_TIMEOUT_MS_MAX,
      connectionsPerAddressMax: 0,
      ensemble: { sid, servers: this.#lines },
      log: { info: note, warn: note, error: note },
    });
    this.#startCount++;
  }

  #roleOf(member: Member, role: string): void {
    member.role = role === "looking" ? undefined : role;
    this.#changed(member);
  }

  #changed(member: Member): void {
    member.roleChanged.resolve();
    member.roleChanged = Promise.withResolvers<void>();
  }

  /** Resolves when one of those that run leads, and the others follow. */
  async #serving(): Promise<void> {
    const running = this.#running;
    const isServing = (): boolean =>
      running.every(({ role }) => role !== undefined) && running.filter(({ role }) => role === "leading").length === 1;
    for (;;) {
      if (this.#repairs.length > 0) throw new Error(`a start without a fault repairs: ${this.#repairs.join("; ")}`);
      if (isServing()) return;
      await Promise.race(running.map(({ roleChanged }) => roleChanged.promise));
    }
  }

  /** Sessions are resumed at each in turn, and each shows the same tree. */
  async #checkAll(): Promise<void> {
    await this.#clients.disconnect();
    await this.#clients.resume();
    for (const _ of this.#running) {
      await this.#clients.move();
      await this.#clients.check();
    }
  }

  /** A proposal that the leader logged before it ended, and that reached no other. */
  async #logAlone({ sid, directory }: Member): Promise<void> {
    const fail = (error: Error): never => {
      throw error;
    };
    const written = Promise.withResolvers<void>();
    const handler = { appended: () => written.resolve(), roomChanged: () => {}, failed: fail, warned: () => {} };
    await using store = await openStore({ directory, sid, handler });
    const { tail, currentEpoch } = store.log.durable;
    const counter = epochOf(tail.zxid) === currentEpoch ? tail.zxid % 2 ** 32 : 0;
    const record = new TextEncoder().encode("no other server has it");
    const bytes = new Uint8Array(64);
    const end = putEntry(bytes, 0, composeZxid(currentEpoch, counter + 1), record);
    store.log.append({ bytes, start: 0, end }, 1, ZXID_NONE);
    await written.promise;
    this.#truncCount++;
  }

  get #running(): readonly Member[] {
    return this.#members.filter(({ server }) => server !== undefined);
  }

  get #leader(): Member {
    const leader = this.#running.find(({ role }) => role === "leading");
    if (leader === undefined) throw new Error("none of the members leads");
    return leader;
  }

  /** The port of the nearest running member from a place on. */
  #portOf(place: number): number {
    const at = place % this.#members.length;
    const running = this.#members.findIndex(({ server }, i) => server !== undefined && i >= at);
    const first = this.#members.findIndex(({ server }) => server !== undefined);
    const chosen = running === -1 ? first : running;
    return this.#ports[chosen === -1 ? at : chosen] ?? 0;
  }
}
