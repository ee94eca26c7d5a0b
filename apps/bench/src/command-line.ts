import { CommanderError, InvalidArgumentError, Option, Command as Parser } from "commander";
import type { Workload } from "./bench.ts";
import { type BenchConfig, DEFAULTS, parseBenchConfig } from "./bench-config.ts";
import { type Host, parseHosts } from "./connections/hosts.ts";
import type { NullServerOptions } from "./null-server/null-server.ts";
import { CHECK_LOADS, type CheckLoad } from "./results/check-verdict.ts";
import { BENCH_VERSION } from "./results/machine-facts.ts";
import type { PlannedEvent } from "./results/timeline.ts";
import { UsageError } from "./usage-error.ts";
import { check } from "./workloads/check.ts";
import { WORKLOADS } from "./workloads/workload-list.ts";

/** Destinations of results and progress. */
export interface OutputOptions {
  /** A file, `-` for stdout, undefined for none. */
  readonly json: string | undefined;
  readonly svg: string | undefined;
  readonly quiet: boolean;
  readonly progress: "auto" | "json";
  readonly progressIntervalMs: number;
}

/** The measurement: its load, and where the results go. */
interface LoadCommand {
  readonly workload: Workload;
  readonly config: BenchConfig;
  readonly output: OutputOptions;
}

export type Command =
  /** The help or the version. */
  | { readonly kind: "text"; readonly text: string }
  | ({ readonly kind: "run" } & LoadCommand)
  | ({ readonly kind: "calibrate" } & LoadCommand)
  | ({ readonly kind: "compare"; readonly a: Side; readonly b: Side } & LoadCommand)
  | ({ readonly kind: "check"; readonly load: CheckLoad } & LoadCommand)
  | { readonly kind: "null-server"; readonly options: NullServerOptions };

export interface Side {
  readonly name: string;
  readonly hosts: readonly Host[];
}

/** Default number of pairs of runs in a comparison. */
const COMPARE_REPEATS = 5;

/** Parses the arguments; throws a UsageError with all problems. */
export function parseCommandLine(argv: readonly string[]): Command {
  let command: Command | undefined;
  let written = "";
  let complaint = "";
  const parser = parserOf((parsed) => {
    command = parsed;
  });
  for (const each of [parser, ...parser.commands]) {
    each.exitOverride().configureOutput({
      writeOut: (text) => {
        written += text;
      },
      writeErr: (text) => {
        complaint += text;
      },
    });
  }
  try {
    parser.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "text", text: written.trimEnd() };
    throw new UsageError(complaint.trim().replace(/^error: /, "") || error.message);
  }
  return command ?? { kind: "text", text: parser.helpInformation().trimEnd() };
}

