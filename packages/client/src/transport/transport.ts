import type { HostAddress } from "../servers/connect-string.ts";

/** The byte pipe beneath a session: how names become addresses and addresses become connections. */
export interface Transport {
  /**
   * Whether it is for ports with TLS: those are the ones that `trackEnsemble` learns. Default
   * false.
   */
  readonly isSecure?: boolean;
  /** The problem of the client's own certificate, for messages; undefined where none is known. */
  certificateFault?(): string | undefined;
  /** All addresses of a name, resolved at each call; rejects, or is empty, if there is none. */
  resolve(host: HostAddress): Promise<readonly HostAddress[]>;
  /**
   * Starts a connection; its events go to `events`, never before this call has returned.
   *
   * @param reachMs maximum time in milliseconds until the address accepts the connection, before
   *   TLS and the like; the next address is tried then. Default: no limit. May be ignored
   */
  connect(address: HostAddress, events: TransportEvents, reachMs?: number): TransportConnection;
}

export interface TransportEvents {
  opened(): void;
  /** The bytes are valid during the call only. */
  data(chunk: Buffer): void;
  /** After a write that returned false: there is room again. */
  drained(): void;
  /** Called once, last; with the error if there was one. */
  closed(error: Error | undefined): void;
}

export interface TransportConnection {
  /**
   * @param bytes must not be modified until `written` is called
   * @returns false when the buffer is full; the bytes are kept all the same
   */
  write(bytes: Buffer, written: () => void): boolean;
  /** Closes it at once. No event follows. */
  destroy(): void;
}
