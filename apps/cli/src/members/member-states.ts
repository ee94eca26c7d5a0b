import { setTimeout as delay } from "node:timers/promises";
import { adminCommand } from "@zooid/client";
import type { Member, Members, ServerId } from "@zooid/model";
import {
  type Catching,
  catchingOf,
  catchingText,
  clientAddressOf,
  hasItsRole,
  leaderIn,
  type MemberStates as StatesOf,
} from "@zooid/model/membership";
import type { Invocation } from "../command.ts";
import type { ServerReport } from "../texts/server-report.ts";
import { refusal } from "./refusal.ts";
import { askServer, type ServerStatus } from "./server-status.ts";

/** The report of each member; a member without a client port is missing. */
export type MemberStates = StatesOf<ServerReport>;

const POLL_MS = 250;
/** Under load a synced server is a few transactions behind when it is asked. */
const SETTLE_MS = 2_000;
const PROGRESS_MS = 1_000;

export async function askMembers(members: Members, invocation: Invocation): Promise<MemberStates> {
  const asked = members.servers.map(async (member): Promise<readonly [ServerId, ServerStatus] | undefined> => {
    const address = clientAddressOf(member);
    return address === undefined ? undefined : [member.sid, await askServer(address, invocation)];
  });
  return new Map((await Promise.all(asked)).filter((entry) => entry !== undefined));
}

/**
 * Compares a server with the ensemble. The ensemble is asked first: a server that has as much after
 * that had everything that was committed at that time.
 */
async function findCatching(member: Member, members: Members, invocation: Invocation): Promise<Catching> {
  const address = clientAddressOf(member);
  if (address === undefined) return { kind: "not-serving", reason: "its line names no client port" };
  const { sid } = member;
  const others = await askMembers(
    { ...members, servers: members.servers.filter((one) => one.sid !== sid) },
    invocation,
  );
  const status = await askServer(address, invocation);
  const reportedSid = typeof status === "string" ? undefined : await idOf(address, invocation);
  return catchingOf({ sid, status, reportedSid }, others);
}

/** A server's own number, where its four-letter words include `conf`. */
async function idOf(address: string, { connection, signal }: Invocation): Promise<number | undefined> {
  try {
    const answer = await adminCommand(address, "conf", { signal, ...connection.security, timeoutMs: SETTLE_MS });
    const [, id] = /^serverId=(\d+)$/m.exec(answer) ?? [];
    return id === undefined ? undefined : Number(id);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

export interface WaitOptions {
  /** Whether it waits for a server that does not run or is far behind. */
  readonly isPatient: boolean;
  /** Undefined: without a limit. */
  readonly limitMs: number | undefined;
}

/**
 * Shows how a server catches up. @returns the last finding, which is `synced` unless it was not to
 * wait
 */
export async function untilSynced(
  member: Member,
  members: Members,
  invocation: Invocation,
  { isPatient, limitMs }: WaitOptions,
): Promise<Catching> {
  const { signal, output } = invocation;
  const startMs = performance.now();
  const progress = new ChangingLine((text) => output.progress(text));
  for (;;) {
    const catching = await findCatching(member, members, invocation);
    if (catching.kind === "synced" || catching.kind === "other-server") return catching;
    const elapsedMs = performance.now() - startMs;
    if (!isPatient && (catching.kind !== "behind" || elapsedMs >= SETTLE_MS)) return catching;
    if (elapsedMs >= SETTLE_MS || catching.kind !== "behind") {
      progress.show(`server ${member.sid}: ${catchingText(catching)}`);
    }
    checkTime(elapsedMs, limitMs, `server ${member.sid} is not synced: ${catchingText(catching)}`);
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Waits until the members have the roles that a configuration gives them. */
export async function untilInForce(
  { next, sids }: { readonly next: Members; readonly sids: readonly ServerId[] },
  invocation: Invocation,
  limitMs: number | undefined,
): Promise<void> {
  const startMs = performance.now();
  const progress = new ChangingLine((text) => invocation.output.progress(text));
  for (;;) {
    const states = await askMembers(next, invocation);
    const leader = leaderIn(states);
    const late = next.servers.filter((member) => sids.includes(member.sid) && !hasItsRole(member, states));
    if (leader !== undefined && late.length === 0) return;
    const text = leader === undefined ? "no member leads yet" : `not in its role yet: server ${late[0]?.sid}`;
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= SETTLE_MS) progress.show(text);
    checkTime(elapsedMs, limitMs, `the change is committed; ${text}`);
    await delay(POLL_MS, undefined, { signal: invocation.signal });
  }
}

function checkTime(elapsedMs: number, limitMs: number | undefined, text: string): void {
  if (limitMs === undefined || elapsedMs < limitMs) return;
  throw refusal(
    "WAIT_TIMEOUT",
    `${text}, after ${limitMs} ms`,
    "the same command continues where this one ended; print the states with member list",
  );
}

/** A line of progress, once for each text and at most once a second. */
class ChangingLine {
  readonly #write: (text: string) => void;
  #shown: string | undefined;
  #dueMs = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(text: string): void {
    const nowMs = performance.now();
    if (text === this.#shown || nowMs < this.#dueMs) return;
    this.#shown = text;
    this.#dueMs = nowMs + PROGRESS_MS;
    this.#write(text);
  }
}
