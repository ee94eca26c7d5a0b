import type { Client } from "@zooid/client";
import type { RecipesJson } from "../api/recipe-shapes.ts";
import { scanRecipes } from "./recipe-scan.ts";

/** Looks at a node and its descendants; scanRecipes, but for tests. */
export type Scan = (client: Client, path: string, signal: AbortSignal) => Promise<Omit<RecipesJson, "intervalMs">>;

interface Kept {
  readonly result: Promise<RecipesJson>;
  /** Undefined while the scan runs. */
  validUntilMs: number | undefined;
}

const INTERVAL_MS = 2_000;
const INTERVAL_MS_MAX = 60_000;
/** Scans of one user and path take at most this part of the time: a twentieth. */
const DUTY = 20;
const PATHS_MAX = 20;
/** Pages ask a moment before a result is due again. */
const EARLY_MS = 200;

/**
 * Scans for recipes, shared by all browsers of a user. A server that sends no pages of children is
 * asked for each node: the longer a scan takes, the longer its result is kept.
 */
export class RecipeScans {
  readonly #scan: Scan;
  readonly #nowMs: () => number;
  readonly #kept = new WeakMap<Client, Map<string, Kept>>();

  constructor(scan: Scan = scanRecipes, nowMs: () => number = () => performance.now()) {
    this.#scan = scan;
    this.#nowMs = nowMs;
  }

  /** @param signal ends a scan when the server stops; a requester that has gone does not */
  read(client: Client, path: string, signal: AbortSignal): Promise<RecipesJson> {
    const ofClient = this.#kept.get(client) ?? new Map<string, Kept>();
    this.#kept.set(client, ofClient);
    const known = ofClient.get(path);
    if (known !== undefined && (known.validUntilMs === undefined || this.#nowMs() < known.validUntilMs)) {
      return known.result;
    }
    const kept: Kept = { result: this.#start(client, path, signal), validUntilMs: undefined };
    ofClient.delete(path);
    ofClient.set(path, kept);
    for (const oldest of ofClient.keys()) {
      if (ofClient.size <= PATHS_MAX) break;
      ofClient.delete(oldest);
    }
    kept.result.then(
      ({ intervalMs }) => {
        kept.validUntilMs = this.#nowMs() + intervalMs - EARLY_MS;
      },
      () => {
        if (ofClient.get(path) === kept) ofClient.delete(path);
      },
    );
    return kept.result;
  }

  async #start(client: Client, path: string, signal: AbortSignal): Promise<RecipesJson> {
    const startMs = this.#nowMs();
    const found = await this.#scan(client, path, signal);
    const tookMs = this.#nowMs() - startMs;
    const intervalMs = Math.round(Math.min(INTERVAL_MS_MAX, Math.max(INTERVAL_MS, DUTY * tookMs)));
    return { ...found, intervalMs };
  }
}
