import type { Client } from "@zooid/client";
import { type ServerId, serverId } from "@zooid/model";
import type { EnsembleClients } from "./ensemble-clients.ts";
import type { SimulatedServers } from "./simulated-servers.ts";

/** Numbers of servers, and clients with their names. */
export type PartitionGroup = readonly (number | string | Client)[];

/** Divisions of the network, of servers from each other and of clients from servers. */
export class Partitions {
  readonly #servers: SimulatedServers;
  readonly #clients: EnsembleClients;

  constructor(servers: SimulatedServers, clients: EnsembleClients) {
    this.#servers = servers;
    this.#clients = clients;
  }

  /**
   * Servers that stand in no group are a group of their own; clients that stand in none reach all.
   */
  divide(groups: readonly PartitionGroup[]): void {
    const groupOf = new Map<ServerId, number>();
    for (const [i, group] of groups.entries()) {
      for (const each of group) if (typeof each === "number") groupOf.set(serverId(each), i);
    }
    this.#servers.block((a, b) => groupOf.get(a) !== groupOf.get(b));
    const { sids } = this.#servers.cluster;
    for (const [i, group] of groups.entries()) {
      for (const each of group) {
        if (typeof each === "number") continue;
        this.#clients.link(each).block(sids.filter((sid) => groupOf.get(sid) !== i));
      }
    }
  }

  /** Opens every link. */
  heal(): void {
    this.#servers.cluster.healLinks();
    for (const link of this.#clients.links) link.block([]);
  }

  describe(groups: readonly PartitionGroup[]): string {
    return groups.map((group) => group.map((each) => this.#nameOf(each)).join(", ")).join(" | ");
  }

  #nameOf(each: number | string | Client): string {
    return typeof each === "number" ? `server ${each}` : this.#clients.link(each).name;
  }
}
