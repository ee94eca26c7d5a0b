import { type ByteSlice, WatchEventType, type Zxid } from "@zooid/model";
import { Histogram } from "@zooid/replica";

/**
 * How many watches each change of a node fired, by the type of the change. Notifications of one
 * change are consecutive and share their bytes; a change without watches is not counted.
 */
export class WatchFanOut {
  readonly created: Histogram = new Histogram();
  readonly deleted: Histogram = new Histogram();
  readonly changed: Histogram = new Histogram();
  readonly children: Histogram = new Histogram();
  #zxid: Zxid | -1 = -1;
  #type = 0;
  #start = 0;
  #bytes: Uint8Array | undefined;
  #count = 0;

  /** Counts a notification. A notification of a missed change (zxid -1) was fired by no change. */
  note(zxid: Zxid | -1, type: WatchEventType, { bytes, start }: Readonly<ByteSlice>): void {
    if (zxid === -1) return;
    if (zxid !== this.#zxid || type !== this.#type || start !== this.#start || bytes !== this.#bytes) {
      this.settle();
      this.#zxid = zxid;
      this.#type = type;
      this.#start = start;
      this.#bytes = bytes;
    }
    this.#count++;
  }

  /** Counts the last change, which has no successor yet. */
  settle(): void {
    if (this.#count > 0) this.#histogramOf(this.#type)?.note(this.#count);
    this.#count = 0;
    this.#zxid = -1;
    this.#bytes = undefined;
  }

  reset(): void {
    this.settle();
    for (const histogram of [this.created, this.deleted, this.changed, this.children]) histogram.reset();
  }

  #histogramOf(type: number): Histogram | undefined {
    switch (type) {
      case WatchEventType.NODE_CREATED:
        return this.created;
      case WatchEventType.NODE_DELETED:
        return this.deleted;
      case WatchEventType.NODE_DATA_CHANGED:
        return this.changed;
      case WatchEventType.NODE_CHILDREN_CHANGED:
        return this.children;
      default:
        return undefined;
    }
  }
}
