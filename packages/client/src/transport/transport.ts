import type { HostAddress } from "../servers/connect-string.ts";

/** The byte pipe beneath a session: how names become addresses and addresses become connections. */
export interface Transport {
  /** Whether it is for ports that speak TLS: those are what `trackEnsemble` then learns of. Default false. */
  readonly isSecure?: boolean;
  /** Every address of a name, asked anew each time; rejects, or is empty, where there is none. */
  resolve(host: HostAddress): Promise<readonly HostAddress[]>;
  /** Begins a connection; what becomes of it is told to `events`, never before this call has returned. */
  connect(address: HostAddress, events: TransportEvents): TransportConnection;
}

export interface TransportEvents {
  opened(): void;
  /** The bytes are valid during the call only. */
  data(chunk: Buffer): void;
  /** After a write that answered false: there is room again. */
  drained(): void;
  /** Once, and last; with the reason where it was a fault. */
  closed(error: Error | undefined): void;
}

export interface TransportConnection {
  /**
   * @param bytes not to be touched before `written` was called
   * @returns false when the connection holds enough for now; what was written is kept all the same
   */
  write(bytes: Buffer, written: () => void): boolean;
  /** Ends it at once. No event comes after. */
  destroy(): void;
}
