/**
 * A round of `ensemble-upgrade --next`: an ensemble of this version goes to the next one, back, and
 * to the next one again; then the feature level is raised for good.
 */
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "@zooid/conformance/internal/random";
import { type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { DEADLINE_MS, type RollingRound } from "../faults/rolling-rounds.ts";
import type { BuiltVersion } from "./built-version.ts";
import { formatStamps } from "./format-stamps.ts";
import { NEXT } from "./next-version.ts";
import { roll } from "./rolled-version.ts";
import { heldFaults, makeTrialNode, refusalFaults, setByEach } from "./trial-writes.ts";
import { type CommandOutcome, UpgradeCommands } from "./upgrade-commands.ts";

/** The killed servers, and the moment, beside the command that raises the level. */
export const KILLS = [
  { who: "leader", when: "during" },
  { who: "follower", when: "during" },
  { who: "leader", when: "before" },
  { who: "follower", when: "after" },
  { who: "leader", when: "after" },
  { who: "follower", when: "before" },
] as const;
export type Kill = (typeof KILLS)[number];

/** Time from the request to raise the level to a kill: before, at and behind its commit. */
const KILL_MS_MAX = 12;
/** The data of a member while another version runs without them. */
const SET_ASIDE = "data-set-aside";
const REFUSED_STATUS = 23;
const FIRST_SEGMENT = "log-00000001-";

export interface NextRoundOptions {
  readonly round: RollingRound;
  readonly commands: UpgradeCommands;
  readonly versions: { readonly present: BuiltVersion; readonly next: BuiltVersion };
  readonly kill: Kill;
  /** Whether the leader is the first one of the first pass, and the last one of the second. */
  readonly isLeaderFirst: boolean;
  readonly random: Random;
}

export class NextRound {
  readonly #options: NextRoundOptions;
  readonly #faults: string[];
  /** The longest time without a write, for each step. */
  readonly gapsMs: number[] = [];

  constructor(options: NextRoundOptions) {
    this.#options = options;
    this.#faults = options.round.faults;
  }

  async play(): Promise<void> {
    const { round, versions, isLeaderFirst } = this.#options;
    const { servers } = round.ensemble;
    const [first] = servers;
    if (first === undefined) throw new Error("an ensemble has servers");
    await makeTrialNode(first);
    const next = { program: versions.next.server, signal: "SIGTERM" } as const;
    const back = { program: versions.present.server, signal: "SIGTERM" } as const;
    await this.#roll({ name: "next", ...next, isLeaderFirst });
    await this.#roll({ name: "back", ...back, isLeaderFirst: !isLeaderFirst });
    await this.#roll({ name: "next again", ...next, signal: "SIGKILL", isLeaderFirst: !isLeaderFirst });
    await this.#expectFormats("below the raise", { log: 3, state: 3 });
    await this.#finalize();
    await this.#refuse();
    await this.#useLevel();
  }

  async #roll(pass: Parameters<typeof roll>[1]): Promise<void> {
    const { round } = this.#options;
    const steps = await roll(round, pass, async (server) => {
      this.#faults.push(...(await refusalFaults(server)));
    });
    this.gapsMs.push(...steps.map(({ gapMs }) => gapMs));
    for (const server of round.ensemble.servers) this.#faults.push(...(await refusalFaults(server)));
  }

  /** The page's commands, with a kill; the level is in force afterwards. */
  async #finalize(): Promise<void> {
    const { round, commands, kill, versions, random } = this.#options;
    const { ensemble, steps } = round;
    const [status = "", dryRun = "", finalize = ""] = UpgradeCommands.documented();
    const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
    await this.#expectShown(status, leader);
    await this.#expect(dryRun, leader, { status: 0, has: `level 1 can be raised to ${NEXT.level}` });
    const victim = kill.who === "leader" ? leader : this.#follower(leader);
    const gapMs = await round.gapOf(async () => {
      if (kill.when === "before") await this.#blockedByAbsence(victim, { status, finalize });
      if (kill.when === "during") {
        const answer = commands.raise(leader);
        await delay(random.between(0, KILL_MS_MAX));
        await victim.end("SIGKILL");
        await answer;
        victim.launch(versions.next.server);
        await ensemble.untilLevel(DEADLINE_MS);
      }
      const leads = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
      await this.#expect(`${finalize} --wait --timeout ${DEADLINE_MS}`, leads, {
        status: 0,
        has: `feature level ${NEXT.level} is in force`,
      });
      if (kill.when === "after") {
        await victim.restart("SIGKILL", versions.next.server);
        await ensemble.untilLevel(DEADLINE_MS);
      }
    });
    this.gapsMs.push(gapMs);
    console.log(`raised, with the ${kill.who} killed ${kill.when}: ${gapMs.toFixed(0)} ms`);
    steps.push(`finalize (${kill.who} killed ${kill.when})`);
    for (const server of ensemble.servers) await this.#untilLevel(server);
    const now = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
    await this.#expect(status, now, {
      status: 0,
      has: `feature level ${NEXT.level}, the highest that the members know`,
    });
    await this.#expect(finalize, now, { status: 0, has: "nothing to raise" });
  }

  /** An absent member keeps the level from being raised, and is named. */
  async #blockedByAbsence(
    victim: EnsembleServer,
    lines: { readonly status: string; readonly finalize: string },
  ): Promise<void> {
    const { round, versions } = this.#options;
    const { ensemble } = round;
    await victim.end("SIGKILL");
    const others = ensemble.servers.filter((server) => server !== victim);
    const leads = await ensemble.untilLevel(DEADLINE_MS, others);
    await this.#expect(lines.finalize, leads, { status: 1, has: `server ${victim.sid} does not follow` });
    await this.#expect(lines.status, leads, { status: 0, has: `server ${victim.sid} (does not follow)` });
    victim.launch(versions.next.server);
    await ensemble.untilLevel(DEADLINE_MS);
  }

  /** Each member by version, levels, formats and state; the level; and what to type next. */
  async #expectShown(line: string, leader: EnsembleServer): Promise<void> {
    const { commands, round } = this.#options;
    const { output } = await commands.run(line, leader);
    for (const { sid } of round.ensemble.servers) {
      const row = output.split("\n").find((each) => each.startsWith(`${sid} `)) ?? "";
      const shows = [NEXT.version, `1 to ${NEXT.level}`, "log 3 or 4, state 3 or 4, snapshot 1 or 2", "ready"];
      for (const text of shows) {
        if (!row.includes(text)) this.#faults.push(`upgrade status does not show "${text}" of server ${sid}: ${row}`);
      }
    }
    for (const text of [`level ${NEXT.level} can be raised`, "next: zooid-cli upgrade finalize"]) {
      if (!output.includes(text)) this.#faults.push(`upgrade status does not show "${text}": ${output}`);
    }
  }

  /** After the raise an earlier version starts on no data of the ensemble, and cannot follow it. */
  async #refuse(): Promise<void> {
    const { round, versions } = this.#options;
    const { ensemble, steps } = round;
    const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
    const follower = this.#follower(leader);
    const gapMs = await round.gapOf(async () => {
      await follower.restart("SIGTERM", versions.present.server);
      const status = await follower.ended();
      if (status !== REFUSED_STATUS) this.#faults.push(`the earlier version ended with ${status} on data of the level`);
      if (!new RegExp(`feature level ${NEXT.level}\\b`).test(follower.logTail()))
        this.#faults.push(`the earlier version does not name the level: ${follower.logTail()}`);
      follower.launch(versions.next.server);
      await ensemble.untilLevel(DEADLINE_MS);
    });
    this.gapsMs.push(gapMs);
    await this.#refuseLinks();
    steps.push("earlier version refused");
  }

  /** An empty disk has no level: the links of the earlier version are refused. */
  async #refuseLinks(): Promise<void> {
    const { round, versions } = this.#options;
    const { ensemble } = round;
    const observer = ensemble.servers.at(-1);
    if (observer === undefined) return;
    const kept = join(observer.folder, SET_ASIDE);
    await this.#purgeFirst();
    const sentBefore = await this.#sentStates();
    const gapMs = await round.gapOf(async () => {
      await observer.end("SIGTERM");
      renameSync(observer.dataDir, kept);
      observer.makeDataDir();
      const before = observer.log().length;
      observer.launch(versions.present.server);
      const refusal = `has feature level ${NEXT.level}, which versions from ${NEXT.version} on know`;
      await until(
        "a refused link",
        DEADLINE_MS,
        () => observer.log().slice(before).includes(refusal),
        () => observer.logTail(),
      );
      await observer.end("SIGTERM");
      rmSync(observer.dataDir, { recursive: true });
      observer.makeDataDir();
      // The history comes to an empty disk, by a member of the next version.
      observer.launch(versions.next.server);
      await ensemble.untilLevel(DEADLINE_MS);
    });
    if ((await this.#sentStates()) === sentBefore) this.#faults.push("an empty disk was given no state of the level");
    rmSync(kept, { recursive: true });
    this.gapsMs.push(gapMs);
  }

  /** Waits until no log goes back to its beginning: an empty disk needs a state then. */
  async #purgeFirst(): Promise<void> {
    const { servers } = this.#options.round.ensemble;
    for (const server of servers) await this.#options.commands.checkpoint(server);
    const isPurged = ({ dataDir }: EnsembleServer): boolean =>
      !readdirSync(dataDir).some((name) => name.startsWith(FIRST_SEGMENT));
    await until("a purge of each log", DEADLINE_MS, () => servers.every(isPurged));
  }

  /** Whole states that the servers have sent to learners since they were started. */
  async #sentStates(): Promise<number> {
    const counts = this.#options.round.founders.map(async (server) =>
      Number((await server.monitor()).get("zk_snap_count")),
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  /** Transactions, messages and files of the level, kept over a restart of every server. */
  async #useLevel(): Promise<void> {
    const { round, versions, isLeaderFirst } = this.#options;
    const { servers } = round.ensemble;
    this.#faults.push(...(await setByEach(servers, "in force")), ...(await heldFaults(servers, "in force")));
    const steps = await roll(round, {
      name: "restart",
      program: versions.next.server,
      signal: "SIGTERM",
      isLeaderFirst,
    });
    this.gapsMs.push(...steps.map(({ gapMs }) => gapMs));
    this.#faults.push(...(await heldFaults(servers, "in force")));
    this.#faults.push(...(await setByEach(servers, "restarted")), ...(await heldFaults(servers, "restarted")));
    for (const server of servers) await this.#untilLevel(server);
    if (!servers.some((server) => server.log().includes(NEXT.received)))
      this.#faults.push("no server has received a message of the level");
    await this.#expectFormats("in force", NEXT.formats);
  }

  async #untilLevel(server: EnsembleServer): Promise<void> {
    const { commands } = this.#options;
    const isThere = async (): Promise<boolean> => (await commands.status(server)).level === NEXT.level;
    await until(`level ${NEXT.level} at server ${server.sid}`, DEADLINE_MS, isThere, () => server.logTail());
  }

  /** Files as an earlier version finds them: the number in the header of each. */
  async #expectFormats(when: string, { log, state }: { readonly log: number; readonly state: number }): Promise<void> {
    for (const server of this.#options.round.ensemble.servers) {
      await this.#options.commands.checkpoint(server);
      const found = (): string => JSON.stringify(formatStamps(server.dataDir));
      const formats = (): boolean => found() === JSON.stringify({ log, state });
      await until(`log ${log} and state ${state} at server ${server.sid} ${when}`, DEADLINE_MS, formats, found);
    }
  }

  async #expect(
    line: string,
    at: EnsembleServer,
    { status, has }: { readonly status: number; readonly has: string },
  ): Promise<void> {
    const found: CommandOutcome = await this.#options.commands.run(line, at);
    if (found.status !== status || !found.output.includes(has))
      this.#faults.push(`${line} ended with ${found.status}: ${found.output}; expected ${status} and "${has}"`);
  }

  #follower(leader: EnsembleServer): EnsembleServer {
    const { founders } = this.#options.round;
    const voters = founders.slice(0, -1).filter((server) => server !== leader);
    return this.#options.random.pick(voters);
  }
}
