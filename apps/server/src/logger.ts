import type { ServerLog } from "@zooid/server";
import { pino } from "pino";
import pretty from "pino-pretty";
import type { LogLevel } from "./command-line.ts";

/** A log whose level may change while the process runs. */
export interface ProcessLog extends ServerLog {
  level: LogLevel;
}

/** Lines for people on a terminal, JSON for log collectors elsewhere. Written at once, so that none is lost at the end. */
export function openLog(level: LogLevel): ProcessLog {
  // A reader that went away must not take the server with it.
  process.stdout.on("error", () => {});
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = process.stdout.isTTY
    ? pino(options, pretty({ sync: true, translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l" }))
    : pino(options, pino.destination({ dest: 1, sync: true }));
  return {
    get level() {
      return logger.level as LogLevel;
    },
    set level(level: LogLevel) {
      logger.level = level;
    },
    info: (text) => logger.info(printable(text)),
    warn: (text) => logger.warn(printable(text)),
    error: (text) => logger.error(printable(text)),
  };
}

const LINE_CHARS_MAX = 2000;

/** What {@link isPrintable} is false for; looked for at once, since hardly any text has it. */
const UNPRINTABLE = /[^\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u206a-\uffff]/;

/** Control characters, line breaks and direction marks of strangers do not reach a terminal or forge a line. */
export function printable(text: string): string {
  if (text.length <= LINE_CHARS_MAX && !UNPRINTABLE.test(text)) return text;
  let line = "";
  for (const char of text.slice(0, LINE_CHARS_MAX))
    line += isPrintable(char.codePointAt(0) ?? 0) ? char : escaped(char);
  return line;
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
