import type { Role } from "../access/role.ts";
import { refuse } from "../http/problem.ts";
import { dataJson } from "./json.ts";
import type { NodeJson } from "./shapes.ts";

/**
 * Names of nodes whose data is shown on request only. A help against onlookers: the access list
 * decides who may read.
 */
const SECRET = /(^|[^a-z])(password|passwd|pwd|secret|token|credentials?|private[-_.]?key|api[-_.]?key)([^a-z]|$)/i;

/**
 * Whether a request gets masked data, by its parameter `reveal`.
 *
 * @throws ProblemError for a viewer that asks for them
 */
export function isRevealedTo(role: Role, reveal: "true" | "false" | undefined): boolean {
  const isRevealed = reveal === "true";
  if (isRevealed && role === "viewer") throw refuse(403, "ROLE", "Masked data is shown to editors only");
  return isRevealed;
}

/** The data of a node as an answer has them. */
export function maskedData(
  path: string,
  data: Uint8Array | null,
  isRevealed: boolean,
): Pick<NodeJson, "data" | "isMasked"> {
  const isMasked = !isRevealed && looksSecret(path) && data !== null && data.length > 0;
  return { data: data === null || isMasked ? null : dataJson(data), isMasked };
}

export function looksSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return SECRET.test(name.replace(/([a-z])([A-Z])/g, "$1-$2"));
}
