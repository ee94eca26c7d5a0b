import type { ByteSlice, PeerMessage } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { Connection } from "../connections/connection.ts";
import type { Session } from "../sessions/session-tracker.ts";
import { ForwardRun } from "./forward-run.ts";
import { SentIdentities } from "./remote-clients.ts";

/**
 * A learner's half of forwarding: sends its clients' writes and syncs to the leader, in the order
 * in which they came. The writes of one turn leave in one message.
 */
export class RequestForwarder {
  readonly #zab: ZabPeer;
  readonly #run = new ForwardRun();
  readonly #sentIdentities = new SentIdentities();

  constructor(zab: ZabPeer) {
    this.#zab = zab;
  }

  /** Forwards the frame of a write, which is copied. */
  forward(sequence: number, session: Session, { ref, identities }: Connection, frame: Readonly<ByteSlice>): void {
    if (this.#sentIdentities.isNew(ref, identities)) this.send({ kind: "identities", client: ref, identities });
    this.#run.add(sequence, session, ref, frame);
  }

  /** Sends any other message, after the writes that came before it. */
  send(message: PeerMessage): void {
    this.flush();
    this.#zab.sendToLeader(message);
  }

  /** Whether {@link flush} has something to send. */
  get hasWaiting(): boolean {
    return this.#run.count > 0;
  }

  flush(): void {
    const run = this.#run;
    if (run.count === 0) return;
    this.#zab.sendToLeader({ kind: "forward", count: run.count, bytes: run.bytes, start: 0, end: run.end });
    run.clear();
  }

  clear(): void {
    this.#run.clear();
    this.#sentIdentities.clear();
  }
}
