import { type Client, connect } from "@zooid/client";
import { type StartOptions, startServer, type ZooidServer } from "@zooid/embedded-server";
import type { RoleOptions } from "../access/role.ts";
import { ConsoleServer, type ConsoleServerOptions } from "../console-server.ts";

/** A server in memory, a console in front of it, and a client of its own. */
export interface Stage extends AsyncDisposable {
  readonly server: ZooidServer;
  readonly zk: Client;
  readonly url: string;
  /** One request to the API; the path is below `/api/v1`. */
  api(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
}

export interface ApiOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
  readonly json: any;
}

export async function startStage(
  options: { readonly roles?: RoleOptions } & Partial<ConsoleServerOptions> = {},
  serverOptions: StartOptions = {},
): Promise<Stage> {
  const server = await startServer({ port: 0, fourLetterWords: "*", ...serverOptions });
  const zk = await connect(server.connectString);
  const found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts: server.connectString, ...options });
  await found.listen();
  const url = `http://127.0.0.1:${found.port}`;
  return {
    server,
    zk,
    url,
    api: (method, path, given) => callApi(`${url}/api/v1${path}`, method, given),
    async [Symbol.asyncDispose]() {
      await zk.close();
      await found[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

export async function callApi(url: string, method: string, { body, headers }: ApiOptions = {}): Promise<ApiAnswer> {
  const answer = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === "" ? undefined : JSON.parse(text) };
}
