/** Numbers for whoever watches over a client. What counts events grows and never shrinks. */
export interface DriverMetrics {
  /** Requests that are on their way. */
  readonly inFlightCount: number;
  /** Calls that wait for a connection, or for room among those on their way, and what they hold, about. */
  readonly waitingCount: number;
  readonly waitingBytes: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Connections that a server has taken. */
  readonly connectionCount: number;
  /** Sessions that were lost. */
  readonly sessionLossCount: number;
}
