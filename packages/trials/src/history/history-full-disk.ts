/**
 * Fills the disk of a server that keeps its history up to where there is little room, again and
 * again: the history must have a gap, rather than a write wait or be refused.
 *
 *     npm run tool -- history-full-disk [--rounds 3] [--seed N] [--keep]
 *
 * The data directory is a tmpfs in a mount namespace of the tool's own. While free room is kept
 * below `zooid.disk.lowBytes` and above the reserve, writers write more than there is room for;
 * each write must be answered, within 5 s. When there is room again, the history must continue
 * behind a gap that the log and a metric have reported, and states behind it must agree
 * with clients' answers; a state within it must be refused.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@zooid/client";
import { fourLetterWord, ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { OfflineError, planRestore } from "@zooid/embedded-server";
import { ZXID_NONE, type Zxid } from "@zooid/model";
import { basesFolderOf, gapsIn, listArchive, listBases, logFolderOf } from "@zooid/txn-log/sqlite";
import { Ballast } from "../faults/ballast.ts";
import { until } from "../faults/ensemble-servers.ts";
import { inOwnNamespaces, run } from "../processes/own-namespaces.ts";
import { TrialRun } from "../processes/trial-run.ts";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";
import { inspectArchive, restoreArchive } from "./restore-archive.ts";

const options = toolOptions({ rounds: 3, seed: newSeed(), keep: false });
const MIB = 1024 * 1024;
const DISK_SIZE = "1g";
/** Between the marks, and enough for what a log needs without a history. */
const LEFT_BYTES = 200 * MIB;
const MARKS = [`zooid.disk.lowBytes=${300 * MIB}`, `zooid.disk.reserveBytes=${40 * MIB}`];
/** More than is left. */
const BULK_BYTES = 320 * MIB;
const BULK_WRITE_BYTES = 256 * 1024;
const BULK_WINDOW = 8;
const SLOW_MS_MAX = 5000;
const DEADLINE_MS = 60_000;
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);
const WRITERS = 2;

async function main(): Promise<void> {
  const trial = new TrialRun("history-full-disk", options);
  const { folder, faults } = trial;
  run("ip", "link", "set", "lo", "up");
  const settings = ["zooid.history.retainMs=86400000", "zooid.history.fileMs=200", ...MARKS];
  const server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });
  run("mount", "-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "none", server.dataDir);
  await trial.play(`${DISK_SIZE} of tmpfs, in `, async () => {
    await using _ = { [Symbol.asyncDispose]: () => server.kill() };
    await server.start();
    faults.push(...(await new FullDiskRounds(server, trial).play()));
  });
  if (trial.isKept) run("cp", "-r", server.dataDir, join(folder, "kept"));
  run("umount", server.dataDir);
  trial.end("a full disk is to cost no write, and the history only what it reports");
}

class FullDiskRounds {
  readonly #server: ServerProcess;
  readonly #folder: string;
  readonly #answered: AnsweredWrites;
  readonly #archive: string;

  constructor(server: ServerProcess, { folder, random }: TrialRun) {
    this.#server = server;
    this.#folder = folder;
    this.#answered = new AnsweredWrites(random, PATHS);
    this.#archive = join(server.dataDir, "archive");
  }

