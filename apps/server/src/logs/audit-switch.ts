import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ZooidServer } from "@zooid/embedded-server";
import { AuditLog, auditFileError } from "./audit-log.ts";
import type { ProcessLines } from "./log-events.ts";

/** Another file, or none, that is ready to become the audit log. */
export interface PreparedAudit {
  /** It gets the writes from now on, and the file before is finished and closed. */
  apply(): void;
  /** It is not used. */
  drop(): void;
}

const UNCHANGED: PreparedAudit = { apply: () => {}, drop: () => {} };

/** The audit log of a process, which a reload turns on or off, or puts into another file. */
export class AuditSwitch {
  readonly #log: ProcessLines;
  #file: string | undefined;
  #audit: AuditLog | undefined;
  #server: Pick<ZooidServer, "audit$"> | undefined;
  /** Files of before that are being closed. */
  readonly #closing = new Set<Promise<void>>();

  /**
   * @param file undefined for none
   * @throws ConfigError where it cannot be written
   */
  constructor(file: string | undefined, log: ProcessLines) {
    this.#log = log;
    this.#file = file;
    this.#audit = file === undefined ? undefined : new AuditLog({ file, log });
  }

  /** Undefined where there is no audit log. */
  get file(): string | undefined {
    return this.#file;
  }

  /** Writes down that the server has started, and what its clients do from now on. */
  follow(server: Pick<ZooidServer, "audit$">): void {
    this.#server = server;
    this.#audit?.started();
    this.#audit?.follow(server);
  }

  /**
   * Opens another file.
   *
   * @param file undefined for none
   * @throws ConfigError where it cannot be written
   */
  prepare(file: string | undefined): PreparedAudit {
    if (file === this.#file) return UNCHANGED;
    const next = file === undefined ? undefined : new AuditLog({ file, log: this.#log });
    return {
      apply: () => {
        const before = this.#audit;
        this.#audit = next;
        this.#file = file;
        if (this.#server !== undefined) next?.follow(this.#server);
        this.#close(before);
      },
      drop: () => this.#close(next),
    };
  }

  /**
   * Judges another file without making it.
   *
   * @throws ConfigError where it could not be written
   */
  check(file: string | undefined): void {
    if (file === undefined || file === this.#file) return;
    let there = file;
    while (statSync(there, { throwIfNoEntry: false }) === undefined && dirname(there) !== there) there = dirname(there);
    try {
      accessSync(there, constants.W_OK);
    } catch (error) {
      throw auditFileError(error);
    }
    const isDirectory = statSync(there).isDirectory();
    if (there === file ? isDirectory : !isDirectory)
      throw auditFileError(`${there} is ${isDirectory ? "a directory" : "no directory"}`);
  }

  /** The process ends. Resolves when everything is written. */
  async stop(): Promise<void> {
    this.#audit?.stopping();
    this.#close(this.#audit);
    this.#audit = undefined;
    await Promise.all(this.#closing);
  }

  #close(audit: AuditLog | undefined): void {
    if (audit === undefined) return;
    const closed = audit.close();
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }
}
