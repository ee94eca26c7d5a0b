import { composeZxid, MajorityQuorum, parseMembers, type ServerId, serverId } from "@zooid/model";
import type { MemberConfig, ReplicaEvent } from "@zooid/replica";
import { MemoryTxnLog } from "@zooid/txn-log";
import { encodeMembers } from "@zooid/zab";
import { expect } from "vitest";
import { answerSink } from "../cluster/answers.ts";
import { Cluster } from "../cluster/cluster.ts";
import type { DiskImage } from "../cluster/disk.ts";
import { FOUNDING_WAIT_MS } from "../cluster/server-options.ts";
import { ScenarioClient } from "../scenarios/client.ts";
import { memberLine } from "../seeds/draw-plan.ts";

export const S1: ServerId = serverId(1);
export const S2: ServerId = serverId(2);
export const S3: ServerId = serverId(3);

/** An ensemble of three, of which a voter may have served alone before. */
export class Founding {
  readonly alone: Set<ServerId> = new Set();
  readonly events: [ServerId, ReplicaEvent][] = [];
  readonly cluster: Cluster;
  #client: ScenarioClient | undefined;

  /**
   * @param ensemble settings of every server besides the defaults
   * @param imageOf what is on a server's disk when it first starts
   */
  constructor(ensemble: Partial<MemberConfig> = {}, imageOf?: (sid: ServerId) => DiskImage | undefined) {
    this.cluster = new Cluster({
      ...(imageOf === undefined ? {} : { imageOf }),
      voters: [S1, S2, S3],
      serverOptions: (sid) => ({
        ...(this.alone.has(sid) ? { standalone: true, verifier: new MajorityQuorum([sid]) } : {}),
        ensemble,
        replies: answerSink((_, xid, zxid, answer) => this.#client?.heard(xid, zxid, answer)),
      }),
      watcher: { noted: (server, event) => void this.events.push([server.sid, event]) },
    });
  }

  run(ms = 5000): void {
    this.cluster.run(ms);
  }

  start(...sids: ServerId[]): void {
    for (const sid of sids) this.cluster.start(sid);
    this.run();
  }

  /** A server serves alone, and is given a node. */
  serveAlone(sid: ServerId, path: string): void {
    this.alone.add(sid);
    this.start(sid);
    expect(this.create(sid, path)).toBe(path);
    this.cluster.crash(sid, Number.POSITIVE_INFINITY);
    this.alone.delete(sid);
  }

  create(sid: ServerId, path: string): string {
    return this.#ask(sid, {
      kind: "write",
      request: { kind: "one", write: { kind: "create", path, data: "1", ephemeral: false, sequential: false } },
    });
  }

  read(sid: ServerId, path: string): string {
    return this.#ask(sid, { kind: "read", read: { kind: "data", path, watch: false } });
  }

  #ask(sid: ServerId, request: Parameters<ScenarioClient["ask"]>[0]): string {
    const server = this.cluster.server(sid);
    if (server === undefined) throw new Error(`s${sid} is down`);
    const client = new ScenarioClient("c1", () => true);
    this.#client = client;
    client.connect(server);
    this.run(1000);
    client.ask(request, "", 0);
    this.run(1000);
    client.leave();
    return client.lastAnswer;
  }

  leaders(): ServerId[] {
    return this.cluster.running().flatMap((server) => (server.isLeading ? [server.sid] : []));
  }

  /** The servers that serve clients. */
  serving(): ServerId[] {
    return this.cluster.running().flatMap((server) => (server.isServing ? [server.sid] : []));
  }

  noted(sid: ServerId): string[] {
    return this.events.flatMap(([of, { kind }]) => (of === sid ? [kind] : []));
  }
}

/**
 * The state that an attempt to found an ensemble, or several, left on a disk that has nothing
 * logged.
 */
interface Blank {
  /** The epoch that it holds; 0 for none. The n-th attempt is in epoch n, and server n made it. */
  readonly held: number;
  /** The epoch that it has promised. */
  readonly promised: number;
}

const BLANKS: readonly Blank[] = [0, 1, 2, 3].flatMap((held) =>
  [0, 1, 2, 3].filter((promised) => promised >= held).map((promised) => ({ held, promised })),
);

const ATTEMPT = "attempt";

function attemptId(promised: number): string {
  return `${ATTEMPT} ${promised}`;
}

export function diskWith(sid: ServerId, { held, promised }: Blank, config?: Uint8Array): DiskImage {
  const handler = { appended() {}, completed() {}, failed() {}, roomChanged() {}, warned() {} };
  const log = new MemoryTxnLog({ sid, handler });
  const done = (): void => {};
  if (promised > 0) {
    log.setEnsembleId(attemptId(promised), done);
    log.setPromise({ epoch: promised, sid: promised, incarnation: 1 }, done);
  }
  if (held > 0) log.setCurrentEpoch(held, done);
  if (config !== undefined) log.setConfigs({ committed: config, lastSeen: config }, done);
  return { log: log.crash(log.pendingCount), states: new Map() };
}

/** How servers that have nothing logged know their ensemble, and when they start. */
export interface AttemptStarts {
  /** Every n-th combination is tried. */
  readonly stride: number;
  /**
   * The members are data: a server that holds an epoch has the first configuration, with that
   * epoch's start as its version.
   */
  readonly isLabelled: boolean;
  /** How much later than the others the last server starts, in ms. */
  readonly lateMs: number;
}

