import { type Command, type OutputOptions, parseCommandLine } from "./command-line.ts";
import { type CommandOptions, calibrate, check, compare, run } from "./commands.ts";
import { NullServer, type NullServerOptions } from "./null-server/null-server.ts";
import { Progress, type ProgressMode } from "./progress.ts";
import { formatNumber } from "./results/format.ts";
import { type Result, reportsOf } from "./results/result.ts";
import { writeResult } from "./results/result-output.ts";
import { UsageError } from "./usage-error.ts";

/** Exit statuses. */
const ExitStatus = { OK: 0, FAILED: 1, USAGE: 2, INTERRUPTED: 130 } as const;

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const command = parseCommandLine(process.argv.slice(2));
    switch (command.kind) {
      case "text":
        console.log(command.text);
        return ExitStatus.OK;
      case "null-server":
        await serveNothing(command.options);
        return ExitStatus.OK;
      default:
        return await measure(command);
    }
  } catch (error) {
    for (const line of sentencesOf(error)) console.error(`zooid-bench: ${line}`);
    return error instanceof UsageError ? ExitStatus.USAGE : ExitStatus.FAILED;
  }
}

/**
 * Messages of an error, the first cause first: an error of the clean-up follows the one that it
 * would hide.
 */
function sentencesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  if (!("suppressed" in error && "error" in error)) return error.message.split("\n");
  return [...new Set([...sentencesOf(error.suppressed), ...sentencesOf(error.error)])];
}

type MeasuringCommand = Exclude<Command, { kind: "text" | "null-server" }>;

async function measure(command: MeasuringCommand): Promise<number> {
  const { workload, config, output } = command;
  const progress = new Progress({
    mode: progressMode(output),
    intervalMs: output.progressIntervalMs,
    stream: process.stderr,
    job: workload.name,
  });
  const signal = abortOnInterrupt(progress);
  process.on("SIGUSR1", () => progress.status());
  try {
    const result = await resultOf(command, { workload, config, signal, progress });
    progress.end();
    console.log(writeResult(result, workload, output));
    return verdict(result);
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    console.error("zooid-bench: interrupted; what was made on the servers is removed, and nothing is reported");
    return ExitStatus.INTERRUPTED;
  }
}

function resultOf(command: MeasuringCommand, options: CommandOptions): Promise<Result> {
  switch (command.kind) {
    case "run":
      return run(options);
    case "compare":
      return compare(options, command.a, command.b);
    case "calibrate":
      return calibrate(options);
    case "check":
      return check(options, command.load);
  }
}

function verdict(result: Result): number {
  // Its verdict is on stdout, with the errors among the criteria.
  if (result.kind === "check") return result.isPassed ? ExitStatus.OK : ExitStatus.FAILED;
  const failed = reportsOf(result).filter(({ errorPercent }) => errorPercent > result.config.errorPercentMax);
  for (const { point, errorPercent } of failed) {
    console.error(
      `zooid-bench: ${point}: ${formatNumber(errorPercent)} % errors, more than ${result.config.errorPercentMax} %; --max-errors allows more`,
    );
  }
  return failed.length > 0 ? ExitStatus.FAILED : ExitStatus.OK;
}

function progressMode({ quiet, progress }: OutputOptions): ProgressMode {
  if (quiet) return "none";
  if (progress === "json") return "json";
  return process.stderr.isTTY ? "bar" : "lines";
}

/** The first interrupt ends the load and cleans up; the second ends the process. */
function abortOnInterrupt(progress: Progress): AbortSignal {
  const aborting = new AbortController();
  const interrupt = (): void => {
    if (aborting.signal.aborted) process.exit(ExitStatus.INTERRUPTED);
    progress.say("zooid-bench: stopping, and removing what was made; once more to stop at once");
    aborting.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  return aborting.signal;
}

async function serveNothing(options: NullServerOptions): Promise<void> {
  await using server = await NullServer.start(options);
  console.log(`zooid-bench null-server answers on 127.0.0.1:${server.port}`);
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once("SIGINT", () => resolve());
  process.once("SIGTERM", () => resolve());
  await promise;
}
