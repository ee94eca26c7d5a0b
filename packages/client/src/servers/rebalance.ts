/**
 * Decides whether a client moves to another server after a change of the server list, so that all
 * servers serve equally many clients again and as few as possible move. Each client decides by
 * itself, at random, and assumes that the load was even before. The rule is that of ZooKeeper's own
 * clients from 3.5 on: Shraer, Reed, Malkhi, Junqueira, "Dynamic Reconfiguration of Primary/Backup
 * Clusters", USENIX ATC 2012.
 */
import { addressText, type HostAddress } from "./connect-string.ts";

export interface ServerChange {
  readonly before: readonly HostAddress[];
  readonly after: readonly HostAddress[];
  /** The connected server. */
  readonly current: HostAddress;
  /** A random number in [0, 1); called at most once. */
  readonly random: () => number;
}

/** @returns the servers to move to, with equal probability; undefined: the client stays */
export function serversToMoveTo(change: ServerChange): readonly HostAddress[] | undefined {
  const { current, random } = change;
  const before = new Set(change.before.map(nameOf));
  // A server that is listed twice counts once.
  const after = [...new Map(change.after.map((host) => [nameOf(host), host])).values()];
  if (after.length === 0) return undefined;
  const kept = after.filter((host) => before.has(nameOf(host)));
  const added = after.filter((host) => !before.has(nameOf(host)));
  const isKept = isAmong(current, after);
  if (after.length > before.size) {
    // The remaining servers have too many clients now: the surplus moves to the added ones.
    return isKept && random() >= 1 - before.size / after.length ? undefined : added;
  }
  if (isKept) return undefined;
  // Clients of a removed server go to servers that have fewer clients than they will have in the
  // end. No division by 0: if some servers were added, others were removed.
  const keptShare = (kept.length * (before.size - after.length)) / (after.length * (before.size - kept.length));
  return added.length === 0 || random() < keptShare ? kept : added;
}

/** Whether a list contains an address, as such or by the name that it was resolved from. */
export function isAmong(address: HostAddress, hosts: readonly HostAddress[]): boolean {
  const { name: _, ...itself } = address;
  const names = [nameOf(address), nameOf(itself)];
  return hosts.some((host) => names.includes(nameOf(host)));
}

/** The host of the connect string, whatever its address. */
function nameOf({ host, port, name = host, ...rest }: HostAddress): string {
  return addressText({ ...rest, host: name, port }).toLowerCase();
}
