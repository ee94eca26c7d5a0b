import type { ServerId } from "@zooid/model";
import type { FoundingObstacle, PeerPhase, SaidDisk } from "@zooid/zab";
import type { QuorumPeerConfig } from "../peers/ensemble-config.ts";
import type { RefusalKind } from "../peers/peer-connection.ts";
import type { Reachability } from "../peers/reachability.ts";
import type { LogFields } from "./log-fields.ts";

/** Interval at which a server that founds no ensemble, or is beside another one, logs that. */
export const FOUNDING_REPORT_MS = 60_000;
/**
 * Time after the wait by which the last attempts to connect have ended: the obstacles that are left
 * are real.
 */
export const FOUNDING_WARN_MS = 3000;

const PAGE = 'see "A new ensemble, and lost disks" in docs/operations.md';
const RECOVERY_PAGE = "docs/disaster.md";
/** The remedy where servers of one list belong to two ensembles. */
export const ANOTHER_ENSEMBLE_REMEDY: string =
  "Decide which data to keep; stop each server of the other ensemble, move its data directory away, and start it again. " +
  `If the data to keep is on a minority of the voters, see "A wrong founding" in ${RECOVERY_PAGE} first`;

export interface FoundingReportParts {
  readonly ensemble: QuorumPeerConfig;
  /** This server's. */
  readonly phase: () => PeerPhase;
  /**
   * The obstacles to founding an ensemble; undefined for a server that has the data of an ensemble.
   */
  readonly obstacles: () => readonly FoundingObstacle[] | undefined;
  /** This server's disk. */
  readonly disk: () => SaidDisk;
  readonly reachability: Pick<Reachability, "peers">;
  warn(text: string, fields: LogFields): void;
  error(text: string, fields: LogFields): void;
}

/**
 * Reports that this server has no data and founds no ensemble, with what an operator can do; and
 * that listed servers belong to another ensemble, which was founded while this one was not
 * reachable.
 */
export class FoundingReport {
  readonly #parts: FoundingReportParts;
  /** Servers that refuse this one, or are refused, as parts of another ensemble. */
  readonly #others = new Set<ServerId>();
  /** The reports of servers about their disks on their present connections. */
  readonly #said = new Map<ServerId, SaidDisk>();
  /** Those reported since the last check: a connection that comes and goes is one line a check. */
  readonly #reported = new Set<ServerId>();

  constructor(parts: FoundingReportParts) {
    this.#parts = parts;
  }

