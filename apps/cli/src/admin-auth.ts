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
  await invocation.connection.addAuth(credentialsIn(text, "digest super:password"), invocation.signal);
}

/**
 * A scheme, and its credentials behind white space.
 *
 * @param example for the error
 */
export function credentialsIn(text: string, example: string): { readonly scheme: string; readonly auth: string } {
  const end = text.search(/\s/);
  const auth = end === -1 ? "" : text.slice(end).trimStart();
  if (end < 1 || auth === "") throw usageError(`--auth takes a scheme and its credentials, as '${example}'`);
  return { scheme: text.slice(0, end), auth };
}
