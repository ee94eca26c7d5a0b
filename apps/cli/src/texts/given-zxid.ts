import { parseZxid, type Zxid } from "@zooid/model";
import { usageError } from "../cli-error.ts";
import type { Flags } from "../command-flags.ts";

/** The zxid that a flag names; undefined without the flag. @throws CliError for another word */
export function givenZxid(flags: Flags, name: string): Zxid | undefined {
  const text = flags.value(name);
  return text === undefined ? undefined : readZxid(`--${name}`, text);
}

/** The zxid or the time that a flag names. @throws CliError for another word */
export function givenMoment(flags: Flags, name: string): Zxid | Date | undefined {
  const text = flags.value(name);
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}T/.test(text)) {
    return text === undefined ? undefined : readZxid(`--${name}`, text, " or a time like 2026-05-31T23:59:00Z");
  }
  const time = new Date(text);
  if (time.getTime() >= 0) return time;
  throw usageError(`--${name} takes a time like 2026-05-31T23:59:00Z, found ${JSON.stringify(text)}`);
}

/** @param of what takes the zxid. @throws CliError for another word */
export function readZxid(of: string, text: string, others = ""): Zxid {
  try {
    if (/^0x/i.test(text)) return parseZxid(text);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  throw usageError(`${of} takes a zxid like 0x300000007${others}, found ${JSON.stringify(text)}`);
}
