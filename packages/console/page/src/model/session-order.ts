/** The order and the groups of sessions. */
import type { ClientSessionJson } from "../../../src/api/shapes.ts";

export const ORDERS = [
  { id: "session", label: "session" },
  { id: "connected", label: "time connected" },
  { id: "rate", label: "requests a second" },
  { id: "requests", label: "requests" },
  { id: "latency", label: "latency" },
  { id: "ephemerals", label: "ephemeral nodes" },
  { id: "watches", label: "watches" },
] as const;
export type Order = (typeof ORDERS)[number]["id"];

export const GROUPINGS = [
  { id: "none", label: "nothing" },
  { id: "address", label: "address" },
  { id: "member", label: "member" },
  { id: "user", label: "user" },
  { id: "client", label: "client" },
] as const;
export type Grouping = (typeof GROUPINGS)[number]["id"];

export interface SessionGroup {
  /** Empty where there are no groups. */
  readonly name: string;
  readonly sessions: readonly ClientSessionJson[];
}

type Rates = ReadonlyMap<string, number>;

/** The largest comes first. */
const AMOUNTS: Readonly<Record<Order, (session: ClientSessionJson, rates: Rates) => number>> = {
  session: () => 0,
  connected: ({ establishedMs }) => -(establishedMs ?? Number.POSITIVE_INFINITY),
  rate: ({ id }, rates) => rates.get(id) ?? -1,
  requests: ({ received }) => received,
  latency: ({ averageLatencyMs }) => averageLatencyMs ?? -1,
  ephemerals: ({ ephemerals }) => ephemerals?.length ?? -1,
  watches: ({ watches }) => watches ?? -1,
};

/**
 * The largest first, the oldest connection first; unknown values last, and equal ones by the
 * session.
 */
export function ordered(
  sessions: readonly ClientSessionJson[],
  order: Order,
  rates: Rates,
): readonly ClientSessionJson[] {
  const valued = sessions.map((session) => ({ session, value: AMOUNTS[order](session, rates) }));
  valued.sort((a, b) => b.value - a.value || (a.session.id < b.session.id ? -1 : 1));
  return valued.map(({ session }) => session);
}

/** The group with the most sessions first; within a group their order stays. */
export function grouped(sessions: readonly ClientSessionJson[], by: Grouping): readonly SessionGroup[] {
  if (by === "none") return [{ name: "", sessions }];
  const groups = new Map<string, ClientSessionJson[]>();
  for (const session of sessions) {
    const name = groupOf(session, by);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [session]);
    else group.push(session);
  }
  const found = [...groups].map(([name, members]): SessionGroup => ({ name, sessions: members }));
  return found.sort((a, b) => b.sessions.length - a.sessions.length || (a.name < b.name ? -1 : 1));
}

function groupOf({ member, address, users, client }: ClientSessionJson, by: Exclude<Grouping, "none">): string {
  switch (by) {
    case "member":
      return member;
    case "address":
      return hostOf(address);
    case "user":
      if (users === null) return "unknown";
      // A client with several users is one of each, so they are one group together.
      return users.length === 0 ? "not authenticated" : [...users].sort().join(", ");
    case "client":
      return client ?? "unknown";
  }
}

/** An address without its port. */
function hostOf(address: string): string {
  const colon = address.lastIndexOf(":");
  return colon === -1 ? address : address.slice(0, colon);
}
