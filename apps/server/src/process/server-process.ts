import { createRequire } from "node:module";
import { hostname } from "node:os";
import { setFlagsFromString } from "node:v8";
import {
  ConfigError,
  type ReloadAnswer,
  type ServerOptions,
  startServer,
  writePeerSecretFile,
  type ZooidServer,
} from "@zooid/embedded-server";
import { formatZxid, hostPort } from "@zooid/model";
import { askedHost } from "../configuration/asked-host.ts";
import { COMMANDS, type Command, parseCommandLine, type ServeCommand, USAGE } from "../configuration/command-line.ts";
import { DynamicFile } from "../configuration/dynamic-file.ts";
import { type JvmFlags, jvmFlagsOf, misspeltVariables } from "../configuration/jvm-flags.ts";
import { operated } from "../configuration/operated.ts";
import { type ReloadRequest, reload } from "../configuration/reload.ts";
import { errorWithOrigins } from "../configuration/setting-origins.ts";
import { LateConsole } from "../console/late-console.ts";
import { prepareContainer } from "../container/prepare-container.ts";
import { AuditSwitch } from "../logs/audit-switch.ts";
import { openLog, type ProcessLog } from "../logs/logger.ts";
import { backup } from "../offline/backup.ts";
import { exportData } from "../offline/export.ts";
import { history } from "../offline/history.ts";
import { importFromApache } from "../offline/import.ts";
import { compare, inspect } from "../offline/inspect.ts";
import { recover } from "../offline/recover.ts";
import { restore } from "../offline/restore.ts";
import { snapshot } from "../offline/snapshot.ts";
import { checkHealth } from "../status/health.ts";
import { checkStatus } from "../status/status.ts";
import { statusLine } from "../status/status-line.ts";
import { ExitStatus, exitStatusOf, explain } from "./exit-status.ts";
import { nameProcess } from "./process-name.ts";
import { stopOnSignals } from "./shutdown.ts";
import type { StartSignals } from "./signals.ts";
import { startReport } from "./start-report.ts";
import { notifySystemd } from "./systemd.ts";
import { lowerV8Threads } from "./v8-threads.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { readonly version: string };

/**
 * The tree lies outside of V8's heap, which is small and stays small: V8 would let it grow by a
 * tenth before it marks all of it again, twice a second under load (15 % of the CPU of a write).
 * Twice the size costs some 20 MiB.
 */
const HEAP_GROWING_PERCENT = 100;

const OUTPUT = {
  print: (line: string): void => console.log(line),
  warn: (line: string): void => console.error(`zooid-server: ${line}`),
};

const STARTING: ReloadAnswer = {
  problems: ["the server is starting, with the configuration as it is: ask again once it serves"],
  changed: [],
  notApplied: [],
  warnings: [],
};

/** The command that this process serves with. */
let started: ServeCommand | undefined;

/** Its log, once that is open. */
let openedLog: ProcessLog | undefined;

/** Whether it is a server, whose words go to its log, and not a command that prints an answer. */
let isServing = !COMMANDS.has(process.argv[2] ?? "");

/** Does what the command line asks for: serves, or prints an answer. */
export async function runProcess(signals: StartSignals): Promise<void> {
  try {
    const command = readCommandLine(process.argv.slice(2));
    if (command.kind !== "serve" && command.kind !== "container") signals.release();
    switch (command.kind) {
      case "help":
        console.log(USAGE);
        return;
      case "version":
        console.log(`zooid-server ${version} on Node.js ${process.versions.node}`);
        return;
      case "init-secret":
        initSecret(command.file);
        return;
      case "health": {
        const { isServing, text } = await checkHealth(command.options);
        console.log(text);
        process.exitCode = isServing ? ExitStatus.OK : ExitStatus.UNEXPECTED;
        return;
      }
      case "check": {
        const { check } = await import("../check/check.ts");
        process.exitCode = (await check(command, OUTPUT.print)) ? ExitStatus.OK : ExitStatus.UNEXPECTED;
        return;
      }
      case "status": {
        const { isServing, lines } = await checkStatus(command.options);
        for (const line of lines) console.log(line);
        process.exitCode = isServing ? ExitStatus.OK : ExitStatus.UNEXPECTED;
        return;
      }
      case "backup":
        process.exitCode = (await backup(command, OUTPUT)) ? ExitStatus.OK : ExitStatus.DATA_DAMAGED;
        return;
      case "export":
        await exportData(command, OUTPUT);
        return;
      case "history":
        history(command, OUTPUT);
        return;
      case "import":
        await importFromApache(command, OUTPUT);
        return;
      case "inspect":
        await inspect(command, OUTPUT);
        return;
      case "compare":
        process.exitCode = (await compare(command, OUTPUT)) ? ExitStatus.OK : ExitStatus.UNEXPECTED;
        return;
      case "recover":
        await recover(command, OUTPUT);
        return;
      case "restore":
        await restore(command, OUTPUT);
        return;
      case "snapshot":
        await snapshot(command, OUTPUT);
        return;
      case "container": {
        isServing = true;
        const { argv, ...said } = prepareContainer(process.env, hostname());
        await serve(argv, signals, said);
        return;
      }
      case "serve":
        await serve(process.argv.slice(2), signals);
    }
  } catch (error) {
    if (isServing) reportFailedStart(explain(error, started));
    else for (const line of explain(error, started).split("\n")) OUTPUT.warn(line);
    process.exit(exitStatusOf(error));
  }
}

