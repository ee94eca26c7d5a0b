import type { ServerId } from "@zooid/model";
import type { PeerConfig } from "./config.ts";

/** Histories that this server saw at others while it led discovery. Each counts for an initLimit. */
export class Sightings {
  readonly #config: PeerConfig;
  readonly #nowMs: () => number;
  #holder: { readonly sid: ServerId; readonly atMs: number } | undefined;
  #ensembleMs = Number.NEGATIVE_INFINITY;

  constructor(config: PeerConfig, nowMs: () => number) {
    this.#config = config;
    this.#nowMs = nowMs;
  }

  /**
   * A voter that holds a history: a server without one leaves the founding of an ensemble to it.
   */
  get historyHolder(): ServerId | undefined {
    return this.#holder !== undefined && this.#counts(this.#holder.atMs) ? this.#holder.sid : undefined;
  }

  /** Whether the other voters are an ensemble with data that this server's own history would replace. */
  get hasMetEnsemble(): boolean {
    return this.#counts(this.#ensembleMs);
  }

  sawHistory(holder: ServerId): void {
    this.#holder = { sid: holder, atMs: this.#nowMs() };
  }

  metEnsemble(): void {
    this.#ensembleMs = this.#nowMs();
  }

  #counts(atMs: number): boolean {
    const { initLimit, tickMs } = this.#config;
    return this.#nowMs() - atMs < initLimit * tickMs;
  }
}
