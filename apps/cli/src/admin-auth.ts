import { usageError } from "./cli-error.ts";
import type { Invocation } from "./command.ts";
import type { Flag } from "./command-flags.ts";

/** For commands that need an administrator's identity in their session. */
export const FLAG_AUTH: Flag = {
  name: "auth",
  takesValue: true,
  isOwn: true,
  meaning: "Credentials, as 'digest super:password'; default: $ZOOID_ADMIN_AUTH",
};

/** The administrator's credentials, from the flag or the environment. */
export function adminAuth({ flags }: Pick<Invocation, "flags">): string | undefined {
  return flags.value("auth") ?? process.env["ZOOID_ADMIN_AUTH"];
}

/** Adds the administrator's credentials to the session, where there are any. */
export async function authenticate(invocation: Invocation): Promise<void> {
  const text = adminAuth(invocation);
  if (text === undefined) return;
  const [, scheme, auth] = /^(\S+)\s+(.+)$/s.exec(text) ?? [];
  if (scheme === undefined || auth === undefined) {
    throw usageError("--auth takes a scheme and its credentials, as 'digest super:password'");
  }
  await invocation.connection.addAuth({ scheme, auth }, invocation.signal);
}
