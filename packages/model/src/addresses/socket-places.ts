import { ConnectionPlaces, type ConnectionPlacesOptions } from "../shares/connection-places.ts";

/** A socket of any platform. */
export interface PlacedSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * The places of a port's sockets, by their other ends: a socket of TLS, and the one below it, have
 * one place.
 */
export class SocketPlaces {
  readonly #places: ConnectionPlaces<string>;
  readonly #sockets = new Map<string, PlacedSocket>();

  constructor(limits: Omit<ConnectionPlacesOptions<string>, "close">) {
    this.#places = new ConnectionPlaces({ ...limits, close: (end) => this.#sockets.get(end)?.destroy() });
  }

  /** A socket is connected. Where there is no place for it, it is closed. */
  connected(socket: PlacedSocket): void {
    const end = endOf(socket);
    if (this.#places.add(end, socket.remoteAddress ?? "") === "none") {
      socket.destroy();
      return;
    }
    this.#sockets.set(end, socket);
    socket.once("close", () => {
      if (this.#sockets.get(end) !== socket) return;
      this.#sockets.delete(end);
      this.#places.remove(end);
    });
  }

  /** See {@link ConnectionPlaces.setBusy}. */
  setBusy(socket: PlacedSocket, isBusy: boolean): void {
    this.#places.setBusy(endOf(socket), isBusy);
  }

  isReserved(socket: PlacedSocket): boolean {
    return this.#places.isReserved(endOf(socket));
  }
}

function endOf({ remoteAddress = "", remotePort = 0 }: PlacedSocket): string {
  return `${remoteAddress} ${remotePort}`;
}
