import { execFile } from "node:child_process";
import { promisify } from "node:util";

const OUTPUT_BYTES_MAX = 2 ** 26;
const TIMEOUT_MS = 120_000;

/** A program's output. @throws with what it printed, when it fails or takes too long */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  timeoutMs: number = TIMEOUT_MS,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  try {
    return await promisify(execFile)(program, args, { cwd, env, maxBuffer: OUTPUT_BYTES_MAX, timeout: timeoutMs });
  } catch (cause) {
    const { stdout = "", stderr = "", message } = cause as Error & { stdout?: string; stderr?: string };
    throw new Error((stdout + stderr).trim() || message, { cause });
  }
}