/**
 * The last words of a server that could not start are lines of its log. A terminal gets the usage
 * too, where the command line was wrong.
 */
function reportFailedStart(text: string): void {
  const log = openedLog ?? openLog("info");
  const [sentences = "", ...usage] = text.split("\n\n");
  for (const line of sentences.split("\n")) log.error(line, { event: "start-failed" });
  if (usage.length > 0 && process.stdout.isTTY) console.log(usage.join("\n\n"));
}

function initSecret(file: string): void {
  try {
    writePeerSecretFile(file);
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    const reason = exists
      ? "it exists, and a secret is not written over"
      : error instanceof Error
        ? error.message
        : String(error);
    throw new ConfigError([`cannot write a secret to ${file}: ${reason}`]);
  }
  console.log(
    `wrote a new secret to ${file}; every server of the ensemble gets this file and zooid.peerSecretFile=${file}`,
  );
}

function readCommandLine(argv: readonly string[], jvmFlags: JvmFlags = jvmFlagsOf(process.env)): Command {
  const problems = misspeltVariables(process.env);
  if (problems.length > 0) throw new ConfigError(problems);
  return parseCommandLine(argv, jvmFlags);
}

/** How the arguments came about, for the log, and what the server reads beside them. */
interface Said {
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly jvmFlags?: JvmFlags;
}

async function serve(
  argv: readonly string[],
  signals: StartSignals,
  said: Said = { notes: [], warnings: [] },
): Promise<void> {
  const read = (): Command => readCommandLine(argv, said.jvmFlags);
  const command = read();
  if (command.kind !== "serve") return;
  started = command;
  const log = openLog(command.logLevel);
  openedLog = log;
  nameProcess(argv);
  for (const note of said.notes) log.info(note, { event: "container" });
  for (const warning of said.warnings) log.warn(warning, { event: "container" });
  await run(command, { read, signals, log });
}

