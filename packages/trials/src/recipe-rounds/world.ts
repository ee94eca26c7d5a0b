/** The world of a round: servers that fail, and clients whose connections can be broken. */
import type { Client } from "@zooid/client";

export interface Line {
  cut(): void;
  /** Closes new connections, until `accept`. */
  refuse(): void;
  accept(): void;
  freeze(direction: "requests" | "answers" | "both"): void;
  thaw(): void;
}

export interface LinedClient {
  readonly zk: Client;
  readonly line: Line;
}

export interface World {
  /** The time that clients go by. */
  readonly nowMs: number;
  readonly sessionTimeoutMs: number;
  /**
   * Whether no session ends at the servers before its client says so. It may where a leader stands
   * still or cannot be heard, and the server that still answers the client dies: its knowledge of
   * the client is lost. Then guards alone keep holders apart.
   */
  readonly keepsTime: boolean;
  /** Whole numbers below a bound, by the seed. */
  below(bound: number): number;
  sleep(ms: number): Promise<void>;
  client(): Promise<LinedClient>;
  /** Expires a client's session at the server; `about` is called with its id just before. */
  expire(client: Client, about: (sessionId: bigint) => void): Promise<void>;
  /** Does something to the servers that ends automatically; says what. */
  breakServers(): Promise<string>;
  /** All servers are there and hear each other, before this resolves or soon after. */
  heal(): Promise<void>;
  close(): Promise<void>;
}
