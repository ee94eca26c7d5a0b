/** Runs another program while a lease is held. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Lease } from "@zooid/recipes";
import { CliError, type CliErrorCode } from "./cli-error.ts";
import type { Invocation } from "./command.ts";

/** Time for its clean-up after the user has cancelled. */
const GRACE_MS = 5_000;
const STDERR = 2;

/**
 * Runs a program until it ends. It leads a process group of its own, so that its children end with
 * it: the group is killed at once when the lease is lost, and terminated when the user cancels.
 *
 * @param words the program and its arguments
 * @returns its status, in a shell's numbering
 * @throws LEASE_LOST, PROGRAM_MISSING or PROGRAM_UNUSABLE; the signal's reason
 */
export async function runProgram(
  words: readonly string[],
  lease: Lease,
  { output, shell, signal }: Invocation,
): Promise<number> {
  const [name = "", ...args] = words;
  signal.throwIfAborted();
  lease.assertValid();
  const child = spawn(name, args, {
    detached: true,
    // Stdin is not passed on if lines are read from it, nor stdout if it is for JSON results.
    stdio: [shell.readsLines ? "ignore" : "inherit", output.format === "json" ? STDERR : "inherit", "inherit"],
    env: { ...process.env, ZOOID_TOKEN: String(lease.token), ZOOID_NODE: lease.path },
  });
  const kill = (how: NodeJS.Signals): void => {
    // Without a pid it did not start.
    if (child.pid !== undefined) killGroup(child.pid, how);
  };
  let mercy: NodeJS.Timeout | undefined;
  const lost = (): void => kill("SIGKILL");
  const givenUp = (): void => {
    kill("SIGTERM");
    mercy = setTimeout(() => kill("SIGKILL"), GRACE_MS);
  };
  lease.signal.addEventListener("abort", lost, { once: true });
  signal.addEventListener("abort", givenUp, { once: true });
  let status: number;
  try {
    const [code, how]: (number | NodeJS.Signals | null)[] = await once(child, "exit");
    status = typeof code === "number" ? code : 128 + constants.signals[how as NodeJS.Signals];
  } catch (error) {
    throw notRunnable(name, error);
  } finally {
    clearTimeout(mercy);
    lease.signal.removeEventListener("abort", lost);
    signal.removeEventListener("abort", givenUp);
  }
  signal.throwIfAborted();
  if (lease.isValid()) return status;
  const reason = lease.lostReason ?? "its session may be over";
  throw new CliError(`${lease.path} was lost while ${name} ran: ${reason}`, { code: "LEASE_LOST", path: lease.path });
}

function killGroup(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(-pid, how);
  } catch {
    // It has ended in between.
  }
}

function notRunnable(name: string, error: unknown): CliError {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  const code: CliErrorCode = isMissing ? "PROGRAM_MISSING" : "PROGRAM_UNUSABLE";
  return new CliError(`${name} cannot be run: ${error instanceof Error ? error.message : String(error)}`, { code });
}
