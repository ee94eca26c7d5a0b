import { type Client, connect, digest } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { allServe, PATIENT } from "@zooid/embedded-server/testing/patient";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { ConsoleServer, type ConsoleServerOptions } from "../console-server.ts";
import { type ApiAnswer, type ApiOptions, callApi } from "./stage.ts";

const HOST = "127.0.0.1";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
export const SUPER = { user: "super", password: "test" } as const;
const AS_SUPER = { Authorization: `digest ${SUPER.user}:${SUPER.password}` };

interface Line {
  readonly sid: number;
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly clientAddress: { readonly host: string; readonly port: number };
}

/**
 * An ensemble of three in this process, the places of two more, and a console that knows the admin
 * ports of the three.
 */
export interface EnsembleStage extends AsyncDisposable {
  readonly url: string;
  readonly zk: Client;
  /** By their numbers. */
  readonly servers: ReadonlyMap<number, ZooidServer>;
  /** `4=host:port:port;port`. */
  place(sid: number): string;
  /** Starts a server that knows the first three and itself. */
  start(sid: number): Promise<void>;
  stop(sid: number): Promise<void>;
  /** One request to the API as the superuser. */
  api(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
}

export async function startEnsembleStage(options: Partial<ConsoleServerOptions> = {}): Promise<EnsembleStage> {
  const ports = await freePorts(15);
  const lines = [1, 2, 3, 4, 5].map((sid, at): Line => {
    const [quorumPort = 0, electionPort = 0, port = 0] = ports.slice(at * 3);
    return { sid, host: HOST, quorumPort, electionPort, clientAddress: { host: HOST, port } };
  });
  const lineOf = (sid: number): Line => {
    const line = lines[sid - 1];
    if (line === undefined) throw new RangeError(`there is no server ${sid}`);
    return line;
  };
  const servers = new Map<number, ZooidServer>();
  const start = async (sid: number): Promise<void> => {
    const own = lineOf(sid);
    const known = sid > 3 ? [...lines.slice(0, 3), { ...own, isObserver: true }] : lines.slice(0, 3);
    const settings = { reconfigEnabled: true, superDigest: SUPER_DIGEST, fourLetterWords: "*", tickMs: 500 };
    const server = await startServer({
      ...settings,
      port: own.clientAddress.port,
      admin: { port: 0 },
      ensemble: { sid, servers: known, ...PATIENT },
    });
    servers.set(sid, server);
  };
  await Promise.all([1, 2, 3].map(start));
  await allServe(servers.values());
  const hosts = lines
    .slice(0, 3)
    .map(({ clientAddress: { port } }) => `${HOST}:${port}`)
    .join(",");
  const auth = [digest(SUPER.user, SUPER.password)];
  const zk = await connect(hosts, { startTimeoutMs: 60_000, auth });
  const adminUrls = Object.fromEntries(
    [...servers].map(([sid, { adminPort }]) => [sid, `http://${HOST}:${adminPort}`] as const),
  );
  const found = new ConsoleServer({ port: 0, address: HOST, hosts, adminUrls, ...options });
  await found.listen();
  const url = `http://${HOST}:${found.port}`;
  return {
    url,
    zk,
    servers,
    start,
    place(sid) {
      const { quorumPort, electionPort, clientAddress } = lineOf(sid);
      return `${sid}=${HOST}:${quorumPort}:${electionPort};${HOST}:${clientAddress.port}`;
    },
    async stop(sid) {
      await servers.get(sid)?.stop();
      servers.delete(sid);
    },
    api: (method, path, { headers, ...given } = {}) =>
      callApi(`${url}/api/v1${path}`, method, { ...given, headers: { ...AS_SUPER, ...headers } }),
    async [Symbol.asyncDispose]() {
      await zk.close();
      await found[Symbol.asyncDispose]();
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}
