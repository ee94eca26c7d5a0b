import type { PeerMessage } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { Connection } from "../connections/connection.ts";
import type { Session } from "../sessions/session-table.ts";
import { ForwardRun } from "./forward-run.ts";
import { SentIdentities } from "./remote-clients.ts";

/** What a learner asks of its leader for its clients, in the order in which they asked; writes of one turn leave in one piece. */
export class RequestForwarder {
  readonly #zab: ZabPeer;
  readonly #forwards = new ForwardRun();
  readonly #told = new SentIdentities();

  constructor(zab: ZabPeer) {
    this.#zab = zab;
  }

  /** Forwards the frame of a write, which is copied. */
  write(
    sequence: number,
    session: Session,
    { ref, identities }: Connection,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (this.#told.isNew(ref, identities)) this.ask({ kind: "identities", client: ref, identities });
    this.#forwards.add(sequence, session, ref, bytes, start, end);
  }

  /** Anything else, behind the writes that came before. */
  ask(message: PeerMessage): void {
    this.flush();
    this.#zab.sendToLeader(message);
  }

  flush(): void {
    const run = this.#forwards;
    if (run.count === 0) return;
    this.#zab.sendToLeader({ kind: "forward", count: run.count, bytes: run.bytes, start: 0, end: run.end });
    run.clear();
  }

  clear(): void {
    this.#forwards.clear();
    this.#told.clear();
  }
}
