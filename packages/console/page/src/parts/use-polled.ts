import { useCallback, useEffect, useState } from "preact/hooks";
import { textOf } from "../model/api.ts";

export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly reload: () => void;
}

/**
 * Reads at once and then again and again, while the page is visible. `read` and a function of
 * `everyMs` are kept by their caller.
 */
export function usePolled<T>(read: () => Promise<T>, everyMs: number | ((last: T | undefined) => number)): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<string>();
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: T | undefined;
    const next = (): void => {
      if (!isOver) timer = setTimeout(poll, typeof everyMs === "number" ? everyMs : everyMs(last));
    };
    const poll = (): void => {
      if (document.hidden) return next();
      read()
        .then(
          (found) => {
            if (isOver) return;
            last = found;
            setValue(found);
            setError(undefined);
          },
          (reason: unknown) => {
            if (!isOver) setError(textOf(reason));
          },
        )
        .finally(next);
    };
    poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [read, everyMs, round]);
  return { value, error, reload };
}
