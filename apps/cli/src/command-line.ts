import { parseArgs } from "node:util";
import { usageError } from "./cli-error.ts";
import type { ConnectionOptions } from "./connection/connection.ts";
import { checkServers } from "./connection/servers.ts";
import { nearestOf } from "./nearest.ts";

export const USAGE = `zooid-cli [options] [command [argument ...]]

Speaks with a ZooKeeper server. With a command it runs that and ends; without one it is a shell, or, where its input is no terminal,
runs the commands that it reads, one a line. "zooid-cli help" lists the commands.

  -server HOST:PORT[,HOST:PORT ...][/CHROOT]   default localhost:2181
  -timeout MS                   the session's timeout, and how long to wait for a connection (default 30000)
  -r                            a server without a quorum will do, for reads
  -waitforconnection            go on trying until the timeout when no server answers
  -client-configuration FILE    settings of ZooKeeper's Java client: TLS (zookeeper.client.secure, zookeeper.ssl.*),
                                SASL (java.security.auth.login.config, zookeeper.sasl.*), jute.maxbuffer
  -DNAME=VALUE                  one such setting; CLIENT_JVMFLAGS and JVMFLAGS in the environment may have some too
  --json                        each result and error is one JSON object on a line of stdout, each event one on stderr
  --quiet                       answers only: no greeting, no events; without a terminal the greeting and the connection's
                                events are left out anyway, and --verbose prints them
  --stop-on-error               the first of piped commands that fails is the last one
  --version                     print the version
  --help                        print this

Options stand before the command. Data of set and create: a word, - for standard input, @file (@@word for a word with an @).
Status, of piped commands that of the first failure: 0 done, 1 failed, 127 no such command; with --json 1 not found, 2 usage, 3 connection,
4 not allowed, 5 conflict. lock and elect end with the status of their program, or with 124 not in time, 125 lost while it ran,
126 not runnable, 127 no such program.`;

export interface CommandLine
  extends Pick<ConnectionOptions, "server" | "timeoutMs" | "isReadOnly" | "waitsForConnection"> {
  readonly kind: "help" | "version" | "run";
  readonly configurationFile: string | undefined;
  /** Java system properties, `-DNAME=VALUE` each. */
  readonly properties: readonly string[];
  readonly isJson: boolean;
  /** Prints answers only. */
  readonly isQuiet: boolean;
  /** Prints the greeting and the connection's events though there is no terminal. */
  readonly isVerbose: boolean;
  /** Whether the first of piped commands that fails is the last one. */
  readonly stopsOnError: boolean;
  /** The command with its arguments; undefined for a shell. */
  readonly command: readonly string[] | undefined;
}

