import type { ServerId } from "@zooid/model";
import type { Run } from "../runs/run.ts";
import type { SimRequest } from "./requests.ts";
import type { SimClient } from "./sim-client.ts";

/** An act of a client on behalf of a fault, in place of its ordinary ones. */
export interface Errand {
  /** Where it connects to, asked for each time; undefined: nowhere at the moment. */
  readonly server: () => ServerId | undefined;
  /** The request that it repeats. */
  readonly request: () => SimRequest;
  readonly forMs: number;
}

const PACE_MS = 30;
/** More than an impatient client has: requests must continue while none is answered. */
const IN_FLIGHT_MAX = 40;

/**
 * Errands of clients. Some faults leave a state in which few requests show whether a rule is kept:
 * a sync at a leader that others have deposed, a write at a server that has just lost its link.
 * Random clients are seldom there in time, so the fault sends some of them.
 */
export class Errands {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Sends a client, unless it has an errand or is a hostile tenant. @returns whether it goes */
  send(client: SimClient, errand: Errand): boolean {
    const { nowMs } = this.#run;
    if (client.tenant !== undefined || client.errandUntilMs > nowMs) return false;
    client.errandUntilMs = nowMs + errand.forMs;
    client.sleepsUntilMs = 0;
    this.#go(client, errand);
    return true;
  }

  /** Clients that are free to go. */
  free(): readonly SimClient[] {
    const { clients, nowMs } = this.#run;
    return clients.filter(({ tenant, errandUntilMs }) => tenant === undefined && errandUntilMs <= nowMs);
  }

  #go(client: SimClient, errand: Errand): void {
    const { connections, actions, nowMs } = this.#run;
    if (nowMs >= client.errandUntilMs || actions.isClosing) return;
    this.#run.after(PACE_MS, () => this.#go(client, errand));
    const sid = errand.server();
    if (sid === undefined) return;
    if (client.connection !== undefined && client.connection.server.sid !== sid) {
      connections.drop(client, `goes to s${sid}`);
    }
    if (client.connection === undefined) connections.connect(client, sid);
    else if (client.connection.isReady && client.inFlight.length < IN_FLIGHT_MAX) {
      connections.send(client, errand.request());
    }
  }
}
