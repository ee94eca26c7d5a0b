import type { ApachePlace, ApacheTreeFacts } from "@zooid/doctor";
import { type Acl, nodeKind, type SessionId, type Stat, sessionIdHigh, sessionIdLow } from "@zooid/model";

const NONE: ApachePlace = { count: 0, path: "/" };
/** More owners than any ensemble has; beyond them the number is a lower bound. */
const OWNERS_MAX = 1_000_000;
/** Schemes beyond these are not told apart: a name is the client's choice. */
const SCHEMES_MAX = 100;

/** The facts that a server's configuration has. */
export type SurveyedConfiguration = Pick<ApacheTreeFacts, "members" | "hasReconfig">;

/** Adds up what the nodes of a server are like, one after another. */
export class TreeSurvey {
  #nodes = 0;
  #dataBytes = 0;
  #ephemerals = 0;
  readonly #owners = new Set<bigint>();
  readonly #ownerBytes = new Set<number>();
  #longestData = NONE;
  #longestPath = NONE;
  #deepestPath = NONE;
  #mostChildren = NONE;
  readonly #schemes = new Map<string, ApachePlace>();
  #hiddenKinds: ApachePlace | undefined;
  #unread: ApachePlace | undefined;

  get nodes(): number {
    return this.#nodes;
  }

  node(path: string, acl: Acl, stat: Stat): void {
    this.#nodes++;
    this.#dataBytes += stat.dataLength;
    this.#longestData = longer(this.#longestData, stat.dataLength, path);
    this.#longestPath = longer(this.#longestPath, Buffer.byteLength(path), path);
    this.#deepestPath = longer(this.#deepestPath, path.split("/").length - 1, path);
    this.#mostChildren = longer(this.#mostChildren, stat.numChildren, path);
    if (stat.ephemeralOwner !== 0n) this.#owned(path, stat.ephemeralOwner as SessionId);
    for (const scheme of new Set(acl.map((entry) => entry.scheme))) {
      if (this.#schemes.has(scheme) || this.#schemes.size < SCHEMES_MAX)
        this.#schemes.set(scheme, more(this.#schemes.get(scheme), path));
    }
  }

  /** A node that may not be read. */
  unread(path: string): void {
    this.#unread = more(this.#unread, path);
  }

  /** @param address the server that was read */
  facts(address: string, { members, hasReconfig }: SurveyedConfiguration): ApacheTreeFacts {
    return {
      address,
      nodes: this.#nodes,
      dataBytes: this.#dataBytes,
      ephemerals: this.#ephemerals,
      ownerBytes: this.#ownerBytes,
      owners: this.#owners.size,
      longestData: this.#longestData,
      longestPath: this.#longestPath,
      deepestPath: this.#deepestPath,
      mostChildren: this.#mostChildren,
      schemes: this.#schemes,
      hiddenKinds: this.#hiddenKinds,
      unread: this.#unread,
      members,
      hasReconfig,
    };
  }

  #owned(path: string, owner: SessionId): void {
    const high = sessionIdHigh(owner);
    if (nodeKind(high, sessionIdLow(owner)) !== "ephemeral") {
      this.#hiddenKinds = more(this.#hiddenKinds, path);
      return;
    }
    this.#ephemerals++;
    this.#ownerBytes.add((high >>> 24) & 0xff);
    if (this.#owners.size < OWNERS_MAX) this.#owners.add(owner);
  }
}

function longer(place: ApachePlace, count: number, path: string): ApachePlace {
  return count > place.count ? { count, path } : place;
}

/** The first node stays the example. */
function more(place: ApachePlace | undefined, path: string): ApachePlace {
  return place === undefined ? { count: 1, path } : { count: place.count + 1, path: place.path };
}
