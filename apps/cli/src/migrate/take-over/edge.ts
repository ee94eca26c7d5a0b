/** Does what the machine of a take-over asks for: shells, sockets and clocks. */
import { limitSignal, parseConnectString, pause } from "@zooid/client";
import { assertNever, formatZxid, type Member } from "@zooid/model";
import type { AdminPlace } from "../../admin-port.ts";
import { CliError } from "../../cli-error.ts";
import type { Invocation } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import type { Failed } from "../acts.ts";
import { adminAct, isFailed } from "../admin-act.ts";
import { readingFault } from "../apache-clients.ts";
import type { Action, ActKind, Acts, Answer, OperatorCommand, Yielded } from "./action.ts";
import { ApacheSide, type ApacheSideOptions } from "./apache-side.ts";
import type { CommandResult, MemberFacts } from "./facts.ts";
import { endIn, followedServers, followerFacts, placeIn, syncIn } from "./follower-facts.ts";
import { memberFacts, silentMember } from "./member-facts.ts";
import { runOperatorCommand } from "./operator-command.ts";

export interface EdgeOptions extends ApacheSideOptions {
  readonly follower: AdminPlace;
  readonly members: readonly AdminPlace[];
  /** The operator's commands. */
  readonly commands: Readonly<Partial<Record<OperatorCommand, string>>>;
  readonly invocation: Pick<Invocation, "connection" | "output" | "shell" | "signal">;
}

/** The last attempt to have servers back ends before its time is over here. */
const JOIN_END_MS = 40_000;
const DROP_POLL_MS = 500;
const DROP_MS = 30_000;

export class Edge {
  readonly #options: EdgeOptions;
  readonly #apache: ApacheSide;
  /** Servers of the followed ensemble, also those that a fence has removed. */
  #known: readonly Member[] = [];
  /** The way back, and the opening, are not interrupted. */
  #isInterruptible = true;

  constructor(options: EdgeOptions) {
    this.#options = options;
    this.#apache = new ApacheSide(options);
  }

  /** The machine is where an interruption would leave things half done. */
  shield(): void {
    this.#isInterruptible = false;
  }

  /** Never throws: what goes wrong is an answer. */
  async perform(action: Action): Promise<Answer<ActKind>> {
    const { signal } = this.#options.invocation;
    if (this.#isInterruptible && signal.aborted) return failed("interrupted", true);
    const timeout = limitSignal(Math.max(1, action.withinMs));
    const limit = this.#isInterruptible ? AbortSignal.any([signal, timeout]) : timeout;
    try {
      return await this.#perform(action, limit);
    } catch (error) {
      if (this.#isInterruptible && signal.aborted) return failed("interrupted");
      if (timeout.aborted) return failed(`${TITLES[action.kind]}: no answer within ${Math.round(action.withinMs)} ms`);
      return failed(`${TITLES[action.kind]}: ${error instanceof CliError ? error.message : readingFault(error)}`);
    }
  }

  async #perform(action: Action, signal: AbortSignal): Promise<Answer<ActKind>> {
    switch (action.kind) {
      case "look-apache":
        return done<"look-apache">(await this.#apache.look(this.#known, signal));
      case "look-follower":
        return await this.#follower("look-follower", "follow_status", "GET", signal, (fields) => {
          const serverCount = this.#options.addresses.length;
          const { members, removed } = followedServers(fields, serverCount);
          const now = [...members, ...removed];
          this.#known = [...now, ...this.#known.filter(({ sid }) => !now.some((member) => member.sid === sid))];
          return followerFacts(fields, serverCount);
        });
      case "look-members":
        return done<"look-members">(await Promise.all(this.#options.members.map((place) => lookAt(place, signal))));
      case "look-clients":
        return done<"look-clients">(await this.#apache.clients(signal));
      case "look-ports":
        return done<"look-ports">(await this.#apache.ports(this.#known, action.withinMs));
      case "look-disks":
        return failed("no disks are named", true);
      case "look-sessions":
        return await this.#follower("look-sessions", "follow_sessions", "GET", signal, (fields) => {
          const { shortest_timeout_ms: ms } = fields;
          return typeof ms === "number" ? ms : undefined;
        });
      case "archive":
        return await this.#follower("archive", "follow_archive", "POST", signal, placeIn);
      case "confirm":
        return done<"confirm">(await this.#confirm(signal));
      case "wait":
        await pause(action.ms);
        return NOTHING;
      case "run":
        return done<"run">(await this.#run(action));
      case "touch":
        return await this.#follower("touch", "follow_touch", "POST", signal, () => undefined);
      case "sync":
        return await this.#follower("sync", "follow_sync", "POST", signal, syncIn);
      case "reconfig-alone":
        return done<"reconfig-alone">(await this.#apache.leaveAlone(action.address, action.sid, signal));
      case "reconfig-back":
        await this.#apache.joinAgain(action.lines, action.withinMs - JOIN_END_MS);
        return NOTHING;
      case "finish": {
        const command = `follow_finish?zxid=${formatZxid(action.zxid)}`;
        return await this.#follower("finish", command, "POST", signal, endIn);
      }
      case "resume":
        return await this.#follower("resume", "follow_resume", "POST", signal, () => undefined);
      case "take-over": {
        const { zxid, digest, epoch } = action;
        return await this.#leader(
          "take-over",
          `take_over?zxid=${formatZxid(zxid)}&digest=${digest}&epoch=${epoch}`,
          signal,
          (fields) => ({
            digest: String(fields["digest"]),
            missing: Array.isArray(fields["missing"]) ? fields["missing"].map(Number) : [],
          }),
        );
      }
      case "open":
        return await this.#leader("open", "open_clients", signal, () => undefined);
      case "drop":
        return await this.#drop(signal);
      default:
        return assertNever(action);
    }
  }

  async #follower<K extends ActKind>(
    _: K,
    command: string,
    method: "GET" | "POST",
    signal: AbortSignal,
    read: (fields: JsonObject) => Acts[K]["answer"],
  ): Promise<Answer<K>> {
    const { follower } = this.#options;
    const fields = await adminAct(follower, command, { method, signal });
    return isFailed(fields) ? fields : readOf<K>(follower, fields, read);
  }

  /** Asks the leader of the new ensemble. */
  async #leader<K extends ActKind>(
    _: K,
    command: string,
    signal: AbortSignal,
    read: (fields: JsonObject) => Acts[K]["answer"],
  ): Promise<Answer<K>> {
    const found = await Promise.all(
      this.#options.members.map(async (place) => ({ place, facts: await lookAt(place, signal) })),
    );
    const leader = found.find(({ facts }) => facts.isLeader);
    if (leader === undefined) return failed("no member of the new ensemble says that it leads");
    const fields = await adminAct(leader.place, command, { method: "POST", signal });
    return isFailed(fields) ? fields : readOf<K>(leader.place, fields, read);
  }

  /** While a state is being installed, or a leader is elected, it is asked again. */
  async #drop(signal: AbortSignal): Promise<Answer<"drop">> {
    const untilMs = performance.now() + DROP_MS;
    for (;;) {
      const answer = await this.#leader("drop", "drop_standby", signal, () => undefined);
      if (answer.kind === "done" || performance.now() >= untilMs || signal.aborted) return answer;
      await new Promise((resolve) => setTimeout(resolve, DROP_POLL_MS));
    }
  }

  async #confirm(signal: AbortSignal): Promise<boolean> {
    const { shell } = this.#options.invocation;
    const answer = await shell.ask(
      "Apache's client ports are closed now, and clients taken over: continue? [y/N] ",
      signal,
    );
    if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
    throw new CliError("there is no terminal to ask at: --yes asks no question", { code: "USAGE" });
  }

