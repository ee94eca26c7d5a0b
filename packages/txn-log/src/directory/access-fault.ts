import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";

/** The access that this process needs: a directory is searched as well. */
export type Access = "read" | "write" | "read and write";

/** The reason why a file or a directory cannot be used, for an operator. */
export interface AccessFault {
  readonly reason: string;
  /** Commands stand in parentheses. */
  readonly remedy: string;
}

/**
 * The reason and the remedy in one sentence.
 *
 * @param tree the directory that is to have one owner; default: the path alone
 */
export function accessFault(path: string, access: Access, tree: string = path): string | undefined {
  const fault = accessProblem(path, access, tree);
  return fault === undefined ? undefined : sentenceOf(fault);
}

export function sentenceOf({ reason, remedy }: AccessFault): string {
  return `${reason}: ${remedy}`;
}

/**
 * The reason why the system does not let this process use a file or a directory: its path, its
 * owner and the user of this process. Undefined where it may be used, or does not exist.
 *
 * @param tree the directory that is to have one owner; default: the path alone
 */
export function accessProblem(path: string, access: Access, tree: string = path): AccessFault | undefined {
  const code = accessCode(path, access);
  if (code === "EROFS") {
    return {
      reason: `${path} is on a file system that is mounted read-only`,
      remedy: `mount it for writing (findmnt -T ${path} names the file system)`,
    };
  }
  if (code !== "EACCES" && code !== "EPERM") return undefined;
  const closed = closedParent(path);
  const [place, lacking] = closed === undefined ? [path, access] : [closed, "search"];
  const { uid, gid, mode } = statSync(place);
  const bits = (mode & 0o7777).toString(8).padStart(4, "0");
  const own = process.getuid?.();
  const lack = `may not ${lacking} it (mode ${bits})`;
  if (own === undefined) return { reason: `this process ${lack}`, remedy: `change the permissions of ${place}` };
  if (own === uid) {
    return {
      reason: `${place} belongs to ${userText(uid)}, as whom this process runs and ${lack}`,
      remedy: `chmod u+rwX ${place}`,
    };
  }
  const remedy =
    closed === undefined ? `give it to that user (chown -R ${own} ${tree})` : `let that user in (chmod o+x ${place})`;
  return {
    reason: `${place} belongs to ${userText(uid)}, group ${gid}, and this process runs as ${userText(own)}, who ${lack}`,
    remedy: `${remedy}, or start the server as ${userText(uid)}`,
  };
}

function accessCode(path: string, access: Access): string | undefined {
  try {
    const isDirectory = statSync(path).isDirectory();
    const read = access === "write" ? 0 : constants.R_OK;
    const write = access === "read" ? 0 : constants.W_OK;
    accessSync(path, read | write | (isDirectory ? constants.X_OK : 0));
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
