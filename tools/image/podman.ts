import { run } from "@zooid/trials/internal/processes/run";

/**
 * Options of every container, for machines on which podman's own choices fail: the runtime crun
 * needs a newer kernel than some have, and limits above those of the machine are refused.
 */
export const LIMITS: readonly string[] = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];

/** Runs podman to its end. @throws with what it printed when it fails */
export async function podman(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("podman", ["--runtime", "runc", ...args], process.cwd());
  return stdout.trim();
}

/** Both streams of a container's log, from its start. */
export async function logsOf(name: string): Promise<string> {
  const { stdout, stderr } = await run("podman", ["logs", name], process.cwd());
  return stdout + stderr;
}
