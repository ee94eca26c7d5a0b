import { useState } from "preact/hooks";
import { textOf } from "../model/api.ts";

export interface Action {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  run(work: () => Promise<unknown>): void;
}

/** Runs what a button starts. The error of a run is kept until the next one. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const run = (work: () => Promise<unknown>): void => {
    setBusy(true);
    setError(undefined);
    work()
      .catch((reason: unknown) => setError(textOf(reason)))
      .finally(() => setBusy(false));
  };
  return { isBusy, error, run };
}
