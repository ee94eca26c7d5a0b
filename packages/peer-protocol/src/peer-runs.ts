import { type EntriesMessage, type ForwardMessage, FRAME_HEADER_BYTES, frameLength, frameZxid } from "@zooid/model";

/**
 * Runs: entries, or requests, one behind the other in one field of bytes. Protobuf would make each
 * a message of its own; a run is copied and checksummed in one piece, goes to the log without being
 * decoded, and is cut only where it is longer than a frame may be. `hot-fields.ts` draws both
 * kinds.
 */

/** The bytes before each request of a forwarded run; see `ForwardMessage`. */
export const FORWARD_HEADER_BYTES = 24;

/** How many bytes the request has whose header begins at `at`. */
export function forwardLength(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at + 20] as number) << 24) |
      ((bytes[at + 21] as number) << 16) |
      ((bytes[at + 22] as number) << 8) |
      (bytes[at + 23] as number)) >>>
    0
  );
}

/**
 * A run that one frame cannot hold, as several messages with whole entries or requests that mean
 * the same.
 */
export function* splitRun(
  message: EntriesMessage | Extract<ForwardMessage, { readonly kind: "forward" }>,
  runBytesMax: number,
): Generator<typeof message> {
  const { bytes, end } = message;
  const sizeAt =
    message.kind === "entries"
      ? (at: number) => FRAME_HEADER_BYTES + frameLength(bytes, at)
      : (at: number) => FORWARD_HEADER_BYTES + forwardLength(bytes, at);
  let previous = message.kind === "entries" ? message.previous : undefined;
  for (let start = message.start; start < end; ) {
    let at = start;
    let count = 0;
    let last = start;
    while (at < end) {
      const next = at + sizeAt(at);
      if (count > 0 && next - start > runBytesMax) break;
      last = at;
      at = next;
      count++;
    }
    if (message.kind === "forward") yield { ...message, count, start, end: at };
    else {
      const lastZxid = frameZxid(bytes, last);
      yield {
        ...message,
        previous: previous ?? message.previous,
        first: frameZxid(bytes, start),
        last: lastZxid,
        count,
        start,
        end: at,
      };
      previous = lastZxid;
    }
    start = at;
  }
}
