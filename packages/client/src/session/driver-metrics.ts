/** Metrics of a client. Counters of events never decrease. */
export interface DriverMetrics {
  /** Requests in flight. */
  readonly inFlightCount: number;
  /** Calls that wait for a connection or for room, and their approximate size. */
  readonly waitingCount: number;
  readonly waitingBytes: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Accepted connections. */
  readonly connectionCount: number;
  /** Lost sessions. */
  readonly sessionLossCount: number;
}
