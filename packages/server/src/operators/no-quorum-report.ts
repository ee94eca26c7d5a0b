import {
  formatZxid,
  isSameVotes,
  type Members,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { DiskDoubt, SaidDisk, SaidHistory } from "@zooid/zab";
import type { OperatorEvent } from "./log-events.ts";
import type { LogFields } from "./log-fields.ts";
import { listText } from "./operator-sentences.ts";

/** Time without a quorum until a server reports it, and the interval at which it repeats that. */
export const NO_QUORUM_REPORT_MS = 60_000;
/** Interval of the checks. */
export const NO_QUORUM_CHECK_MS = 5_000;

const START_THEM = "Start the servers that are down.";
const CORRECT_THEM = "Correct what keeps these servers from each other: they are there.";
/** The page for the case that this cannot be done. */
const PAGE = "docs/disaster.md";

/** Why a server itself is not counted. */
export type OwnLoss = "part-of-the-log" | DiskDoubt;

export interface NoQuorumParts {
  readonly sid: ServerId;
  /** Whether the server has a role in which it serves clients. */
  readonly isServing: () => boolean;
  /** Why this server is not counted, if its log has lost a part, or its disk is in doubt. */
  readonly loss: () => OwnLoss | undefined;
  /** The history on this server's disk. */
  readonly history: () => SaidHistory;
  /** Servers that this one has a connection to. */
  readonly connected: () => readonly ServerId[];
  /** Servers that are there: they object to this one, or this one to them. */
  readonly refused: () => readonly ServerId[];
  /** `1 of 3 voters reachable; server 2 at zk-2:3888: …` */
  readonly summary: () => string;
  readonly members: () => KnownConfiguration;
  error(text: string, fields: LogFields): void;
}

export interface KnownConfiguration {
  readonly verifier: QuorumVerifier;
  /** ZXID_NONE before the servers have agreed on one. */
  readonly version: Zxid;
  /**
   * The list in this server's file, where operators change the members in files; undefined where
   * clients do.
   */
  readonly file: Pick<Members, "servers"> | undefined;
  /** In force. */
  readonly list: Pick<Members, "servers"> | undefined;
  /** Whether this server is one of them. */
  readonly isListed: boolean;
}

/**
 * Reports that no quorum of the servers that this one knows can be reached, or that those that are
 * reached do not count: they have lost their disks. They may be down; or this server was away, or
 * removed, while others replaced them, and no server is left that knows those:
 *
 * 1. Server 1 of 1, 2, 3 stops.
 * 2. The ensemble becomes 4, 5, 6, and servers 2 and 3 are stopped.
 * 3. S1 starts: it looks for 2 and 3 indefinitely.
 */
export class NoQuorumReport {
  readonly #parts: NoQuorumParts;
  /**
   * Voters that follow and are not counted, with the reason, as far as this server has led or
   * looked for a leader.
   */
  readonly #uncounted = new Map<ServerId, string>();
  #sinceMs: number | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: NoQuorumParts) {
    this.#parts = parts;
  }

  /**
   * Takes the report of a server about its disk, from a new connection. Beside data a server
   * without any has no vote.
   */
  heard(sid: ServerId, { history, ensembleId }: Pick<SaidDisk, "history" | "ensembleId">): void {
    if (this.#parts.history() === "ensemble" && history === "none") this.#uncounted.set(sid, LOST_DISK);
    // It has lost all of its log, and knows that.
    else if (history === "ensemble" && ensembleId === "") this.#uncounted.set(sid, LOST_PART);
    else this.#uncounted.delete(sid);
  }

  /** A server that looks for a leader says in an election whether it votes. */
  voted(sid: ServerId, hasVote: boolean): void {
    if (!hasVote && !this.#uncounted.has(sid)) this.#uncounted.set(sid, NO_VOTE);
    else if (hasVote && this.#uncounted.get(sid) === NO_VOTE) this.#uncounted.delete(sid);
  }

  /** An event of the broadcast, which may say which servers are counted. */
  noted(event: OperatorEvent): void {
    if (event.kind === "learner-not-counted") {
      this.#uncounted.set(event.sid, event.isOldDisk === true ? OLD_DISK : LOST_DISK);
    } else if (event.kind === "learner-follows") this.#uncounted.delete(event.sid);
    else if (event.kind === "history-missing-here" || event.kind === "founding-forbidden")
      this.#uncounted.set(this.#parts.sid, `it has no data, and server ${event.sid} has`);
  }

  /** For a timer of {@link NO_QUORUM_CHECK_MS}. */
  check(nowMs: number): void {
    if (this.hasQuorum()) {
      this.#sinceMs = undefined;
      return;
    }
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < NO_QUORUM_REPORT_MS || nowMs - this.#reportedMs < NO_QUORUM_REPORT_MS) return;
    this.#reportedMs = nowMs;
    this.#report();
  }

  /**
   * Which servers are not counted, and once there was no quorum for a while, the page to read; for
   * `/readyz`.
   */
  note(nowMs: number): string {
    if (this.#parts.isServing()) return "";
    const isLong = this.#sinceMs !== undefined && nowMs - this.#sinceMs >= NO_QUORUM_REPORT_MS;
    const page = isLong
      ? `; no quorum for ${Math.floor((nowMs - (this.#sinceMs ?? nowMs)) / 1000)} s, see ${PAGE}`
      : "";
    return `${this.#uncountedText()}${page}`;
  }

  /** Whether this server serves, or is connected to a quorum of voters that count. */
  hasQuorum(): boolean {
    const { connected, isServing, members, sid } = this.#parts;
    if (isServing()) {
      this.#uncounted.clear();
      return true;
    }
    const uncounted = this.#uncountedNow();
    return members().verifier.isQuorum([sid, ...connected()].filter((each) => !uncounted.has(each)));
  }

  #uncountedNow(): ReadonlyMap<ServerId, string> {
    const loss = this.#parts.loss();
    if (loss === undefined) return this.#uncounted;
    return new Map([...this.#uncounted, [this.#parts.sid, LOSSES[loss]]]);
  }

  #uncountedText(): string {
    const { sid: own } = this.#parts;
    return [...this.#uncountedNow()]
      .map(([sid, reason]) => `; server ${sid}${sid === own ? " (this one)" : ""} is not counted: ${reason}`)
      .join("");
  }

  #remedy(): string {
    const { connected, members, refused, sid } = this.#parts;
    const there = new Set([sid, ...connected(), ...refused()]);
    const isMissing = [...members().verifier.voters].some((voter) => !there.has(voter));
    const remedies = [refused().length > 0 ? CORRECT_THEM : "", isMissing ? START_THEM : ""];
    return remedies.map((text) => (text === "" ? "" : ` ${text}`)).join("");
  }

  #report(): void {
    const { error, members, sid, summary } = this.#parts;
    const { isListed, version, file, list } = members();
    const isAgreed = version !== ZXID_NONE;
    const fields: LogFields = { event: "no-quorum", ...(isAgreed ? { zxid: formatZxid(version) } : {}) };
    const known = isAgreed ? ` of configuration ${formatZxid(version)}` : "";
    const found = `no quorum of the servers${known}: ${summary()}${this.#uncountedText()}.`;
    const remedy = this.#remedy();
    const lost = `If a quorum is lost for good, see ${PAGE}`;
    const removed = isListed || !isAgreed ? "" : ` That configuration removed server ${sid}, which can be stopped.`;
    if (file !== undefined) {
      // Two servers become one while the other one is down: the one that is left has no quorum of
      // the list in force.
      const differs =
        list === undefined || isSameVotes(file, list)
          ? ""
          : ` The file of this server lists ${listText(file)}, and the list in force is ${listText(list)}: only a quorum of both changes it.`;
      error(
        `${found}${differs}${removed}${remedy} If the ensemble has other servers by now, write their server.N lines into this server's zoo.cfg, ` +
          `and restart it. ${lost}`,
        fields,
      );
      return;
    }
    error(
      `${found}${removed}${remedy} If the ensemble has other servers by now, save what ` +
        "`zooid-cli -server HOST:PORT config` prints at one of them as a new file, name that file in this server's zoo.cfg " +
        `as dynamicConfigFile, in place of server.N lines, and restart this server. ${lost}`,
      fields,
    );
  }
}

const LOST_DISK = "its data directory is empty, has lost data, or has another history";
const NO_VOTE = "it does not vote, and its log says why";
const OLD_DISK =
  "its disk is not the one by which the ensemble counts it: an older one, or one whose file disk-id was lost";
const LOST_PART = "it has lost its log, or a part of it";
const LOSSES: Readonly<Record<OwnLoss, string>> = {
  "part-of-the-log": LOST_PART,
  "old-disk": OLD_DISK,
  "newer-file":
    "its dynamic file has a newer configuration than its log, and no server has confirmed that one yet: the disk of the log may be an older one. It votes once all servers of that configuration are there, each with the same file, or with lines server.N in zoo.cfg in place of dynamicConfigFile",
};
