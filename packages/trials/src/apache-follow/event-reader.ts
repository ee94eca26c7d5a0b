import { setTimeout as delay } from "node:timers/promises";
import { type ApacheFollower, type FollowEvent, type FollowOptions, follow } from "@zooid/apache-peer";
import type { FollowedTree } from "./followed-tree.ts";

const DEADLINE_MS = 60_000;
const POLL_MS = 20;
/** A machine that others share takes longer. */
let deadlineMs = DEADLINE_MS;

/** How long {@link until} waits, in this process. */
export function setDeadline(ms: number): void {
  deadlineMs = ms;
}

/** Reads a follower's events into the tree, as they come. */
export class EventReader implements AsyncDisposable {
  readonly follower: ApacheFollower;
  readonly #running: Promise<void>;
  #pause: PromiseWithResolvers<void> | undefined;
  #failure: unknown;

  constructor(hosts: string, options: FollowOptions, tree: FollowedTree) {
    this.follower = follow(hosts, options);
    this.#running = this.#read(tree).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  pause(): void {
    this.#pause = Promise.withResolvers();
  }

  resume(): void {
    this.#pause?.resolve();
    this.#pause = undefined;
  }

  async until(isReached: () => boolean): Promise<void> {
    const isEnded = (): boolean => this.#failure !== undefined || isReached();
    await until(isEnded, () => JSON.stringify(this.follower.status));
    if (this.#failure !== undefined) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.follower[Symbol.asyncDispose]();
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #read(tree: FollowedTree): Promise<void> {
    for await (const event of this.follower) {
      tree.take(event);
      report(event);
      await this.#pause?.promise;
    }
  }
}

function report(event: FollowEvent): void {
  if (event.kind === "disconnected") console.log(`  disconnected: ${event.error.message}`);
}

/** Waits for a condition. @throws where it is not reached in time, with the facts */
export async function until(
  isReached: () => boolean | Promise<boolean>,
  facts: () => string = () => "",
): Promise<void> {
  const startMs = performance.now();
  while (!(await isReached())) {
    if (performance.now() - startMs > deadlineMs) throw new Error(`not reached within ${deadlineMs} ms: ${facts()}`);
    await delay(POLL_MS);
  }
}
