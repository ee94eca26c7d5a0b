import { useEffect } from "preact/hooks";

/** Listens to events of the window while the caller is shown; without a listener, to none. */
export function useWindowEvent<K extends keyof WindowEventMap>(
  type: K,
  listener: ((event: WindowEventMap[K]) => void) | undefined,
): void {
  useEffect(() => {
    if (listener === undefined) return;
    addEventListener(type, listener);
    return () => removeEventListener(type, listener);
  }, [type, listener]);
}
