import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchApacheJars } from "../clients.ts";
import { ServerProcess } from "../servers/endpoint.ts";
import { BROKEN_OFF, playScript } from "./play-script.ts";
import type { Script } from "./script.ts";
import { APACHE_PROPERTIES, APACHE_SETTINGS, ZOOID_SETTINGS } from "./settings.ts";

/** The answers of both servers to the same script. */
export interface Conversation {
  readonly apache: readonly string[];
  readonly zooid: readonly string[];
}

/** Apache's server and ours, side by side, each with data of its own. */
export class ServerPair implements AsyncDisposable {
  readonly #folder: string;
  readonly #apache: ServerProcess;
  readonly #zooid: ServerProcess;

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "differential-"));
    const [apache, zooid] = [join(this.#folder, "apache"), join(this.#folder, "zooid")];
    for (const folder of [apache, zooid]) mkdirSync(folder);
    this.#apache = new ServerProcess({
      kind: "apache",
      folder: apache,
      jars: fetchApacheJars(),
      properties: APACHE_PROPERTIES,
      settings: APACHE_SETTINGS,
    });
    this.#zooid = new ServerProcess({ kind: "zooid", folder: zooid, settings: ZOOID_SETTINGS });
  }

  static async start(): Promise<ServerPair> {
    const pair = new ServerPair();
    try {
      await Promise.all([pair.#apache.start(), pair.#zooid.start()]);
      return pair;
    } catch (error) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  async converse(script: Script, root: string): Promise<Conversation> {
    const [apache, zooid] = await Promise.all([
      playScript(script, `127.0.0.1:${this.#apache.port}`, root),
      playScript(script, `127.0.0.1:${this.#zooid.port}`, root),
    ]);
    return { apache, zooid };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#apache.kill(), this.#zooid.kill()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function isEqual({ apache, zooid }: Conversation): boolean {
  if (apache.at(-1)?.startsWith(BROKEN_OFF)) return false;
  return apache.length === zooid.length && apache.every((line, i) => line === zooid[i]);
}
