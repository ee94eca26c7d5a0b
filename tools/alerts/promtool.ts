import { spawnSync } from "node:child_process";

export interface PromtoolResult {
  readonly status: number | null;
  /** Everything that it wrote. */
  readonly output: string;
}

/**
 * Runs Prometheus' own tool, which is in Debian's package `prometheus`.
 *
 * @param input for its standard input
 */
export function promtool(args: readonly string[], input = ""): PromtoolResult {
  const { error, status, stdout, stderr } = spawnSync("promtool", [...args], { encoding: "utf8", input });
  if (error !== undefined)
    throw new Error(`promtool cannot be run: .ci/install-tools prometheus installs it (${error.message})`, {
      cause: error,
    });
  return { status, output: `${stdout}${stderr}` };
}
