import { adminUrlFault } from "@zooid/model";
import { usageError } from "./cli-error.ts";
import type { Invocation } from "./command.ts";

/** URLs of the admin ports of several servers; `*` stands for the host of each. */
export const ADMIN_PATTERN = "http://*:8080";

/** The patterns of `--admin`, given once for each other port. */
export function adminPatterns({ flags }: Pick<Invocation, "flags">): readonly string[] {
  const given = flags.all("admin");
  for (const text of given) {
    const fault = adminUrlFault(text.replace("*", "host"));
    if (fault !== undefined) throw usageError(`--admin: ${fault}; * stands for each server's host`);
  }
  return given.length === 0 ? [ADMIN_PATTERN] : given;
}
