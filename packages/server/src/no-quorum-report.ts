import { formatZxid, type QuorumVerifier, type ServerId, ZXID_NONE, type Zxid } from "@zooid/model";
import type { LogFields } from "./log-fields.ts";

/** How often a server without a quorum says so. */
export const NO_QUORUM_REPORT_MS = 60_000;

const START_THEM = "Start the servers that are down.";

export interface NoQuorumParts {
  readonly sid: ServerId;
  readonly isLooking: () => boolean;
  /** Servers that this one has a connection to. */
  readonly connected: () => readonly ServerId[];
  /** `1 of 3 voters reachable; server 2 at zk-2:3888: …` */
  readonly summary: () => string;
  readonly members: () => KnownConfiguration;
  error(text: string, fields: LogFields): void;
}

export interface KnownConfiguration {
  readonly verifier: QuorumVerifier;
  /** Undefined where the servers cannot be changed while the ensemble runs. */
  readonly version: Zxid | undefined;
  /** Whether this server is one of them. */
  readonly isListed: boolean;
}

/**
 * Reports that no quorum of the servers that this one knows can be reached. They may be down; or this
 * server was away, or removed, while others replaced them, and no server is left that knows
 * those:
 *
 * 1. Server 1 of 1, 2, 3 stops. 2. The ensemble becomes 4, 5, 6, and servers 2 and 3 are stopped. 3. S1
 * starts: it looks for 2 and 3 for ever.
 */
export class NoQuorumReport {
  readonly #parts: NoQuorumParts;

  constructor(parts: NoQuorumParts) {
    this.#parts = parts;
  }

  /** For a timer of {@link NO_QUORUM_REPORT_MS}. */
  check(): void {
    const { connected, error, isLooking, members, sid, summary } = this.#parts;
    if (!isLooking()) return;
    const { isListed, verifier, version } = members();
    if (verifier.isQuorum([sid, ...connected()])) return;
    const fields = { event: "no-quorum", ...(version === undefined ? {} : { zxid: formatZxid(version) }) };
    const known = version === undefined ? "" : ` of configuration ${formatZxid(version)}`;
    const found = `no quorum of the servers${known} is reachable: ${summary()}.`;
    if (version === undefined) {
      error(
        `${found} ${START_THEM} If the ensemble has other servers by now, write their server.N lines into this server's zoo.cfg, ` +
          "and restart it",
        fields,
      );
      return;
    }
    const removed =
      isListed || version === ZXID_NONE ? "" : ` That configuration removed server ${sid}, which can be stopped.`;
    error(
      `${found}${removed} ${START_THEM} If the ensemble has other servers by now, save what ` +
        "`zooid-cli -server HOST:PORT config` prints at one of them as a new file, name that file in this server's zoo.cfg " +
        "as dynamicConfigFile, in place of server.N lines, and restart this server",
      fields,
    );
  }
}
