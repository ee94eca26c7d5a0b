import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RecipeJson, RecipePartJson } from "../../../src/api/recipe-shapes.ts";
import { api, textOf } from "../model/api.ts";
import type { Progress } from "../model/progress.ts";

export interface RecipeWalk {
  readonly state: "idle" | "running" | "stopped" | "complete";
  readonly recipes: readonly RecipeJson[];
  readonly progress: Progress;
  readonly error: string | undefined;
  /** From the beginning, or from where it was stopped. */
  readonly start: () => void;
  readonly stop: () => void;
}

interface Found extends Progress {
  readonly recipes: readonly RecipeJson[];
  readonly next: RecipePartJson["next"];
}

const NOTHING: Found = { recipes: [], doneCount: 0, total: undefined, elapsedMs: 0, next: null };

/**
 * Searches all descendants of a node, a part after the other, until it is stopped or another node
 * is chosen.
 */
export function useRecipeWalk(path: string): RecipeWalk {
  const [found, setFound] = useState(NOTHING);
  const [state, setState] = useState<RecipeWalk["state"]>("idle");
  const [error, setError] = useState<string>();
  const running = useRef<object | undefined>(undefined);
  const stop = useCallback(() => {
    running.current = undefined;
    setState((last) => (last === "running" ? "stopped" : last));
  }, []);
  useEffect(() => {
    setFound(NOTHING);
    setState("idle");
    setError(undefined);
    return stop;
  }, [path, stop]);
  const start = (): void => {
    const own = {};
    running.current = own;
    setState("running");
    setError(undefined);
    const walk = async (): Promise<void> => {
      let at = state === "stopped" ? found : NOTHING;
      setFound(at);
      do {
        const startMs = performance.now();
        const part = await api.recipePart(path, at.next);
        if (running.current !== own) return;
        at = {
          recipes: [...at.recipes, ...part.recipes],
          doneCount: at.doneCount + part.scannedCount,
          total: at.total ?? part.total ?? undefined,
          elapsedMs: at.elapsedMs + performance.now() - startMs,
          next: part.next,
        };
        setFound(at);
      } while (at.next !== null);
      setState("complete");
    };
    walk().catch((reason: unknown) => {
      if (running.current !== own) return;
      setError(textOf(reason));
      setState("stopped");
    });
  };
  const { recipes, doneCount, total, elapsedMs } = found;
  return { state, recipes, progress: { doneCount, total, elapsedMs }, error, start, stop };
}