  /** A command ends before its time is over here. */
  async #run({ command, addresses, withinMs }: Action & { readonly kind: "run" }): Promise<readonly CommandResult[]> {
    const text = this.#options.commands[command];
    const named = addresses.length === 0 ? this.#options.addresses : addresses;
    if (text === undefined) return named.map((address) => ({ address, fault: `--${command} was not given` }));
    const { output } = this.#options.invocation;
    return await Promise.all(
      named.map(async (address) => ({
        address,
        fault: await runOperatorCommand({
          command: text,
          env: environmentOf(command, address),
          signal: this.#isInterruptible ? this.#options.invocation.signal : NEVER,
          withinMs,
          line: (line) => output.line(`  --${command} at ${address}: ${line}`),
        }),
      })),
    );
  }
}

const NEVER: AbortSignal = new AbortController().signal;
const NOTHING: Answer<ActKind> = { kind: "done", value: undefined };

const TITLES: Readonly<Record<ActKind, string>> = {
  "look-apache": "Apache's servers",
  "look-follower": "the follower",
  "look-members": "the members",
  "look-clients": "the connections of Apache's servers",
  "look-ports": "the ports of Apache's servers",
  "look-disks": "the disks of Apache's servers",
  "look-sessions": "the sessions of the follower",
  archive: "the follower's backup",
  confirm: "the question",
  wait: "a wait",
  run: "a command of the operator",
  touch: "touching the sessions",
  sync: "a SYNC",
  "reconfig-alone": "the reconfiguration to the leader alone",
  "reconfig-back": "the reconfiguration back to all servers",
  finish: "ending the follower",
  resume: "following again",
  "take-over": "installing the state",
  open: "opening the client ports",
  drop: "dropping the state",
};

/** The variables that an operator's command finds. */
export function environmentOf(command: OperatorCommand, address: string): Readonly<Record<string, string>> {
  const [place] = parseConnectString(address).hosts;
  return {
    ZOOID_ACT: command,
    ZOOID_SERVER: address,
    ZOOID_HOST: place?.host ?? "",
    ZOOID_PORT: String(place?.port ?? ""),
  };
}

async function lookAt(place: AdminPlace, signal: AbortSignal): Promise<MemberFacts> {
  const name = place.base.origin;
  const fields = await adminAct(place, "standby", { method: "GET", signal });
  if (isFailed(fields)) return silentMember(name, fields.reason);
  try {
    return memberFacts(name, fields);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return silentMember(name, `its answer is none of a member's: ${error.message}`);
  }
}

function readOf<K extends ActKind>(
  { base }: AdminPlace,
  fields: JsonObject,
  read: (fields: JsonObject) => Acts[K]["answer"],
): Answer<K> {
  try {
    return { kind: "done", value: read(fields) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return failed(`${base.origin} answers as no server of this version does: ${error.message}`);
  }
}

function done<K extends ActKind>(value: Acts[K]["answer"]): Answer<K> {
  return { kind: "done", value };
}

function failed(reason: string, isRefused = false): Failed {
  return { kind: "failed", isRefused, reason };
}

/** Whether an event says that an interruption would leave things half done. */
export function shields(yielded: Yielded): boolean {
  if (!("event" in yielded)) return false;
  const { event } = yielded;
  return event.kind === "aborting" || (event.kind === "step" && event.step === "open");
}
