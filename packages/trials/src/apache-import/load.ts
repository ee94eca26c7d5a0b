/** Requests of several clients that change a tree. */
export interface Load {
  /** Requests that were answered. */
  readonly answered: number;
  /** Creates the nodes below which all others are. */
  begin(): Promise<void>;
  /** Clients come and go until {@link stop}, or until the server ends; then it may reject. */
  run(clients: number): Promise<void>;
  /** Ends all clients; their sessions stay open. */
  stop(): void;
}
