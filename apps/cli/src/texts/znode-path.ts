import { CliError } from "../cli-error.ts";

/**
 * Refuses what can be no path, before anything is sent, in zkCli's words.
 *
 * @param options.isSequential the server will append digits, so a slash may stand at the end
 * @returns the path
 */
export function checkedPath(path: string, options: { readonly isSequential?: boolean } = {}): string {
  const fault = faultOf(options.isSequential === true ? `${path}1` : path);
  if (fault !== undefined) throw new CliError(fault, { code: "INVALID_PATH", path });
  return path;
}

function faultOf(path: string): string | undefined {
  if (path === "") return "Path length must be > 0";
  if (!path.startsWith("/")) return "Path must start with / character";
  if (path === "/") return undefined;
  if (path.endsWith("/")) return "Path must not end with / character";
  let segment = 1;
  for (let at = 1; at <= path.length; at++) {
    if (at < path.length && path[at] !== "/") {
      const reason = illegal(path.charCodeAt(at));
      if (reason !== undefined) return invalid(path, reason, at);
      continue;
    }
    const name = path.slice(segment, at);
    if (name === "") return invalid(path, "empty node name specified", at);
    if (name === "." || name === "..") return invalid(path, "relative paths not allowed", at - 1);
    segment = at + 1;
  }
  return undefined;
}

function invalid(path: string, reason: string, at: number): string {
  return `Invalid path string "${path}" caused by ${reason} @${at}`;
}

function illegal(unit: number): string | undefined {
  if (unit === 0) return "null character not allowed";
  const isControl = unit <= 0x1f || (unit >= 0x7f && unit <= 0x9f);
  // Surrogates are among these: ZooKeeper takes no character above U+FFFF.
  const isReserved = (unit >= 0xd800 && unit <= 0xf8ff) || unit >= 0xfff0;
  return isControl || isReserved ? "invalid character" : undefined;
}