function parserOf(found: (command: Command) => void): Parser {
  const parser = new Parser("zooid-bench")
    .description(
      "Measures any ZooKeeper endpoint. Without --rate the loop is closed: each connection keeps a number of requests in flight. With --rate it is open: requests leave on a schedule, and latency counts from the time that the schedule says.",
    )
    .version(`zooid-bench ${BENCH_VERSION} on Node.js ${process.versions.node}`, "--version")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .argument("[workload]", "what to measure, see below")
    .addHelpText("after", workloadHelp());
  withLoadOptions(parser)
    .addOption(hostsOption())
    .action((name: string | undefined, options: LoadOptions & HostsOption) => {
      if (name === undefined) throw new UsageError(`name a workload: ${workloadNames()}`);
      const hosts = options.hosts ?? [];
      if (hosts.length === 0) throw new UsageError("name the servers: --hosts host:port,host:port …");
      const workload = findWorkload(name);
      found({ kind: "run", workload, config: configOf(options, hosts), output: outputOf(options) });
    });
  withLoadOptions(
    parser
      .command("compare")
      .description(
        "runs a workload on two endpoints in turn, A B A B …, and prints the ratio of A to B with its spread",
      )
      .argument("<a>", "host:port,…")
      .argument("<b>", "host:port,…")
      .argument("<workload>"),
  )
    .option("--a-name <name>", "what to call A", "A")
    .option("--b-name <name>", "what to call B", "B")
    .action(
      (
        a: string,
        b: string,
        name: string,
        { aName, bName, ...options }: LoadOptions & { readonly aName: string; readonly bName: string },
      ) => {
        const sides = {
          a: { name: aName, hosts: parseHosts(a) },
          b: { name: bName, hosts: parseHosts(b) },
        };
        const config = configOf({ repeats: COMPARE_REPEATS, ...options }, [sides.a.hosts, sides.b.hosts]);
        found({ kind: "compare", workload: findWorkload(name), config, output: outputOf(options), ...sides });
      },
    );
  withLoadOptions(
    parser
      .command("calibrate")
      .description(
        "runs a workload on a server that does nothing, to see what the generator itself can do; with --hosts beside it",
      )
      .argument("<workload>"),
  )
    .addOption(hostsOption())
    .action((name: string, options: LoadOptions & HostsOption) => {
      const config = configOf(options, options.hosts ?? []);
      found({ kind: "calibrate", workload: findWorkload(name), config, output: outputOf(options) });
    });
  parser
    .command("check")
    .description(
      "judges servers under a load, as etcdctl check perf does: a line PASS or FAIL for throughput, slowest request, standard deviation and errors; status 1 if one fails",
    )
    .addOption(hostsOption())
    .addOption(
      new Option("--load <size>", `${checkLoads()} of 1 KiB`).choices(Object.keys(CHECK_LOADS)).default("small"),
    )
    .option("--duration <time>", `(${CHECK_DURATION_MS / 1000} s)`, duration)
    .option("--warmup <time>", `before it (${DEFAULTS.warmupMs / 1000} s)`, duration)
    .option("--root <path>", `everything is made below it, and removed afterwards (${DEFAULTS.root})`)
    .option("--allow-remote", "load servers on other machines")
    .option("--json <file>", "write the result as JSON; - for stdout instead of the verdict")
    .option("--quiet", "no progress")
    .addOption(
      new Option("--progress <kind>", "a bar on a terminal and lines elsewhere, or JSON").choices(["auto", "json"]),
    )
    .action(({ load, hosts = [], ...options }: LoadOptions & HostsOption & { readonly load: CheckLoad }) => {
      if (hosts.length === 0) throw new UsageError("name the servers: --hosts host:port,host:port …");
      const { connections, ratePerSecond } = CHECK_LOADS[load];
      const given = { duration: CHECK_DURATION_MS, ...options, connections, rate: ratePerSecond };
      found({ kind: "check", load, workload: check, config: configOf(given, hosts), output: outputOf(options) });
    });
  parser
    .command("null-server")
    .description("serves until it is stopped: answers every request at once with an empty success, and keeps nothing")
    .option("--port <port>", "0 lets the system choose", wholeNumber, 0)
    .option("--payload <bytes>", "data of every node", bytes, 0)
    .option("--children <count>", "children that every node claims", wholeNumber, 0)
    .option("--freeze-at <time>", "time from the first request until no request is answered", duration)
    .option("--freeze-for <time>", "time until requests are answered again", duration)
    .action((options: NullOptions) => found({ kind: "null-server", options: nullOptionsOf(options) }));
  return parser;
}

interface HostsOption {
  readonly hosts?: readonly (readonly Host[])[];
}

interface NullOptions {
  readonly port: number;
  readonly payload: number;
  readonly children: number;
  readonly freezeAt?: number;
  readonly freezeFor?: number;
}

/** Options whose names are not those of the configuration. */
const CONFIG_NAMES = {
  rate: "ratePerSecond",
  payload: "payloadBytes",
  ratio: "ratios",
  idle: "idleMs",
  duration: "durationMs",
  warmup: "warmupMs",
  sessionTimeout: "sessionTimeoutMs",
  maxErrors: "errorPercentMax",
  event: "events",
  slice: "sliceMs",
} as const satisfies Readonly<Record<string, keyof BenchConfig>>;
type ConfigNames = typeof CONFIG_NAMES;

/** Where results and progress go, as options say it. */
interface OutputFlags {
  readonly json?: string;
  readonly svg?: string;
  readonly quiet?: boolean;
  readonly progress?: "auto" | "json";
  readonly progressInterval?: number;
}

