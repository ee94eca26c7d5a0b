/**
 * Who goes to another server when there are others than before, so that all serve alike again and as few move as can be. Each client decides
 * for itself, by chance; it counts on all servers having served alike. The rule is that of ZooKeeper's own clients from 3.5 on: Shraer, Reed,
 * Malkhi, Junqueira, "Dynamic Reconfiguration of Primary/Backup Clusters", USENIX ATC 2012.
 */
import { formatAddress, type HostAddress } from "./connect-string.ts";

export interface ServerChange {
  readonly before: readonly HostAddress[];
  readonly after: readonly HostAddress[];
  /** The server that is connected. */
  readonly current: HostAddress;
  /** Between 0 and 1; asked once, or not at all. */
  readonly random: () => number;
}

/** @returns the servers to go to, each as likely as the others; undefined: the client stays where it is */
export function serversToMoveTo(change: ServerChange): readonly HostAddress[] | undefined {
  const { current, random } = change;
  const before = new Set(change.before.map(nameOf));
  // A server that is named twice is one server.
  const after = [...new Map(change.after.map((host) => [nameOf(host), host])).values()];
  if (after.length === 0) return undefined;
  const kept = after.filter((host) => before.has(nameOf(host)));
  const added = after.filter((host) => !before.has(nameOf(host)));
  const isKept = isAmong(current, after);
  if (after.length > before.size) {
    // Those who were there serve too many now: as many of theirs go as make all alike.
    return isKept && random() >= 1 - before.size / after.length ? undefined : added;
  }
  if (isKept) return undefined;
  // Whose server is gone goes to where fewer are than will be in the end. Where some were added, others are gone: nothing is divided by 0.
  const keptShare = (kept.length * (before.size - after.length)) / (after.length * (before.size - kept.length));
  return added.length === 0 || random() < keptShare ? kept : added;
}

/** Whether an address is one of those that a list names, by the name that it was resolved from or by itself. */
export function isAmong(address: HostAddress, hosts: readonly HostAddress[]): boolean {
  const { name: _, ...itself } = address;
  const names = [nameOf(address), nameOf(itself)];
  return hosts.some((host) => names.includes(nameOf(host)));
}

/** As a connect string names it, whatever address it has. */
function nameOf({ host, port, name = host, ...rest }: HostAddress): string {
  return formatAddress({ ...rest, host: name, port }).toLowerCase();
}
