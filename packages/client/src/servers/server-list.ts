import { ArgumentError } from "@zooid/model";
import { type ConnectString, type HostAddress, parseConnectString } from "./connect-string.ts";
import type { HostProvider } from "./host-list.ts";
import { serversToMoveTo } from "./rebalance.ts";

/** The servers of a connect string, or those that replaced them while the client is connected. */
export class ServerList implements HostProvider {
  readonly #chroot: string;
  #hosts: readonly HostAddress[];

  constructor({ hosts, chroot }: ConnectString) {
    this.#hosts = hosts;
    this.#chroot = chroot;
  }

  hosts(): readonly HostAddress[] {
    return this.#hosts;
  }

  /**
   * @param text a connect string, with the same chroot or without one
   * @param change `current`: the connected server, if any; `random`: a random number in [0, 1)
   * @returns the servers to move to, any of them; undefined: the client stays
   * @throws ArgumentError for an invalid text, or one with another chroot
   */
  update(
    text: string,
    change: { readonly current: HostAddress | undefined; readonly random: () => number },
  ): readonly HostAddress[] | undefined {
    const { hosts: after, chroot } = parseConnectString(text);
    if (chroot !== "/" && chroot !== this.#chroot) {
      throw new ArgumentError("updateServers", [`the chroot stays ${this.#chroot}, found ${JSON.stringify(text)}`]);
    }
    const before = this.#hosts;
    this.#hosts = after;
    const { current, random } = change;
    return current === undefined ? undefined : serversToMoveTo({ before, after, current, random });
  }
}
