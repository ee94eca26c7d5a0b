import { setTimeout as delay } from "node:timers/promises";
import { ADMIN_FLAGS, askAdmin, demandAdmin } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, type Invocation, operand, timeoutMs } from "../../command.ts";
import type { JsonObject } from "../../output.ts";

const DURATION_MS = 10_000;
/** As servers limit it. */
const DURATION_MS_MAX = 3_600_000;
const POLL_MS = 250;

/** The status of a command with a parameter that it does not take. */
const BAD_PARAMETER = 400;

/** `server drain` and `server undrain`. */
export const server: Command = {
  name: "server",
  synopsis: "drain|undrain [--dry-run] [--wait] [--duration ms] [--timeout ms] [--admin url] [--auth credentials]",
  flags: [
    ...ADMIN_FLAGS,
    { name: "duration", takesValue: true, isOwn: true, meaning: "Over how long the connections are closed" },
    { name: "dry-run", isOwn: true, meaning: "Counts the connections that a drain closes only" },
    { name: "wait", isOwn: true, meaning: "Ends when no client is left, which a drain always does" },
    FLAG_TIMEOUT,
  ],
  summary:
    "Moves a server's clients and its leadership elsewhere, by its admin port, and ends when none is left; undrain ends that.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (verb === "drain") return await drain(invocation);
    if (verb !== "undrain") throw usageError(`server takes drain or undrain, found ${JSON.stringify(verb)}`);
    for (const name of ["dry-run", "wait"]) {
      if (invocation.flags.has(name)) throw usageError(`--${name} is for drain: undrain closes nothing`);
    }
    await demandAdmin(invocation, "undrain");
    invocation.output.line("clients may connect again");
    return { draining: false };
  },
};

async function drain(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, signal } = invocation;
  const text = flags.value("duration") ?? `${DURATION_MS}`;
  if (!/^\d{1,7}$/.test(text) || Number(text) > DURATION_MS_MAX)
    throw usageError(`--duration takes milliseconds from 0 to ${DURATION_MS_MAX}, found ${JSON.stringify(text)}`);
  const limit = timeoutMs(flags);
  if (flags.has("dry-run")) return await foretell(invocation);
  const startMs = performance.now();
  let fields = await demandAdmin(invocation, `drain?durationMs=${text}`);
  let shown: unknown;
  while (fields["num_alive_connections"] !== 0) {
    const left = fields["num_alive_connections"];
    if (left !== shown) output.line(leftText(left));
    shown = left;
    if (limit !== undefined && performance.now() - startMs >= limit) {
      throw new CliError(`${leftText(left)} after ${limit} ms; the server continues to drain`, {
        code: "OPERATION_TIMEOUT",
      });
    }
    await delay(POLL_MS, undefined, { signal });
    ({ fields } = await askAdmin(invocation, "drain_status", "GET"));
  }
  const leads = fields["is_leader"] === true;
  output.line(leads ? "drained; the server leads on: no other one can, or it is alone" : "drained");
  return { draining: true, connections: 0, leading: leads };
}

function leftText(left: unknown): string {
  return left === 1 ? "1 connection is left" : `${left} connections are left`;
}

/** The connections and roles that a drain would close and move now. */
async function foretell(invocation: Invocation): Promise<JsonObject> {
  const { output } = invocation;
  // The server checks the credentials before the duration, which is none.
  const { status } = await askAdmin(invocation, "drain?durationMs=none");
  if (status !== BAD_PARAMETER) await demandAdmin(invocation, "drain?durationMs=none");
  const { fields } = await askAdmin(invocation, "drain_status", "GET");
  const connections = fields["num_alive_connections"] ?? null;
  const leads = fields["is_leader"] === true;
  output.line(
    `${connections === 1 ? "1 connection" : `${connections} connections`} will be closed${leads ? ", and the leadership moves to another server" : ""}`,
  );
  output.line("nothing is changed: --dry-run");
  return { draining: fields["is_draining"] === true, connections, leading: leads, dryRun: true };
}
