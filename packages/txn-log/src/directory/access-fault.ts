import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";

/** What this process must be able to do: a directory is searched as well. */
export type Access = "read" | "read and write";

/**
 * Why the system does not let this process use a file or a directory, in words for an operator:
 * what it is, whose it is, as which user this process runs, and what to do. Undefined where it may
 * be used, or does not exist.
 *
 * @param tree what belongs together and is to have one owner; default: the path alone
 */
export function accessFault(path: string, access: Access, tree: string = path): string | undefined {
  const code = accessCode(path, access);
  if (code === "EROFS") return `${path} is on a file system that is mounted read-only`;
  if (code !== "EACCES" && code !== "EPERM") return undefined;
  const closed = closedParent(path);
  const [place, lacking] = closed === undefined ? [path, access] : [closed, "search"];
  const { uid, gid, mode } = statSync(place);
  const bits = (mode & 0o7777).toString(8).padStart(4, "0");
  const own = process.getuid?.();
  const lack = `may not ${lacking} it (mode ${bits})`;
  if (own === undefined) return `this process ${lack}: ${place}`;
  if (own === uid)
    return `${place} belongs to ${userText(uid)}, as whom this process runs and ${lack}: chmod u+rwX ${place}`;
  const remedy =
    closed === undefined ? `give it to that user (chown -R ${own} ${tree})` : `let that user in (chmod o+x ${place})`;
  return (
    `${place} belongs to ${userText(uid)}, group ${gid}, and this process runs as ${userText(own)}, who ${lack}: ` +
    `${remedy}, or start the server as ${userText(uid)}`
  );
}

function accessCode(path: string, access: Access): string | undefined {
  try {
    const isDirectory = statSync(path).isDirectory();
    const write = access === "read" ? 0 : constants.W_OK;
    accessSync(path, constants.R_OK | write | (isDirectory ? constants.X_OK : 0));
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : undefined;
  }
}

/**
 * The outermost directory above that keeps this process out; undefined where the path itself does.
 */
function closedParent(path: string): string | undefined {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const outer = closedParent(parent);
  if (outer !== undefined) return outer;
  try {
    accessSync(parent, constants.X_OK);
    return undefined;
  } catch {
    return parent;
  }
}

function userText(uid: number): string {
  const name = nameOf(uid);
  return name === undefined ? `user ${uid}` : `user ${uid} (${name})`;
}

/** Users of a directory service are not in the file. */
function nameOf(uid: number): string | undefined {
  try {
    const own = userInfo();
    if (own.uid === uid) return own.username;
  } catch {
    // A container's user may have no name.
  }
  try {
    const users = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
    return users.find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined;
  }
}
