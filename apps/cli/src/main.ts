import { parseClientConfiguration } from "./client-configuration.ts";
import { type CommandLine, parseCommandLine, USAGE } from "./command-line.ts";
import { COMMAND_BY_NAME } from "./command-table.ts";
import { VERSION } from "./commands/version.ts";
import { Connection, FRAME_BYTES_MAX } from "./connection.ts";
import { ExitStatus } from "./exit-status.ts";
import { errorJson, explainError } from "./explain-error.ts";
import { historyFilePath } from "./history-file.ts";
import { Interpreter } from "./interpreter.ts";
import { readJavaSettings } from "./java-settings.ts";
import { Output, type TextSink } from "./output.ts";
import { runScript } from "./script.ts";
import { Shell } from "./shell.ts";

// A reader that has seen enough, as in `| head`, is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? ExitStatus.OK : ExitStatus.FAILED),
);

process.on("uncaughtException", (error) => {
  console.error(`zooid-cli: this is a defect, please report it: ${error.message}`);
  process.exit(ExitStatus.FAILED);
});

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  try {
    const commandLine = parseCommandLine(argv);
    switch (commandLine.kind) {
      case "help":
        console.log(USAGE);
        return ExitStatus.OK;
      case "version":
        console.log(`zooid-cli ${VERSION} on Node.js ${process.versions.node}`);
        return ExitStatus.OK;
      case "run":
        return await run(commandLine);
    }
  } catch (error) {
    const explanation = explainError(error);
    const isJson = argv.includes("--json");
    if (isJson) console.log(JSON.stringify(errorJson(explanation)));
    else console.error(`zooid-cli: ${explanation.text}`);
    return isJson ? explanation.fineStatus : explanation.plainStatus;
  }
}

async function run(commandLine: CommandLine): Promise<number> {
  const { server, timeoutMs, isReadOnly, waitsForConnection, isJson, command } = commandLine;
  const shell =
    command === undefined && process.stdin.isTTY === true && process.stdout.isTTY === true
      ? new Shell({ input: process.stdin, output: process.stdout, historyFile: historyFilePath(process.env) })
      : undefined;
  const around = (sink: TextSink): TextSink => shell?.around(sink) ?? sink;
  const output = new Output({
    format: isJson ? "json" : "text",
    stdout: around((text) => process.stdout.write(text)),
    stderr: around((text) => process.stderr.write(text)),
    hasColors: process.stdout.isTTY === true && process.stdout.hasColors() && (process.env["NO_COLOR"] ?? "") === "",
  });
  const { configurationFile: file, properties } = commandLine;
  const configuration = parseClientConfiguration(readJavaSettings({ environment: process.env, file, properties }));
  for (const warning of configuration.warnings) output.progress(warning);
  const { frameBytesMax = FRAME_BYTES_MAX, tls, sasl } = configuration;
  const connection = new Connection({
    ...{ server, timeoutMs, isReadOnly, waitsForConnection, output },
    ...{ frameBytesMax, tls, sasl },
  });
  // One command gives one object, or what its program prints; what becomes of the connection shows in that.
  if (command !== undefined && (isJson || runsProgram(command))) connection.printsWatches = false;
  if (command === undefined || !runsProgram(command)) output.line(`Connecting to ${server}`);
  await connection.open();
  const interpreter = new Interpreter(connection, output);
  try {
    if (waitsForConnection) await connection.ready({ signal: new AbortController().signal });
    if (command !== undefined) await withInterrupts((signal) => interpreter.run(command, signal));
    else {
      output.line("Welcome to ZooKeeper!");
      if (shell !== undefined) await shell.run(interpreter, connection);
      else await withInterrupts((signal) => runScript(process.stdin, interpreter, signal));
    }
    return interpreter.exitStatus;
  } finally {
    // The process is leaving: that the session ends with it is nothing to tell.
    connection.printsWatches = false;
    await connection.close();
  }
}

function runsProgram([name = ""]: readonly string[]): boolean {
  return COMMAND_BY_NAME.get(name)?.runsProgram === true;
}

/** The first signal gives up what runs, so that its session is closed; the second ends the process. */
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
