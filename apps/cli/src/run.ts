import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Terminal } from "./command.ts";
import { type CommandLine, parseCommandLine, securityOptions, USAGE } from "./command-line.ts";
import { COMMAND_BY_NAME } from "./command-table.ts";
import { VERSION } from "./commands/shell/version.ts";
import { Connection, FRAME_BYTES_MAX } from "./connection/connection.ts";
import { ExitStatus } from "./exit-status.ts";
import { errorJson, explainError } from "./explain-error.ts";
import { Interpreter } from "./interpreter.ts";
import { Output, type TextSink } from "./output.ts";
import { parseClientConfiguration } from "./settings/client-configuration.ts";
import { readJavaSettings } from "./settings/java-settings.ts";
import { historyFilePath } from "./shell/history-file.ts";
import { runScript } from "./shell/script.ts";
import { Shell } from "./shell/shell.ts";

/** The environment of a command line: a process, or a test. */
export interface World {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; hasColors?(): boolean };
  readonly stderr: Writable;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Runs a command line to its end. Returns the exit status. */
export async function runCommandLine(argv: readonly string[], world: World): Promise<number> {
  const { stdout, stderr } = world;
  try {
    const commandLine = parseCommandLine(argv);
    switch (commandLine.kind) {
      case "help":
        stdout.write(`${USAGE}\n`);
        return ExitStatus.OK;
      case "version":
        stdout.write(`zooid-cli ${VERSION} on Node.js ${process.versions.node}\n`);
        return ExitStatus.OK;
      case "run":
        return await run(commandLine, world);
    }
  } catch (error) {
    const explanation = explainError(error);
    const isJson = argv.includes("--json");
    if (isJson) stdout.write(`${JSON.stringify(errorJson(explanation))}\n`);
    else stderr.write(`zooid-cli: ${explanation.text}\n`);
    return isJson ? explanation.fineStatus : explanation.plainStatus;
  }
}

async function run(commandLine: CommandLine, { stdin, stdout, stderr, environment }: World): Promise<number> {
  const { server, timeoutMs, isReadOnly, waitsForConnection, isJson, command } = commandLine;
  // Programs that read the output want answers alone.
  const isBrief = commandLine.isQuiet || (!commandLine.isVerbose && stdout.isTTY !== true);
  const shell =
    command === undefined && stdin.isTTY === true && stdout.isTTY === true
      ? new Shell({ input: stdin, output: stdout, historyFile: historyFilePath(environment) })
      : undefined;
  const around = (sink: TextSink): TextSink => shell?.around(sink) ?? sink;
  const output = new Output({
    format: isJson ? "json" : "text",
    stdout: around((text) => stdout.write(text)),
    stderr: around((text) => stderr.write(text)),
    hasColors: stdout.isTTY === true && stdout.hasColors?.() === true && (environment["NO_COLOR"] ?? "") === "",
  });
  const { configurationFile: file, properties } = commandLine;
  const configuration = parseClientConfiguration(readJavaSettings({ environment, file, properties }));
  for (const warning of configuration.warnings) output.progress(warning);
  const { frameBytesMax = FRAME_BYTES_MAX, tls, sasl } = configuration;
  const connection = new Connection({
    server,
    timeoutMs,
    isReadOnly,
    waitsForConnection,
    output,
    frameBytesMax,
    tls,
    sasl,
    securityOptions: securityOptions(commandLine),
  });
  // A single command prints one object, or its program's output; connection events are not printed.
  if (command !== undefined && (isJson || runsProgram(command))) connection.printsWatches = false;
  if (commandLine.isQuiet) connection.printsWatches = false;
  if (isBrief) connection.printsStates = false;
  const isOffline = command !== undefined && COMMAND_BY_NAME.get(command[0] ?? "")?.kind === "offline";
  if (!isOffline) {
    if (!isBrief && (command === undefined || !runsProgram(command))) output.line(`Connecting to ${server}`);
    await connection.open();
  }
  const interpreter = new Interpreter(connection, output);
  if (command !== undefined && stdin.isTTY === true && stdout.isTTY === true)
    interpreter.terminal = ttyOf(stdin, stdout);
  if (command !== undefined && stdin.isTTY !== true) interpreter.dataInput = stdin;
  try {
    if (waitsForConnection) await connection.ready({ signal: new AbortController().signal });
    if (command !== undefined) await withInterrupts((signal) => interpreter.run(command, signal));
    else {
      if (!isBrief) output.line("Welcome to ZooKeeper!");
      if (shell !== undefined) await shell.run(interpreter, connection);
      else {
        const { stopsOnError } = commandLine;
        await withInterrupts((signal) => runScript(stdin, interpreter, { signal, stopsOnError }));
        return interpreter.failureStatus;
      }
    }
    return interpreter.exitStatus;
  } finally {
    // The process is exiting: the end of its session is not printed.
    connection.printsWatches = false;
    await connection.close();
  }
}

/** For a single command: nothing else reads from the terminal. */
function ttyOf(input: Readable, output: Writable): Terminal {
  return {
    async ask(question, signal) {
      const readline = createInterface({ input, output });
      try {
        return await readline.question(question, { signal });
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      } finally {
        readline.close();
      }
    },
    lendTerminal: (work) => work(),
  };
}

function runsProgram([name = ""]: readonly string[]): boolean {
  return COMMAND_BY_NAME.get(name)?.runsProgram === true;
}

/**
 * The first signal cancels the command, so that its session is closed; the second ends the process.
 */
async function withInterrupts(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.once(name, onSignal);
  try {
    await work(interrupted.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
