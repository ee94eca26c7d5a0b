import { useCallback, useEffect, useState } from "preact/hooks";
import type { RightsJson } from "../../../src/api/node-fact-shapes.ts";
import { api } from "../model/api.ts";
import { forbiddenBy, NOTHING_FORBIDDEN, type NodeAction } from "../model/forbidden.ts";
import { useSession } from "./session-context.ts";

export interface Forbidden {
  readonly actions: ReadonlySet<NodeAction>;
  /** Asks again: the access list has changed. */
  readonly askAgain: () => void;
  /** The node's data has been read. */
  readonly noteRead: () => void;
}

/**
 * The acts on a node that are forbidden to the user. Empty until the console has answered, and
 * where it cannot.
 */
export function useForbidden(path: string): Forbidden {
  const { user } = useSession();
  const [rights, setRights] = useState<RightsJson>();
  const [readPath, setReadPath] = useState<string>();
  const [askedCount, setAskedCount] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    api.rights(path).then(
      (found) => isCurrent && setRights(found),
      () => isCurrent && setRights(undefined),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, user, askedCount]);
  const askAgain = useCallback(() => setAskedCount((count) => count + 1), []);
  const noteRead = useCallback(() => setReadPath(path), [path]);
  const actions = rights?.path === path ? forbiddenBy(rights, readPath === path) : NOTHING_FORBIDDEN;
  return { actions, askAgain, noteRead };
}
