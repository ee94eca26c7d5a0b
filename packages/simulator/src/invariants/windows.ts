import type { LinkRef, PeerMessage, Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

interface InFlight {
  readonly runs: { readonly last: Zxid; readonly bytes: number }[];
  bytes: number;
}

/** B5: a leader sends a learner no further run of entries while a window of them is not acked. */
export class Windows {
  readonly #windowBytes: number;
  readonly #links = new WeakMap<SimServer, Map<LinkRef, InFlight>>();

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    if (message.kind !== "entries") return;
    const inFlight = this.#inFlight(server, link);
    if (inFlight.bytes >= this.#windowBytes) {
      const what = `${inFlight.bytes} bytes that are not acked, of a window of ${this.#windowBytes}`;
      throw new Violation("B5", `server ${server.sid} sends a learner more behind ${what}`);
    }
    const bytes = message.end - message.start;
    inFlight.runs.push({ last: message.last, bytes });
    inFlight.bytes += bytes;
  }

  /** A message arrives; the server has not read it yet. */
  received(server: SimServer, link: LinkRef, message: PeerMessage): void {
    if (message.kind === "ack") this.#acked(server, link, message.durable);
    else if (message.kind === "ack-new-leader" || message.kind === "staged") this.#acked(server, link, message.through);
  }

  #acked(server: SimServer, link: LinkRef, durable: Zxid): void {
    const inFlight = this.#inFlight(server, link);
    for (let run = inFlight.runs[0]; run !== undefined && run.last <= durable; run = inFlight.runs[0]) {
      inFlight.runs.shift();
      inFlight.bytes -= run.bytes;
    }
  }

  #inFlight(server: SimServer, link: LinkRef): InFlight {
    let links = this.#links.get(server);
    if (links === undefined) {
      links = new Map();
      this.#links.set(server, links);
    }
    let inFlight = links.get(link);
    if (inFlight === undefined) {
      inFlight = { runs: [], bytes: 0 };
      links.set(link, inFlight);
    }
    return inFlight;
  }
}
