import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SessionJson } from "../../../src/api/shapes.ts";
import { useLiveState } from "./use-live-state.ts";

const NONE: SessionJson = {
  user: null,
  role: null,
  identities: [],
  csrfToken: "",
  hasRoles: false,
  ensemble: "",
  ensembles: [],
  version: "",
  features: { sessions: false, watches: false, metrics: false, clientReports: false, adminServers: [] },
};

export const SessionContext = createContext<SessionJson>(NONE);

export function useSession(): SessionJson {
  return useContext(SessionContext);
}

/** Whether the console offers changes of the ensemble itself, and other users' sessions. */
export function useIsOperator(): boolean {
  return useSession().role === "operator";
}

/**
 * Whether the console offers changes: not without a connection, where what is shown may be old. The
 * access lists of the tree may still refuse them.
 */
export function useMayEdit(): boolean {
  const { role } = useSession();
  const isConnected = useLiveState() !== "lost";
  return isConnected && (role === "editor" || role === "operator");
}
