import type { MemberJson, MetricsJson } from "../api/shapes.ts";

/** An hour, one sample every ten seconds. */
const INTERVAL_MS = 10_000;
const SAMPLES_MAX = 360;
const MEMBERS_MAX = 20;
export const METRIC_NAMES = [
  ...["requests", "latency", "connections", "outstanding", "nodes", "transactions"],
] as const;
type MetricName = (typeof METRIC_NAMES)[number];

interface MemberSeries {
  /** The member's newest address. */
  address: string;
  readonly values: Readonly<Record<MetricName, (number | null)[]>>;
  /** For rates: the counts of the sample before. */
  last: { readonly received: number; readonly zxid: bigint; readonly atMs: number } | undefined;
}

/** The last hour of each member's figures, in memory. */
export class MetricHistory {
  readonly #times: number[] = [];
  /** By the server's id, or by its address until the ensemble's configuration is known. */
  readonly #members = new Map<number | string, MemberSeries>();

  get intervalMs(): number {
    return INTERVAL_MS;
  }

  /** @param nowMs since 1970 */
  add(members: readonly MemberJson[], nowMs: number): void {
    this.#times.push(Math.round(nowMs / 1000));
    this.#adopt(members);
    for (const member of members.slice(0, MEMBERS_MAX)) this.#noteMember(member);
    for (const [key, series] of this.#members) {
      const sample = sampleOf(
        series,
        members.find((member) => keyOf(member) === key),
        nowMs,
      );
      for (const name of METRIC_NAMES) series.values[name].push(sample[name]);
    }
    if (this.#times.length <= SAMPLES_MAX) return;
    this.#times.shift();
    for (const { values } of this.#members.values()) for (const name of METRIC_NAMES) values[name].shift();
    this.#forget();
  }

  json(): MetricsJson {
    return {
      intervalMs: INTERVAL_MS,
      times: [...this.#times],
      series: [...this.#members.values()].flatMap(({ address, values }) =>
        METRIC_NAMES.map((name) => ({ name, member: address, values: [...values[name]] })),
      ),
    };
  }

  /**
   * The first samples are of the servers as the connect string names them, the later ones of the
   * members as the configuration does: one server may have two names.
   */
  #adopt(members: readonly MemberJson[]): void {
    const isKnown = members.length > 0 && members.every(({ sid }) => sid !== null);
    if (!isKnown) return;
    const keys = new Set(members.map(keyOf));
    const unlisted = [...this.#members].filter(([key]) => !keys.has(key));
    const isOnlyOne = members.length === 1 && unlisted.filter(([key]) => typeof key === "string").length === 1;
    for (const [key, series] of unlisted) {
      const isNamed = typeof key === "string";
      const member =
        members.find(({ address }) => address === series.address) ?? (isNamed && isOnlyOne ? members[0] : undefined);
      // A member that has left keeps its figures, until another one has its address.
      if (!isNamed && member === undefined) continue;
      this.#members.delete(key);
      if (member !== undefined && !this.#members.has(keyOf(member))) this.#members.set(keyOf(member), series);
    }
  }

  /** A member that has left, and has no figure of the last hour, gives way to others. */
  #forget(): void {
    for (const [key, { values }] of this.#members) {
      if (METRIC_NAMES.every((name) => values[name].every((value) => value === null))) this.#members.delete(key);
    }
  }

  /** A new member has no values for the time before. */
  #noteMember(member: MemberJson): void {
    const { address } = member;
    const known = this.#members.get(keyOf(member));
    if (known !== undefined) known.address = address;
    if (known !== undefined || this.#members.size >= MEMBERS_MAX) return;
    const none = (): null[] => Array.from({ length: this.#times.length - 1 }, () => null);
    this.#members.set(keyOf(member), {
      address,
      values: {
        requests: none(),
        latency: none(),
        connections: none(),
        outstanding: none(),
        nodes: none(),
        transactions: none(),
      },
      last: undefined,
    });
  }
}

function keyOf({ sid, address }: MemberJson): number | string {
  return sid ?? address;
}

function sampleOf(
  series: MemberSeries,
  member: MemberJson | undefined,
  nowMs: number,
): Readonly<Record<MetricName, number | null>> {
  const { last } = series;
  if (member?.zxid == null || member.received === null) {
    series.last = undefined;
    return { requests: null, latency: null, connections: null, outstanding: null, nodes: null, transactions: null };
  }
  const zxid = BigInt(member.zxid);
  const { received } = member;
  series.last = { received, zxid, atMs: nowMs };
  const seconds = last === undefined ? 0 : (nowMs - last.atMs) / 1000;
  const rate = (change: number): number | null => (seconds > 0 && change >= 0 ? change / seconds : null);
  const isSameEpoch = last !== undefined && last.zxid >> 32n === zxid >> 32n;
  return {
    requests: last === undefined ? null : rate(received - last.received),
    latency: member.latencyMs?.average ?? null,
    connections: member.connections,
    outstanding: member.outstanding,
    nodes: member.nodeCount,
    transactions: last !== undefined && isSameEpoch ? rate(Number(zxid - last.zxid)) : null,
  };
}
