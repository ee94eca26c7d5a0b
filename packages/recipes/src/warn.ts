import type { Client, LogFields } from "@zooid/client";

/** A warning for the client's logger; without one, a warning of the process with a code. */
export function warn({ logger }: Client, code: string, message: string, fields: LogFields): void {
  if (logger !== undefined) logger.warn(message, { code, ...fields });
  else process.emitWarning(message, { type: "ZooidWarning", code });
}
