import { checkArgument, hasMethods, type Rule } from "@zooid/model";

/** Structured fields of a log record. Values can be written as JSON. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

/**
 * A logger, as `console` and winston are ones: the message first, then the fields. Those of pino
 * and bunyan, which take the fields first, are recognised; others are wrapped by
 * {@link pinoLogger}. Levels: `debug` for attempts to connect, `info` for changes of `state$`,
 * `warn` for trouble that the client works around, `error` for its end by refused credentials.
 */
export interface Logger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}

/** A logger that takes the fields first, as those of pino and bunyan do. */
export interface FieldsFirstLogger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export const loggerRule: Rule = {
  expected: "an object with the methods debug, info, warn and error",
  accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
};

/** A logger of pino's kind as the client's: `connect(hosts, { logger: pinoLogger(log) })`. */
export function pinoLogger(logger: FieldsFirstLogger): Logger {
  checkArgument("pinoLogger", "the logger", logger, loggerRule);
  return {
    debug: (message, fields) => logger.debug(fields, message),
    info: (message, fields) => logger.info(fields, message),
    warn: (message, fields) => logger.warn(fields, message),
    error: (message, fields) => logger.error(fields, message),
  };
}

/**
 * A logger that takes the message first. Of the others, whose types allow this order too, fields
 * would be lost.
 */
export function messageFirst(logger: Logger | FieldsFirstLogger): Logger {
  return takesFieldsFirst(logger) ? pinoLogger(logger) : logger;
}

/** By what loggers of pino and bunyan have, and no others. */
function takesFieldsFirst(logger: Logger | FieldsFirstLogger): logger is FieldsFirstLogger {
  if (typeof logger !== "object" || logger === null) return false;
  return ["bindings", "addSerializers"].some((name) => typeof Reflect.get(logger, name) === "function");
}
