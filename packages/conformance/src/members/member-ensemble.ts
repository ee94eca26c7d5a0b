/**
 * An ensemble of one kind that lives through a sequence of acts; each server has an address of its
 * own.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, isZkError } from "@zooid/client";
import { fourLetterWord, spawnServer } from "../servers/endpoint.ts";
import type { LoggedProcess } from "../servers/logged-process.ts";
import { digest } from "../wire.ts";
import {
  type ChangedBy,
  changesMembers,
  type MemberSequence,
  type MemberStep,
  type PlannedMember,
  type PortKind,
} from "./member-step.ts";

export type Kind = "apache" | "zooid";

export interface MemberEnsembleOptions {
  readonly kind: Kind;
  /** Exists, and belongs to the caller. */
  readonly folder: string;
  readonly changedBy: ChangedBy;
  /** Two ports of each kind, free on all addresses of the loopback. */
  readonly ports: Readonly<Record<PortKind, readonly [number, number]>>;
  /** The folder of Apache's jars. */
  readonly jars?: string | undefined;
}

/** The view of clients after an act, with addresses and ports as words. */
export interface Observation {
  /** How a request for the change ended; undefined where the act sends none. */
  readonly answer: string | undefined;
  /** `votes`, `observes` or `silent`, by server. */
  readonly members: Readonly<Record<number, string>>;
  /** How a write ended. */
  readonly write: string;
  /** Lines of `/zookeeper/config` without its version, sorted. */
  readonly config: readonly string[];
}

const SUPER = "super:secret";
const SUPER_DIGEST = "DigestAuthenticationProvider.superDigest";
const SETTLE_MS_MAX = 25_000;
const POLL_MS = 100;
const STOP_MS_MAX = 10_000;
const SESSION_TIMEOUT_MS = 8_000;
const CALL_MS_MAX = 15_000;
const CHANGE_TRIES = 3;
/** Third number of the addresses of each kind, so that both run side by side. */
const BLOCKS: Readonly<Record<Kind, number>> = { apache: 71, zooid: 72 };
const OTHER_ADDRESS = 100;

export class MemberEnsemble implements AsyncDisposable {
  readonly #options: MemberEnsembleOptions;
  readonly #processes = new Map<number, LoggedProcess>();
  readonly #written: string[] = [];
  #members: readonly PlannedMember[];

  constructor(options: MemberEnsembleOptions, founders: readonly PlannedMember[]) {
    this.#options = options;
    this.#members = founders;
  }

  /** Starts the founders. */
  async found(): Promise<Observation> {
    for (const member of this.#members) this.#writeConfig(member.sid, this.#members);
    for (const { sid } of this.#members) this.#start(sid);
    await this.#settled();
    return await this.#observe(undefined);
  }

  async act({ step, after }: MemberSequence["steps"][number]): Promise<Observation> {
    const before = this.#members;
    this.#members = after;
    const answer =
      this.#options.changedBy === "requests" && changesMembers(step)
        ? await this.#request(step, before)
        : await this.#byHand(step, before);
    await this.#settled();
    return await this.#observe(answer);
  }

  /** @returns written paths that a member does not have */
  async lost(): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const member of this.#members) {
      if ((await this.#stateOf(member)) === "silent") continue;
      const names = await this.#withClient([member], async (client) => {
        await client.sync("/");
        return new Set((await client.children("/")).names);
      });
      for (const path of this.#written)
        if (typeof names === "string" || !names.has(path.slice(1))) missing.push(`${path} at server ${member.sid}`);
    }
    return missing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes.keys()].map((sid) => this.#end(sid, "SIGKILL")));
  }

  /** A change that a client asks for. */
  async #request(step: MemberStep, before: readonly PlannedMember[]): Promise<string> {
    const { sid } = step as { readonly sid: number };
    if (step.kind === "add") {
      this.#writeConfig(sid, this.#members);
      this.#start(sid);
      await this.#until(async () => (await this.#stateOf(this.#member(sid))) !== "silent");
    }
    const change = step.kind === "remove" ? { leaving: [sid] } : { joining: [this.#line(this.#member(sid))] };
    // A server that moves may not answer: ask the others.
    const others = before.filter((member) => member.sid !== sid);
    let answer = "";
    for (let tries = 0; tries < CHANGE_TRIES; tries++) {
      const done = await this.#withClient(others, async (client) => {
        await client.reconfig(change);
        return undefined;
      });
      answer = done ?? "ok";
      if (answer !== "CONNECTION_LOSS" && answer !== "RECONFIG_IN_PROGRESS" && answer !== "NEW_CONFIG_NO_QUORUM") break;
      await delay(1000);
    }
    if (step.kind === "remove" && answer === "ok") await this.#end(sid, "SIGTERM");
    return answer;
  }

