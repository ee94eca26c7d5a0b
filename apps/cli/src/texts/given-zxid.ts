import { parseZxid, type Zxid } from "@zooid/model";
import { usageError } from "../cli-error.ts";
import type { Flags } from "../command-flags.ts";

/** The zxid that a flag names; undefined without the flag. @throws CliError for another word */
export function givenZxid(flags: Flags, name: string): Zxid | undefined {
  const text = flags.value(name);
  return text === undefined ? undefined : readZxid(`--${name}`, text);
}

/** @param of what takes the zxid. @throws CliError for another word */
export function readZxid(of: string, text: string): Zxid {
  try {
    if (/^0x/i.test(text)) return parseZxid(text);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  throw usageError(`${of} takes a zxid like 0x300000007, found ${JSON.stringify(text)}`);
}
