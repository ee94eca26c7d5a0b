/** Conversion between the caller's paths, under a chroot or namespace, and the server's. */
import { checkPath, misfit, rules } from "@zooid/model";
import { zkError } from "../errors.ts";

const HINT_CHARS_MAX = 256;
const SLASH = 0x2f;
const DOT = 0x2e;

/** @throws ZkError INVALID_PATH */
export function checkedPath(path: string, op: string): string {
  if (typeof path !== "string") refuseNoText(path, op);
  if (!isPlain(path)) refuseInvalid(path, path, op);
  return path;
}

/** The same for a sequential node, whose name before the number may be empty, as in `/queue/`. */
export function checkedSequentialPath(path: string, op: string): string {
  if (typeof path !== "string") refuseNoText(path, op);
  if (!isPlain(path)) refuseInvalid(`${path}0`, path, op);
  return path;
}

/** The server's path for a caller's. */
export function underRoot(root: string, path: string): string {
  if (root === "/") return path;
  return path === "/" ? root : root + path;
}

/** The caller's path for a server's; a path outside of the root is returned as it is. */
export function withoutRoot(root: string, path: string): string {
  if (root === "/") return path;
  if (path === root) return "/";
  return path.startsWith(root) && path.charCodeAt(root.length) === SLASH ? path.slice(root.length) : path;
}

/**
 * Whether a path is valid without a closer check: printable ASCII without empty or dotted names.
 */
function isPlain(path: string): boolean {
  const { length } = path;
  if (length < 2 || path.charCodeAt(0) !== SLASH || path.charCodeAt(length - 1) === SLASH) return false;
  let before = 0;
  for (let i = 0; i < length; i++) {
    const code = path.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || (before === SLASH && (code === SLASH || code === DOT))) return false;
    before = code;
  }
  return true;
}

/** @throws ZkError INVALID_PATH: JavaScript lets callers pass anything */
function refuseNoText(path: unknown, op: string): void {
  const message = `${op}: ${misfit("the path", path, rules.text)}`;
  throw zkError({ code: "INVALID_PATH", op, outcome: "not-sent", message });
}

/** The path that is meant by one with a slash too few or too many. */
function hintFor(path: string): string {
  const meant = `/${path
    .split("/")
    .filter((name) => name !== "")
    .join("/")}`;
  return path.length <= HINT_CHARS_MAX && isPlain(meant) ? `; did you mean ${JSON.stringify(meant)}?` : "";
}

function refuseInvalid(checked: string, path: string, op: string): void {
  try {
    checkPath(checked);
  } catch (error) {
    const message = `${op}: ${error instanceof Error ? error.message : String(error)}${hintFor(path)}`;
    throw zkError({ code: "INVALID_PATH", op, path, outcome: "not-sent", message }, { cause: error });
  }
}
