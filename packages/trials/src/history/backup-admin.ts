import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@zooid/wire/testing/free-ports";

const DONE_MS_MAX = 120_000;
const POLL_MS = 250;

export type BackupStatus = Readonly<Record<string, unknown>>;

/** The commands `backup_now` and `backup_status` of a server, on an admin port of its own. */
export class BackupAdmin {
  /** Lines of zoo.cfg. */
  readonly settings: readonly string[];
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    this.settings = [
      "admin.enableServer=true",
      "admin.serverAddress=127.0.0.1",
      `admin.serverPort=${port}`,
      "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
    ];
  }

  static async atFreePort(): Promise<BackupAdmin> {
    return new BackupAdmin(await freePort());
  }

  status(): Promise<BackupStatus> {
    return this.#ask("backup_status", "GET");
  }

  /** Asks for a base. */
  now(): Promise<BackupStatus> {
    return this.#ask("backup_now", "POST");
  }

  /**
   * Asks for a base until one is taken without a fault.
   *
   * @returns how long that took, in milliseconds
   * @throws where it takes too long
   */
  async untilComplete(): Promise<number> {
    const startMs = performance.now();
    while (performance.now() - startMs < DONE_MS_MAX) {
      let status = await this.now();
      if (status["error"] !== null) throw new Error(String(status["error"]));
      const wanted = Number(status["asked"]);
      while (Number(status["done"]) < wanted) {
        await delay(POLL_MS);
        status = await this.status();
      }
      if (status["fault"] === null && status["is_uploading"] === true) return Math.round(performance.now() - startMs);
      await delay(POLL_MS);
    }
    throw new Error(`the backup is not complete after ${DONE_MS_MAX} ms: ${JSON.stringify(await this.status())}`);
  }

  async #ask(command: string, method: "GET" | "POST"): Promise<BackupStatus> {
    const headers = { authorization: "digest super:test" };
    const response = await fetch(`http://127.0.0.1:${this.#port}/commands/${command}`, { method, headers });
    return (await response.json()) as BackupStatus;
  }
}