  /** An act on files, disks and processes. */
  async #byHand(step: MemberStep, before: readonly PlannedMember[]): Promise<undefined> {
    if (changesMembers(step)) {
      await this.#editAndRestart(step, before);
    } else if (step.kind === "restart-all") {
      for (const { sid } of this.#members) await this.#restart(sid);
    } else if (step.kind === "kill") {
      await this.#end(step.sid, "SIGKILL");
      this.#start(step.sid);
    } else if (step.kind === "wipe") {
      await this.#end(step.sid, "SIGTERM");
      const data = this.#dataOf(step.sid);
      for (const name of readdirSync(data)) if (name !== "myid") rmSync(join(data, name), { recursive: true });
      this.#start(step.sid);
    }
  }

  /** The new member first, the removed one before all, the leader last. */
  async #editAndRestart(step: MemberStep, before: readonly PlannedMember[]): Promise<void> {
    const { sid } = step as { readonly sid: number };
    if (step.kind === "remove") await this.#end(sid, "SIGTERM");
    if (step.kind === "add") {
      this.#writeConfig(sid, this.#members);
      this.#start(sid);
    }
    const rest = this.#members.filter((member) => step.kind !== "add" || member.sid !== sid);
    const modes = new Map<number, string>();
    for (const member of rest) modes.set(member.sid, await this.#mode(before.find((one) => one.sid === member.sid)));
    const ordered = rest.toSorted(
      (a, b) => Number(modes.get(a.sid) === "leader") - Number(modes.get(b.sid) === "leader"),
    );
    for (const member of ordered) {
      this.#writeConfig(member.sid, this.#members);
      await this.#restart(member.sid);
    }
  }

