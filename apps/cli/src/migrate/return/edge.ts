/** Does what the machine of a return asks for: admin ports, files and clocks. */
import { limitSignal, pause } from "@zooid/client";
import { assertNever } from "@zooid/model";
import type { AdminPlace } from "../../admin-port.ts";
import { CliError } from "../../cli-error.ts";
import type { Invocation } from "../../command.ts";
import type { Failed } from "../acts.ts";
import { adminAct, isFailed } from "../admin-act.ts";
import { readingFault } from "../apache-clients.ts";
import { portState } from "../tcp-port.ts";
import type { Action, ActKind, Acts, Answer, Yielded } from "./action.ts";
import type { ApacheDirectory } from "./apache-directory.ts";
import { writeExport } from "./export-stream.ts";
import type { MemberFacts } from "./facts.ts";
import { memberFacts, silentMember } from "./member-facts.ts";

export interface EdgeOptions {
  /** Admin ports of the ensemble's servers. */
  readonly members: readonly AdminPlace[];
  /** Apache's servers, `host:port` for clients. */
  readonly apache: readonly string[];
  /** Undefined where nothing is exported. */
  readonly directory: ApacheDirectory | undefined;
  /** To be answered before anything is changed. */
  readonly question: string;
  readonly invocation: Pick<Invocation, "shell" | "signal">;
}

const PORT_MS = 2000;

export class Edge {
  readonly #options: EdgeOptions;
  /** The way back, and what puts the export in its place, are not interrupted. */
  #isInterruptible = true;

  constructor(options: EdgeOptions) {
    this.#options = options;
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
      const answer = await this.#perform(action, limit);
      if (answer.kind === "failed" && this.#isInterruptible && signal.aborted) return failed("interrupted", true);
      return answer;
    } catch (error) {
      if (this.#isInterruptible && signal.aborted) return failed("interrupted", true);
      if (timeout.aborted) return failed(`${TITLES[action.kind]}: no answer within ${Math.round(action.withinMs)} ms`);
      return failed(`${TITLES[action.kind]}: ${error instanceof CliError ? error.message : readingFault(error)}`);
    }
  }

  async #perform(action: Action, signal: AbortSignal): Promise<Answer<ActKind>> {
    const { directory, members } = this.#options;
    switch (action.kind) {
      case "look-members":
        return done<"look-members">(await Promise.all(members.map((place) => lookAt(place, signal))));
      case "look-apache":
        return done<"look-apache">(
          await Promise.all(
            this.#options.apache.map(async (address) => ({
              address,
              state: await portState(address, Math.min(PORT_MS, action.withinMs)),
            })),
          ),
        );
      case "look-directory":
        return directory === undefined ? NO_DIRECTORY : done<"look-directory">(await directory.look());
      case "confirm":
        return done<"confirm">(await this.#confirm(signal));
      case "wait":
        await pause(action.ms);
        return NOTHING;
      case "close":
        return await this.#leader("close_clients", signal);
      case "export":
        return directory === undefined ? NO_DIRECTORY : await this.#export(action, directory, signal);
      case "keep":
        if (directory === undefined) return NO_DIRECTORY;
        await directory.keep();
        return NOTHING;
      case "drop":
        await directory?.drop();
        return NOTHING;
      case "open":
        return await this.#leader("open_clients", signal);
      default:
        return assertNever(action);
    }
  }

  async #export(
    question: Action & { readonly kind: "export" },
    directory: ApacheDirectory,
    signal: AbortSignal,
  ): Promise<Answer<"export">> {
    const place = await this.#leaderPlace(signal);
    if (place === undefined) return NO_LEADER;
    const written = await writeExport(place, question, directory, signal);
    return isFailed(written) ? written : { kind: "done", value: written };
  }

  async #leader(command: string, signal: AbortSignal): Promise<Answer<ActKind>> {
    const place = await this.#leaderPlace(signal);
    if (place === undefined) return NO_LEADER;
    const fields = await adminAct(place, command, { method: "POST", signal });
    return isFailed(fields) ? fields : NOTHING;
  }

  async #leaderPlace(signal: AbortSignal): Promise<AdminPlace | undefined> {
    const { members } = this.#options;
    const found = await Promise.all(members.map((place) => lookAt(place, signal)));
    return members[found.findIndex(({ fault, isLeader }) => fault === undefined && isLeader)];
  }

  async #confirm(signal: AbortSignal): Promise<boolean> {
    const { invocation, question } = this.#options;
    const answer = await invocation.shell.ask(`${question} [y/N] `, signal);
    if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
    throw new CliError("there is no terminal to ask at: --yes asks no question", { code: "USAGE" });
  }
}

const NOTHING: Answer<ActKind> = { kind: "done", value: undefined };
const NO_LEADER: Failed = failed("no server of --members says that it leads");
const NO_DIRECTORY: Failed = failed("no directory is named", true);

const TITLES: Readonly<Record<ActKind, string>> = {
  "look-members": "the members",
  "look-apache": "the ports of Apache's servers",
  "look-directory": "the directory",
  confirm: "the question",
  wait: "a wait",
  close: "closing the ensemble to clients",
  export: "the export",
  keep: "putting the export in its place",
  drop: "removing the export",
  open: "opening the ensemble to clients",
};

async function lookAt(place: AdminPlace, signal: AbortSignal): Promise<MemberFacts> {
  const name = place.base.origin;
  const fields = await adminAct(place, "return_status", { method: "GET", signal });
  if (isFailed(fields)) return silentMember(name, fields.reason);
  try {
    return memberFacts(name, fields);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return silentMember(name, `its answer is none of a member's: ${error.message}`);
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
  return event.kind === "undoing" || (event.kind === "step" && event.step === "keep");
}
