/** The commands of a take-over reach the trial's servers by a port of this process. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const OPERATOR_ACTS = ["block", "fence", "release"] as const;
export type OperatorAct = (typeof OPERATOR_ACTS)[number];

export class OperatorPort implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param act gets the port for clients of a server; what it throws fails the command */
  static async start(act: (what: OperatorAct, port: number) => Promise<void>): Promise<OperatorPort> {
    const server = createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? "/", "http://operator");
      const what = OPERATOR_ACTS.find((each) => `/${each}` === pathname);
      const done =
        what === undefined ? Promise.reject(new Error(`no act ${pathname}`)) : act(what, Number(search.slice(1)));
      done.then(
        () => response.writeHead(200).end(),
        (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new OperatorPort(server);
  }

  /** Options of the command line. */
  get options(): readonly string[] {
    return OPERATOR_ACTS.flatMap((act) => [`--${act}`, this.#command(act)]);
  }

  get release(): readonly string[] {
    return ["--release", this.#command("release")];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #command(act: OperatorAct): string {
    const { port } = this.#server.address() as AddressInfo;
    const script = `fetch("http://127.0.0.1:${port}/${act}?"+process.env.ZOOID_PORT).then(async a=>{if(!a.ok){console.log(await a.text());process.exitCode=1}})`;
    return `${process.execPath} -e '${script}'`;
  }
}
