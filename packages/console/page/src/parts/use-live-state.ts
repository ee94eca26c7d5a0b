import { useEffect, useState } from "preact/hooks";
import { type LiveState, live } from "../model/live.ts";

/**
 * Whether the page hears of changes: `lost` while the console, or the console's session, is not
 * connected.
 */
export function useLiveState(): LiveState {
  const [state, setState] = useState<LiveState>(live.state);
  useEffect(() => {
    // It may have changed between the first drawing and this.
    setState(live.state);
    return live.listen({ state: setState });
  }, []);
  return state;
}