type LoadOptions = OutputFlags &
  Partial<Omit<BenchConfig, "hosts" | ConfigNames[keyof ConfigNames]>> & {
    readonly [Name in keyof ConfigNames]?: BenchConfig[ConfigNames[Name]];
  };

/** For the help only; the values come from DEFAULTS. */
function withLoadOptions(parser: Parser): Parser {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  return parser
    .optionsGroup("Load:")
    .option("--connections <count>", "connections in all", wholeNumber)
    .option("--in-flight <count>", "closed loop: unanswered requests of each connection", wholeNumber)
    .option("--rate <requests/s>", "open loop, with this number of requests a second in all", number)
    .addOption(new Option("--arrivals <kind>", "open loop: evenly spread, or random").choices(["constant", "poisson"]))
    .option("--payload <bytes>", "data of each node, as 1024, 1KiB or 1MiB", bytes)
    .option("--nodes <count>", `nodes to choose from (${DEFAULTS.nodes})`, wholeNumber)
    .option("--ratio <percent,…>", "read-ratio, timeline: shares of reads", numberList)
    .option("--sizes <size,…>", "payload: bytes; watch-fanout: watches; recover: nodes", byteList)
    .option("--sessions <count>", `sessions: how many (${DEFAULTS.sessions})`, wholeNumber)
    .option("--idle <time>", `sessions: how long they are idle (${seconds(DEFAULTS.idleMs)})`, duration)
    .option("--ephemerals <count>", `ephemeral-churn: for each session (${DEFAULTS.ephemerals})`, wholeNumber)
    .option("--contenders <count,…>", "lock, election: contenders; barrier: members; queue: putters", wholeNumberList)
    .addOption(
      new Option("--kind <kind>", "lock, election: with or without a queue (both)").choices(["fair", "unfair"]),
    )
    .option("--duration <time>", `of each point, as 10s, 500ms or 1m (${seconds(DEFAULTS.durationMs)})`, duration)
    .option("--warmup <time>", `before each point (${seconds(DEFAULTS.warmupMs)})`, duration)
    .option(
      "--repeats <count>",
      `of the whole workload (${DEFAULTS.repeats}; compare: ${COMPARE_REPEATS})`,
      wholeNumber,
    )
    .option("--workers <count>", "threads of the generator (half of the cores, 2 at most)", wholeNumber)
    .option("--seed <number>", `of all random choices (${DEFAULTS.seed})`, wholeNumber)
    .option("--session-timeout <time>", `asked for (${seconds(DEFAULTS.sessionTimeoutMs)})`, duration)
    .optionsGroup("Server:")
    .option("--root <path>", `everything is made below it, and removed afterwards (${DEFAULTS.root})`)
    .option("--allow-remote", "load servers on other machines")
    .option("--restart-command <command>", "recover: kills the server, starts it again, and returns")
    .addOption(
      new Option(
        "--event <time[ label]=command>",
        "timeline: run a shell command then, as '5s leader lost=kill -9 12'",
      ).argParser((value: string, previous: readonly PlannedEvent[] | undefined) => [
        ...(previous ?? []),
        event(value),
      ]),
    )
    .option("--slice <time>", `timeline: how finely answers are counted (${DEFAULTS.sliceMs} ms)`, duration)
    .option(
      "--server-pid <pid>",
      "sessions: read the memory of this process; lock and its like: its CPU time",
      wholeNumber,
    )
    .option("--max-errors <percent>", `more errors fail the run (${DEFAULTS.errorPercentMax})`, number)
    .optionsGroup("Output:")
    .option("--json <file>", "write the result as JSON; - for stdout instead of the table")
    .option("--svg <file>", "draw the result")
    .option("--quiet", "no progress")
    .addOption(
      new Option("--progress <kind>", "a bar on a terminal and lines elsewhere, or JSON").choices(["auto", "json"]),
    )
    .option("--progress-interval <time>", "between lines of progress (10 s)", duration);
}

function hostsOption(): Option {
  return new Option("--hosts <host:port,…>", "the servers; again for another ensemble").argParser(
    (value: string, previous: readonly (readonly Host[])[] | undefined) => [...(previous ?? []), parseHosts(value)],
  );
}

