/**
 * Credentials in lines of commands: they stand in `addauth`, and in the flag `--auth` of other
 * commands.
 */
const ADDAUTH = /^\s*addauth\b/;
const AUTH_FLAG = /\s["']?--auth\b/;

/** Whether a line has credentials. */
export function isSecret(line: string): boolean {
  return ADDAUTH.test(line) || AUTH_FLAG.test(line);
}

/** The line up to its credentials. */
export function withoutSecrets(line: string): string {
  const found = ADDAUTH.exec(line) ?? AUTH_FLAG.exec(line);
  return found === null ? line : `${line.slice(0, found.index + found[0].length)} ***`;
}
