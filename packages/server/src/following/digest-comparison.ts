import { formatZxid, type Zxid } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";
import type { DigestState } from "./follow-status.ts";

/** Behind a snapshot, digests that differ before the trees count as different. */
const UNEQUAL_MAX = 1000;
const PATHS_SHOWN = 5;
const PATH_CHARS_SHOWN = 200;

/** Apache's digest behind a transaction, and that of the tree here. */
export interface ComparedDigests {
  readonly expected: bigint;
  readonly found: bigint;
  readonly zxid: Zxid;
  /** Paths of the transaction. */
  readonly paths: readonly string[];
}

export interface DigestReports {
  info(text: string, fields: LogFields): void;
  error(text: string, fields: LogFields): void;
}

/**
 * Whether Apache's digests are those of the tree here.
 *
 * A difference does not end the following. Apache's servers can differ among themselves: a server
 * that was killed while it wrote a snapshot has been seen to lack transactions behind its next
 * start, and to send digests of that tree when it leads. Another leader's digests are equal again.
 */
export class DigestComparison {
  readonly #reports: DigestReports;
  #state: DigestState = "none";
  #unequalCount = 0;
  #count = 0;

  constructor(reports: DigestReports) {
    this.#reports = reports;
  }

  get state(): DigestState {
    return this.#state;
  }

  /** Digests that were compared. */
  get count(): number {
    return this.#count;
  }

  /** A snapshot has become the state. */
  begin(): void {
    this.#state = "none";
    this.#unequalCount = 0;
  }

  compare(digests: ComparedDigests): void {
    this.#count++;
    if (digests.found === digests.expected) {
      if (this.#state === "different") this.#equalAgain(digests);
      this.#state = "equal";
      return;
    }
    if (this.#state === "different") return;
    if (this.#state !== "equal" && ++this.#unequalCount <= UNEQUAL_MAX) {
      this.#state = "not-equal-yet";
      return;
    }
    this.#state = "different";
    this.#differ(digests);
  }

  #equalAgain({ zxid }: ComparedDigests): void {
    this.#reports.info(`Apache's digests are equal again from transaction ${formatZxid(zxid)} on`, {
      event: "follow-digest-equal",
    });
  }

  #differ({ expected, found, zxid, paths }: ComparedDigests): void {
    this.#reports.error(
      `the digest behind transaction ${formatZxid(zxid)} is ${found}, and that of Apache's leader is ${expected}: the trees differ; ` +
        `the transaction is of ${shownPaths(paths)}; the following continues, and zooid-cli migrate compare shows the znodes that differ`,
      { event: "follow-digest-differs" },
    );
  }
}

function shownPaths(paths: readonly string[]): string {
  if (paths.length === 0) return "no path";
  const more = paths.length > PATHS_SHOWN ? ` and ${paths.length - PATHS_SHOWN} more` : "";
  return `${paths.slice(0, PATHS_SHOWN).map(shownPath).join(", ")}${more}`;
}

/** A session has no path. */
function shownPath(path: string): string {
  if (!path.startsWith("/")) return path;
  return JSON.stringify(path.length > PATH_CHARS_SHOWN ? `${path.slice(0, PATH_CHARS_SHOWN)}…` : path);
}
