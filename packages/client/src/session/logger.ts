/** Structured fields of a log record. Values can be written as JSON. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

/**
 * A logger, as `console` and winston are ones: the message first, then the fields. Levels: `debug`
 * for attempts to connect, `info` for changes of `state$`, `warn` for trouble that the client works
 * around, `error` for its end by refused credentials.
 */
export interface Logger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}