const OPTIONS = {
  server: { type: "string" },
  timeout: { type: "string" },
  r: { type: "boolean" },
  waitforconnection: { type: "boolean" },
  "client-configuration": { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  verbose: { type: "boolean" },
  "stop-on-error": { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean" },
  h: { type: "boolean" },
} as const;

/** Additions to zkCli's, which have one dash. */
const LONG_OPTIONS: ReadonlySet<string> = new Set(["json", "quiet", "verbose", "stop-on-error", "version", "help"]);

/** With their dashes, for completion in a shell. */
export const START_OPTIONS: readonly { readonly name: string; readonly takesValue: boolean }[] = Object.entries(OPTIONS)
  .filter(([name]) => name !== "h")
  .map(([name, { type }]) => ({
    name: LONG_OPTIONS.has(name) ? `--${name}` : `-${name}`,
    takesValue: type === "string",
  }));

const TIMEOUT_MS = 30_000;
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/**
 * Parses the arguments. As in zkCli the options come first, with one dash or two, and the first
 * word without a dash is the command, to which all further words belong.
 *
 * @throws CliError with a message
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const split = commandIndex(argv);
  const words = argv.slice(0, split);
  const values = parseOptions(words.filter((word) => !isProperty(word)));
  const command = argv.slice(split);
  const isHelp = values.help === true || values.h === true;
  const server = values.server ?? "localhost:2181";
  const kind = isHelp ? "help" : values.version === true ? "version" : "run";
  if (kind === "run") checkServers("-server", server);
  return {
    kind,
    server,
    timeoutMs: readTimeout(values.timeout),
    isReadOnly: values.r === true,
    waitsForConnection: values.waitforconnection === true,
    configurationFile: values["client-configuration"],
    properties: words.filter(isProperty),
    isJson: values.json === true,
    isQuiet: values.quiet === true,
    isVerbose: values.verbose === true,
    stopsOnError: values["stop-on-error"] === true,
    command: command.length === 0 ? undefined : command,
  };
}

const SECRET_PROPERTY = /passw/i;

/**
 * The options of a command line that secure its connections, for commands that are printed. A
 * password is left to the reader to fill in.
 */
export function securityOptions({
  configurationFile,
  properties,
}: Pick<CommandLine, "configurationFile" | "properties">): readonly string[] {
  return [
    ...(configurationFile === undefined ? [] : ["-client-configuration", configurationFile]),
    ...properties.map((property) => {
      const [name = ""] = property.split("=", 1);
      return SECRET_PROPERTY.test(name) && !/path$/i.test(name) ? `${name}=PASSWORD` : property;
    }),
  ];
}

type OptionName = keyof typeof OPTIONS;

function commandIndex(argv: readonly string[]): number {
  let at = 0;
  while (at < argv.length && argv[at]?.startsWith("-") === true) {
    const name = nameOf(argv[at] ?? "");
    at += isOption(name) && OPTIONS[name].type === "string" && !(argv[at] ?? "").includes("=") ? 2 : 1;
  }
  return Math.min(at, argv.length);
}

/** Node's parser expects long options with two dashes; zkCli's have one. */
function parseOptions(words: readonly string[]): ReturnType<typeof parseWords> {
  const unknown = words.find((word, at) => word.startsWith("-") && !isOption(nameOf(word)) && !isValueAt(words, at));
  if (unknown !== undefined) throw unknownOption(unknown);
  try {
    return parseWords(words.map((word) => (isOption(nameOf(word)) ? `--${word.replace(/^--?/, "")}` : word)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`${reason}; "zooid-cli --help" lists the options`, {
      plain: reason,
      hint: '"zooid-cli --help" lists the options',
    });
  }
}

/** As of the option before it, whose value may begin with a dash. */
function isValueAt(words: readonly string[], at: number): boolean {
  const before = words[at - 1] ?? "";
  const name = nameOf(before);
  return before.startsWith("-") && !before.includes("=") && isOption(name) && OPTIONS[name].type === "string";
}

function unknownOption(word: string): Error {
  const plain = `unknown option ${word.replace(/=.*$/s, "")}`;
  const names = START_OPTIONS.map(({ name }) => name.replace(/^-+/, ""));
  const nearest = nearestOf(names, nameOf(word));
  const option = START_OPTIONS.find(({ name }) => name.replace(/^-+/, "") === nearest);
  const hint = option === undefined ? '"zooid-cli --help" lists the options' : `the nearest is ${option.name}`;
  return usageError(`${plain}; ${hint}`, { plain, hint });
}

function parseWords(args: string[]) {
  return parseArgs({ args, options: OPTIONS }).values;
}

/** In Java's form, with one dash. */
function isProperty(word: string): boolean {
  return /^-D[^=]/.test(word);
}

function nameOf(word: string): string {
  return word.replace(/^--?/, "").replace(/=.*$/s, "");
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

function readTimeout(text: string | undefined): number {
  if (text === undefined) return TIMEOUT_MS;
  const timeoutMs = Number(text);
  if (!/^\d+$/.test(text) || timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX) {
    throw usageError(`-timeout takes milliseconds from 1 to ${TIMEOUT_MS_MAX}, found ${JSON.stringify(text)}`);
  }
  return timeoutMs;
}
