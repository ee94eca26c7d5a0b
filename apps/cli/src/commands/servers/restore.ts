import { setTimeout as delay } from "node:timers/promises";
import { ADMIN_FLAGS, askAdmin, demandAdmin, shownFields } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { Command, Invocation } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { givenMoment } from "../../texts/given-zxid.ts";

const POLL_MS = 500;
/** A server that installs a state does not answer meanwhile. */
const SILENT_MS_MAX = 120_000;

/** Restores a state of the past of an ensemble that runs, asked of its leader. */
export const restore: Command = {
  name: "restore",
  synopsis: "--to ZXID|TIME [--plan] [--keep-sessions] [--confirm] [--admin url] [--auth credentials]",
  flags: [
    { name: "to", takesValue: true, isOwn: true, meaning: "The last transaction of the state, or the time" },
    { name: "plan", isOwn: true, meaning: "Only print what the state would be made from" },
    { name: "keep-sessions", isOwn: true, meaning: "Keep the sessions of that time; else they end" },
    { name: "confirm", isOwn: true, meaning: "Restore without a question" },
    ...ADMIN_FLAGS,
  ],
  summary:
    "Replaces the data of an ensemble, while it runs, by those of an earlier moment, from the backup of its leader, whose admin " +
    "port is asked; every later write is discarded.",
  operandsMax: 0,
  describesFlags: true,
  kind: "offline",
  async run(invocation) {
    const { flags, output } = invocation;
    const moment = givenMoment(flags, "to");
    if (moment === undefined)
      throw usageError("restore takes the moment, as --to 0x300000007 or --to 2026-05-31T23:59:00Z");
    const to = moment instanceof Date ? `timeMs=${moment.getTime()}` : `to=0x${moment.toString(16)}`;
    await demandAdmin(invocation, `restore_state?${to}&plan=true`);
    const plan = await phaseBehind(invocation, ["making"]);
    output.line(planLine(plan));
    if (flags.has("plan")) return shownFields(plan);
    if (!flags.has("confirm") && !(await confirmed(invocation)))
      throw new CliError("nothing is changed", { code: "REFUSED" });
    // By the zxid: another transaction of that time may have come.
    const keep = flags.has("keep-sessions") ? "&keepSessions=true" : "";
    await demandAdmin(invocation, `restore_state?to=${String(plan["zxid"])}${keep}`);
    const restored = await phaseBehind(invocation, ["making", "restoring"]);
    output.line(`the state of ${String(restored["zxid"])} is restored, at ${String(restored["restored_at"])}`);
    return shownFields(restored);
  },
};

/** Waits until the server has done what it was asked for. @throws CliError where it cannot */
async function phaseBehind(invocation: Invocation, phases: readonly string[]): Promise<JsonObject> {
  for (let silentSinceMs = 0; ; ) {
    await delay(POLL_MS, undefined, { signal: invocation.signal });
    const fields = await statusOf(invocation);
    const nowMs = performance.now();
    if (fields === undefined) {
      silentSinceMs = silentSinceMs === 0 ? nowMs : silentSinceMs;
      if (nowMs - silentSinceMs < SILENT_MS_MAX) continue;
      throw new CliError("the server does not answer any more: look in its log whether the state is restored", {
        code: "NOT_CONNECTED",
      });
    }
    silentSinceMs = 0;
    const { phase, problem } = fields;
    if (phase === "failed") throw new CliError(String(problem), { code: "REFUSED" });
    if (phase === "none") throw new CliError("the server has started again, and restores nothing", { code: "REFUSED" });
    if (!phases.includes(String(phase))) return fields;
  }
}

/** Undefined where the server does not answer now. */
async function statusOf(invocation: Invocation): Promise<JsonObject | undefined> {
  try {
    const { fields, error } = await askAdmin(invocation, "restore_state_status", "GET");
    return error === undefined ? fields : undefined;
  } catch (error) {
    if (error instanceof CliError && error.code === "NOT_CONNECTED") return undefined;
    throw error;
  }
}

function planLine(plan: JsonObject): string {
  const base = `the base at ${String(plan["base_zxid"])}, taken ${String(plan["base_taken_at"])}`;
  const nodes = `${String(plan["base_znodes"])} znodes`;
  return `the state at ${String(plan["zxid"])} is made from ${base}, with ${nodes}, and ${String(plan["files"])} files behind it`;
}

async function confirmed({ shell, signal }: Invocation): Promise<boolean> {
  const answer = await shell.ask(
    "every later write is discarded, and all clients are disconnected: restore it? [y/N] ",
    signal,
  );
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new CliError("there is no terminal to ask at", { code: "USAGE", hint: "restore --confirm asks no question" });
}
