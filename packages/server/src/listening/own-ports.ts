import { isIP } from "node:net";
import { hostPort, javaAddress } from "@zooid/model";
import type { ServerConfig, ServerOptions } from "../config.ts";

/** A port that this server opens. */
interface OwnPort {
  /** The setting that names it. */
  readonly setting: string;
  /** `*` for every address. */
  readonly host: string;
  readonly port: number;
}

/**
 * Two ports of this server that have one number on one address: a sentence for each pair. Ports
 * that the system chooses collide with none. The admin port of a server that was told no number
 * gives way at its start, as to another process.
 */
export function collidingPorts(config: ServerConfig, { admin }: ServerOptions): readonly string[] {
  const ports = ownPorts(config, admin?.port !== undefined).filter(({ port }) => port !== 0);
  return ports.flatMap((one, i) =>
    ports
      .slice(i + 1)
      .filter((other) => one.port === other.port && isSameHost(one.host, other.host))
      .map(
        (other) =>
          `${one.setting} and ${other.setting} are both ${one.host === "*" ? one.port : hostPort(one.host, one.port)}: each port of a server has a number of its own`,
      ),
  );
}

function ownPorts(config: ServerConfig, hasAdminNumber: boolean): readonly OwnPort[] {
  const { admin, metrics, ensemble, securePort } = config;
  const own = ensemble?.servers.find(({ sid }) => sid === ensemble.sid);
  const peerHost = ensemble?.listenOnAllAddresses === true ? "*" : (own?.host ?? "*");
  return [
    ...(config.plainPort ? [{ setting: "clientPort", host: config.address, port: config.port }] : []),
    ...(securePort === undefined
      ? []
      : [{ setting: "secureClientPort", host: config.secureAddress, port: securePort }]),
    ...(admin === undefined || !hasAdminNumber
      ? []
      : [{ setting: "admin.serverPort", host: admin.address, port: admin.port }]),
    ...(metrics === undefined
      ? []
      : [{ setting: "metricsProvider.httpPort", host: metrics.address, port: metrics.port }]),
    ...(own === undefined
      ? []
      : [
          { setting: `the quorum port of server.${own.sid}`, host: peerHost, port: own.quorumPort },
          { setting: `the election port of server.${own.sid}`, host: peerHost, port: own.electionPort },
          { setting: "observerMasterPort", host: peerHost, port: own.observerMasterPort ?? 0 },
        ]),
  ];
}

/** A name may have any address: only equal ones are known to be the same. */
function isSameHost(a: string, b: string): boolean {
  if (ANY.has(a) || ANY.has(b)) return true;
  const [left, right] = [a, b].map((host) => (isIP(host) === 0 ? host.toLowerCase() : javaAddress(host)));
  return left === right;
}

const ANY: ReadonlySet<string> = new Set(["*", "0.0.0.0", "::"]);
