/** A stage of its own for each test of a file. */
import type { Client } from "@zooid/client";
import type { ServerOptions } from "@zooid/embedded-server";
import { afterEach, beforeEach } from "vitest";
import { Stage } from "./stage.ts";

export interface Staged {
  readonly stage: Stage;
  /** Two clients, with a session each. */
  readonly a: Client;
  readonly b: Client;
}

/** @param set gets the stage of each test */
export function eachStaged(set: (staged: Staged) => void, options?: ServerOptions): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.start(options);
    const [a, b] = await Promise.all([stage.client(), stage.client()]);
    set({ stage, a, b });
  });
  afterEach(() => stage[Symbol.asyncDispose]());
}
