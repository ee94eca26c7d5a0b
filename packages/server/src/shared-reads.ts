import { createServer, type Server, type ServerOpts, Socket, type SocketConstructorOpts } from "node:net";

/** What the system hands over at a time, at most. */
const ARRIVAL_BYTES = 64 * 1024;
/** Where the bytes of all sockets below arrive, one socket's at a time. */
const ARRIVALS = Buffer.allocUnsafeSlow(ARRIVAL_BYTES);

/** Takes what arrived. The bytes are valid during the call only. */
export type ByteTaker = (chunk: Buffer) => void;

/**
 * A server whose sockets read into one buffer that they share.
 *
 * By itself, Node.js allocates 64 KiB for each packet, cuts them down to what came and leaves the rest to the collector: a quarter of what a
 * small read costs. Sockets that are dialed are spared that by `onread`; for those that are accepted there is no such option, so that
 * each is taken over by a socket that has it. Where this version of Node.js does not let us, they stay as they came.
 *
 * Nothing is read before {@link receive}.
 */
export function createSharedReadServer(options: ServerOpts, accept: (socket: Socket) => void): Server {
  return createServer({ ...options, pauseOnConnect: true }, (accepted) => {
    accept(takeOver(accepted, options.allowHalfOpen ?? false));
  });
}

/** A socket that is to be connected, and reads like those of such a server. {@link receive} comes in its `connect` event at the latest. */
export function sharedReadSocket(): Socket {
  return new SharedReadSocket({ allowHalfOpen: false });
}

/** What hands over what arrives by itself, once it is told to whom. */
export interface ByteSource {
  begin(take: ByteTaker): void;
}

/** Has all that arrives from now on taken, in order. Called once a socket, whichever kind it is. */
export function receive(socket: Socket | ByteSource, take: ByteTaker): void {
  if ("begin" in socket) socket.begin(take);
  // One that came paused goes on only when told to.
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
  // It is in no documentation: each piece of it is looked for.
  const handle: unknown = Reflect.get(accepted, "_handle");
  if (!readsIntoBuffers(handle)) return accepted;
  const server: unknown = Reflect.get(accepted, "_server");
  // The first socket has nothing to close any more; the server counts the second one in its place.
  Reflect.set(accepted, "_handle", null);
  const options: SocketConstructorOpts = { allowHalfOpen };
  // As Node's own servers make them; no type tells of these two.
  Object.assign(options, { handle, manualStart: true });
  const socket = new SharedReadSocket(options);
  Reflect.set(socket, "_server", server);
  return socket;
}

function readsIntoBuffers(handle: unknown): boolean {
  return typeof handle === "object" && handle !== null && "useUserBuffer" in handle;
}
