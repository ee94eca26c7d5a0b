import type { LogPosition } from "@zooid/model";

/**
 * An earlier segment, as far as the log still holds it: its entries after one position, through
 * another.
 */
export interface SealedSegment {
  readonly sequence: number;
  readonly after: LogPosition;
  readonly end: LogPosition;
  /** On the disk. */
  readonly bytes: number;
  readonly sealedMs: number;
}
