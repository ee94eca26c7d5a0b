import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, connect } from "@zooid/client";
import { formatHosts, type Host, sourceAddress } from "../connections/hosts.ts";
import { transportFrom } from "./source-transport.ts";

export interface RecipeClientsOptions {
  readonly hosts: readonly Host[];
  readonly count: number;
  readonly sessionTimeoutMs: number;
}

/** Maximum number of connections being opened. */
const BATCH_COUNT = 64;
const START_TIMEOUT_MS = 30_000;
/** Lists of contenders may be long. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const QUIET_MS = 5;
const QUIET_COUNT = 2;

/**
 * The clients of a thread, each with a session and a connection of its own, and counts of their
 * calls and events.
 */
export class RecipeClients {
  readonly all: Client[] = [];
  /** Number of calls. */
  requests = 0;
  /** Number of events from servers. */
  notifications = 0;
  #unanswered = 0;
  readonly #channels = {
    "zk:client:request": () => {
      this.requests++;
      this.#unanswered++;
    },
    "zk:client:response": () => {
      this.#unanswered--;
    },
    "zk:client:watch": () => {
      this.notifications++;
    },
  };

  /** The hosts are shared evenly. */
  static async open({ hosts, count, sessionTimeoutMs }: RecipeClientsOptions): Promise<RecipeClients> {
    const clients = new RecipeClients();
    const open = (index: number): Promise<Client> => {
      const turn = index % hosts.length;
      const ordered = [...hosts.slice(turn), ...hosts.slice(0, turn)];
      return connect(formatHosts(ordered), {
        sessionTimeoutMs,
        startTimeoutMs: START_TIMEOUT_MS,
        frameBytesMax: FRAME_BYTES_MAX,
        hostOrder: "given",
        transport: transportFrom(sourceAddress(ordered[0] as Host, index)),
      });
    };
    for (let from = 0; from < count; from += BATCH_COUNT) {
      const length = Math.min(BATCH_COUNT, count - from);
      clients.all.push(...(await Promise.all(Array.from({ length }, (_, i) => open(from + i)))));
    }
    return clients;
  }

  constructor() {
    for (const [name, heard] of Object.entries(this.#channels)) subscribe(name, heard);
  }

  /**
   * Resolves when all calls are answered, and no further ones followed; also when all are closed.
   */
  async quiet(): Promise<void> {
    for (let calm = 0; calm < QUIET_COUNT; ) {
      await pause(QUIET_MS);
      calm = this.#unanswered === 0 ? calm + 1 : 0;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((client) => client.close()));
    for (const [name, heard] of Object.entries(this.#channels)) unsubscribe(name, heard);
    // Refusals after the client's end are not published any more.
    this.#unanswered = 0;
  }
}
