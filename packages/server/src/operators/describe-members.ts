import type { Members } from "@zooid/model";

/** `servers 1, 2 and 3 vote, server 4 observes` */
export function describeMembers({ servers }: Members): string {
  const named = (isObserver: boolean): readonly string[] =>
    servers.filter((server) => server.isObserver === isObserver).map(({ sid }) => String(sid));
  const [voters, observers] = [named(false), named(true)];
  const vote = `${listed(voters)} ${voters.length === 1 ? "votes" : "vote"}`;
  return observers.length === 0
    ? vote
    : `${vote}, ${listed(observers)} ${observers.length === 1 ? "observes" : "observe"}`;
}

function listed(sids: readonly string[]): string {
  const last = sids.at(-1) ?? "";
  return sids.length < 2 ? `server ${last}` : `servers ${sids.slice(0, -1).join(", ")} and ${last}`;
}
