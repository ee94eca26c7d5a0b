import { restoredAt } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { TICK_MS } from "../cluster/server-options.ts";
import type { ModelTree } from "../model/tree.ts";
import { Violation } from "./violation.ts";

/**
 * T2: containers and TTL nodes that are due are removed, but not by a leader whose wall clock was
 * set while it leads, or whose history begins with a restored state, whichever server has restored
 * it: it waits for longer than a run takes.
 */
export class Reaping {
  /** The wall clock of each leader when it began to lead. */
  readonly #begun = new Map<SimServer, { readonly skewMs: number; readonly setCount: number }>();

  stepped(server: SimServer): void {
    if (!server.isLeading) this.#begun.delete(server);
    else if (!this.#begun.has(server)) {
      this.#begun.set(server, { skewMs: server.wallSkewMs, setCount: server.wallSetCount });
    }
  }

  /** A leader proposes to remove a container or a TTL node. */
  proposed(server: SimServer): void {
    if (restoredAt(server.disk.durable) !== undefined) {
      throw new Violation("T2", `server ${server.sid} removes a node right after a state was restored`);
    }
    const byMs = server.wallSkewMs - (this.#begun.get(server)?.skewMs ?? server.wallSkewMs);
    if (Math.abs(byMs) <= TICK_MS) return;
    throw new Violation("T2", `server ${server.sid} removes a node although its wall clock was set by ${byMs} ms`);
  }

  /** A container or TTL node that the leader should have removed, if there is one. */
  dueNode(leader: SimServer, model: ModelTree): string | undefined {
    if (restoredAt(leader.disk.durable) !== undefined) return undefined;
    if (leader.wallSetCount !== this.#begun.get(leader)?.setCount) return undefined;
    return model.dueNode(leader.wallMs);
  }
}
