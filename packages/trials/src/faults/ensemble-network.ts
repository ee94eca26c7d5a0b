/**
 * A network for servers of which any direction between any two can be cut.
 *
 * Each server has a network namespace. Every two are joined by a pair of virtual interfaces of
 * their own, where a bridge would have only one for each server: so whatever one sends to another
 * can be dropped or throttled without touching anything else, by what stands at the sending end.
 * Clients, in the namespace of the tool, reach each server by one more pair that no fault touches:
 * a server that is cut off from the others still hears its clients.
 */
import { mkdirSync } from "node:fs";
import { run } from "../processes/own-namespaces.ts";
import type { Place } from "./ensemble-servers.ts";

const CLIENT_PORT = 2181;
const QUORUM_PORT = 2888;
const ELECTION_PORT = 3888;
const NAMES = "/run/netns";
/** Less than the load asks for, with a short queue: what does not fit waits or is dropped. */
const THROTTLE = ["tbf", "rate", "4mbit", "burst", "5kb", "limit", "30kb"] as const;

/** From one server to another, by their ids. */
export type Direction = readonly [from: number, to: number];

export class EnsembleNetwork {
  readonly places: readonly Place[];
  readonly #changed = new Map<string, Direction>();

  /** Only inside a network and a mount namespace of one's own. */
  constructor(serverCount: number) {
    mkdirSync(NAMES, { recursive: true });
    run("mount", "-t", "tmpfs", "none", NAMES);
    const sids = Array.from({ length: serverCount }, (_, index) => index + 1);
    for (const sid of sids) {
      run("ip", "netns", "add", `s${sid}`);
      run("ip", "-n", `s${sid}`, "link", "set", "lo", "up");
      run("ip", "-n", `s${sid}`, "address", "add", `${peerHost(sid)}/32`, "dev", "lo");
      joinClients(sid);
    }
    for (const [from, to] of directions(sids)) if (from < to) join(from, to);
    this.places = sids.map((sid) => ({
      clientHost: clientHost(sid),
      clientPort: CLIENT_PORT,
      peerHost: peerHost(sid),
      quorumPort: QUORUM_PORT,
      electionPort: ELECTION_PORT,
      prefix: ["ip", "netns", "exec", `s${sid}`],
    }));
  }

  /** Loses all packets that are sent that way from now on, without a sign. */
  cut(ways: readonly Direction[]): void {
    this.#replace(ways, ["blackhole"]);
  }

  /** Slows packets that are sent that way from now on, and loses them where too many wait. */
  throttle(ways: readonly Direction[]): void {
    this.#replace(ways, THROTTLE);
  }

  heal(): void {
    for (const [from, to] of this.#changed.values())
      run("tc", "-n", `s${from}`, "qdisc", "del", "dev", link(from, to), "root");
    this.#changed.clear();
  }

  #replace(ways: readonly Direction[], discipline: readonly string[]): void {
    for (const way of ways) {
      const [from, to] = way;
      run("tc", "-n", `s${from}`, "qdisc", "replace", "dev", link(from, to), "root", ...discipline);
      this.#changed.set(link(from, to), way);
    }
  }
}

/** Every direction between two of these. */
function directions(sids: readonly number[]): readonly Direction[] {
  return sids.flatMap((from) => sids.filter((to) => to !== from).map((to) => [from, to] as const));
}

/** Every direction from the first to the second. */
export function between(froms: readonly number[], tos: readonly number[]): readonly Direction[] {
  return froms.flatMap((from) => tos.map((to) => [from, to] as const));
}

/** Every direction between one of the first and one of the second. */
export function bothWays(some: readonly number[], others: readonly number[]): readonly Direction[] {
  return [...between(some, others), ...between(others, some)];
}

function join(a: number, b: number): void {
  const ends = [
    [a, b],
    [b, a],
  ] as const;
  run("ip", "link", "add", link(a, b), "netns", `s${a}`, "type", "veth", "peer", "name", link(b, a), "netns", `s${b}`);
  for (const [from, to] of ends) {
    run("ip", "-n", `s${from}`, "link", "set", link(from, to), "address", hardwareAddress(from, to), "up");
  }
  for (const [from, to] of ends) {
    const at = ["dev", link(from, to)];
    // Known beforehand: a cut shall not leave behind that an address was not found.
    run("ip", "-n", `s${from}`, "neighbour", "add", peerHost(to), "lladdr", hardwareAddress(to, from), ...at);
    run("ip", "-n", `s${from}`, "route", "add", `${peerHost(to)}/32`, ...at, "src", peerHost(from));
  }
}

function joinClients(sid: number): void {
  run("ip", "link", "add", `c${sid}`, "type", "veth", "peer", "name", "clients", "netns", `s${sid}`);
  run("ip", "-n", `s${sid}`, "address", "add", `${clientHost(sid)}/24`, "dev", "clients");
  run("ip", "-n", `s${sid}`, "link", "set", "clients", "up");
  run("ip", "address", "add", `10.78.${sid}.2/24`, "dev", `c${sid}`);
  run("ip", "link", "set", `c${sid}`, "up");
}

function link(from: number, to: number): string {
  return `to${to}from${from}`;
}

function peerHost(sid: number): string {
  return `10.77.0.${sid}`;
}

function clientHost(sid: number): string {
  return `10.78.${sid}.1`;
}

function hardwareAddress(from: number, to: number): string {
  return `02:00:00:00:0${from}:0${to}`;
}
