import type { RightJson, RightsJson } from "../../../src/api/node-fact-shapes.ts";

export type NodeAction = RightJson["action"];

export const NOTHING_FORBIDDEN: ReadonlySet<NodeAction> = new Set();

/**
 * The actions that the servers would refuse: the page does not offer them. Only certain ones count:
 * where a list is hidden from the user, or another rule than the lists holds, the server decides.
 *
 * @param isRead whether the node's data has been read. Where the lists would forbid that, servers
 *   do not go by them (`skipACL`), and nothing is known
 */
export function forbiddenBy(rights: RightsJson, isRead: boolean): ReadonlySet<NodeAction> {
  const refused = rights.rights.filter(({ verdict }) => verdict === "no").map(({ action }) => action);
  return isRead && refused.includes("read") ? NOTHING_FORBIDDEN : new Set(refused);
}
