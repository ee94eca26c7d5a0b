import { type Lease, type LockSide, Mutex, ReadWriteLock } from "@zooid/recipes";
import { CliError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, givenNode, timeoutMs } from "../../command.ts";
import { runProgram } from "../../program.ts";

export const lock: Command = {
  name: "lock",
  synopsis: "[--timeout ms] [--shared] path -- program [argument ...]",
  flags: [FLAG_TIMEOUT, { name: "shared", isOwn: true }],
  summary: "Runs a program while it holds a lock, exclusively or shared; exits with the program's status.",
  operandsMin: 2,
  operandsMax: Number.POSITIVE_INFINITY,
  kind: "own",
  pathOperand: 0,
  runsProgram: true,
  async run(invocation) {
    const { flags, operands, shell, signal } = invocation;
    const wait = { signal, timeoutMs: timeoutMs(flags) };
    const { path, client } = await givenNode(invocation);
    // While the session may live no other client can get the lock: a briefly lost connection kills
    // no program.
    const options = { onSuspended: "keep" } as const;
    const place = flags.has("shared")
      ? new ReadWriteLock(client, path, options).read
      : new Mutex(client, path, options);
    await using lease = await (wait.timeoutMs === 0 ? takeAtOnce(place, signal) : place.acquire(wait));
    const status = await runProgram(operands.slice(1), lease, invocation);
    shell.endsWith(status);
    return { path, node: lease.path, token: String(lease.token), status };
  },
};

async function takeAtOnce(place: Mutex | LockSide, signal: AbortSignal): Promise<Lease> {
  const lease = await place.tryAcquire({ signal });
  if (lease !== null) return lease;
  throw new CliError(`${place.path} is held by another client`, { code: "LOCK_TIMEOUT", path: place.path });
}