async function run(
  command: ServeCommand,
  { read, signals, log }: { readonly read: () => Command; readonly signals: StartSignals; readonly log: ProcessLog },
): Promise<void> {
  const { warnings, auditFile } = command;
  const options = operated(command);
  const audit = openAuditLog(auditFile, command, log);
  let inForce = command;
  const member = options.ensemble === undefined ? {} : { myid: options.ensemble.sid };
  log.describe(() => member);
  for (const warning of warnings) log.warn(warning, { event: "setting" });
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // V8 applies this flag to worker heaps too, above their own limits. The main heap keeps the size
  // that it started with.
  setFlagsFromString("--max-semi-space-size=0");
  lowerV8Threads();
  const page = new LateConsole();
  const code = hasConsole(command) ? loadConsole() : undefined;
  let running: ZooidServer | undefined;
  const readAgain = (request: ReloadRequest): ReloadAnswer => {
    if (running === undefined) return STARTING;
    const server = running;
    const outcome = reload({ server, read, optionsOf: operated, audit, log }, inForce, request);
    inForce = outcome.inForce;
    return outcome.answer;
  };
  const server = await startServer({
    ...options,
    version,
    log,
    reload: readAgain,
    // A follower's client port is closed.
    readDoor: code !== undefined,
    adminApplication: (message, response, request) => page.handle(message, response, request),
    // A console that cannot be loaded is reported when it is opened.
    ...(code === undefined ? {} : { beforeServing: code.catch(() => {}) }),
    onFailure: (error) => {
      log.error(`the server stops: ${explain(error)}`, { event: "server-failed" });
      void audit.stop();
      process.exit(exitStatusOf(error));
    },
  }).catch((error: unknown) => {
    throw errorWithOrigins(error, command);
  });
  running = server;
  log.describe(() => {
    const { role, epoch, appliedZxid } = server.summary;
    return { ...member, role, epoch, zxid: formatZxid(appliedZxid) };
  });
  audit.follow(server);
  keepDynamicFile(server, command, log);
  if (auditFile !== undefined) log.info(`clients' writes are written down in ${auditFile}`, { event: "audit-log" });
  // Before the line that reports readiness: a signal may follow it at once.
  signals.release(["SIGTERM", "SIGINT"]);
  stopOnSignals(async () => {
    notifySystemd("--stopping");
    await page[Symbol.asyncDispose]();
    await server.stop();
    await audit.stop();
  }, log);
  notifySystemd("--ready");
  const report = startReport(log, process.stdout.isTTY, (line) => process.stdout.write(`${line}\n`));
  const { commandUrl = "/commands" } = options.admin ?? {};
  report.serving({
    version,
    client: { address: server.address, port: server.port },
    securePort: server.securePort,
    dataDir: options.dataDir,
    recovered: server.recovered,
    zxid: server.summary.appliedZxid,
    admin: server.adminPort === undefined ? undefined : { url: adminUrl(options, server.adminPort, commandUrl) },
    metricsPort: server.metricsPort,
    follows: options.follow?.hosts,
  });
  signals.answerBy((signal) => {
    if (signal === "SIGUSR1") log.answer(statusLine(server.summary), { event: "status" });
    else readAgain({});
  });
  report.console(await openPage({ page, code, server, command, log }));
}

function openAuditLog(file: string | undefined, command: ServeCommand, log: ProcessLog): AuditSwitch {
  try {
    return new AuditSwitch(file, log);
  } catch (error) {
    throw errorWithOrigins(error, command);
  }
}

function adminUrl({ admin }: ServerOptions, port: number, path: string): string {
  const { address = "127.0.0.1", forceHttps = false } = admin ?? {};
  return `${forceHttps ? "https" : "http"}://${hostPort(address, port)}${path}`;
}

type ConsoleCode = typeof import("../console/open-console.ts");

/**
 * The modules of the console, which load while the disks are read; undefined where this server has
 * none.
 */
async function loadConsole(): Promise<ConsoleCode> {
  const code = await import("../console/open-console.ts");
  await code.loadConsoleApi();
  return code;
}

function hasConsole({ options: { admin }, console: { isEnabled } }: ServeCommand): boolean {
  return admin?.enabled !== false && isEnabled !== false;
}

interface OpenPageParts {
  readonly page: LateConsole;
  readonly code: Promise<ConsoleCode> | undefined;
  readonly server: ZooidServer;
  readonly command: ServeCommand;
  readonly log: ProcessLog;
}

/** @returns the console's address; undefined where this server has none */
async function openPage({ page, code, server, command, log }: OpenPageParts): Promise<string | undefined> {
  const { options, console: settings } = command;
  const { admin, ensemble } = options;
  if (server.adminPort === undefined || code === undefined) return undefined;
  try {
    const opened = await page.open(async () => {
      const { openConsole } = await code;
      return openConsole({ server, sid: ensemble?.sid, admin, settings, version, log });
    });
    if (opened === undefined) return undefined;
    return adminUrl({ admin: { ...admin, address: askedHost(admin?.address) } }, server.adminPort, "/console/");
  } catch (error) {
    log.error(`the console is not served: ${error instanceof Error ? error.message : String(error)}`, {
      event: "console-not-served",
    });
    return undefined;
  }
}

/** The files follow the configuration in force, where they can be written. */
function keepDynamicFile(
  { members$ }: Pick<ZooidServer, "members$">,
  { configFile, options }: ServeCommand,
  log: ProcessLog,
): void {
  const { ensemble, reconfigEnabled } = options;
  if (configFile === undefined || ensemble === undefined || reconfigEnabled !== true) return;
  const dynamicFile = new DynamicFile(configFile, ensemble.sid);
  members$.subscribe((members) => {
    if (members === undefined) return;
    try {
      dynamicFile.write(members);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        `the configuration is kept with the data; ${configFile} and its dynamic file stay as they are: ${reason}`,
        { event: "dynamic-file-not-written" },
      );
    }
  });
}
