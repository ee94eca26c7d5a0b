import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fourLetterWord, ServerProcess } from "@zooid/conformance/internal/servers/endpoint";

export interface SideOptions {
  readonly kind: "apache" | "zooid";
  readonly folder: string;
  /** Three times as many as servers at most: for clients, for the quorum, for elections. */
  readonly ports: readonly number[];
  readonly sids: readonly number[];
  /** Apache's server. */
  readonly jars: string;
  /** The longest timeout that a client gets. */
  readonly sessionMs: number;
  /** Maximum heap of Apache's servers, in Java's notation. Default 2g. */
  readonly heap?: string;
  /** Further arguments of Apache's virtual machine. */
  readonly properties?: readonly string[];
  /** Further lines of each server's zoo.cfg. */
  readonly settings?: (i: number) => readonly string[];
}

/** The servers of one side, at ports that clients know from the start. */
export class Side implements AsyncDisposable {
  readonly servers: readonly ServerProcess[];
  readonly hosts: string;
  readonly #sids: readonly number[];
  readonly #ports: readonly number[];

  constructor(options: SideOptions) {
    const { kind, folder, ports, sids, jars, sessionMs } = options;
    const { heap = "2g", properties = [], settings = () => [] } = options;
    this.#sids = sids;
    this.#ports = ports;
    const isAlone = sids.length === 1;
    const lines = sids.map((sid, i) => `server.${sid}=${this.addressOf(i)}`);
    const longest = `maxSessionTimeout=${sessionMs}`;
    const common = [longest, ...(isAlone ? [] : ["initLimit=20", "syncLimit=5", ...lines])];
    this.servers = sids.map((sid, i) => {
      const own = join(folder, String(sid));
      mkdirSync(own, { recursive: true });
      const port = ports[i] ?? 0;
      return new ServerProcess({
        kind,
        folder: own,
        jars,
        heap,
        settings: [...common, ...settings(i)],
        properties,
        port,
        ...(isAlone ? {} : { sid }),
      });
    });
    this.hosts = sids.map((_, i) => `127.0.0.1:${ports[i]}`).join(",");
  }

  addressOf(i: number): string {
    return `127.0.0.1:${this.#ports[3 + i]}:${this.#ports[6 + i]}`;
  }

  /** Stops followers first. */
  async end(isKilled: boolean): Promise<void> {
    if (isKilled) {
      await Promise.all(this.servers.map((server) => server.kill()));
      return;
    }
    const roles = await Promise.all(this.servers.map(({ port }) => fourLetterWord(port, "srvr")));
    const followers = this.servers.filter((_, i) => roles[i]?.includes("Mode: leader") !== true);
    await Promise.all(followers.map((server) => server.stop()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** Each server's own, beside imported data. */
  writeNumbers(): void {
    if (this.#sids.length === 1) return;
    for (const server of this.servers) server.writeNumber();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }
}