  async play(): Promise<readonly string[]> {
    await using client = await connectTo(this.#server.port);
    for (const path of PATHS) await client.create(path, "");
    await client.create("/bulk", "");
    for (let round = 1; round <= options.rounds; round++) {
      const faults = await this.#runRound(round, client);
      if (faults.length > 0) return faults;
    }
    return [];
  }

  async #runRound(round: number, client: Client): Promise<readonly string[]> {
    const faults: string[] = [];
    const gapsBefore = this.#gaps().length;
    const ballast = new Ballast(this.#server.dataDir, LEFT_BYTES);
    ballast.keepFull();
    await this.#untilSaid("disk-low", round);
    const { mzxid: lost } = await client.set("/bulk", "");
    const slowestMs = await this.#writeBulk(client, lost);
    ballast.remove();
    await this.#untilSaid("disk-has-room", round);
    // The history continues with the next writes, and a base is taken then.
    const resumed = await this.#writeSome();
    await this.#untilArchived(resumed);
    await until(
      "a base behind the gap",
      DEADLINE_MS,
      () => (listBases(basesFolderOf(this.#archive)).at(-1)?.zxid ?? 0) > lost,
    );
    const after = await this.#writeSome();
    await this.#untilArchived(after);
    if (slowestMs > SLOW_MS_MAX) faults.push(`a write took ${slowestMs.toFixed(0)} ms`);
    const gaps = this.#gaps();
    const gap = gaps.at(-1);
    if (gaps.length !== gapsBefore + 1 || gap === undefined) faults.push(`${gaps.length - gapsBefore} new gaps`);
    if (gap !== undefined && (lost <= gap.after || lost > gap.end))
      faults.push("the gap has not the writes of a full disk");
    if ((await this.#metric("zk_zooid_history_gaps_total")) !== String(gaps.length))
      faults.push("the metric has another count of gaps");
    if (this.#saidCount("history-gap") !== gaps.length) faults.push("the log has another count of gaps");
    faults.push(
      ...inspectArchive(this.#server.dataDir).damages,
      ...this.#checkRefused(lost),
      ...(await this.#checkState(round, after)),
    );
    console.log(
      `round ${round}: slowest write ${slowestMs.toFixed(0)} ms on a full disk, ${gaps.length} gaps, ${this.#answered.count} answered writes so far`,
    );
    return faults;
  }

  /**
   * Writes more than there is room for, with small writes beside, until the log has dropped a
   * transaction.
   *
   * @returns the time of the slowest one
   */
  async #writeBulk(client: Client, lost: Zxid): Promise<number> {
    const data = Buffer.alloc(BULK_WRITE_BYTES, "x");
    const endMs = performance.now() + DEADLINE_MS;
    let [bytes, slowestMs] = [0, 0];
    const isOver = (): boolean => (bytes >= BULK_BYTES && this.#logBegin() > lost) || performance.now() > endMs;
    const writeOn = async (): Promise<void> => {
      while (!isOver()) {
        const beginMs = performance.now();
        bytes += data.length;
        await client.set("/bulk", data);
        slowestMs = Math.max(slowestMs, performance.now() - beginMs);
      }
    };
    await Promise.all([...Array.from({ length: BULK_WINDOW }, writeOn), this.#write(isOver)]);
    return slowestMs;
  }

  /** Behind which transaction the log's segments begin, by their names. */
  #logBegin(): number {
    const begins = readdirSync(this.#server.dataDir).flatMap((name) => {
      const zxid = /^log-\d+-([0-9a-f]{16})\.db$/.exec(name)?.[1];
      return zxid === undefined ? [] : [Number.parseInt(zxid, 16)];
    });
    return Math.min(...begins);
  }

  /** @returns the last one's zxid */
  async #writeSome(): Promise<Zxid> {
    const endMs = performance.now() + 1000;
    await this.#write(() => performance.now() > endMs);
    return this.#answered.lastZxid;
  }

  async #write(isOver: () => boolean): Promise<void> {
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => connectTo(this.#server.port)));
    await Promise.all(clients.map((each) => this.#answered.write(each, isOver, () => delay(2))));
    await Promise.all(clients.map((each) => each.close()));
  }

  async #untilArchived(zxid: Zxid): Promise<void> {
    const end = (): Zxid => listArchive(logFolderOf(this.#archive)).at(-1)?.end ?? ZXID_NONE;
    await until("the history to continue", DEADLINE_MS, () => end() >= zxid);
  }

  #gaps(): ReturnType<typeof gapsIn> {
    return gapsIn(listArchive(logFolderOf(this.#archive)));
  }

  #checkRefused(zxid: Zxid): readonly string[] {
    try {
      planRestore(this.#archive, { zxid });
      return ["a state within the gap is not refused"];
    } catch (error) {
      if (error instanceof OfflineError) return [];
      throw error;
    }
  }

  #checkState(round: number, zxid: Zxid): Promise<readonly string[]> {
    const restore = (dataDir: string): Promise<void> => restoreArchive(this.#archive, zxid, dataDir);
    return this.#answered.check(join(this.#folder, `state-${round}`), zxid, restore);
  }

  async #metric(name: string): Promise<string | undefined> {
    return new RegExp(`^${name}\\t(\\S+)`, "m").exec(await fourLetterWord(this.#server.port, "mntr"))?.[1];
  }

  async #untilSaid(event: string, count: number): Promise<void> {
    await until(`the event ${event}`, DEADLINE_MS, () => this.#saidCount(event) >= count);
  }

  #saidCount(event: string): number {
    return this.#server.log().split(`"event":"${event}"`).length - 1;
  }
}

if (await inOwnNamespaces(["ip", "mount"])) await main();
