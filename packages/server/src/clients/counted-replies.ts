import type { ByteSlice, ConnectionRef, WatchEventType, Zxid } from "@zooid/model";
import { ReplyEncoder, type ReplyTargets } from "@zooid/wire";
import type { Traffic } from "./traffic.ts";
import type { WatchFanOut } from "./watch-fan-out.ts";

/** A notification without its path: length, header, type, state, and the path's own length. */
const EVENT_BYTES = 32;

/**
 * Encodes answers and events, and counts the bytes of events, which show watches that cost too
 * much.
 */
export class CountedReplies extends ReplyEncoder {
  readonly #traffic: Traffic;
  readonly #fanOut: WatchFanOut;
  #eventCount = 0;

  constructor(targets: ReplyTargets, traffic: Traffic, fanOut: WatchFanOut) {
    super(targets);
    this.#traffic = traffic;
    this.#fanOut = fanOut;
  }

  /** Notifications so far. */
  get eventCount(): number {
    return this.#eventCount;
  }

  override event(to: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void {
    this.#eventCount++;
    this.#traffic.watchBytes += EVENT_BYTES + path.end - path.start;
    this.#fanOut.note(zxid, type, path);
    super.event(to, zxid, type, path);
  }
}