/**
 * Three servers that have nothing logged, and epochs of one another's attempts in every
 * combination, are an ensemble when all of them are there. It has the id of an attempt only if a
 * quorum took part in that.
 */
export function foundsFromAttempts({ stride, isLabelled, lateMs }: AttemptStarts): void {
  const failed: unknown[] = [];
  const combinations = BLANKS.flatMap((one) => BLANKS.flatMap((two) => BLANKS.map((three) => [one, two, three])));
  const members = parseMembers([S1, S2, S3].map((sid) => memberLine(sid, false)).join("\n"));
  for (let at = 0; at < combinations.length; at += stride) {
    const blanks = combinations[at] ?? [];
    const cluster = new Cluster({
      voters: [S1, S2, S3],
      imageOf: (sid) => {
        const blank = blanks[sid - 1] ?? { held: 0, promised: 0 };
        const labelled = { ...members, version: composeZxid(blank.held, 0) };
        return diskWith(sid, blank, isLabelled && blank.held > 0 ? encodeMembers(labelled) : undefined);
      },
      ...(isLabelled ? { serverOptions: () => ({ ensemble: { members }, takesMembersFromFiles: true }) } : {}),
    });
    const last = cluster.sids[at % 3];
    for (const sid of cluster.sids) cluster.startIn(sid, sid === last ? lateMs : 0);
    cluster.run(15_000);
    const serving = cluster.running().filter(({ isServing }) => isServing);
    const ids = new Set(serving.map(({ disk }) => disk.durable.identity.ensembleId));
    const [id = ""] = ids;
    const isOld = id.startsWith(ATTEMPT) && blanks.filter(({ promised }) => attemptId(promised) === id).length < 2;
    if (serving.length !== 3 || ids.size !== 1 || isOld) {
      failed.push({ blanks, last, serving: serving.map(({ sid }) => sid), ids });
    }
  }
  expect(failed).toEqual([]);
}

/**
 * Servers 1, 2 and 3 have founded an ensemble, server 3 was down from then on, and the list has
 * grown, by the files of all three: to five, or by an observer. Servers 1 and 2 have lost their
 * disks, and all others are down: no ensemble is founded, whichever starts first.
 *
 * @returns how many of them served, of all tries
 */
export function servingBesideAGrownList(observers: readonly ServerId[], further: readonly ServerId[]): number {
  const line = (sid: ServerId): string => memberLine(sid, observers.includes(sid));
  const three = [S1, S2, S3];
  const grown = parseMembers([...three, ...further, ...observers].map(line).join("\n"));
  const labelled = { ...parseMembers(three.map(line).join("\n")), version: composeZxid(1, 0) };
  let servingCount = 0;
  for (const [s1, s2, s3] of STARTS) {
    const cluster = new Cluster({
      voters: [...three, ...further],
      observers,
      imageOf: (sid) => (sid === S3 ? diskWith(sid, { held: 1, promised: 3 }, encodeMembers(labelled)) : undefined),
      serverOptions: () => ({ ensemble: { members: grown }, takesMembersFromFiles: true }),
    });
    cluster.startIn(S1, s1);
    cluster.startIn(S2, s2);
    cluster.startIn(S3, s3);
    cluster.run(20_000);
    servingCount += cluster.running().filter(({ isServing }) => isServing).length;
  }
  return servingCount;
}

/** When the three start, in ms. */
const STARTS: readonly (readonly [number, number, number])[] = [0, 300, 3000].flatMap((a) =>
  [0, 400].flatMap(
    (b) =>
      [
        [a, b, 0],
        [a, b, 50],
        [0, a, b],
      ] as const,
  ),
);

/**
 * A server with data of its own founds after a crash of all servers, which is tried every `stepMs`.
 */
export function foundsAfterCrashes(stepMs: number): void {
  for (let atMs = 1; atMs < 400; atMs += stepMs) {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    for (const sid of [S1, S2, S3]) founding.cluster.start(sid);
    founding.run(atMs);
    for (const sid of [S1, S2, S3]) founding.cluster.crash(sid);
    founding.start(S1, S2, S3);
    expect([atMs, founding.read(S2, "/a")]).toEqual([atMs, "1"]);
  }
}

/**
 * A server with data of its own leads or keeps them, however much later than the two others it
 * starts; tried at moments so far apart.
 */
export function leadsOrKeeps(stepMs: number): void {
  const outcomes = new Set<string>();
  for (let laterMs = 0; laterMs < 2 * FOUNDING_WAIT_MS; laterMs += stepMs) {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    for (const sid of [S2, S3]) founding.cluster.start(sid);
    founding.run(laterMs);
    founding.start(S1);
    const leads = founding.leaders().includes(S1);
    outcomes.add(leads ? "leads" : "keeps");
    if (leads) expect([laterMs, founding.read(S3, "/a")]).toEqual([laterMs, "1"]);
    else expect([laterMs, founding.noted(S1)]).toEqual([laterMs, expect.arrayContaining(["history-of-one-server"])]);
    expect(founding.cluster.server(S1)?.disk.durable.tail.zxid).toBeGreaterThanOrEqual(0x1_0000_0001);
  }
  expect(outcomes).toEqual(new Set(["leads", "keeps"]));
}
