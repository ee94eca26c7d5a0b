/**
 * Runs a tool in a network and a mount namespace of its own, so that whatever it does to them goes
 * with it, and nothing outside is touched.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

const MARK = "ZOOID_OWN_NAMESPACES";

/**
 * Starts this same program again inside, unless that is where it runs.
 *
 * @returns true inside; outside false, once the program has run inside or was skipped with a
 *   printed reason
 */
export async function inOwnNamespaces(commands: readonly string[]): Promise<boolean> {
  if (process.env[MARK] === "yes") return true;
  const reason = whyNoNamespaces(commands);
  if (reason !== undefined) {
    console.log(`skipped: ${reason}`);
    return false;
  }
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn("unshare", ["--net", "--mount", ...command], {
    stdio: "inherit",
    env: { ...process.env, [MARK]: "yes" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill("SIGTERM"));
  await once(child, "exit");
  process.exitCode = child.exitCode ?? 1;
  return false;
}

/** @returns why namespaces and some commands cannot be used here; undefined where they can */
export function whyNoNamespaces(commands: readonly string[]): string | undefined {
  if (process.platform !== "linux") return `namespaces are Linux's, and this is ${process.platform}`;
  for (const command of ["unshare", ...commands]) {
    if (spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0) return `there is no command ${command}`;
  }
  const tried = spawnSync("unshare", ["--net", "--mount", "true"], { encoding: "utf8" });
  return tried.status === 0 ? undefined : `namespaces are not allowed here (${tried.stderr.trim()})`;
}

/** @throws with what the command said */
export function run(command: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr.trim()}`);
}
