import { createRequire } from "node:module";
import type { LogEvent, LogFields, LogLevel } from "@zooid/embedded-server";
import { type DestinationStream, pino } from "pino";
import type { ProcessLines, ProcessLogEvent } from "./log-events.ts";

/** A log whose level may change while the process runs. */
export interface ProcessLog extends ProcessLines {
  level: LogLevel;
  /** From now on each JSON line has these fields too. Default: none. */
  describe(context: () => LogContext): void;
  /** The newest lines as they were written, in JSON, the oldest first. */
  recent(): readonly string[];
  /** Writes a line that was asked for, such as the answer to a signal, whatever the level. */
  answer(text: string, fields: LogFields<LogEvent | ProcessLogEvent>): void;
}

/** The state of the server when a line is written. */
export interface LogContext {
  /** As configured; left out for a standalone server. */
  readonly myid?: number;
  readonly role?: string;
  readonly epoch?: number;
  /** The last applied transaction, hexadecimal. */
  readonly zxid?: string;
}

/**
 * Lines that the output does not take are kept up to this size, and written when it does again;
 * further ones are dropped.
 */
const UNWRITTEN_BYTES_MAX = 1024 * 1024;

/** The newest lines are kept for operators, each of at most a few KiB. */
const RECENT_LINES = 200;

/** Loaded for a terminal only: a service has none, and starts sooner. */
const loadPretty = (): typeof import("pino-pretty") => createRequire(import.meta.url)("pino-pretty");

/**
 * Lines for people on a terminal, JSON for log collectors elsewhere. Written at once, so that none
 * is lost at the end.
 *
 * ```
 * {"level":"warn","time":"2026-11-25T04:18:45.123Z","myid":1,"role":"looking","event":"peer-unreachable","peer":2,"address":"zk-2:3888","msg":"…"}
 * ```
 */
export function openLog(level: LogLevel): ProcessLog {
  // A reader that went away, a terminal that was closed, or a full disk must not take the server
  // with it.
  process.stdout.on("error", () => {});
  const output = pino.destination({ dest: 1, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  output.on("error", () => {});
  if (!process.stdout.isTTY) return processLog(level, output);
  const pretty = { destination: output, sync: true, translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l", hideObject: true };
  return processLog(level, loadPretty()(pretty));
}

/** @param destination receives one JSON line at a time */
export function processLog(level: LogLevel, destination: DestinationStream): ProcessLog {
  let context = (): LogContext => ({});
  const recent: string[] = [];
  const kept: DestinationStream = {
    write(line) {
      if (recent.length === RECENT_LINES) recent.shift();
      recent.push(line.trimEnd());
      destination.write(line);
    },
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // A copy: the fields of the line are added to it.
      mixin: () => ({ ...context() }),
    },
    kept,
  );
  const write =
    (level: LogLevel) =>
    (text: string, fields: LogFields<LogEvent | ProcessLogEvent>): void =>
      logger[level](printableFields(fields), printable(text));
  return {
    get level() {
      return logger.level as LogLevel;
    },
    set level(level: LogLevel) {
      logger.level = level;
    },
    recent: () => recent,
    describe(described) {
      context = described;
    },
    answer(text, fields) {
      const { level } = logger;
      if (!logger.isLevelEnabled("info")) logger.level = "info";
      logger.info(fields, printable(text));
      logger.level = level;
    },
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}

/** A longer line is cut off. */
export const LINE_CHARS_MAX = 2000;

/**
 * Characters that {@link isPrintable} refuses; looked for at once, since hardly any text has one.
 */
const UNPRINTABLE = /[^\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u206a-\uffff]/;

/**
 * Control characters, line breaks and direction marks of strangers do not reach a terminal or forge
 * a line.
 */
export function printable(text: string): string {
  if (text.length <= LINE_CHARS_MAX && !UNPRINTABLE.test(text)) return text;
  let line = "";
  for (const char of text.slice(0, LINE_CHARS_MAX))
    line += isPrintable(char.codePointAt(0) ?? 0) ? char : escaped(char);
  return line;
}

/** The fields of a line have paths and addresses of strangers too. */
function printableFields<F extends object>(fields: F): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? printable(value) : value]),
  );
}

function isPrintable(point: number): boolean {
  const isControl = point < 0x20 || (point >= 0x7f && point < 0xa0);
  const isLineBreak = point === 0x2028 || point === 0x2029;
  const isDirectionMark = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  return !isControl && !isLineBreak && !isDirectionMark;
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