  async #restart(sid: number): Promise<void> {
    await this.#end(sid, "SIGTERM");
    this.#start(sid);
    await this.#until(async () => (await this.#stateOf(this.#member(sid))) !== "silent");
  }

  /** Until each member is what its line says, or the time is over. */
  async #settled(): Promise<void> {
    await this.#until(async () => {
      const states = await Promise.all(this.#members.map((member) => this.#stateOf(member)));
      return this.#members.every(({ role }, i) => states[i] === (role === "observer" ? "observes" : "votes"));
    });
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + SETTLE_MS_MAX;
    while (!(await holds()) && Date.now() < deadline) await delay(POLL_MS);
  }

  async #observe(answer: string | undefined): Promise<Observation> {
    const members: Record<number, string> = {};
    for (const member of this.#members) members[member.sid] = await this.#stateOf(member);
    const path = `/w-${this.#written.length}`;
    const write =
      (await this.#withClient(this.#members, async (client) => {
        await client.create(path, "");
        return undefined;
      })) ?? "ok";
    if (write === "ok") this.#written.push(path);
    const text = await this.#withClient(this.#members, (client) => client.getText("/zookeeper/config"));
    const lines = (text ?? "").split("\n").filter((line) => !line.startsWith("version="));
    return { answer, members, write, config: lines.map((line) => this.#inWords(line)).sort() };
  }

  /** @returns what the calls return, or the code of the error that ended them */
  async #withClient<T>(members: readonly PlannedMember[], calls: (client: Client) => Promise<T>): Promise<T | string> {
    const hosts = members.map((member) => `${this.#address(member)}:${this.#port(member, "client")}`).join();
    try {
      const auth = [{ scheme: "digest", auth: SUPER }];
      await using client = await connect(hosts, {
        sessionTimeoutMs: SESSION_TIMEOUT_MS,
        auth,
        startTimeoutMs: CALL_MS_MAX,
      });
      const late = delay(CALL_MS_MAX, "LATE" as const);
      return await Promise.race([calls(client), late]);
    } catch (error) {
      return isZkError(error) ? error.code : "NOT_CONNECTED";
    }
  }

  async #stateOf(member: PlannedMember): Promise<string> {
    switch (await this.#mode(member)) {
      case "leader":
      case "follower":
        return "votes";
      case "observer":
        return "observes";
      default:
        return "silent";
    }
  }

  async #mode(member: PlannedMember | undefined): Promise<string> {
    if (member === undefined) return "";
    const answer = await fourLetterWord(this.#port(member, "client"), "srvr", this.#address(member));
    return /^Mode: (\S+)/m.exec(answer)?.[1] ?? "";
  }

  #start(sid: number): void {
    const { kind, jars } = this.#options;
    const folder = this.#folderOf(sid);
    const options = { folder, configFile: join(folder, "zoo.cfg"), heap: "128m" };
    const properties = [`-Dzookeeper.${SUPER_DIGEST}=${digest(SUPER)}`, "-XX:TieredStopAtLevel=1"];
    this.#processes.set(sid, spawnServer(kind, jars === undefined ? options : { ...options, jars, properties }));
  }

  async #end(sid: number, signal: NodeJS.Signals): Promise<void> {
    await this.#processes.get(sid)?.end(signal, STOP_MS_MAX);
  }

  #writeConfig(sid: number, members: readonly PlannedMember[]): void {
    const data = this.#dataOf(sid);
    if (!existsSync(data)) mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "myid"), `${sid}\n`);
    const byRequests = this.#options.changedBy === "requests";
    const own = members.find((member) => member.sid === sid);
    const lines = [
      "tickTime=1000",
      "initLimit=10",
      "syncLimit=5",
      `dataDir=${data}`,
      "maxClientCnxns=0",
      "4lw.commands.whitelist=*",
      "admin.enableServer=false",
      `${SUPER_DIGEST}=${digest(SUPER)}`,
      ...(byRequests ? ["reconfigEnabled=true", "standaloneEnabled=false"] : []),
      ...(own?.role === "observer" && !byRequests ? ["peerType=observer"] : []),
      ...members.map((member) => this.#line(member)),
    ];
    writeFileSync(join(this.#folderOf(sid), "zoo.cfg"), `${lines.join("\n")}\n`);
  }

  #line(member: PlannedMember): string {
    const address = this.#address(member);
    const [quorum, election, client] = (["quorum", "election", "client"] as const).map((port) =>
      this.#port(member, port),
    );
    return `server.${member.sid}=${address}:${quorum}:${election}:${member.role};${address}:${client}`;
  }

  #member(sid: number): PlannedMember {
    const member = this.#members.find((one) => one.sid === sid);
    if (member === undefined) throw new Error(`server ${sid} is no member`);
    return member;
  }

  #address({ sid, address }: PlannedMember): string {
    return `127.0.${BLOCKS[this.#options.kind]}.${sid + address * OTHER_ADDRESS}`;
  }

  #port({ ports }: PlannedMember, port: PortKind): number {
    return this.#options.ports[port][ports[port]];
  }

  #inWords(line: string): string {
    const { kind, ports } = this.#options;
    const words = Object.entries(ports).flatMap(([name, [first, second]]) => [
      [`:${first}`, `:${name}-0`] as const,
      [`:${second}`, `:${name}-1`] as const,
    ]);
    const named = words.reduce((text, [number, word]) => text.replaceAll(number, word), line);
    return named.replaceAll(`127.0.${BLOCKS[kind]}.`, "host-");
  }

  #folderOf(sid: number): string {
    return join(this.#options.folder, `${this.#options.kind}-${sid}`);
  }

  #dataOf(sid: number): string {
    return join(this.#folderOf(sid), "data");
  }
}