  /** A connection to a server came about. */
  linked(sid: ServerId, said: SaidDisk): void {
    this.#others.delete(sid);
    this.#said.set(sid, said);
    if (this.#isBesideOther(said) && !this.#reported.has(sid)) this.#reportOther(sid);
  }

  /** A connection to a server ended. */
  lost(sid: ServerId): void {
    this.#said.delete(sid);
  }

  /** A server accepted a connection, and said nothing; or one side has refused the other. */
  unheard(sid: ServerId, refusal: RefusalKind | undefined): void {
    if (refusal !== "ensemble") {
      this.#others.delete(sid);
      return;
    }
    if (this.#others.has(sid)) return;
    this.#others.add(sid);
    this.#reportOther(sid);
  }

  /** For a timer that fires once, when the wait for other servers is over. */
  warnOnce(): void {
    for (const { text, fields } of this.#findings()) this.#parts.warn(text, fields);
  }

  /** For a timer of {@link FOUNDING_REPORT_MS}. */
  check(): void {
    for (const { text, fields } of this.#findings()) this.#parts.error(text, fields);
    this.#reported.clear();
    for (const sid of this.#others) this.#reportOther(sid);
    for (const [sid, said] of this.#said) if (this.#isBesideOther(said)) this.#reportOther(sid);
  }

  /**
   * Whether a connected server has data of another ensemble than the one that this server serves.
   *
   * 1. S1 and S2 lose their disks and found an ensemble, while S3, which has the data, is away.
   * 2. S3 comes back before anything is written there. Their disks say "attempt": a server that
   *    crashed while it founded an ensemble may follow S3, so the connection is not refused.
   */
  #isBesideOther({ history, ensembleId }: SaidDisk): boolean {
    if (this.#isWithoutLeader() || history !== "ensemble" || ensembleId === "") return false;
    const own = this.#parts.disk().ensembleId;
    return own !== "" && own !== ensembleId;
  }

  /** Whether this server has no leader, and leads no epoch. */
  #isWithoutLeader(): boolean {
    const phase = this.#parts.phase();
    return phase === "election" || phase === "discovery";
  }

  /** The obstacles to founding an ensemble, with their remedies; for `/readyz`. */
  note(): string {
    return this.#findings()
      .map(({ text }) => `; ${text}`)
      .join("");
  }

  #findings(): readonly { readonly text: string; readonly fields: LogFields }[] {
    const found = this.#isWithoutLeader() ? (this.#parts.obstacles() ?? []) : [];
    const [one, ...others] = foundersOf(found);
    const another = others.find(({ ensembleId }) => ensembleId !== one?.ensembleId);
    if (one !== undefined && another !== undefined) {
      const text =
        `this server has no data, and listed servers belong to different ensembles: server ${one.sid} to ${one.ensembleId}, server ` +
        `${another.sid} to ${another.ensembleId}. Correct the address of the one that is not meant. ${ANOTHER_ENSEMBLE_REMEDY}`;
      return [{ text, fields: { event: "another-ensemble", peer: another.sid } }];
    }
    return found.map((obstacle) => ({
      text: this.#sentence(obstacle),
      fields: { event: `founding-${obstacle.kind}`, peer: obstacle.sid },
    }));
  }

  #sentence(obstacle: FoundingObstacle): string {
    const { kind, sid } = obstacle;
    const { reachability, ensemble } = this.#parts;
    const peer = reachability.peers.find((each) => each.sid === sid);
    const where = `server ${sid}${peer === undefined ? "" : ` at ${peer.address}`}`;
    const reason = peer === undefined || peer.isConnected ? "" : `: ${peer.reason}`;
    switch (kind) {
      case "has-data":
        if (obstacle.history === "attempt") {
          return (
            `this server founds no ensemble, since ${where} holds an epoch of one in which nothing was written. Start every listed server, ` +
            `since all of them together can continue it; if one is lost for good, stop server ${sid}, move its data directory away, and start ` +
            `it again; ${PAGE}`
          );
        }
        return (
          `this server founds no ensemble, since ${where} ${obstacle.ensembleId === "" ? "has lost data" : "has data"}, or does not say that it has none, as version 0.1.0. Start the other servers that have it; ` +
          `if they are lost for good, see ${RECOVERY_PAGE}. If the data is not needed, stop server ${sid}, move its data directory away, ` +
          `and start it again; ${PAGE}`
        );
      case "not-heard":
        return (
          `this server founds no ensemble, since ${where} accepts connections and it is not known whether it has data` +
          `${reason}. Correct that, or stop server ${sid} if it has none; ${PAGE}`
        );
      case "absent-beside-a-past": {
        const { versionFile } = ensemble;
        const known =
          versionFile === undefined
            ? "another server knows a configuration with a version"
            : `${versionFile} has a version`;
        const instead =
          versionFile === undefined
            ? ""
            : ", or, for a new ensemble, remove the file, and write the server.N lines into zoo.cfg of every server";
        return (
          `this server founds no ensemble, since ${known}, so there was an ensemble, and ${where} is unreachable${reason}. ` +
          `Start the servers that have the data${instead}; ${PAGE}`
        );
      }
      default:
        return `this server founds no ensemble before ${where} is heard, or was unreachable for ${ensemble.foundingWaitMs} ms${reason}`;
    }
  }

  #reportOther(sid: ServerId): void {
    const { disk, ensemble } = this.#parts;
    this.#reported.add(sid);
    this.#parts.error(
      `server ${sid} belongs to another ensemble than server ${ensemble.sid} (${disk().ensembleId}): an ensemble was founded while servers with data ` +
        `were unreachable, or recovered while others were. ${ANOTHER_ENSEMBLE_REMEDY}`,
      { event: "another-ensemble", peer: sid },
    );
  }
}

/** The servers that have the data of an ensemble, and said of which one. */
function foundersOf(
  obstacles: readonly FoundingObstacle[],
): readonly { readonly sid: ServerId; readonly ensembleId: string }[] {
  return obstacles.flatMap((obstacle) => {
    if (obstacle.kind !== "has-data" || obstacle.history === "attempt") return [];
    const { sid, ensembleId = "" } = obstacle;
    return ensembleId === "" ? [] : [{ sid, ensembleId }];
  });
}
