/**
 * Servers that may change while a client is connected, and who has to move then so that all serve as many as before: with `before` servers and
 * `after` servers from now on, each client decides for itself, by chance, as Java's clients do (ZOOKEEPER-1355).
 */
import { type ConnectString, formatAddress, type HostAddress, parseConnectString } from "./connect-string.ts";
import type { HostProvider } from "./host-list.ts";

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
   * @param change `current`: the server that is connected, if one is; `random`: between 0 and 1
   * @returns which servers to go to, any of them; undefined: the client stays where it is
   * @throws RangeError for a text that is none, or with another chroot
   */
  update(
    text: string,
    change: { readonly current: HostAddress | undefined; readonly random: () => number },
  ): readonly HostAddress[] | undefined {
    const { hosts: after, chroot } = parseConnectString(text);
    if (chroot !== "/" && chroot !== this.#chroot) {
      throw new RangeError(`the chroot stays ${this.#chroot}, found ${JSON.stringify(text)}`);
    }
    const before = this.#hosts;
    this.#hosts = after;
    const { current, random } = change;
    return current === undefined ? undefined : whereTo(current, { before, after, random });
  }
}

function whereTo(
  current: HostAddress,
  {
    before,
    after,
    random,
  }: { readonly before: readonly HostAddress[]; readonly after: readonly HostAddress[]; readonly random: () => number },
): readonly HostAddress[] | undefined {
  const known = new Set(before.map(nameOf));
  const kept = after.filter((host) => known.has(nameOf(host)));
  const added = after.filter((host) => !known.has(nameOf(host)));
  const isKept = kept.some((host) => nameOf(host) === nameOf(current));
  if (after.length > before.length) {
    // Those who were there serve too many now: as many of theirs go as make all alike.
    return isKept && random() >= 1 - before.length / after.length ? undefined : added;
  }
  if (isKept) return undefined;
  // Whose server is gone goes to where fewer are than will be in the end.
  const keptShare =
    (kept.length * (before.length - after.length)) / (after.length * Math.max(1, before.length - kept.length));
  return added.length === 0 || random() < keptShare ? kept : added;
}

/** As a connect string names it, whatever address it has. */
function nameOf({ host, port, name = host, ...rest }: HostAddress): string {
  return formatAddress({ ...rest, host: name, port });
}
