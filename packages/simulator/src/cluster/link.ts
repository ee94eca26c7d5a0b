import { copyRange, type LinkRef, type PeerMessage, type ServerId } from "@zooid/model";

/** One direction of a link: messages arrive in order, or are lost. */
export interface Stream {
  readonly from: ServerId;
  readonly to: ServerId;
  /** The number that its writer knows the link by. */
  readonly ref: LinkRef;
  readonly queue: PeerMessage[];
  /** Nothing more is read from it. */
  isDeaf: boolean;
  /** The writer has closed it: after what is queued, the reader learns so. */
  isEnded: boolean;
  isMoving: boolean;
}

export interface Link {
  readonly dialer: Stream;
  readonly acceptor: Stream;
}

export function newLink(
  from: ServerId,
  to: ServerId,
  refs: { readonly dialer: LinkRef; readonly acceptor: LinkRef },
): Link {
  return { dialer: newStream(from, to, refs.dialer), acceptor: newStream(to, from, refs.acceptor) };
}

function newStream(from: ServerId, to: ServerId, ref: LinkRef): Stream {
  return { from, to, ref, queue: [], isDeaf: false, isEnded: false, isMoving: false };
}

export function isBetween({ dialer: { from, to } }: Link, a: ServerId, b: ServerId): boolean {
  return (from === a && to === b) || (from === b && to === a);
}

/** The stream that a server writes to. */
export function outgoingOf({ dialer, acceptor }: Link, sid: ServerId, ref: LinkRef): Stream | undefined {
  if (dialer.from === sid && dialer.ref === ref) return dialer;
  return acceptor.from === sid && acceptor.ref === ref ? acceptor : undefined;
}

/** The number that the reader of a stream knows the link by: that of its own outgoing stream. */
export function readerRef({ dialer, acceptor }: Link, stream: Stream): LinkRef {
  return stream === dialer ? acceptor.ref : dialer.ref;
}

/** A message that its sender cannot change any more by reusing a buffer. */
export function ownCopy(message: PeerMessage): PeerMessage {
  switch (message.kind) {
    case "entries":
    case "forward":
    case "snapshot-chunk": {
      const bytes = copyRange(message.bytes, message.start, message.end);
      return { ...message, bytes, start: 0, end: bytes.length };
    }
    default:
      return message;
  }
}
