import { OpCode } from "@zooid/model";

/** The numbers that `cons` and `stat` show for a connection. Times are milliseconds. */
export class ConnectionStats {
  received = 0;
  sent = 0;
  lastOp = 0;
  /** The last xid answered, -1 before the first; pings and other negative ones do not count. */
  lastXid = -1;
  lastZxid = -1;
  lastResponseMs = 0;
  lastLatencyMs = 0;
  latencyMsMin: number = Number.POSITIVE_INFINITY;
  latencyMsMax = 0;
  latencyMsTotal = 0;
  latencyCount = 0;

  answered(op: number, xid: number, zxid: number, latencyMs: number, nowMs: number): void {
    this.sent++;
    this.lastOp = op;
    if (xid >= 0) this.lastXid = xid;
    this.lastZxid = zxid;
    this.lastResponseMs = nowMs;
    this.lastLatencyMs = latencyMs;
    if (op === OpCode.PING) return;
    if (latencyMs < this.latencyMsMin) this.latencyMsMin = latencyMs;
    if (latencyMs > this.latencyMsMax) this.latencyMsMax = latencyMs;
    this.latencyMsTotal += latencyMs;
    this.latencyCount++;
  }

  reset(): void {
    this.received = 0;
    this.sent = 0;
    this.lastOp = 0;
    this.lastXid = -1;
    this.lastZxid = -1;
    this.lastLatencyMs = 0;
    this.latencyMsMin = Number.POSITIVE_INFINITY;
    this.latencyMsMax = 0;
    this.latencyMsTotal = 0;
    this.latencyCount = 0;
  }
}
