import { createServer, type Server, type ServerOpts, Socket, type SocketConstructorOpts } from "node:net";

/** The most bytes that the system delivers at a time. */
const ARRIVAL_BYTES = 64 * 1024;
/** The buffer for the bytes of all sockets below, one socket's at a time. */
const ARRIVALS = Buffer.allocUnsafeSlow(ARRIVAL_BYTES);

/** Receives bytes, which are valid during the call only. */
export type ByteTaker = (chunk: Buffer) => void;

/**
 * A server whose sockets read into one shared buffer.
 *
 * By default, Node.js allocates 64 KiB for each packet, cuts the buffer down to the bytes received
 * and leaves the rest to the garbage collector: a quarter of the cost of a small read. Dialed
 * sockets avoid that by `onread`; accepted sockets have no such option, so that each is replaced by
 * a socket that has it. If this version of Node.js does not support that, they stay unchanged.
 * Nothing is read before {@link receive}.
 *
 * @param isShared asked at each connection; false leaves its socket unchanged, and paused
 */
export function createSharedReadServer(
  options: ServerOpts,
  accept: (socket: Socket) => void,
  isShared: () => boolean = () => true,
): Server {
  return createServer({ ...options, pauseOnConnect: true }, (accepted) => {
    accept(isShared() ? takeOver(accepted, options.allowHalfOpen ?? false) : accepted);
  });
}

/**
 * A socket to be connected that reads like those of such a server. {@link receive} is called in its
 * `connect` event at the latest.
 */
export function sharedReadSocket(): Socket {
  return new SharedReadSocket({ allowHalfOpen: false });
}

/** Registers the receiver of a socket with a shared buffer. */
export interface ByteSource {
  begin(take: ByteTaker): void;
}

/** Sets the receiver of all further bytes, in order. Called once a socket, of either kind. */
export function receive(socket: Socket | ByteSource, take: ByteTaker): void {
  if ("begin" in socket) socket.begin(take);
  // A socket that was accepted paused must be resumed.
  else socket.on("data", take).resume();
}

class SharedReadSocket extends Socket implements ByteSource {
  #take: ByteTaker = () => {};

  constructor(options: SocketConstructorOpts) {
    super({
      ...options,
      onread: {
        buffer: ARRIVALS,
        callback: (count) => {
          this.#take(ARRIVALS.subarray(0, count));
          return true;
        },
      },
    });
  }

  begin(take: ByteTaker): void {
    this.#take = take;
    this.read(0);
  }
}

function takeOver(accepted: Socket, allowHalfOpen: boolean): Socket {
  // Node.js does not document this: each part is checked for.
  const handle: unknown = Reflect.get(accepted, "_handle");
  if (!readsIntoBuffers(handle)) return accepted;
  const server: unknown = Reflect.get(accepted, "_server");
  // The first socket no longer owns the handle; the server counts the second one in its place.
  Reflect.set(accepted, "_handle", null);
  const options: SocketConstructorOpts = { allowHalfOpen };
  // As Node's own servers do; these two are missing from the types.
  Object.assign(options, { handle, manualStart: true });
  const socket = new SharedReadSocket(options);
  Reflect.set(socket, "_server", server);
  return socket;
}

function readsIntoBuffers(handle: unknown): boolean {
  return typeof handle === "object" && handle !== null && "useUserBuffer" in handle;
}