const PROGRESS_INTERVAL_MS = 10_000;
/** As that of etcdctl. */
const CHECK_DURATION_MS = 60_000;

function checkLoads(): string {
  return Object.entries(CHECK_LOADS)
    .map(
      ([name, { connections, ratePerSecond }]) => `${name}: ${connections} connections, ${ratePerSecond} sets a second`,
    )
    .join("; ");
}

function outputOf({ json, svg, quiet, progress, progressInterval }: LoadOptions): OutputOptions {
  return {
    json,
    svg,
    quiet: quiet ?? false,
    progress: progress ?? "auto",
    progressIntervalMs: progressInterval ?? PROGRESS_INTERVAL_MS,
  };
}

function configOf(options: LoadOptions, hosts: readonly (readonly Host[])[]): BenchConfig {
  const { json, svg, quiet, progress, progressInterval, ...load } = options;
  const names: Readonly<Record<string, keyof BenchConfig>> = CONFIG_NAMES;
  const given = Object.entries(load).map(([name, value]) => [names[name] ?? name, value]);
  const events = options.event?.toSorted((a, b) => a.atMs - b.atMs) ?? [];
  return parseBenchConfig({ ...Object.fromEntries(given), hosts, events });
}

function nullOptionsOf({ port, payload, children, freezeAt, freezeFor }: NullOptions): NullServerOptions {
  if ((freezeAt === undefined) !== (freezeFor === undefined)) {
    throw new UsageError("--freeze-at and --freeze-for belong together: when to stand still, and for how long");
  }
  const freeze = freezeAt === undefined || freezeFor === undefined ? undefined : { atMs: freezeAt, forMs: freezeFor };
  return { port, payloadBytes: payload, children, freeze };
}

function findWorkload(name: string): Workload {
  const workload = WORKLOADS.find((one) => one.name === name);
  if (workload === undefined) throw new UsageError(`there is no workload "${name}"; there are ${workloadNames()}`);
  return workload;
}

function workloadNames(): string {
  return WORKLOADS.map(({ name }) => name).join(", ");
}

function workloadHelp(): string {
  const width = Math.max(...WORKLOADS.map(({ name }) => name.length));
  return ["", "Workloads:", ...WORKLOADS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)].join("\n");
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("Expected a number.");
  return value;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}

const BYTE_UNITS: Readonly<Record<string, number>> = { "": 1, b: 1, kib: 1024, mib: 1024 * 1024 };

function bytes(text: string): number {
  const match = /^(\d+)\s*([a-z]*)$/i.exec(text);
  const unit = BYTE_UNITS[(match?.[2] ?? "?").toLowerCase()];
  if (match?.[1] === undefined || unit === undefined)
    throw new InvalidArgumentError("Expected a size such as 100, 1KiB or 1MiB.");
  return Number(match[1]) * unit;
}

function byteList(text: string): readonly number[] {
  return text.split(",").map(bytes);
}

function numberList(text: string): readonly number[] {
  return text.split(",").map(number);
}

function wholeNumberList(text: string): readonly number[] {
  return text.split(",").map(wholeNumber);
}

const TIME_UNITS: Readonly<Record<string, number>> = { "": 1000, ms: 1, s: 1000, m: 60_000 };

function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
  const unit = TIME_UNITS[(match?.[2] ?? "?").toLowerCase()];
  if (match?.[1] === undefined || unit === undefined)
    throw new InvalidArgumentError("Expected a time such as 500ms, 10s or 1m.");
  return Number(match[1]) * unit;
}

/** `5s=kill 12`, or with a name for the picture: `5s leader lost=kill 12`. */
function event(text: string): PlannedEvent {
  const match = /^([^\s=]+)(\s[^=]+)?=(.+)$/s.exec(text);
  if (match?.[1] === undefined || match[3] === undefined)
    throw new InvalidArgumentError("Expected a time, a name if it has one, = and a command.");
  const command = match[3].trim();
  return { atMs: duration(match[1]), label: match[2]?.trim() ?? command, command };
}
